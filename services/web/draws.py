"""The texts for draws that a browser keeps, and is asked to reveal."""

from typing import Final

import msgspec
from litestar import get

from infra.projections.lists import State
from services.api.context import ApiContext
from services.app.matches import state_of
from services.web.params import TheContext, TheVisitor

_MOST: Final = 200


class Asked(msgspec.Struct, frozen=True):
    """A text that a match waits for."""

    board: int
    commitment: str
    """In hex: by this the browser finds the text."""


@get("/draws", sync_to_thread=True)
def list_reveals(context: TheContext, visitor: TheVisitor) -> list[Asked]:
    """Return the texts that the visitor's matches wait for; none without a log-in."""
    if visitor.account is None:
        return []
    rows = context.app.lists.of(visitor.account, State.NEXT, None, 0, _MOST)
    found = [_asked(context, row.board, visitor.account) for row in rows if not row.started]
    return [one for one in found if one is not None]


def _asked(context: ApiContext, board: int, account: bytes) -> Asked | None:
    state = state_of(context.app, board)
    seat = state.seats.index(account)
    if state.gather is None or not state.sealed or seat not in state.waits:
        return None
    return Asked(board, state.gather.commitments[seat].digest.hex())
