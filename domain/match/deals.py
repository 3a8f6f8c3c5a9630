"""The kinds of deals that set up a match of chance, told by its events."""

from collections.abc import Iterable
from enum import StrEnum

from domain.fairness import SetupDraw
from domain.match.events import (
    Called,
    Challenged,
    DealProposed,
    Event,
    Imported,
    MatchStarted,
    Revealed,
    Sealed,
)


class DealKind(StrEnum):
    """A kind of deal."""

    ALONE = "alone"
    """The challenger alone added to it, or the only player."""
    IN_TURN = "in-turn"
    """The players gave their texts one after another."""
    BY_SERVER = "by-server"
    """The server dealt at once, and kept the texts of all players."""
    SEALED = "sealed"
    """Players committed to texts that they kept, and revealed them after the seal."""
    AGREED = "agreed"
    """It was sealed, and then all players agreed that the server deals without the missing texts."""


def deal_kind(events: Iterable[Event]) -> DealKind | None:
    """Return the kind of a match's deal, before it too; None where chance sets up nothing.

    `events` are those of the match in order; none after the start is asked for.
    """
    later = iter(events)
    match next(later, None):
        case Imported():
            return None
        case DealProposed(server_deals=True):
            return DealKind.BY_SERVER
        case Called():
            return _committed_kind(later)
        case Challenged():
            return DealKind.IN_TURN
        case MatchStarted(draw=SetupDraw()):
            return DealKind.ALONE
        case _:
            return None


def _committed_kind(events: Iterable[Event]) -> DealKind:
    """Return the kind of a deal to whose texts players commit first."""
    missing: set[int] = set()
    for event in events:
        match event:
            case Sealed(waits=()):
                return DealKind.BY_SERVER
            case Sealed(waits=waits):
                missing.update(waits)
            case Revealed(seat=seat):
                missing.discard(seat)
            case MatchStarted():
                return DealKind.AGREED if missing else DealKind.SEALED
    return DealKind.SEALED
