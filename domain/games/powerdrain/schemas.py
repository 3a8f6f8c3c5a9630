"""The moves and positions of Powerdrain as programs see them."""

from typing import Final

from domain.game.schemas import (
    MoveNotation,
    Schema,
    by_place,
    notation,
    number,
    object_of,
    one_each,
    one_of,
)
from domain.games.powerdrain.grid import PLUGS, SECTIONS

NOTATION: Final[MoveNotation] = notation(
    f"({one_of(PLUGS)})-({one_of(SECTIONS)})",
    ("plug", "the plug, by the digits that face left and up"),
    ("section", "where it goes: the digit of the row, then that of the column"),
)

_PLUGS_LEFT: Final = {"type": "array", "items": {"enum": [*PLUGS]}, "uniqueItems": True}
_PLUGGED: Final = {
    "type": "array",
    "prefixItems": [{"enum": [*PLUGS]}, number(1)],
    "minItems": 2,
    "maxItems": 2,
}

POSITION: Final[Schema] = {
    **object_of(
        {"grid": by_place(SECTIONS, _PLUGGED, "the plug and its player's seat, by section")},
        {
            "hands": one_each(2, _PLUGS_LEFT, "the plugs left, by seat"),
            "pool": {**_PLUGS_LEFT, "description": "the plugs left, in a match with a pool"},
        },
    ),
    "oneOf": [{"required": ["hands"]}, {"required": ["pool"]}],
}
