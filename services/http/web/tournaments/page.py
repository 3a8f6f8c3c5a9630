"""Pages of tournaments: their lists, each of them with its tables, entering it, and what its organiser does."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Final
from uuid import uuid4

import msgspec
from litestar import Response
from litestar.params import PathParameter, QueryParameter
from litestar.response import Redirect

from domain.errors import Code, Refusal
from domain.records import AccountId
from domain.tournament.decide import fellow_players
from domain.tournament.state import Phase
from infra.languages.wording import Wording
from infra.people.clubs import NAME_LENGTHS
from infra.people.tournament_texts import MOST_OF_TEXT
from services.app import teams, tournament_invitations, tournaments
from services.app.context import Actor, App
from services.app.error_codes import CODE_INFO
from services.app.names import names_of
from services.app.opponents import robots_here
from services.app.play import Course
from services.app.receipts import Answered
from services.app.sentences import SAY
from services.app.tournaments import PAGE, ListedTournament, TournamentView
from services.app.typed_values import typed_number
from services.http.context import ApiContext
from services.http.web.declared import Pages
from services.http.web.forms import Form, OwnForm
from services.http.web.lists.match_rows import PAGE_SIZE, ListPart, first_row
from services.http.web.markdown import rendered_markdown
from services.http.web.match.downloads import attachment
from services.http.web.params import Asked, ListState, Own, PageNumber, SavedMark
from services.http.web.render import framed, redirect_to, render
from services.http.web.session import Visitor
from services.http.web.tournaments.ladder_view import shown_ladder
from services.http.web.tournaments.season_links import season_links
from services.http.web.tournaments.table_view import shown_entrants, shown_table
from services.http.web.tournaments.team_view import shown_teams
from services.words.tournaments import (
    game_line,
    phase_name,
    progress,
    season_sentence,
    start_sentence,
    table_title,
    terms_lines,
    tie_break_name,
)
from services.words.trf import trf_of

pages = Pages()

TournamentNumber = Annotated[int, PathParameter(ge=1, le=10**15)]
SectionNumber = Annotated[int, QueryParameter(name="section", ge=0, le=10**6)]

_LISTS: Final = ("open", "running", "ended")
_MOST_TOGETHER: Final = 10
"""Tournaments of each list on the page that has them all."""
_PLAIN: Final[Mapping[str, Callable[[App, Actor, int], Course[Answered]]]] = {
    "open": tournaments.open_entry,
    "start": tournaments.start,
    "end": tournaments.end_ladder,
    "volunteer": tournaments.volunteer,
    "confirm": tournaments.confirm,
    "cancel": tournaments.cancel,
}
"""The organiser's commands that need no field."""
_WITH_USERID: Final[Mapping[str, Callable[[App, Actor, int, str], Course[Answered]]]] = {
    "leave": tournaments.leave,
    "challenge": tournaments.challenge,
}
"""The commands with the field of a userid."""
_SECTION_OF: Final = {
    "enter": "entry",
    "leave": "entry",
    "challenge": "ladder",
    "team": "team",
    "volunteer": "entry",
    "invite": "invite",
    "withdraw": "withdraw",
}
"""The part of the page where a refusal is shown; that of the organiser for all others."""

_USERIDS: Final = re.compile(r"[^\s,;]+")
"""Userids in a field, with commas or blanks between them."""

_NOTHING: Final = Form({})


class TournamentLine(msgspec.Struct, frozen=True):
    """A tournament in a list."""

    number: int
    name: str
    game: str
    phase: str
    progress: str
    start: str
    """When it starts; empty once it has."""


@pages.get("/tournaments")
def show_tournaments(asked: Asked, chosen: ListState = "", page: PageNumber = 1) -> Response[str]:
    """Show the visitor's tournaments and the newest of each list, or a page of one list."""
    app, visitor, start = asked.app, asked.visitor, first_row(page, PAGE)
    found = {
        name: tournaments.tournaments_for(app, visitor.account, name, start)
        for name in ((chosen,) if chosen else ("own", *_LISTS))
    }
    shown = {
        name: [_line(one, visitor) for one in (some if chosen else some[:_MOST_TOGETHER])]
        for name, some in found.items()
    }
    part = None
    if chosen in _LISTS:
        part = ListPart.of(
            visitor.wording.gettext("Tournaments"),
            start=start,
            shown=len(shown[chosen]),
            total=app.tournaments.count(chosen),
            path="/tournaments",
            size=PAGE,
            query={"state": chosen},
        )
    more = {name for name, some in found.items() if len(some) > len(shown[name])}
    return render("tournaments.html", visitor, found=shown, state=chosen, part=part, more=more)


