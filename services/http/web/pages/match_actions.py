"""Actions of players in a match, each from a form of its page."""

from typing import Final
from urllib.parse import urlencode
from uuid import uuid4

from litestar import post
from litestar.response import Redirect

from domain.errors import Code, Refusal
from services.app.actor import Actor
from services.app.commands import (
    PLAIN_ACTIONS,
    WAIT_SECONDS,
    AcceptAction,
    Action,
    MoveAction,
    OfferAction,
    RevealAction,
)
from services.app.draws import DrawPart
from services.app.sentences import SAY
from services.http.context import ApiContext
from services.http.web.params import (
    BoardNumber,
    ContextDependency,
    FormDependency,
    VisitorDependency,
)
from services.http.web.render import local_path, redirect_to
from services.http.web.session import Form, Visitor

WEB_FRONT_END: Final = "web"
"""The name is part of each command id, so that keys of different front ends are distinct."""

_MISTYPED: Final = (Code.ILLEGAL_MOVE, Code.UNREADABLE_MOVE)


@post("/m/{board:int}/act")
async def act(
    board: BoardNumber, form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Redirect:
    """Carry out the action of a form, and show the match, or the page that the form names.

    A browser without scripts that sends a mistyped move gets it back in a form, and why it is refused.
    """
    try:
        await carry_out(board, form, context, visitor)
    except Refusal as reason:
        if visitor.partial or reason.code not in _MISTYPED:
            raise
        return go_to_check_of(board, form)
    back = form.get("back")
    return redirect_to(local_path(back) if back else f"/m/{board}")


@post("/m/{board:int}/check")
async def go_to_check(board: BoardNumber, form: FormDependency) -> Redirect:
    """Show the result of the move in a form, at an address without the form's token."""
    return go_to_check_of(board, form)


def go_to_check_of(board: int, form: Form) -> Redirect:
    """Redirect to the page of the result of a form's move."""
    return redirect_to(f"/m/{board}/check?{urlencode({'move': form.get('move')[:512]})}")


async def carry_out(board: int, form: Form, context: ApiContext, visitor: Visitor) -> None:
    """Submit a command and wait for its outcome; `Refusal` if it is refused."""
    actor = Actor(visitor.require_account(), WEB_FRONT_END, _key(form))
    context.app.pace.check(actor.account)
    state = (await context.snapshot(board)).state
    command = await context.command(actor, board, state, _action_of(form))
    await context.send(command, WAIT_SECONDS)


def _key(form: Form) -> str:
    """Return the key of the command.

    A form that is sent twice is one command; with other fields it is another command.
    """
    page = form.get("key")[:64] or uuid4().hex
    return " ".join([page, *(form.get(name)[:100] for name in ("do", "ply", "kind", "move"))])


def _action_of(form: Form) -> Action:
    """Return the action that a form asks for."""
    do = form.get("do")
    match do:
        case "move":
            return MoveAction(form.get("move"), _ply(form.get("ply")))
        case "offer":
            return OfferAction(form.get("kind"))
        case "accept":
            return AcceptAction(DrawPart(form.get("entropy")[:200], form.get("commitment")))
        case "reveal":
            return RevealAction(form.get("text"))
        case _ if do in PLAIN_ACTIONS:
            return PLAIN_ACTIONS[do]
        case _:
            raise Refusal(Code.BAD_REQUEST, SAY("empty-form"))


def _ply(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < len("1000000") else None
