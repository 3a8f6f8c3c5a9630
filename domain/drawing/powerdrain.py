"""The powergrid as text: every plug with its value and what is left of it, if play ended here."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from domain.rules.powerdrain_turns import SIDES, Grid, drained, value

_SIGNS: Final = "+-"
_EMPTY: Final = (" " * 7, " " * 7)
_RULE: Final = f"   {'-' * 41}"


def _signed(volts: int, seat: int) -> str:
    """Give a voltage with the sign of its player, zero without, in three columns."""
    return f"{_SIGNS[seat] if volts else ' '}{volts}".ljust(3)


def _sections(left: Sequence[int], top: Sequence[int], grid: Grid) -> dict[str, tuple[str, str]]:
    """Give both lines of each section that holds a plug, seven columns wide."""
    rest = drained(left, top, grid)
    return {
        at: (
            f" <{plug[0]} {plug[1]}^ ",
            f"{_signed(value(plug, at), seat)} {_signed(rest[at], seat)}",
        )
        for at, (plug, seat) in grid.items()
    }


def _players(names: Sequence[str]) -> list[str]:
    """Give what stands beside the grid for each player: side, sign and name."""
    named = names or ("", "")
    return [
        f"   {side} {sign} {name}".rstrip()
        for side, sign, name in zip(SIDES, _SIGNS, named, strict=True)
    ]


def _plugs_left(position: Mapping[str, Any]) -> list[str]:
    """Give the lines of the hands or the pool; none when all plugs are in the grid."""
    if "pool" in position:
        hands = {"Pool": position["pool"]}
    else:
        labels = [f"{side} {sign}" for side, sign in zip(SIDES, _SIGNS, strict=True)]
        hands = dict(zip(labels, position["hands"], strict=True))
    if not any(hands.values()):
        return []
    width = max(map(len, hands))
    return ["", *(f"{label:{width}}  {' '.join(hand)}".rstrip() for label, hand in hands.items())]


def draw_powerdrain(position: Mapping[str, Any], display: str, names: Sequence[str] = ()) -> str:
    """Draw a position of powerdrain, in its JSON form, with the players' names by seat if given."""
    del display  # there is one
    left, top = position["left"], position["top"]
    sections = _sections(left, top, position["grid"])
    positive, negative = _players(names)
    lines = [" " * 7 + (" " * 7).join(map(str, top)), _RULE + positive]
    for row, potential in enumerate(left):
        cells = [sections.get(f"{potential}{over}", _EMPTY) for over in top]
        plugs, volts = ("|".join(half) for half in zip(*cells, strict=True))
        beside = negative if row == 1 else ""
        lines += [f"{potential}  |{plugs}|{beside}", f"   |{volts}|", _RULE]
    return "\n".join([*lines, *_plugs_left(position)])
