"""What players write beside their moves: chat, replies laid ready, notes of their own."""

from uuid import uuid4

from litestar import post
from litestar.response import Redirect

from domain.match.decide import seat_of
from domain.match.events import command_id
from infra.notes import Notes
from services.app import messages as chatting
from services.app.matches import state_of
from services.language.replies import lay
from services.web.acts import DOOR
from services.web.pages import go
from services.web.params import BoardNumber, TheContext, TheForm, TheVisitor


@post("/m/{board:int}/chat", sync_to_thread=True)
def say(board: BoardNumber, form: TheForm, context: TheContext, visitor: TheVisitor) -> Redirect:
    """Write to the players of a match; only they can."""
    account = visitor.need()
    context.app.pace.check(account)
    key = f"{form.get('key')[:64] or uuid4().hex} chat"
    chatting.say(context.app, board, account, form.get("text"), command_id(DOOR, account, key))
    return go(f"/m/{board}/chat")


@post("/m/{board:int}/replies", sync_to_thread=True)
def lay_ready(
    board: BoardNumber, form: TheForm, context: TheContext, visitor: TheVisitor
) -> Redirect:
    """Lay the visitor's moves of a line ready, beside those there are; without a line drop all."""
    account = visitor.need()
    context.app.pace.check(account)
    seat = seat_of(account, state_of(context.app, board))
    context.app.ready()
    line = form.get("line").split()
    lay(context.app, board, seat, [line] if line else [], add=bool(line))
    return go(f"/m/{board}")


@post("/m/{board:int}/note", sync_to_thread=True)
def write_note(
    board: BoardNumber, form: TheForm, context: TheContext, visitor: TheVisitor
) -> Redirect:
    """Keep what the visitor notes about a match; nobody else ever sees it."""
    account = visitor.need()
    context.app.pace.check(account)
    state_of(context.app, board)
    context.app.ready()
    Notes(context.app.data).put(account, board, form.get("note").replace("\r\n", "\n"))
    return go(f"/m/{board}")
