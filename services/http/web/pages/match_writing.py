"""Chat and its muting, conditional moves and private notes of players."""

from litestar.response import Redirect

from services.app import messages
from services.app.conditional_moves import drop_conditional_moves, set_conditional_moves
from services.http.web.declared import Pages
from services.http.web.params import BoardNumber, Own
from services.http.web.render import redirect_to

pages = Pages()


@pages.post("/m/{board:int}/chat")
def write_chat_line(board: BoardNumber, own: Own) -> Redirect:
    """Write a line of chat; only players of the match can."""
    command = own.actor(f"{own.key} chat").command_id()
    messages.write_chat(own.app, board, own.account, own.get("text"), command)
    return redirect_to(f"/m/{board}/chat")


@pages.post("/m/{board:int}/mute")
def mute_chat(board: BoardNumber, own: Own) -> Redirect:
    """Mute the chat; only players of the match can."""
    messages.mute_chat(own.app, board, own.account)
    return redirect_to(f"/m/{board}")


@pages.post("/m/{board:int}/unmute")
def unmute_chat(board: BoardNumber, own: Own) -> Redirect:
    """End the muting of the chat."""
    messages.unmute_chat(own.app, board, own.account)
    return redirect_to(f"/m/{board}")


@pages.post("/m/{board:int}/replies")
def add_conditional_moves(board: BoardNumber, own: Own) -> Redirect:
    """Add the visitor's moves of a line to their conditional moves, or drop those that begin with it.

    Without a line, delete all.
    """
    line = own.get("line").split()
    if own.get("do") == "drop" and line:
        drop_conditional_moves(own.app, own.actor(), board, line)
        return redirect_to(f"/m/{board}")
    set_conditional_moves(own.app, own.actor(), board, [line] if line else [], add=bool(line))
    return redirect_to(f"/m/{board}")


@pages.post("/m/{board:int}/note")
def write_note(board: BoardNumber, own: Own) -> Redirect:
    """Store the visitor's note about a match; only its author can read it."""
    messages.write_note(own.app, own.account, board, own.get("note"))
    return redirect_to(f"/m/{board}")
