"""Powerdrain: plugs into a grid of voltages, where opposite neighbours drain each other.

1. The edges of a grid of 25 sections read 1 3 5 7 9 in some order; a section is named by the
   digit to its left and the digit above it. There are 16 plugs, 22 to 88 by even digits.
2. Positive and Negative in turn plug one of their 8 (with `-p`: of a common pool) into any empty
   section. Its value is |first digit - left| + |second digit - top|.
3. After the last plug each loses the values of the opposing plugs at its four sides, all at
   once, but never falls below zero. Those above zero are active.
4. More active plugs win; then the greater sum of what they have left; then it is a draw.
5. The edges are drawn (not with `-o1`, `-o2`), and so are the hands (not with `-p`).

Notation: `24-57`, the plug and the section; `2457`, `57-24` and `5724` are read alike.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Final, TypeVar

import msgspec

from domain.errors import Code, Refusal
from domain.rules.defaults import RulesDefaults
from domain.rules.powerdrain_turns import (
    DIGITS,
    HAND,
    PLUG,
    PLUGS,
    SECTION,
    SECTIONS,
    SIDES,
    Ending,
    PowerdrainMove,
    PowerdrainPosition,
    fault,
    filled,
    grid_of,
    is_legal,
    judged,
    moves,
    names,
    play,
)
from domain.rules.protocol import Chance, IllegalMove, Outcome, Seat, UnreadableMove

__all__ = [
    "Ending",
    "Order",
    "Powerdrain",
    "PowerdrainMove",
    "PowerdrainOptions",
    "PowerdrainPosition",
]

FORM: Final = "a move is written plug-section, two even digits and two odd ones, such as 24-57"

_READ: Final = re.compile("([2468]{2})-?([13579]{2})|([13579]{2})-?([2468]{2})")


class Order(StrEnum):
    """The orders of the edges, by their flags."""

    RANDOM = ""
    COUNTING = "o1"
    MIXED = "o2"


class PowerdrainOptions(msgspec.Struct, frozen=True):
    """The options of a match."""

    order: Order = Order.RANDOM
    p: bool = False
    """A common pool instead of hands."""


_EDGES: Final[Mapping[Order, tuple[int, ...]]] = {
    Order.COUNTING: DIGITS,
    Order.MIXED: (7, 9, 1, 3, 5),
}


class _SetupJson(msgspec.Struct, forbid_unknown_fields=True):
    left: tuple[int, int, int, int, int]
    top: tuple[int, int, int, int, int]
    hands: tuple[list[str], list[str]] | None = None
    pool: list[str] | None = None


class _PositionJson(_SetupJson, kw_only=True):
    grid: dict[str, tuple[str, Seat]]


G = TypeVar("G", bound=_SetupJson)


def _bad(problem: str) -> Refusal:
    return Refusal(Code.BAD_SETUP, f"this does not fit powerdrain: {problem}")


def _convert(data: object, kind: type[G]) -> G:
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise _bad(str(error)) from None


def _check_edges(given: _SetupJson, order: Order) -> None:
    for edge, digits in (("left", given.left), ("top", given.top)):
        if tuple(sorted(digits)) != DIGITS:
            raise _bad(f"the {edge} edge is not 1 3 5 7 9 in some order")
        if digits != _EDGES.get(order, digits):
            fixed = " ".join(map(str, _EDGES[order]))
            raise _bad(f"with -{order} the {edge} edge is {fixed}")


def _hands(given: _SetupJson, options: PowerdrainOptions) -> tuple[int, ...]:
    """Give the plugs that are left, as sets."""
    if options.p:
        if given.pool is None or given.hands is not None:
            raise _bad("with -p there is a pool, and there are no hands")
        return (_plugs(given.pool),)
    if given.hands is None or given.pool is not None:
        raise _bad("without -p there are two hands, and there is no pool")
    return tuple(map(_plugs, given.hands))


def _plugs(listed: Iterable[str]) -> int:
    found = 0
    for name in listed:
        if name not in PLUG:
            raise _bad(f"{name[:24]!r} is no plug")
        plug = 1 << PLUG[name]
        if found & plug:
            raise _bad(f"plug {name} is there twice")
        found |= plug
    return found


def _filled(grid: Mapping[str, tuple[str, Seat]]) -> bytes:
    """Give the sections' bytes, after looking at each plug of the grid by itself."""
    for section, (name, seat) in grid.items():
        if section not in SECTION:
            raise _bad(f"{section[:24]!r} is no section")
        if name not in PLUG:
            raise _bad(f"{name[:24]!r} is no plug")
        if seat not in (0, 1):
            raise _bad(f"plug {name} is of seat {seat}")
    return filled((section, name, seat) for section, (name, seat) in grid.items())


def _check_dealt(position: PowerdrainPosition) -> None:
    """Refuse plugs that are missing or there twice, and players with too many or too few."""
    plugged = grid_of(position).values()
    used = _plugs(name for name, _ in plugged)
    together = used
    for hand in position.hands:
        if together & hand:
            raise _bad(f"plug {names(together & hand)[0]} is there twice")
        together |= hand
    if missing := names((1 << len(PLUGS)) - 1 & ~together):
        raise _bad(f"plug {missing[0]} is missing")
    played = [sum(seat == own for _, seat in plugged) for own in (0, 1)]
    if played[0] - played[1] != position.turn:
        raise _bad(f"{played[0]} and {played[1]} plugs are not from turns taken alternately")
    for own, hand in enumerate(position.hands):
        if len(position.hands) > 1 and played[own] + hand.bit_count() != HAND:
            raise _bad(f"{SIDES[own]} does not have {HAND} plugs in all")


