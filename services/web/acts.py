"""What a player does in a match from its page: one form for each."""

from typing import Final
from uuid import uuid4

from litestar import post
from litestar.response import Redirect

from domain.errors import Code, Refusal
from domain.match.commands import Sent
from domain.match.decide import seat_of
from domain.match.events import command_id
from domain.match.state import MatchState
from services.api.commands import (
    WAIT_SECONDS,
    Accept,
    AnyAsked,
    Decline,
    Move,
    Offer,
    Reject,
    Resign,
    Resume,
    Reveal,
    command_of,
)
from services.api.context import ApiContext
from services.web.pages import go
from services.web.params import BoardNumber, TheContext, TheForm, TheVisitor
from services.web.visitors import Form, Visitor

DOOR: Final = "web"
"""Its name is part of each command id: keys of different doors don't meet."""


@post("/m/{board:int}/act")
async def act(
    board: BoardNumber, form: TheForm, context: TheContext, visitor: TheVisitor
) -> Redirect:
    """Carry out what a form says, and show the match as it stands then."""
    await carry_out(board, form, context, visitor)
    return go(f"/m/{board}")


async def carry_out(board: int, form: Form, context: ApiContext, visitor: Visitor) -> None:
    """Hand a command in and wait for its outcome; `Refusal` when it is refused."""
    account = visitor.need()
    context.app.pace.check(account)
    state = (await context.snapshot(board)).state
    seat_of(account, state)
    id_ = command_id(DOOR, account, _key(form))
    command = await command_of(_asked(form, state), context, board, account, state, id_)
    sent = Sent(board, id_, account, command)
    outcome = await context.gateway.send(sent, state.ply, WAIT_SECONDS)
    if not outcome.accepted:
        raise Refusal(Code(outcome.code), outcome.sentence)


def _key(form: Form) -> str:
    """Return the command's key: a form that is sent twice is one command, filled in anew another."""
    page = form.get("key")[:64] or uuid4().hex
    return " ".join([page, *(form.get(name)[:100] for name in ("do", "ply", "kind", "move"))])


def _asked(form: Form, state: MatchState) -> AnyAsked:
    """Return what a form asks for."""
    do = form.get("do")
    match do:
        case "move":
            return Move(move=form.get("move"), ply=_ply(form.get("ply")))
        case "offer":
            return Offer(kind=form.get("kind")[:24])
        case "accept":
            if not state.gathering:
                return Accept()
            return Accept(entropy=form.get("entropy")[:200], commitment=form.get("commitment")[:64])
        case "reveal":
            return Reveal(text=form.get("text").strip())
        case _ if do in _PLAIN:
            return _PLAIN[do]
        case _:
            raise Refusal(Code.BAD_REQUEST, "the form does not say what to do")


def _ply(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < len("1000000") else None


_PLAIN: Final[dict[str, AnyAsked]] = {
    "reject": Reject(),
    "resign": Resign(),
    "decline": Decline(),
    "resume": Resume(),
}
