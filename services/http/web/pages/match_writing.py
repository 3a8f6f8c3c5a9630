"""Chat and its muting, conditional moves and private notes of players."""

from uuid import uuid4

from litestar import post
from litestar.response import Redirect

from domain.match.events import command_id
from services.app import messages
from services.app.actor import Actor
from services.app.conditional_moves import drop_conditional_moves, set_conditional_moves
from services.http.web.pages.match_actions import WEB_FRONT_END
from services.http.web.params import (
    BoardNumber,
    ContextDependency,
    FormDependency,
    VisitorDependency,
)
from services.http.web.render import redirect_to


@post("/m/{board:int}/chat", sync_to_thread=True)
def write_chat_line(
    board: BoardNumber, form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Redirect:
    """Write a line of chat; only players of the match can."""
    account = visitor.require_account()
    context.app.pace.check(account)
    key = f"{form.get('key')[:64] or uuid4().hex} chat"
    messages.write_chat(
        context.app, board, account, form.get("text"), command_id(WEB_FRONT_END, account, key)
    )
    return redirect_to(f"/m/{board}/chat")


@post("/m/{board:int}/mute", sync_to_thread=True)
def mute_chat(
    board: BoardNumber, form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Redirect:
    """Mute the chat; only players of the match can."""
    del form
    account = visitor.require_account()
    context.app.pace.check(account)
    messages.mute_chat(context.app, board, account)
    return redirect_to(f"/m/{board}")


@post("/m/{board:int}/unmute", sync_to_thread=True)
def unmute_chat(
    board: BoardNumber, form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Redirect:
    """End the muting of the chat."""
    del form
    account = visitor.require_account()
    context.app.pace.check(account)
    messages.unmute_chat(context.app, board, account)
    return redirect_to(f"/m/{board}")


@post("/m/{board:int}/replies", sync_to_thread=True)
def add_conditional_moves(
    board: BoardNumber, form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Redirect:
    """Add the visitor's moves of a line to their conditional moves, or drop those that begin with it.

    Without a line, delete all.
    """
    actor = Actor(visitor.require_account(), WEB_FRONT_END, uuid4().hex)
    context.app.pace.check(actor.account)
    line = form.get("line").split()
    if form.get("do") == "drop" and line:
        drop_conditional_moves(context.app, actor, board, line)
        return redirect_to(f"/m/{board}")
    set_conditional_moves(context.app, actor, board, [line] if line else [], add=bool(line))
    return redirect_to(f"/m/{board}")


@post("/m/{board:int}/note", sync_to_thread=True)
def write_note(
    board: BoardNumber, form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Redirect:
    """Store the visitor's note about a match; only its author can read it."""
    account = visitor.require_account()
    context.app.pace.check(account)
    messages.write_note(context.app, account, board, form.get("note"))
    return redirect_to(f"/m/{board}")
