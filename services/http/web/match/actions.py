"""Actions of players at a match: moves and offers, texts for its deal, chat, conditional moves, private notes."""

from typing import Final
from urllib.parse import urlencode

import msgspec
from litestar.response import Redirect

from domain.errors import Code, Refusal
from domain.match.moves import stale
from infra.projections.match_lists import MatchFilter
from services.app import match_notes, messages
from services.app.commands import PLAIN_ACTIONS, Accept, Action, Move, Offer, Reveal, act
from services.app.conditional_moves import drop_conditional_moves, set_conditional_moves
from services.app.matches import load_state
from services.app.sentences import SAY
from services.app.typed_values import typed_number
from services.http.context import ApiContext
from services.http.web.declared import Pages
from services.http.web.forms import Form, OwnForm
from services.http.web.match.view import position_digest
from services.http.web.params import Asked, BoardNumber, FormDependency, KeptTexts, Own
from services.http.web.render import back_to, redirect_to
from services.http.web.session import AnyRequest

pages = Pages()

_MISTYPED: Final = (Code.ILLEGAL_MOVE, Code.UNREADABLE_MOVE)


@pages.post("/m/{board:int}/act")
async def carry_out(board: BoardNumber, own: Own) -> Redirect:
    """Carry out the action of a form, and show the match, or the page that the form names.

    A browser without scripts that sends a mistyped move gets it back in a form, and why it is refused.
    """
    try:
        await _carry_out(board, own)
    except Refusal as reason:
        if own.visitor.partial or reason.code not in _MISTYPED:
            raise
        return _check_of(board, own)
    return back_to(own.get("back") or f"/m/{board}")


@pages.post("/m/{board:int}/check")
async def go_to_check(board: BoardNumber, form: FormDependency) -> Redirect:
    """Show the result of the move in a form, at an address without the form's token."""
    return _check_of(board, form)


def _check_of(board: int, form: Form) -> Redirect:
    """Redirect to the page of the result of a form's move."""
    return redirect_to(f"/m/{board}/check?{urlencode({'move': form.get('move')[:512]})}")


async def _carry_out(board: int, own: OwnForm) -> None:
    """Submit a command and wait for its outcome; `Refusal` if it is refused."""
    state = (await own.context.snapshot(board)).state
    action = _action_of(own)
    if isinstance(action, Move) and action.ply == state.ply:
        # by moves that were taken back the match may be at the same ply in another position
        shown = own.get("after")
        if shown and shown != position_digest(state):
            raise Refusal(Code.STALE_PLY, stale(action.ply, state))
    await own.context.play.submit(act(own.app, own.actor(_key(own)), board, state, action))


def _key(form: Form) -> str:
    """Return the key of the command.

    A form that is sent twice is one command; with other fields it is another command.
    """
    return " ".join([form.key, *(form.get(name)[:100] for name in ("do", "ply", "kind", "move"))])


def _action_of(form: Form) -> Action:
    """Return the action that a form asks for."""
    do = form.get("do")
    match do:
        case "move":
            return Move(form.get("move"), typed_number(form.get("ply")))
        case "offer":
            return Offer(form.get("kind"))
        case "accept":
            return Accept(form.get("entropy")[:200], form.get("commitment"))
        case "reveal":
            return Reveal(form.get("text"))
        case _ if do in PLAIN_ACTIONS:
            return PLAIN_ACTIONS[do]
        case _:
            raise Refusal(Code.BAD_REQUEST, SAY("empty-form"))


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
    match_notes.write_note(own.app, own.account, board, own.get("note"))
    return redirect_to(f"/m/{board}")


_MOST: Final = 200

_DIGITS: Final = 16
"""Hex digits of a commitment by which a browser names a text that it keeps."""


class RevealRequest(msgspec.Struct, frozen=True):
    """A text that a match waits for."""

    board: int
    commitment: str
    """In hex. The browser finds the text by it."""


@pages.get("/draws")
def list_reveals(request: AnyRequest, asked: Asked, have: KeptTexts = "") -> list[RevealRequest]:
    """Return the texts that the visitor's matches wait for; none without a log-in.

    `have` are the texts that the browser keeps; it is noted that they were seen.
    """
    visitor = asked.visitor
    if visitor.account is None:
        return []
    rows = asked.app.lists.of(visitor.account, MatchFilter.NEXT, None, 0, _MOST)
    requests = (
        _reveal_request(asked.context, row.board, visitor.account)
        for row in rows
        if not row.started
    )
    found = [one for one in requests if one is not None]
    kept = have.split(".")
    seen = [one.board for one in found if one.commitment[:_DIGITS] in kept]
    # commitments are public: a link from elsewhere can't make a browser ask for JSON
    if "application/json" in request.headers.get("accept", ""):
        asked.app.seen_texts.note(visitor.account, seen, asked.app.store.now())
    return found


def _reveal_request(context: ApiContext, board: int, account: bytes) -> RevealRequest | None:
    state = load_state(context.app, board)
    seat = state.seats.index(account)
    if state.gather is None or not state.sealed or seat not in state.waits:
        return None
    return RevealRequest(board, state.gather.commitments[seat].digest.hex())
