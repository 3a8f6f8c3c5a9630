"""Actions of players in a match, each from a form of its page."""

from typing import Final
from urllib.parse import urlencode

from litestar.response import Redirect

from domain.errors import Code, Refusal
from services.app.commands import PLAIN_ACTIONS, Accept, Action, Move, Offer, Reveal, act
from services.app.sentences import SAY
from services.http.web.declared import Pages
from services.http.web.forms import Form, OwnForm
from services.http.web.params import (
    BoardNumber,
    FormDependency,
    Own,
)
from services.http.web.render import back_to, redirect_to

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
    await own.context.play.submit(act(own.app, own.actor(_key(own)), board, state, _action_of(own)))


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
            return Move(form.get("move"), _ply(form.get("ply")))
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


def _ply(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < len("1000000") else None
