"""The page of those who direct a tournament: matches near a flag, who lets others wait, claims, and what they decide."""

from collections.abc import Mapping
from typing import Final
from uuid import uuid4

from litestar import Response
from litestar.response import Redirect

from domain.errors import Code, Refusal
from infra.languages.wording import N_, Wording
from services.app import tournament_directors
from services.app.error_codes import CODE_INFO
from services.app.names import names_of
from services.app.play import Course
from services.app.receipts import Answered
from services.app.sentences import SAY
from services.app.threes import results_of_directors
from services.app.tournament_directors import DirectedMatch, DirectorView
from services.app.typed_values import typed_number
from services.http.context import ApiContext
from services.http.web.declared import Pages
from services.http.web.forms import Form, OwnForm
from services.http.web.params import Own, OwnPage
from services.http.web.render import redirect_to, render
from services.http.web.session import Visitor
from services.http.web.tournaments.page import SectionNumber, TournamentNumber
from services.words.tournaments import table_title

pages = Pages()

_NOTHING: Final = Form({})
_DOES: Final = ("adjudicate", "appoint")
_RESULTS: Final[Mapping[str, str]] = {
    "1-0": N_("the first wins"),
    "0-1": N_("the second wins"),
    "1/2": N_("a draw"),
    "1-2-2": N_("the first wins"),
    "2-1-2": N_("the second wins"),
    "2-2-1": N_("the third wins"),
    "1-1-3": N_("the first and the second share first place"),
    "1-3-1": N_("the first and the third share first place"),
    "3-1-1": N_("the second and the third share first place"),
    "1-1-1": N_("all three share first place"),
}


@pages.get("/tournaments/{number:int}/director", weight=3)
def show_director(
    number: TournamentNumber, own_page: OwnPage, section: SectionNumber = 0
) -> Response[str]:
    """Show what a director has to look at, in one section."""
    return _shown(own_page.context, own_page.visitor, number, section)


@pages.post("/tournaments/{number:int}/director")
async def direct(number: TournamentNumber, own: Own) -> Response[str] | Redirect:
    """Decide a match, or appoint the directors; a refusal is shown at the form with all that was typed."""
    do = own.get("do")
    section = _number_in(own, "section")
    try:
        await own.context.play.submit(_action(own, number, do))
    except Refusal as reason:
        if reason.code is Code.UNKNOWN_TOURNAMENT:
            raise
        return _shown(own.context, own.visitor, number, section, at=do, typed=own, reason=reason)
    return redirect_to(f"/tournaments/{number}/director?section={section}")


def _action(own: OwnForm, number: int, do: str) -> Course[Answered]:
    app, actor = own.app, own.maker("director")
    match do:
        case "adjudicate":
            board, result, why = _number_in(own, "board"), own.get("result"), own.raw("why")
            return tournament_directors.adjudicate(app, actor, number, board, result, why)
        case "appoint":
            return tournament_directors.appoint(app, actor, number, own.get("directors").split())
        case _:
            known = ", ".join(_DOES)
            raise Refusal(Code.BAD_REQUEST, SAY("choice", text=do[:24], choices=known))


def _number_in(form: Form, name: str) -> int:
    """Return the number in a field; 0 for anything else."""
    return typed_number(form.get(name)) or 0


def _shown(
    context: ApiContext,
    visitor: Visitor,
    number: int,
    section: int,
    *,
    at: str = "",
    typed: Form = _NOTHING,
    reason: Refusal | None = None,
) -> Response[str]:
    app, words = context.app, visitor.wording
    found = tournament_directors.director_view(app, visitor.require_account(), number, section)
    view = found.tournament
    names = names_of(app, [*view.players, *view.state.directors], words)
    players = [names[account] for account in view.players]
    return render(
        "director.html",
        visitor,
        status=CODE_INFO[reason.code].status if reason else 200,
        view=view,
        found=found,
        here=f"/tournaments/{number}",
        hooks=f"/account/hooks?tournament={number}" if app.settings.sends_hooks else "",
        title=table_title(view.state, view.terms, view.first, words) if view.count > 1 else "",
        players=players,
        choices=_choices(found, players),
        results=_results(found, words),
        directors=[names[account] for account in view.state.directors],
        now=visitor.now,
        key=uuid4().hex,
        at=at,
        typed=typed,
        feedback=reason.in_language(words) if reason else "",
    )


def _choices(found: DirectorView, players: list[str]) -> Mapping[int, str]:
    """Return the matches that can be decided, by board, each with its players."""
    return {one.board: _pair(one, players) for one in found.decidable}


def _pair(match: DirectedMatch, players: list[str]) -> str:
    return " - ".join(players[player] for player in match.players)


def _results(found: DirectorView, words: Wording) -> list[tuple[str, str]]:
    """Return the results that can be given, each with its words."""
    given = results_of_directors(found.tournament.state)
    return [(one, words.gettext(_RESULTS[one])) for one in given]
