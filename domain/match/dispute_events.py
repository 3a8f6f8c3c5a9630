"""The events of disputes: claims, rulings, appeals, and what rulings change in a match.

They are events like those of `domain.match.events`, which has them in its union.
"""

from domain.match.decoding import EventBody
from domain.rules import Seat


class Claimed(EventBody, frozen=True, tag="claimed"):
    """A claim about a ply was made; an arbiter rules on it."""

    seat: Seat | None
    """The seat of the player who made it; None if an arbiter did."""
    ply: int
    text: bytes
    """SHA-256 of a salt and the text, which are stored apart."""


class Ruled(EventBody, frozen=True, tag="ruled"):
    """An arbiter ruled; what changes in the match by it follows in events of the same command."""

    claim: int | None
    """The number of the case: of the event that began it; None for a ruling of the arbiter's own motion."""
    upheld: bool
    text: bytes
    """The reasons, as in `Claimed`."""


class Appealed(EventBody, frozen=True, tag="appealed"):
    """A player objected to a ruling; another arbiter rules again."""

    seat: Seat
    claim: int
    """The number of the case."""
    text: bytes
    """As in `Claimed`."""


class SetBack(EventBody, frozen=True, tag="set-back"):
    """A ruling set the match back to a ply: it goes on there, even if it was over."""

    ply: int
    """The number of moves that are left."""
    next: Seat | None
    """The seat to move now."""
    back: tuple[Seat, ...]
    """The seats that had left at that ply or later, and play on now."""


class ResultChanged(EventBody, frozen=True, tag="result-changed"):
    """A ruling changed the result of a match that is over, or ended a running one."""

    winners: tuple[Seat, ...]
    """All tied seats in a draw; none if the match is annulled."""
    reason: str
    """`ruling` or `annulled`."""


class TimeGiven(EventBody, frozen=True, tag="time-given"):
    """A ruling gave a seat more time."""

    seat: Seat
    ms: int
