"""New matches: challenges by name, and open challenges."""

import asyncio
from uuid import uuid4

from litestar import Response, get, post
from litestar.response import Redirect

from domain.errors import Refusal
from domain.match.events import CommandId
from domain.rules import AnyRules, game_by_key, latest_rules
from infra.people.challenges import Challenge, ChallengeState
from services.app import challenges
from services.app.actor import Actor
from services.app.challenges import gathers, proposal_of
from services.app.commands import WAIT_SECONDS
from services.app.error_codes import CODE_INFO
from services.app.games import game_keys
from services.app.opponents import robots_here
from services.app.start import start_by_name
from services.http.context import ApiContext
from services.http.web.pages.match_actions import WEB_FRONT_END
from services.http.web.params import (
    ContextDependency,
    FormDependency,
    GameParameter,
    Id,
    Opponent,
    VisitorDependency,
)
from services.http.web.render import redirect_to, render
from services.http.web.session import Form, Visitor
from services.http.web.views.new_match_form import (
    DEFAULT_TIME,
    TIME_CHOICES,
    chosen_options,
    chosen_terms,
    needs_draw_by_default,
    suggested_game,
)


@get("/new", sync_to_thread=True)
def show_new(
    context: ContextDependency,
    visitor: VisitorDependency,
    game: GameParameter = "",
    opponent: Opponent = "",
) -> Response[str]:
    """Show the form for a new match."""
    visitor.require_account()
    typed = Form({"opponent": (opponent,)})
    rules = latest_rules(game.lower()) if game else suggested_game()
    return _form(context, visitor, rules, typed)


def _form(
    context: ApiContext,
    visitor: Visitor,
    rules: AnyRules,
    typed: Form,
    feedback: str = "",
    status: int = 200,
) -> Response[str]:
    """Show the form with its fields as `typed`, and the reason of a refusal."""
    robots = [robot.userid for robot in robots_here(context.app)]
    named = [name for name in typed.fields.get("opponent", ()) if name]
    chosen = [name.lower() for name in named if name.lower() in robots]
    people = [name for name in named if name.lower() not in robots]
    return render(
        "new.html",
        visitor,
        status=status,
        rules=rules,
        games=[one for one in map(latest_rules, game_keys()) if one.players != (1,)],
        choices=game_by_key(rules.key).options_form,
        times=TIME_CHOICES,
        chosen_time=typed.get("time") or DEFAULT_TIME,
        typed=typed,
        same=typed.get("game") in ("", rules.key),
        opponents=(*people, "", ""),
        robots=robots,
        chosen_robots=(*chosen, "", ""),
        feedback=feedback,
        key=uuid4().hex,
        draws=needs_draw_by_default(rules),
    )


@post("/new")
async def start_new(
    form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Response[str] | Redirect:
    """Start a match by name, or offer one to anybody, or show the form of another game."""
    account = visitor.require_account()
    context.app.pace.check(account)
    if form.get("switch"):
        other = latest_rules(form.get("switch").lower())
        return await asyncio.to_thread(_form, context, visitor, other, form)
    game = latest_rules(form.get("game").lower())
    try:
        return await _start(form, context, visitor, game)
    except Refusal as reason:
        if game.players == (1,):
            raise
        status = CODE_INFO[reason.code].status
        shown = (context, visitor, game, form, reason.sentence, status)
        return await asyncio.to_thread(_form, *shown)


async def _start(form: Form, context: ApiContext, visitor: Visitor, game: AnyRules) -> Redirect:
    actor = Actor(
        visitor.require_account(), WEB_FRONT_END, f"{form.get('key')[:64] or uuid4().hex} new"
    )
    if not form.all("opponent") and game.players != (1,):
        await asyncio.to_thread(_propose, context, actor, game, form)
        return redirect_to("/#open")
    others, id_ = form.all("opponent"), actor.command_id()
    place = seat_of_challenger(form.get("seat"), len(others) + 1, id_)
    # a puzzle has no time control
    terms = chosen_terms(form) if others else ()
    command = await asyncio.to_thread(
        start_by_name,
        context.app,
        actor,
        game,
        (*others[:place], visitor.name, *others[place:]),
        options=chosen_options(game.key, form),
        terms=terms,
        commitment=_commitment(form, gathers="--gather" in terms),
    )
    await context.send(command, WAIT_SECONDS)
    return redirect_to(f"/m/{command.sent.match}")


def _propose(context: ApiContext, actor: Actor, rules: AnyRules, form: Form) -> None:
    """Make an open challenge from a form."""
    seats = int(form.get("seats")) if form.get("seats") in ("2", "3") else rules.players[0]
    proposal = proposal_of(
        rules,
        chosen_options(rules.key, form),
        chosen_terms(form),
        seats=seats,
        seat={"first": 0, "last": seats - 1}.get(form.get("seat")),
        note=form.get("note"),
    )
    challenges.propose(context.app, actor, proposal, _commitment(form, gathers=gathers(proposal)))


def _commitment(form: Form, *, gathers: bool) -> str:
    """Return the commitment in a form; empty for a match that does not gather, because browsers send one always."""
    return form.get("commitment") if gathers else ""


def seat_of_challenger(choice: str, seats: int, command: CommandId) -> int:
    """Return the seat of the challenger; a random one if the form has no choice.

    The command id decides, because a form that is sent twice must choose the same seat again.
    """
    if choice in ("first", "last"):
        return 0 if choice == "first" else seats - 1
    return int.from_bytes(command, "big") % seats


@post("/challenges/{challenge:str}/take")
async def take(
    challenge: Id, form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Redirect:
    """Take a free seat of an open challenge; the last one starts the match."""
    actor = Actor(visitor.require_account(), WEB_FRONT_END, uuid4().hex)
    context.app.pace.check(actor.account)
    proposal = (await asyncio.to_thread(context.app.challenges.get, challenge)).proposal
    own = _commitment(form, gathers=gathers(proposal))
    taken = await asyncio.to_thread(challenges.take, context.app, actor, challenge, own)
    if taken.state is ChallengeState.TAKEN:
        taken = await start_full_challenge(context, taken)
    return redirect_to("/#open" if taken.board is None else f"/m/{taken.board}")


async def start_full_challenge(context: ApiContext, challenge: Challenge) -> Challenge:
    """Start a full challenge's match; if its outcome comes too late, the scheduler does it."""
    command = await asyncio.to_thread(challenges.start_when_full, context.app, challenge)
    await context.send(command, WAIT_SECONDS)
    return await asyncio.to_thread(
        challenges.mark_started, context.app, challenge, command.sent.match
    )


@post("/challenges/{challenge:str}/withdraw", sync_to_thread=True)
def withdraw(
    challenge: Id, form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Redirect:
    """Withdraw the visitor's challenge, or leave another player's."""
    del form
    actor = Actor(visitor.require_account(), WEB_FRONT_END, uuid4().hex)
    challenges.withdraw(context.app, actor, challenge)
    return redirect_to("/#open")
