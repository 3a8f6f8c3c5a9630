"""What a player does in a match from its page: one form for each."""

from collections.abc import Callable
from typing import Any, Final
from uuid import uuid4

from litestar import post
from litestar.response import Redirect

from domain.errors import Code, Refusal
from domain.fairness import entropy_text
from domain.match import commands
from domain.match.commands import Command, Sent
from domain.match.decide import OFFER_KINDS, read_move, seat_of
from domain.match.events import CommandId, command_id
from domain.match.state import MatchState
from domain.rules import pinned
from services.api.commands import WAIT_SECONDS
from services.api.hand import Hand
from services.web.pages import go
from services.web.params import BoardNumber, TheForm, TheHand, TheVisitor
from services.web.visitors import Form, Visitor

DOOR: Final = "web"
"""Its name is part of each command id: keys of different doors don't meet."""


@post("/m/{board:int}/act")
async def act(board: BoardNumber, form: TheForm, hand: TheHand, visitor: TheVisitor) -> Redirect:
    """Carry out what a form says, and show the match as it stands then."""
    await carry_out(board, form, hand, visitor)
    return go(f"/m/{board}")


async def carry_out(board: int, form: Form, hand: Hand, visitor: Visitor) -> None:
    """Hand a command in and wait for its outcome; `Refusal` when it is refused."""
    account = visitor.need()
    hand.parts.pace.check(account)
    state = (await hand.snapshot(board)).state
    seat_of(account, state)
    id_ = command_id(DOOR, account, _key(form))
    sent = Sent(board, id_, account, _command(form, state, id_))
    outcome = await hand.post.send(sent, state.ply, WAIT_SECONDS)
    if not outcome.accepted:
        raise Refusal(Code(outcome.code), outcome.sentence)


def _key(form: Form) -> str:
    """Give the command's key: a form that is sent twice is one command, filled in anew another."""
    page = form.get("key")[:64] or uuid4().hex
    return " ".join([page, *(form.get(name)[:100] for name in ("do", "ply", "kind", "move"))])


Reader = Callable[[Form, MatchState, CommandId], Command]


def _move(form: Form, state: MatchState, _: CommandId) -> Command:
    rules, ply = pinned(state.rules), form.get("ply")
    meant = int(ply) if ply.isdecimal() and len(ply) < len("1000000") else None
    return commands.Move(text=rules.write(read_move(rules, form.get("move"))), ply=meant)


def _offer(form: Form, state: MatchState, _: CommandId) -> Command:
    kind, kinds = form.get("kind"), (*OFFER_KINDS, *pinned(state.rules).offers)
    if kind not in kinds:
        raise Refusal(
            Code.UNKNOWN_OFFER,
            f"{kind[:24]!r} can't be proposed; what can be is: {', '.join(kinds)}",
        )
    return commands.Offer(kind=kind)


def _accept(form: Form, state: MatchState, id_: CommandId) -> Command:
    word = form.get("entropy")[:200] if state.gathering else ""
    return commands.Answer(accept=True, text=entropy_text(id_, word) if word else b"")


_READERS: Final[dict[str, Reader]] = {
    "move": _move,
    "offer": _offer,
    "accept": _accept,
    "reject": lambda *_: commands.Answer(accept=False),
    "resign": lambda *_: commands.Resign(),
    "decline": lambda *_: commands.Decline(),
    "resume": lambda *_: commands.Resume(),
}


def _command(form: Form, state: MatchState, id_: CommandId) -> Any:
    read = _READERS.get(form.get("do"))
    if read is None:
        raise Refusal(Code.BAD_REQUEST, "the form does not say what to do")
    return read(form, state, id_)
