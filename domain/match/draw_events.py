"""The events between the call for a match of chance and its draw, as `domain.match.events` has them."""

from domain.fairness import Commitment
from domain.match.decoding import EventBody
from domain.rules import Seat


class Gathered(EventBody, frozen=True, tag="gathered"):
    """A player accepted a match that waits, and gave entropy; the last one starts the match."""

    seat: Seat
    text: bytes
    """The player's entropy text; empty if the player gave none."""


class Committed(EventBody, frozen=True, tag="committed"):
    """A player accepted a match that waits, and committed to a text."""

    seat: Seat
    commitment: Commitment


class Sealed(EventBody, frozen=True, tag="sealed"):
    """All players have committed: the seed of the draw is fixed, and they reveal their texts."""

    chain: int
    k: int
    """The seed's number in the chain; the start event reveals the seed."""
    waits: tuple[Seat, ...]
    """The seats that reveal their texts themselves, because the server does not store them."""


class Revealed(EventBody, frozen=True, tag="revealed"):
    """A player's text was revealed; the last one starts the match."""

    seat: Seat
    text: bytes


class Withheld(EventBody, frozen=True, tag="withheld"):
    """A seat did not reveal its text in time, or declined after the seal."""

    seat: Seat
