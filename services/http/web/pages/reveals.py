"""The texts for draws that a browser keeps, and is asked to reveal."""

from typing import Final

import msgspec
from litestar import get

from infra.projections.match_lists import MatchFilter
from services.app.matches import load_state
from services.http.context import ApiContext
from services.http.web.params import ContextDependency, VisitorDependency

_MOST: Final = 200


class RevealRequest(msgspec.Struct, frozen=True):
    """A text that a match waits for."""

    board: int
    commitment: str
    """In hex: by this the browser finds the text."""


@get("/draws", sync_to_thread=True)
def list_reveals(context: ContextDependency, visitor: VisitorDependency) -> list[RevealRequest]:
    """Return the texts that the visitor's matches wait for; none without a log-in."""
    if visitor.account is None:
        return []
    rows = context.app.lists.of(visitor.account, MatchFilter.NEXT, None, 0, _MOST)
    found = [_asked(context, row.board, visitor.account) for row in rows if not row.started]
    return [one for one in found if one is not None]


def _asked(context: ApiContext, board: int, account: bytes) -> RevealRequest | None:
    state = load_state(context.app, board)
    seat = state.seats.index(account)
    if state.gather is None or not state.sealed or seat not in state.waits:
        return None
    return RevealRequest(board, state.gather.commitments[seat].digest.hex())
