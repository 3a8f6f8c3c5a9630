"""What waits for its turn, in projections that go by time: see `workers.projections.ordered`.

| key | what |
|---|---|
| `pending` | sorted set: `<board>:<seq>|<text>`; score: time by which the event has its place, ms |
| `pending:<shard>` | the same, of the events in one shard's log |

Members of one score are in text order, so the set is in the order of (time, board, seq).
"""

from typing import Final

import msgspec

from infra.projections.shelf import Place

PENDING: Final = "pending"


def pending_of(shard: int) -> str:
    """Name what waits of one shard's log."""
    return f"{PENDING}:{shard}"


class Due(msgspec.Struct, frozen=True):
    """An event whose turn has come, or will."""

    place: Place
    text: str
    """What the projection has to know of it."""

    @property
    def member(self) -> str:
        """How the sorted set has it."""
        _, board, seq = self.place
        return f"{board:015}:{seq:010}|{self.text}"

    @classmethod
    def read(cls, member: bytes, score: float) -> "Due":
        """Read what the sorted set has."""
        where, _, text = member.decode().partition("|")
        board, seq = where.split(":")
        return cls((int(score), int(board), int(seq)), text)
