"""New matches: against somebody by name, or open to anybody."""

import asyncio
from uuid import uuid4

from litestar import Response, get, post
from litestar.response import Redirect

from domain.errors import Refusal
from domain.match.events import AccountId, CommandId, command_id
from domain.rules import AnyRules, current, game_of
from infra.challenges import Proposal, State
from services.api.challenges import NewChallenge, gathers, proposal_of, start
from services.api.challenges import take as api_take
from services.api.commands import WAIT_SECONDS
from services.api.context import ApiContext
from services.api.starting import NewMatch, begin, start_of
from services.app.error_codes import PROBLEMS
from services.app.games import games
from services.language.draws import read_commitment
from services.web.acts import DOOR
from services.web.choices import TIMES, USUAL_TIME, draws_usually, options_of, suggested, terms_of
from services.web.pages import go, page
from services.web.params import Id, Opponent, TheContext, TheForm, TheVisitor, Wanted
from services.web.visitors import Form, Visitor


@get("/new", sync_to_thread=True)
def show_new(
    visitor: TheVisitor,
    game: Wanted = "",
    opponent: Opponent = "",
) -> Response[str]:
    """Show what can be chosen for a match."""
    visitor.need()
    typed = Form({"opponent": (opponent,)})
    return _form(visitor, current(game.lower()) if game else suggested(), typed)


def _form(
    visitor: Visitor, rules: AnyRules, typed: Form, told: str = "", status: int = 200
) -> Response[str]:
    """Show the form with what was typed in it, and what is wrong with that."""
    return page(
        "new.html",
        visitor,
        status=status,
        rules=rules,
        games=[one for one in map(current, games()) if one.players != (1,)],
        choices=game_of(rules.key).options_form,
        times=TIMES,
        chosen_time=typed.get("time") or USUAL_TIME,
        typed=typed,
        same=typed.get("game") in ("", rules.key),
        opponents=(*typed.fields.get("opponent", ()), "", ""),
        told=told,
        key=uuid4().hex,
        draws=draws_usually(rules),
    )


@post("/new")
async def start_new(
    form: TheForm, context: TheContext, visitor: TheVisitor
) -> Response[str] | Redirect:
    """Start a match against somebody, or offer one to anybody; or show the form of another game."""
    account = visitor.need()
    context.app.pace.check(account)
    if form.get("switch"):
        return _form(visitor, current(form.get("switch").lower()), form)
    game = current(form.get("game").lower())
    try:
        return await _start(form, context, visitor, game)
    except Refusal as reason:
        if game.players == (1,):
            raise
        return _form(visitor, game, form, reason.sentence, PROBLEMS[reason.code].status)


async def _start(form: Form, context: ApiContext, visitor: Visitor, game: AnyRules) -> Redirect:
    account = visitor.need()
    command = command_id(DOOR, account, f"{form.get('key')[:64] or uuid4().hex} new")
    if not form.all("opponent") and game.players != (1,):
        proposal = proposal_of(_offered(game, form))
        own = _commitment(form, gathers=gathers(proposal))
        await asyncio.to_thread(_open, context, account, proposal, command, own)
        return go("/#open")
    meant = _meant(visitor, game, form, command)
    await asyncio.to_thread(context.app.ready)
    sent = await asyncio.to_thread(start_of, meant, context, account, command)
    begun = await begin(context, sent, WAIT_SECONDS)
    return go(f"/m/{begun.board}")


def _open(
    context: ApiContext, account: AccountId, proposal: Proposal, command: CommandId, own: str
) -> None:
    context.app.ready()
    context.app.challenges.open(account, proposal, command, bytes.fromhex(own))


def _commitment(form: Form, *, gathers: bool) -> str:
    """Return what the browser commits to, which it does for any game: empty where nothing gathers."""
    text = form.get("commitment")[:64] if gathers else ""
    return read_commitment(text).hex() if text else ""


def _meant(visitor: Visitor, rules: AnyRules, form: Form, command: CommandId) -> NewMatch:
    """Return the match that a form asks for, against those who are named."""
    others = form.all("opponent")
    place = _seat(form.get("seat"), len(others) + 1, command)
    # who plays alone has all the time
    terms = terms_of(form) if others else ()
    return NewMatch(
        game=rules.key,
        players=(*others[:place], visitor.name, *others[place:]),
        options=options_of(rules.key, form),
        terms=terms,
        commitment=_commitment(form, gathers="--gather" in terms),
    )


def _seat(said: str, seats: int, command: CommandId) -> int:
    """Return where the challenger sits; by chance unless it is said.

    The command's id, which holds chance of its own, decides: sent twice, a form is one match.
    """
    if said in ("first", "last"):
        return 0 if said == "first" else seats - 1
    return int.from_bytes(command, "big") % seats


def _offered(rules: AnyRules, form: Form) -> NewChallenge:
    """Return the challenge that a form asks for, for anybody to take."""
    seats = int(form.get("seats")) if form.get("seats") in ("2", "3") else rules.players[0]
    return NewChallenge(
        game=rules.key,
        options=options_of(rules.key, form),
        terms=terms_of(form),
        seats=seats,
        seat={"first": 0, "last": seats - 1}.get(form.get("seat")),
        note=form.get("note"),
    )


@post("/challenges/{challenge:str}/take")
async def take(challenge: Id, form: TheForm, context: TheContext, visitor: TheVisitor) -> Redirect:
    """Take a free seat; with the last one the match starts."""
    account = visitor.need()
    context.app.pace.check(account)
    proposal = (await asyncio.to_thread(context.app.challenges.get, challenge)).proposal
    own = _commitment(form, gathers=gathers(proposal))
    taken = await asyncio.to_thread(api_take, context, challenge, account, own)
    if taken.state is State.TAKEN:
        taken = await start(context, taken, WAIT_SECONDS)
    return go("/#open" if taken.board is None else f"/m/{taken.board}")


@post("/challenges/{challenge:str}/withdraw", sync_to_thread=True)
def withdraw(challenge: Id, form: TheForm, context: TheContext, visitor: TheVisitor) -> Redirect:
    """Withdraw a challenge of one's own, or leave another's."""
    del form
    context.app.challenges.withdraw(visitor.need(), challenge)
    return go("/#open")
