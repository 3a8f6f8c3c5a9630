"""The players' commitments before a draw, as a part of the state."""

from typing import TypeVar

import msgspec

from domain.fairness import Commitment
from domain.match.events import Committed, Sealed
from domain.rules import Seat

T = TypeVar("T")


class CommitState(msgspec.Struct, frozen=True, array_like=True):
    """The progress of a draw by commit and reveal."""

    commitments: tuple[Commitment, ...]
    """The commitments so far, by seat."""
    seal: tuple[int, int] | None = None
    """Chain and number of the draw's seed, once all have committed."""

    @property
    def missing(self) -> tuple[Seat, ...]:
        """The seats that have not committed."""
        return tuple(seat for seat, one in enumerate(self.commitments) if not one.digest)


def evolve_commitments(gather: CommitState | None, event: Committed | Sealed) -> CommitState | None:
    """Return the progress after an event."""
    if gather is None:
        return None
    if isinstance(event, Sealed):
        return msgspec.structs.replace(gather, seal=(event.chain, event.k))
    return CommitState(replace_at(gather.commitments, event.seat, event.commitment), gather.seal)


def replace_at(items: tuple[T, ...], seat: Seat, item: T) -> tuple[T, ...]:
    """Return the items with the one of a seat replaced."""
    return (*items[:seat], item, *items[seat + 1 :])
