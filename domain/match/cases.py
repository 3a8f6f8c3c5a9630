"""The cases of a match: claims with all that followed them, as part of its state."""

from typing import Any

import msgspec
from msgspec.structs import replace

from domain.match.dispute_events import Appealed, Claimed, Ruled
from domain.match.events import AccountId
from domain.rules import Seat


class Case(msgspec.Struct, frozen=True, array_like=True):
    """A claim with all that followed it, or a ruling without a claim; see `domain.match.disputes`."""

    claim: int
    """Its number: that of the event of the claim, or of the ruling without one."""
    seat: Seat | None
    """The seat of the player who made the claim; None if an arbiter did."""
    ply: int
    ruled_at: int = 0
    """The time of the first ruling, ms; 0 before it."""
    arbiter: AccountId = b""
    """The arbiter of the first ruling."""
    appeal: int = 0
    """The number of the event of the appeal; 0 if there is none."""
    final: bool = False
    """Whether there is a ruling on the appeal."""

    @property
    def open(self) -> bool:
        """Whether its claim or its appeal waits for a ruling."""
        return not self.ruled_at or bool(self.appeal and not self.final)


Cases = tuple[Case, ...]
"""The cases of a match, in the order of their numbers."""


def evolve_cases(
    cases: Cases,
    event: Claimed | Ruled | Appealed,
    *,
    seq: int,
    ply: int,
    at: int,
    actor: AccountId,
) -> Cases:
    """Return the cases after an event with that number, at that ply and time, by that account."""
    match event:
        case Claimed():
            return (*cases, Case(seq, event.seat, event.ply))
        case Ruled(claim=None):
            return (*cases, Case(seq, None, ply, at, actor))
        case Appealed():
            return _change(cases, event.claim, appeal=seq)
        case Ruled():
            again = any(case.claim == event.claim and case.appeal for case in cases)
            change = {"final": True} if again else {"ruled_at": at, "arbiter": actor}
            return _change(cases, event.claim, **change)


def _change(cases: Cases, claim: int | None, **change: Any) -> Cases:
    return tuple(replace(case, **change) if case.claim == claim else case for case in cases)
