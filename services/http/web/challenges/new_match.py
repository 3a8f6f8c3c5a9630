"""New matches: against players by name, against robots, and offered to anybody or by a link."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Final
from uuid import uuid4

from litestar import Response
from litestar.response import Redirect

from domain.errors import Code, Refusal
from domain.game.engine import LEVELS
from domain.records import CommandId
from domain.rules import AnyRules, game_by_key, latest_rules
from infra.people.challenges import Challenge
from services.app import challenges
from services.app.challenges import gathers, proposal_of
from services.app.clubs import club_at
from services.app.error_codes import CODE_INFO
from services.app.games_off import check_on
from services.app.opponents import robots_here
from services.app.play import give
from services.app.queries import names_starting
from services.app.start import INVITATION_DAYS, start_by_name
from services.http.context import ApiContext
from services.http.web.challenges.match_draft import (
    DEFAULT_TIME,
    MatchDraft,
    draft_sentences,
    field_of,
    form_of_options,
    needs_draw_by_default,
    offered_games,
    read_draft,
    suggested_game,
)
from services.http.web.declared import Pages
from services.http.web.forms import Form, OwnForm
from services.http.web.params import (
    ClubParameter,
    GameParameter,
    NameStart,
    Opponent,
    Options,
    Own,
    OwnPage,
)
from services.http.web.render import redirect_to, render, sentence
from services.http.web.session import AnyRequest, Visitor
from services.words.agreements import side_words

pages = Pages()

_ABOUT_OPPONENT: Final = (Code.UNKNOWN_USER, Code.BAD_PLAYERS, Code.NOT_WANTED)
"""Refusals that are shown at the field of the opponent."""


@pages.get("/new")
def show_new(
    own_page: OwnPage,
    game: GameParameter = "",
    opponent: Opponent = "",
    options: Options = "",
    club: ClubParameter = "",
) -> Response[str]:
    """Show the form for a new match, with what the address chooses."""
    rules = latest_rules(game.lower()) if game else suggested_game(own_page.app)
    robots = [robot.userid for robot in robots_here(own_page.app)]
    filled = {"opponent": (opponent,), "against": ("name",)} if opponent else {}
    if opponent.lower() in robots:
        filled = {"robot": (opponent.lower(),), "against": ("robot",)}
    if club:
        filled = {
            "club": (club_at(own_page.app, own_page.account, club).path,),
            "against": ("anybody",),
        }
    chosen = form_of_options(rules.key, rules.write_options(rules.read_options(options.split())))
    return _form(own_page.context, own_page.visitor, rules, Form({**chosen.fields, **filled}))


def _form(
    context: ApiContext,
    visitor: Visitor,
    rules: AnyRules,
    form: Form,
    mistakes: Mapping[str, str] | None = None,
    status: int = 200,
) -> Response[str]:
    """Show the form as it was filled in, with a sentence for each mistake; `game-off`."""
    check_on(context.app, rules)
    games = offered_games(context.app)
    draft = read_draft(context.app, visitor, rules, form)
    language = visitor.wording
    return render(
        "new.html",
        visitor,
        status=status,
        rules=rules,
        games=games,
        sides={one.key: side_words(one, language) for one in games},
        forms={one.key: game_by_key(one.key).options_form for one in games},
        draws={one.key for one in games if needs_draw_by_default(one)},
        default_time=DEFAULT_TIME,
        invitation_days=INVITATION_DAYS,
        draft=draft,
        sentences=draft_sentences(visitor, draft),
        variants=len(draft.options),
        form=form,
        field=lambda game, name: field_of(form, game, name) if _has(form, game, rules) else "",
        robots=[robot.userid for robot in robots_here(context.app)],
        levels=LEVELS,
        mistakes={name: sentence(text) for name, text in (mistakes or {}).items()},
        key=uuid4().hex,
    )


def _has(form: Form, game: str, rules: AnyRules) -> bool:
    """Return whether the form has fields of a game: its own, or those without any game's key."""
    return game == rules.key or any(name.startswith(f"{game}-") for name in form.fields)


