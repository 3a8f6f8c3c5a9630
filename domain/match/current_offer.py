"""The open offer of a match, as its state and the lists of matches have it."""

from collections.abc import Sequence
from typing import Self

import msgspec
from msgspec.structs import replace

from domain.rules import Seat


class CurrentOffer(msgspec.Struct, frozen=True, array_like=True):
    """An open offer: the seat that made it and those that have accepted."""

    kind: str
    seat: Seat
    accepted: tuple[Seat, ...] = ()

    def survives_move_of(self, mover: Seat) -> bool:
        """Return whether it stays open after a move of that seat.

        A draw may be proposed together with a move. The offers of a game are about a position.
        """
        return self.kind == "draw" and self.seat == mover

    def after_answer(self, seat: Seat, *, accept: bool, playing: Sequence[Seat]) -> Self | None:
        """Return the offer after an answer; None if it was rejected or everybody has accepted."""
        accepted = (*self.accepted, seat)
        if not accept or {self.seat, *accepted}.issuperset(playing):
            return None
        return replace(self, accepted=accepted)