def _position(
    given: _SetupJson, options: PowerdrainOptions, grid: Mapping[str, tuple[str, Seat]]
) -> PowerdrainPosition:
    """Give the position of a setup or of a position's JSON form, if it is one."""
    _check_edges(given, options.order)
    hands = _hands(given, options)
    position = PowerdrainPosition(given.left, given.top, _filled(grid), hands)
    _check_dealt(position)
    return position


def _json(position: PowerdrainPosition) -> dict[str, Any]:
    """Give the plugs that are left, in their JSON form."""
    if len(position.hands) == 1:
        return {"pool": names(position.hands[0])}
    return {"hands": [names(hand) for hand in position.hands]}


class Powerdrain(RulesDefaults):
    """Powerdrain, version 1."""

    key = "powerdrain"
    version = 1
    title = "Powerdrain"
    sides: tuple[str, ...] = SIDES
    displays: tuple[str, ...] = ("grid",)
    position_type = PowerdrainPosition
    options_type = PowerdrainOptions

    def needs_draw(self, options: PowerdrainOptions, players: int) -> bool:
        """Tell whether edges or hands are drawn."""
        del players
        return options.order is Order.RANDOM or not options.p

    def draw(self, options: PowerdrainOptions, players: int, chance: Chance) -> object | None:
        """Draw the edges, left then top, and deal the plugs, as far as the options leave it."""
        if not self.needs_draw(options, players):
            return None
        edges = _EDGES.get(options.order)
        left = edges or chance.shuffled("powerdrain/potentials", DIGITS)
        top = edges or chance.shuffled("powerdrain/potentials", DIGITS)
        setup: dict[str, object] = {"left": list(left), "top": list(top)}
        if options.p:
            return {**setup, "pool": list(PLUGS)}
        plugs = chance.shuffled("powerdrain/plugs", PLUGS)
        return {**setup, "hands": [sorted(plugs[:HAND]), sorted(plugs[HAND:])]}

    def start(
        self, options: PowerdrainOptions, players: int, setup: object | None
    ) -> PowerdrainPosition:
        """Give the first position, an empty grid."""
        if players not in self.players:
            raise Refusal(Code.BAD_PLAYERS, f"powerdrain is played by two, not by {players}")
        if self.needs_draw(options, players):
            return _position(_convert(setup, _SetupJson), options, {})
        if setup is not None:
            raise _bad(f"with -{options.order} and -p chance draws no setup")
        edge = _EDGES[options.order]
        return PowerdrainPosition(edge, edge, bytes(len(SECTIONS)), ((1 << len(PLUGS)) - 1,))

    def to_move(self, position: PowerdrainPosition) -> Seat | None:
        """Give the seat to move, None when all plugs are in."""
        return None if position.over else position.turn

    def moves(self, position: PowerdrainPosition) -> list[PowerdrainMove]:
        """Give every legal move."""
        return moves(position)

    def count_moves(self, position: PowerdrainPosition) -> int:
        """Count the legal moves: each plug of the hand into each empty section."""
        return position.hand.bit_count() * position.grid.count(0)

    def legal_moves(self, position: PowerdrainPosition) -> Iterator[str]:
        """Yield every legal move by plug and section, in order of their digits."""
        return map(self.write, moves(position))

    def read(self, text: str) -> PowerdrainMove:
        """Read a plug and a section in any order, with or without a hyphen between."""
        found = _READ.fullmatch("".join(text.split()))
        if not found:
            raise UnreadableMove(f"{text[:24]!r} is no move; {FORM}")
        plug, section = found[1] or found[4], found[2] or found[3]
        return PowerdrainMove(PLUG[plug], SECTION[section])

    def write(self, move: PowerdrainMove) -> str:
        """Give the canonical text of a move."""
        return f"{PLUGS[move.plug]}-{SECTIONS[move.section]}"

    def check(self, position: PowerdrainPosition, move: PowerdrainMove) -> PowerdrainMove:
        """Give the move back if it is legal, else say which rule it breaks."""
        if is_legal(position, move):
            return move
        raise IllegalMove(f"{self.write(move)}: {fault(position, move)}")

    def play(self, position: PowerdrainPosition, move: PowerdrainMove) -> PowerdrainPosition:
        """Apply a legal move."""
        return play(position, move)

    def outcome(self, position: PowerdrainPosition) -> Outcome | None:
        """Give the ending, judged when the last plug is in."""
        return judged(position) if position.over else None

    def to_json(self, position: PowerdrainPosition) -> dict[str, Any]:
        """Give the edges, each section's plug and its seat, and the plugs left."""
        grid = {section: list(plugged) for section, plugged in grid_of(position).items()}
        edges = {"left": list(position.left), "top": list(position.top)}
        return {**edges, "grid": grid, **_json(position)}

    def public_json(self, position: PowerdrainPosition) -> dict[str, Any]:
        """Give the grid and the plugs left; the edges stand in the setup."""
        shown = self.to_json(position)
        return {key: value for key, value in shown.items() if key not in ("left", "top")}

    def from_json(
        self, data: object, options: PowerdrainOptions, to_move: Seat
    ) -> PowerdrainPosition:
        """Read what `to_json` gave; whose turn it is follows from the plugs in the grid."""
        given = _convert(data, _PositionJson)
        position = _position(given, options, given.grid)
        if not position.over and to_move != position.turn:
            raise _bad(f"it can't be the turn of seat {to_move}")
        return position