def _line(one: ListedTournament, visitor: Visitor) -> TournamentLine:
    row, words = one.row, visitor.wording
    waits = row.phase in (Phase.DRAFT, Phase.ENTRY)
    return TournamentLine(
        number=row.number,
        name=one.name,
        game=game_line(row.rules, row.options, words),
        phase=phase_name(row.phase, words),
        progress=progress(row, words),
        start=start_sentence(row, words) if waits else "",
    )


@pages.get("/tournaments/{number:int}", weight=3)
def show_tournament(
    number: TournamentNumber,
    asked: Asked,
    section: SectionNumber = 0,
    page: PageNumber = 1,
    saved: SavedMark = "",
) -> Response[str]:
    """Show a tournament, with one of its sections, or a page of those who have entered."""
    return _tournament(
        asked.context, asked.visitor, number, section=section, page=page, saved=saved
    )


def _tournament(  # noqa: PLR0913 - what the page may have more than the tournament
    context: ApiContext,
    visitor: Visitor,
    number: int,
    *,
    section: int = 0,
    page: int = 1,
    saved: str = "",
    at: str = "",
    typed: Form = _NOTHING,
    reason: Refusal | None = None,
    code: str = "",
) -> Response[str]:
    app, words, account = context.app, visitor.wording, visitor.account
    view = tournaments.view_of(app, account, number, section)
    state, terms, start = view.state, view.terms, first_row(page)
    some = () if view.tables else state.entrants[start : start + PAGE_SIZE]
    club = app.clubs.at(view.club) if view.club else None
    invited = tournament_invitations.waiting_invitations(view)
    named = names_of(app, [state.organiser, *state.directors, *invited], words)
    shown = {player for section in view.sections for player in section.players}
    return render(
        "tournament.html",
        visitor,
        status=CODE_INFO[reason.code].status if reason else 200,
        view=view,
        here=f"/tournaments/{number}",
        phase=phase_name(state.phase, words),
        about=rendered_markdown(view.said.text),
        organiser=named[state.organiser],
        directors=[named[one] for one in state.directors],
        club=club,
        terms=terms_lines(terms, words, club.name if club else "", state.opening),
        start=start_sentence(terms, words),
        entrants=shown_entrants(app, some, words, account),
        part=ListPart.of(
            words.gettext("Entrants"),
            start=start,
            shown=len(some),
            total=len(state.entrants),
            path=f"/tournaments/{number}",
        ),
        directs=view.directs
        and (account is None or fellow_players(account, state).isdisjoint(shown)),
        confirms=account is not None and state.directs(account) and state.phase is Phase.FINISHED,
        robots=[one.userid for one in robots_here(app)] if view.organises and terms.robots else (),
        may_enter=account is None or tournament_invitations.may_enter(state, account),
        invited=[named[one] for one in invited],
        code=code,
        season=season_sentence(view.season, words) if view.season else "",
        links=season_links(view, words) if terms.league else None,
        **_tables(app, view, words, account, start),
        receipts=app.gives_receipts,
        published=context.published_sizes.of(app.store.shard_of(number)) > 0,
        volunteers=[one.name for one in shown_entrants(app, state.volunteers, words, account)],
        key=uuid4().hex,
        longest={"name": NAME_LENGTHS[-1], "text": MOST_OF_TEXT},
        saved=saved,
        at=at,
        typed=typed,
        feedback=reason.in_language(words) if reason else "",
    )


def _tables(
    app: App, view: TournamentView, words: Wording, viewer: AccountId | None, start: int = 0
) -> dict[str, Any]:
    """Return what a page shows of the first table of a view, and of a ladder from a place on."""
    state, terms = view.state, view.terms
    return {
        "title": table_title(state, terms, view.first, words),
        "table": None if state.ladder or not view.tables else shown_table(app, view, words, viewer),
        "ladder": shown_ladder(app, view, words, viewer, start) if state.ladder else None,
        "teams": shown_teams(app, view, words, viewer) if terms.teams else (),
        "tiebreaks": [tie_break_name(one, words) for one in terms.tiebreaks],
    }


@pages.get("/tournaments/{number:int}/embed", weight=3)
def show_embedded_table(
    number: TournamentNumber, asked: Asked, section: SectionNumber = 0
) -> Response[str]:
    """Show a table for a frame on another site: without cookies, forms and this visitor, as guests see it."""
    app, visitor = asked.app, asked.visitor
    words, view = visitor.wording, tournaments.view_of(app, None, number, section)
    page = render(
        "tournament_embed.html",
        visitor,
        view=view,
        here=f"/tournaments/{number}",
        phase=phase_name(view.state.phase, words),
        **_tables(app, view, words, None),
    )
    return framed(page)


