"""New matches: against players by name, against robots, and offered to anybody or by a link."""

import asyncio
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final
from uuid import uuid4

from litestar import Response, get, post
from litestar.response import Redirect

from domain.engine.levels import LEVELS
from domain.errors import Code, Refusal
from domain.match.events import CommandId
from domain.rules import AnyRules, game_by_key, latest_rules
from infra.people.challenges import Challenge
from services.app import challenges
from services.app.actor import Actor
from services.app.challenges import gathers, proposal_of
from services.app.commands import WAIT_SECONDS
from services.app.error_codes import CODE_INFO
from services.app.opponents import robots_here
from services.app.queries import names_starting
from services.app.start import INVITATION_DAYS, start_by_name
from services.http.context import ApiContext
from services.http.web.pages.match_actions import WEB_FRONT_END
from services.http.web.params import (
    ContextDependency,
    FormDependency,
    GameParameter,
    NameStart,
    Opponent,
    Options,
    VisitorDependency,
)
from services.http.web.render import redirect_to, render, sentence
from services.http.web.session import AnyRequest, Form, Visitor
from services.http.web.views.match_draft import MatchDraft, draft_sentences, read_draft
from services.http.web.views.match_words import side_words
from services.http.web.views.new_match_form import (
    DEFAULT_TIME,
    field_of,
    form_of_options,
    needs_draw_by_default,
    showcase_games,
    suggested_game,
)

_ABOUT_OPPONENT: Final = (Code.UNKNOWN_USER, Code.BAD_PLAYERS, Code.NOT_WANTED)
"""Refusals that are shown at the field of the opponent."""


@get("/new", sync_to_thread=True)
def show_new(
    context: ContextDependency,
    visitor: VisitorDependency,
    game: GameParameter = "",
    opponent: Opponent = "",
    options: Options = "",
) -> Response[str]:
    """Show the form for a new match, with what the address chooses."""
    visitor.require_account()
    rules = latest_rules(game.lower()) if game else suggested_game()
    robots = [robot.userid for robot in robots_here(context.app)]
    filled = {"opponent": (opponent,), "against": ("name",)} if opponent else {}
    if opponent.lower() in robots:
        filled = {"robot": (opponent.lower(),), "against": ("robot",)}
    chosen = form_of_options(rules.key, rules.write_options(rules.read_options(options.split())))
    return _form(context, visitor, rules, Form({**chosen.fields, **filled}))


