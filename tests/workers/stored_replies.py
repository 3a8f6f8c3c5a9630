"""Conditional moves that a test stores in a match, and the moves that come of them."""

from domain.match.conditional_moves import ConditionalMove, ConditionalMoves, merge, pack, unpack
from domain.match.events import Moved
from domain.match.history import decode_event, unpack_snapshot
from infra.store.port import Store

OUT, FORTH, AGAIN = "m13-m9", "a13-c11", "m9-m13"
"""The first moves of a match, of alice, bob and alice."""
ON_OUT = ConditionalMove(1, (OUT,), FORTH)
"""Bob's answer to the first move."""


def lay(store: Store, seat: int, reply: ConditionalMove, board: int = 1) -> bool:
    """Store a conditional move, as a front end does; return whether it was stored."""
    ((data, laid),) = store.snapshots_with_conditional_moves([board])
    before = unpack(laid)
    more = {**before, seat: merge(before.get(seat, ConditionalMoves()), [reply])}
    return store.set_conditional_moves(board, unpack_snapshot(data).head, laid, pack(more))


def laid(store: Store, board: int = 1) -> bytes:
    """Return the conditional moves of a match, packed."""
    return store.snapshots_with_conditional_moves([board])[0][1]


def moves(store: Store, board: int = 1) -> list[tuple[str, bool]]:
    """The moves of a match, and whether each was a conditional move."""
    bodies = [decode_event(data).body for data in store.events(board)]
    return [(body.move, body.queued) for body in bodies if isinstance(body, Moved)]