@pages.post("/tournaments/{number:int}/act")
async def act(number: TournamentNumber, own: Own) -> Response[str] | Redirect:
    """Enter or leave a tournament, or what its organiser does; a refusal is shown at the button."""
    do = own.get("do")
    try:
        await own.context.play.submit(_action(own, number, do))
    except Refusal as reason:
        if reason.code is Code.UNKNOWN_TOURNAMENT:
            raise
        return _again(own, number, _SECTION_OF.get(do, "run"), reason)
    section = f"?section={_section_in(own)}" if _section_in(own) else ""
    return redirect_to(f"/tournaments/{number}{section}")


def _action(own: OwnForm, number: int, do: str) -> Course[Answered]:
    """Return what a form asks for; with another field it is another command."""
    app, actor, userid = own.app, own.maker("tournament"), own.get("userid")
    if plain := _PLAIN.get(do):
        return plain(app, actor, number)
    if with_userid := _WITH_USERID.get(do):
        return with_userid(app, actor, number, userid)
    match do:
        case "enter":
            return tournaments.enter(app, actor, number, userid, own.get("code"))
        case "team" | "invite":
            named = _USERIDS.findall(own.get("players"))
            asked = teams.name_team if do == "team" else tournament_invitations.invite
            return asked(app, actor, number, named)
        case "withdraw":
            kind, why = own.get("kind"), own.raw("why")
            if kind == "substituted":
                by = own.get("substitute")
                return tournaments.substitute(app, actor, number, userid, by, why)
            return tournaments.withdraw(app, actor, number, userid, kind, why)
        case _:
            known = ", ".join(dict.fromkeys([*_PLAIN, *_SECTION_OF]))
            raise Refusal(Code.BAD_REQUEST, SAY("choice", text=do[:24], choices=known))


@pages.post("/tournaments/{number:int}/code")
def make_code(number: TournamentNumber, own: Own) -> Response[str]:
    """Make a code for entering, and show it once."""
    try:
        made = tournament_invitations.make_code(own.app, own.account, number)
    except Refusal as reason:
        if reason.code is Code.UNKNOWN_TOURNAMENT:
            raise
        return _again(own, number, "code", reason)
    return _tournament(own.context, own.visitor, number, code=made)


@pages.post("/tournaments/{number:int}/text")
def change_text(number: TournamentNumber, own: Own) -> Response[str] | Redirect:
    """Change the name and the text."""
    text = own.raw("text").replace("\r\n", "\n").strip()
    try:
        tournaments.change_text(own.app, own.account, number, own.get("name"), text)
    except Refusal as reason:
        if reason.code is Code.UNKNOWN_TOURNAMENT:
            raise
        return _again(own, number, "text", reason)
    return redirect_to(f"/tournaments/{number}?saved=text#text")


def _again(own: OwnForm, number: int, at: str, reason: Refusal) -> Response[str]:
    """Return the page with all that was typed, and a sentence at the mistake."""
    section = _section_in(own)
    return _tournament(
        own.context, own.visitor, number, section=section, at=at, typed=own, reason=reason
    )


def _section_in(form: Form) -> int:
    """Return the section that was shown with a form; 0 for none."""
    return typed_number(form.get("section")) or 0


@pages.get("/tournaments/{number:int}/table.csv", weight=5)
def download_table(number: TournamentNumber, asked: Asked) -> Response[Any]:
    """Return the tables of all sections, or before the start the entrants, for a spreadsheet."""
    view = tournaments.view_of(asked.app, asked.visitor.account, number)
    text = io.StringIO()
    csv.writer(text).writerows(_csv_rows(asked.context, view))
    return attachment(text.getvalue(), "text/csv", f"tournament-{number}.csv")


@pages.get("/tournaments/{number:int}/trf", weight=5)
def download_trf(number: TournamentNumber, asked: Asked) -> Response[Any]:
    """Return the report of a Swiss tournament for chess programs; refused as `trf_of` does."""
    text = trf_of(asked.app, tournaments.view_of(asked.app, asked.visitor.account, number))
    return attachment(text, "text/plain", f"tournament-{number}.trf")


def _csv_rows(context: ApiContext, view: TournamentView) -> Iterator[list[str | int | float]]:
    """Yield a line of headings and one for each player; in English, because programs read it."""
    entrants = view.state.entrants
    names = names_of(context.app, view.players)
    yield ["section", "place", "player", "rating", "points", *view.terms.tiebreaks, "left"]
    if not view.tables:
        for one in entrants:
            yield ["", "", names[one.account], one.rating]
    for at, table in enumerate(view.tables, view.first):
        for line in table.lines:
            one = entrants[line.player]
            points = (float(value) for value in (line.points, *line.tiebreaks))
            yield [at, line.place, names[one.account], one.rating, *points, line.left]
