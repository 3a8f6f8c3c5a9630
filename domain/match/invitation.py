"""The invitation to a match by name, as a part of the state: until all have accepted, it binds nobody.

It stays in the state of a match that ends before, because nobody may be put into that match by a ruling.
"""

import msgspec

from domain.match.events import (
    Accepted,
    Committed,
    DealProposed,
    Event,
    MatchProposed,
    Moved,
    Sealed,
)
from domain.rules import Seat


class Invitation(msgspec.Struct, frozen=True, array_like=True):
    """An invitation that some players have yet to accept."""

    seats: tuple[Seat, ...]
    """Those that have not accepted."""
    lapses: int
    """When the match ends unless all have accepted, ms."""
    server_deals: bool = False
    """Whether the server deals as soon as all have accepted, and nobody has a text to reveal."""


def evolve_invitation(invitation: Invitation | None, event: Event, at: int) -> Invitation | None:
    """Return the invitation after an event received at `at` ms; None once nobody is invited any longer."""
    match event:
        case MatchProposed():
            return Invitation(event.invited, at + event.lapse)
        case DealProposed():
            missing = [seat for seat, one in enumerate(event.commitments) if not one.digest]
            return Invitation(tuple(missing), at + event.lapse, event.server_deals)
        case Sealed():
            return None
    if invitation is None:
        return None
    seats = without_invited(invitation.seats, event)
    return msgspec.structs.replace(invitation, seats=seats) if seats else None


def without_invited(invited: tuple[Seat, ...], event: Event) -> tuple[Seat, ...]:
    """Return the invited seats without one that accepts by an event, in words or by a move."""
    match event:
        case Accepted() | Committed() | Moved():
            return tuple(seat for seat in invited if seat != event.seat)
        case _:
            return invited
