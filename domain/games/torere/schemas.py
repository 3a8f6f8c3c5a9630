"""The moves and positions of Mū tōrere as programs see them."""

from typing import Final

from domain.game.schemas import MoveNotation, Schema, by_place, letters, notation, object_of, one_of
from domain.games.torere.rules import PLACES
from domain.games.torere.sentences import SAY

_PLACE: Final = one_of(PLACES)
NOTATION: Final[MoveNotation] = notation(
    f"({_PLACE})-({_PLACE})",
    ("from", "the stone that moves"),
    ("to", "the empty place"),
)

POSITION: Final[Schema] = object_of(
    {
        "board": by_place(
            PLACES,
            letters({"o": SAY("side", seat=0), "x": SAY("side", seat=1)}),
            "the stones by place; the empty place is left out",
        )
    }
)
