"""What players write beside their moves: chat, replies laid ready, notes of their own."""

from uuid import uuid4

from litestar import post
from litestar.response import Redirect

from domain.match.events import command_id
from services.app import messages
from services.app.actor import Actor
from services.app.conditional_moves import set_conditional_moves
from services.web.acts import DOOR
from services.web.pages import go
from services.web.params import BoardNumber, TheContext, TheForm, TheVisitor


@post("/m/{board:int}/chat", sync_to_thread=True)
def say(board: BoardNumber, form: TheForm, context: TheContext, visitor: TheVisitor) -> Redirect:
    """Write to the players of a match; only they can."""
    account = visitor.need()
    context.app.pace.check(account)
    key = f"{form.get('key')[:64] or uuid4().hex} chat"
    messages.say(context.app, board, account, form.get("text"), command_id(DOOR, account, key))
    return go(f"/m/{board}/chat")


@post("/m/{board:int}/replies", sync_to_thread=True)
def lay_ready(
    board: BoardNumber, form: TheForm, context: TheContext, visitor: TheVisitor
) -> Redirect:
    """Lay the visitor's moves of a line ready, beside those there are; without a line drop all."""
    actor = Actor(visitor.need(), DOOR, uuid4().hex)
    context.app.pace.check(actor.account)
    line = form.get("line").split()
    set_conditional_moves(context.app, actor, board, [line] if line else [], add=bool(line))
    return go(f"/m/{board}")


@post("/m/{board:int}/note", sync_to_thread=True)
def write_note(
    board: BoardNumber, form: TheForm, context: TheContext, visitor: TheVisitor
) -> Redirect:
    """Store the visitor's note about a match; only its author can read it."""
    account = visitor.need()
    context.app.pace.check(account)
    messages.write_note(context.app, account, board, form.get("note"))
    return go(f"/m/{board}")
