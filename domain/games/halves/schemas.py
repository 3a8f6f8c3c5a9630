"""The moves and positions of Halves as programs see them."""

from typing import Final

from domain.game.schemas import MoveNotation, Schema, notation, number, object_of
from domain.games.halves.rules import NUMBERS, PHASE_NAMES, WORDS
from domain.games.halves.sentences import SIDES

NOTATION: Final[MoveNotation] = notation(
    f"({'|'.join(WORDS)})|{NUMBERS}",
    ("word", "whether the first player keeps the colour or swaps it"),
    ("number", "the tile that is removed, or the cell in which one is laid"),
    ("kept", "a tile of the group that is kept"),
)

_COLOUR: Final = number(len(SIDES) - 1)
_TILE: Final = {
    "type": "array",
    "description": "column and row on a board of hexagons, colour, and number in moves",
    "prefixItems": [
        {"type": "integer", "title": "q"},
        {"type": "integer", "title": "r"},
        {**_COLOUR, "title": "colour"},
        {"type": ["integer", "null"], "minimum": 1, "title": "number"},
    ],
    "minItems": 4,
    "maxItems": 4,
}

POSITION: Final[Schema] = object_of(
    {
        "phase": {
            "enum": [*PHASE_NAMES.values()],
            "description": "tiles are laid, colours are chosen, tiles are removed",
        },
        "colours": {
            "type": "array",
            "description": "the colour of each seat",
            "items": _COLOUR,
            "minItems": 2,
            "maxItems": len(SIDES),
        },
        "tiles": {"type": "array", "items": _TILE, "description": "the tiles that are left"},
    }
)