@pages.get("/new/offer")
def describe_offer(
    request: AnyRequest, own_page: OwnPage, game: GameParameter = ""
) -> Response[str]:
    """Return the match of a form that is being filled in, in words; nothing is started."""
    visitor = own_page.visitor
    form = Form({name: tuple(request.query_params.getall(name)) for name in request.query_params})
    draft = read_draft(own_page.app, visitor, latest_rules(game.lower()), form)
    return render(
        "_offer_words.html",
        visitor,
        rules=draft.rules,
        sentences=draft_sentences(visitor, draft),
        variants=len(draft.options),
        part=True,
        has_variants=bool(game_by_key(draft.rules.key).options_form),
    )


@pages.get("/names")
def complete_name(own_page: OwnPage, start: NameStart = "") -> list[str]:
    """Return a few names that begin with the typed letters."""
    return names_starting(own_page.app, start)


@pages.post("/new")
async def start_new(own: Own) -> Response[str] | Redirect:
    """Start a match or offer one; a form with mistakes comes back with a sentence for each."""
    context, visitor = own.context, own.visitor
    game = latest_rules(own.get("game").lower())
    if game.players == (1,):
        return await _start(own, game, ())
    draft = await asyncio.to_thread(read_draft, own.app, visitor, game, own)
    if draft.mistakes:
        return await asyncio.to_thread(_form, context, visitor, game, own, draft.mistakes, 422)
    try:
        return await _carry_out(own, draft)
    except Refusal as reason:
        about_opponent = draft.others and reason.code in _ABOUT_OPPONENT
        at = {"name": "opponent", "robot": "robot"}[draft.against] if about_opponent else ""
        said = {at: reason.in_language(visitor.wording)}
        status = CODE_INFO[reason.code].status
        return await asyncio.to_thread(_form, context, visitor, game, own, said, status)


async def _carry_out(own: OwnForm, draft: MatchDraft) -> Redirect:
    if draft.others:
        return await _start(own, draft.rules, draft.others, draft)
    made = await asyncio.to_thread(_propose, own, draft)
    in_list = draft.against == "anybody" and not made.proposal.club
    return redirect_to("/#open" if in_list else f"/c/{made.id}")


async def _start(
    own: OwnForm, rules: AnyRules, others: tuple[str, ...], draft: MatchDraft | None = None
) -> Redirect:
    actor = own.maker("new")
    seat = draft.seat if draft else None
    place = seat_of_challenger(seat, len(others) + 1, actor.command_id())
    terms = draft.terms if draft else ()  # a puzzle has no time control
    start = partial(
        start_by_name,
        own.app,
        actor,
        rules,
        (*others[:place], own.visitor.name, *others[place:]),
        options=draft.options if draft else (),
        terms=terms,
        commitment=_commitment(own, gathers="--gather" in terms),
    )
    begun = await own.context.play.submit(give(own.app, start))
    return redirect_to(f"/m/{begun.board}")


def _propose(own: OwnForm, draft: MatchDraft) -> Challenge:
    """Make an open challenge, in the list of all or of a club, or by a link."""
    club = own.get("club") if draft.against == "anybody" else ""
    proposal = proposal_of(
        draft.rules,
        draft.options,
        draft.terms,
        seats=draft.seats,
        seat=draft.seat,
        note=draft.note,
        listed=draft.against == "anybody",
        club=club_at(own.app, own.account, club).id if club else "",
    )
    sent = _commitment(own, gathers=gathers(proposal))
    return challenges.propose(own.app, own.maker("new"), proposal, sent)


def _commitment(form: Form, *, gathers: bool) -> str:
    """Return the commitment in a form; empty for a match that does not gather, because browsers send one always."""
    return form.get("commitment") if gathers else ""


def seat_of_challenger(chosen: int | None, seats: int, command: CommandId) -> int:
    """Return the seat of the challenger; a random one if none is chosen.

    The command id decides, because a form that is sent twice must choose the same seat again.
    """
    return int.from_bytes(command, "big") % seats if chosen is None else chosen
