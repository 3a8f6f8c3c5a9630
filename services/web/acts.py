"""What a player does in a match from its page: one form for each."""

from typing import Final
from uuid import uuid4

from litestar import post
from litestar.response import Redirect

from domain.errors import Code, Refusal
from infra.gateway import WAIT_SECONDS
from services.api.context import ApiContext
from services.app.actor import Actor
from services.app.commands import PLAIN_ACTIONS, Action, Consent, PlayMove, Propose, RevealText
from services.app.draws import Part
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
    actor = Actor(visitor.need(), DOOR, _key(form))
    context.app.pace.check(actor.account)
    state = (await context.snapshot(board)).state
    await context.act(actor, board, state, _action_of(form), WAIT_SECONDS)


def _key(form: Form) -> str:
    """Return the command's key: a form that is sent twice is one command, filled in anew another."""
    page = form.get("key")[:64] or uuid4().hex
    return " ".join([page, *(form.get(name)[:100] for name in ("do", "ply", "kind", "move"))])


def _action_of(form: Form) -> Action:
    """Return what a form asks for."""
    do = form.get("do")
    match do:
        case "move":
            return PlayMove(form.get("move"), _ply(form.get("ply")))
        case "offer":
            return Propose(form.get("kind"))
        case "accept":
            return Consent(Part(form.get("entropy")[:200], form.get("commitment")))
        case "reveal":
            return RevealText(form.get("text"))
        case _ if do in PLAIN_ACTIONS:
            return PLAIN_ACTIONS[do]
        case _:
            raise Refusal(Code.BAD_REQUEST, "the form does not say what to do")


def _ply(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < len("1000000") else None
