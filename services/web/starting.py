"""New matches: against somebody by name, or open to anybody."""

import asyncio
from uuid import uuid4

from litestar import Response, get, post
from litestar.response import Redirect

from domain.clocks.terms import write_terms
from domain.errors import Code, Refusal
from domain.match.commands import Sent
from domain.match.events import AccountId, CommandId, command_id
from domain.rules import AnyRules, current, rules_id
from infra.challenges import Challenge, Proposal, State
from services.api.challenges import start
from services.api.hand import Hand
from services.api.starting import begin
from services.language.parsing import games
from services.language.starting import check_players, start_command
from services.language.terms import Agreed, read_agreed
from services.web.acts import DOOR, WAIT_SECONDS
from services.web.choices import CHOICES, TIMES, USUAL_TIME, options_of, terms_of
from services.web.pages import go, page
from services.web.params import Id, Opponent, TheForm, TheHand, TheVisitor, Wanted
from services.web.visitors import Form

_FAVOURITE = "pow2"


@get("/new", sync_to_thread=True)
def show_new(
    visitor: TheVisitor,
    game: Wanted = _FAVOURITE,
    opponent: Opponent = "",
) -> Response[str]:
    """Show what can be chosen for a match."""
    visitor.need()
    rules = current(game.lower())
    return page(
        "new.html",
        visitor,
        rules=rules,
        games=[one for one in map(current, games()) if one.players != (1,)],
        choices=CHOICES.get(rules.key, ()),
        times=TIMES,
        usual=USUAL_TIME,
        opponent=opponent,
        key=uuid4().hex,
        draws=_may_draw(rules),
    )


def _may_draw(rules: AnyRules) -> bool:
    """Tell whether chance has a part in the usual match of the game."""
    return rules.needs_draw(rules.read_options(()), rules.players[-1])


@post("/new")
async def start_new(form: TheForm, hand: TheHand, visitor: TheVisitor) -> Redirect:
    """Start a match against somebody, or offer one to anybody."""
    account = visitor.need()
    hand.parts.pace.check(account)
    game = current(form.get("game").lower())
    command = command_id(DOOR, account, f"{form.get('key')[:64] or uuid4().hex} new")
    names = form.all("opponent")
    if not names and game.players != (1,):
        await asyncio.to_thread(_offer, hand, account, game, form, command)
        return go("/#open")
    sent = await asyncio.to_thread(_sent, hand, account, game, form, command)
    begun = await begin(hand, sent, WAIT_SECONDS)
    return go(f"/m/{begun.board}")


def _sent(hand: Hand, account: AccountId, rules: AnyRules, form: Form, command: CommandId) -> Sent:
    """Give the command that starts a match against those who are named."""
    others = [hand.parts.accounts.id_of(name) for name in form.all("opponent")]
    place = _seat(form.get("seat"), len(others) + 1, command)
    seats = [*others[:place], account, *others[place:]]
    # who plays alone has all the time
    terms = terms_of(form) if others else ()
    agreed = read_agreed(terms, len(seats))
    begun = start_command(rules, options_of(rules.key, form), agreed, seats, command)
    hand.parts.ready()
    return Sent(hand.parts.store.allocate(command), command, account, begun)


def _seat(said: str, seats: int, command: CommandId) -> int:
    """Give where the challenger sits; by chance unless it is said.

    The command's id, which holds chance of its own, decides: sent twice, a form is one match.
    """
    if said in ("first", "last"):
        return 0 if said == "first" else seats - 1
    return int.from_bytes(command, "big") % seats


def _offer(
    hand: Hand, account: AccountId, rules: AnyRules, form: Form, command: CommandId
) -> Challenge:
    """Open a challenge."""
    seats = int(form.get("seats")) if form.get("seats") in ("2", "3") else rules.players[0]
    options = rules.read_options(options_of(rules.key, form))
    check_players(rules, range(seats))
    agreed = read_agreed(terms_of(form), seats)
    if agreed.gather and not rules.needs_draw(options, seats):
        raise Refusal(Code.BAD_OPTION, "chance decides nothing here, so it takes no words for it")
    proposal = Proposal(
        rules=rules_id(rules),
        options=rules.write_options(options),
        words=_words(agreed),
        seats=seats,
        seat={"first": 0, "last": seats - 1}.get(form.get("seat")),
        note=form.get("note"),
    )
    hand.parts.ready()
    return hand.parts.challenges.open(account, proposal, command)


def _words(agreed: Agreed) -> tuple[str, ...]:
    gather = ("--gather",) if agreed.gather else ()
    return (*gather, *(write_terms(agreed.terms) if agreed.terms else ()))


@post("/challenges/{challenge:str}/take")
async def take(challenge: Id, form: TheForm, hand: TheHand, visitor: TheVisitor) -> Redirect:
    """Take a free seat; with the last one the match starts."""
    del form
    account = visitor.need()
    hand.parts.pace.check(account)
    taken = await asyncio.to_thread(hand.parts.challenges.take, challenge, account)
    if taken.state is State.TAKEN:
        taken = await start(hand, taken, WAIT_SECONDS)
    return go("/#open" if taken.board is None else f"/m/{taken.board}")


@post("/challenges/{challenge:str}/withdraw", sync_to_thread=True)
def withdraw(challenge: Id, form: TheForm, hand: TheHand, visitor: TheVisitor) -> Redirect:
    """Withdraw a challenge of one's own, or leave another's."""
    del form
    hand.parts.challenges.withdraw(visitor.need(), challenge)
    return go("/#open")
