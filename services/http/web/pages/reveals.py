"""The list of texts that a browser has to reveal for draws."""

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
    """In hex. The browser finds the text by it."""


@get("/draws", sync_to_thread=True)
def list_reveals(context: ContextDependency, visitor: VisitorDependency) -> list[RevealRequest]:
    """Return the texts that the visitor's matches wait for; none without a log-in."""
    if visitor.account is None:
        return []
    rows = context.app.lists.of(visitor.account, MatchFilter.NEXT, None, 0, _MOST)
    found = [
        _reveal_request(context, row.board, visitor.account) for row in rows if not row.started
    ]
    return [one for one in found if one is not None]


def _reveal_request(context: ApiContext, board: int, account: bytes) -> RevealRequest | None:
    state = load_state(context.app, board)
    seat = state.seats.index(account)
    if state.gather is None or not state.sealed or seat not in state.waits:
        return None
    return RevealRequest(board, state.gather.commitments[seat].digest.hex())