def _form(
    context: ApiContext,
    visitor: Visitor,
    rules: AnyRules,
    form: Form,
    mistakes: Mapping[str, str] | None = None,
    status: int = 200,
) -> Response[str]:
    """Show the form as it was filled in, with a sentence for each mistake."""
    draft = read_draft(context.app, visitor, rules, form)
    language = visitor.language
    return render(
        "new.html",
        visitor,
        status=status,
        rules=rules,
        games=showcase_games(),
        sides={one.key: side_words(one, language) for one in showcase_games()},
        forms={one.key: game_by_key(one.key).options_form for one in showcase_games()},
        draws={one.key for one in showcase_games() if needs_draw_by_default(one)},
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


@get("/new/offer", sync_to_thread=True)
def describe_offer(
    request: AnyRequest,
    context: ContextDependency,
    visitor: VisitorDependency,
    game: GameParameter = "",
) -> Response[str]:
    """Return the match of a form that is being filled in, in words; nothing is started."""
    visitor.require_account()
    form = Form({name: tuple(request.query_params.getall(name)) for name in request.query_params})
    draft = read_draft(context.app, visitor, latest_rules(game.lower()), form)
    return render(
        "_offer_words.html",
        visitor,
        rules=draft.rules,
        sentences=draft_sentences(visitor, draft),
        variants=len(draft.options),
        part=True,
        has_variants=bool(game_by_key(draft.rules.key).options_form),
    )


@get("/names", sync_to_thread=True)
def complete_name(
    context: ContextDependency, visitor: VisitorDependency, start: NameStart = ""
) -> list[str]:
    """Return a few names that begin with the typed letters."""
    visitor.require_account()
    return names_starting(context.app, start)


@post("/new")
async def start_new(
    form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Response[str] | Redirect:
    """Start a match or offer one; a form with mistakes comes back with a sentence for each."""
    account = visitor.require_account()
    context.app.pace.check(account)
    game = latest_rules(form.get("game").lower())
    if game.players == (1,):
        return await _start(form, context, visitor, game, ())
    draft = await asyncio.to_thread(read_draft, context.app, visitor, game, form)
    if draft.mistakes:
        shown: tuple[Any, ...] = (context, visitor, game, form, draft.mistakes, 422)
        return await asyncio.to_thread(_form, *shown)
    try:
        return await _carry_out(form, context, visitor, draft)
    except Refusal as reason:
        about_opponent = draft.others and reason.code in _ABOUT_OPPONENT
        at = {"name": "opponent", "robot": "robot"}[draft.against] if about_opponent else ""
        said = {at: reason.in_language(visitor.language)}
        status = CODE_INFO[reason.code].status
        return await asyncio.to_thread(_form, context, visitor, game, form, said, status)


async def _carry_out(
    form: Form, context: ApiContext, visitor: Visitor, draft: MatchDraft
) -> Redirect:
    if draft.others:
        return await _start(form, context, visitor, draft.rules, draft.others, draft)
    made = await asyncio.to_thread(_propose, context, _actor(form, visitor), draft, form)
    return redirect_to("/#open" if draft.against == "anybody" else f"/c/{made.id}")


def _actor(form: Form, visitor: Visitor) -> Actor:
    """Return who sends a form; the same form is the same command, and a changed one another."""
    fields = sorted((name, values) for name, values in form.fields.items() if name != "csrf")
    content = sha256(repr(fields).encode()).hexdigest()[:16] if form.get("key") else uuid4().hex
    return Actor(visitor.require_account(), WEB_FRONT_END, f"{form.get('key')[:64]} new {content}")


async def _start(
    form: Form,
    context: ApiContext,
    visitor: Visitor,
    rules: AnyRules,
    others: tuple[str, ...],
    draft: MatchDraft | None = None,
) -> Redirect:
    actor = _actor(form, visitor)
    seat = draft.seat if draft else None
    place = seat_of_challenger(seat, len(others) + 1, actor.command_id())
    terms = draft.terms if draft else ()  # a puzzle has no time control
    command = await asyncio.to_thread(
        start_by_name,
        context.app,
        actor,
        rules,
        (*others[:place], visitor.name, *others[place:]),
        options=draft.options if draft else (),
        terms=terms,
        commitment=_commitment(form, gathers="--gather" in terms),
    )
    await context.send(command, WAIT_SECONDS)
    return redirect_to(f"/m/{command.sent.match}")


def _propose(context: ApiContext, actor: Actor, draft: MatchDraft, form: Form) -> Challenge:
    """Make an open challenge, in the list of all or by a link."""
    proposal = proposal_of(
        draft.rules,
        draft.options,
        draft.terms,
        seats=draft.seats,
        seat=draft.seat,
        note=draft.note,
        listed=draft.against == "anybody",
    )
    own = _commitment(form, gathers=gathers(proposal))
    return challenges.propose(context.app, actor, proposal, own)


def _commitment(form: Form, *, gathers: bool) -> str:
    """Return the commitment in a form; empty for a match that does not gather, because browsers send one always."""
    return form.get("commitment") if gathers else ""


def seat_of_challenger(chosen: int | None, seats: int, command: CommandId) -> int:
    """Return the seat of the challenger; a random one if none is chosen.

    The command id decides, because a form that is sent twice must choose the same seat again.
    """
    return int.from_bytes(command, "big") % seats if chosen is None else chosen
