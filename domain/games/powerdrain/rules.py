"""Powerdrain: put plugs into a grid, where opposing neighbours drain each other.

1. The edges of a grid of 25 sections read 1 3 5 7 9 in some order; a section is named by the
   digit to its left and the digit above it. There are 16 plugs, 22 to 88 by even digits.
2. Positive and Negative in turn plug one of their 8 (with `-p`: of a common pool) into any empty
   section. Its value is |first digit - left| + |second digit - top|.
3. After the last plug each plug loses the values of the opposing plugs at its four sides, all at
   once, but never falls below zero. Plugs above zero are active.
4. More active plugs win; then the greater sum of their voltages; otherwise it is a draw.
5. Chance draws the edges (not with `-o1`, `-o2`) and deals the hands (not with `-p`).

Notation: `24-57`, the plug and the section; `2457`, `57-24` and `5724` are read alike.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from operator import itemgetter
from typing import Any, Final

import msgspec

from domain.game.protocol import (
    Chance,
    GameOutcome,
    Rules,
    Seat,
    bad_setup,
    read_setup,
    unreadable_move,
)
from domain.games.powerdrain.grid import (
    DIGITS,
    PLUG,
    PLUGS,
    SECTION,
    SECTIONS,
    plug_names,
    remaining_volts,
)
from domain.games.powerdrain.sentences import SAY, SIDES
from domain.sentences import Text

HAND: Final = len(PLUGS) // 2
KEY: Final = "powerdrain"
FORM: Final = SAY("form")
_READ: Final = re.compile("([2468]{2})-?([13579]{2})|([13579]{2})-?([2468]{2})")


class EdgeOrder(StrEnum):
    """The orders of the edges, by their flags."""

    RANDOM = ""
    COUNTING = "o1"
    MIXED = "o2"


class PowerdrainOptions(msgspec.Struct, frozen=True):
    """The options of a match."""

    order: EdgeOrder = EdgeOrder.RANDOM
    p: bool = False
    """A common pool instead of hands."""


EDGES: Final[Mapping[EdgeOrder, tuple[int, ...]]] = {
    EdgeOrder.COUNTING: DIGITS,
    EdgeOrder.MIXED: (7, 9, 1, 3, 5),
}


class Ending(StrEnum):
    """Why a player has won after the last plug."""

    MORE_ACTIVE = "more-active"
    """One player has more active plugs, and wins."""
    MORE_POWER = "more-power"
    """Both have as many active plugs; the player with more voltage left in them wins."""
    EQUAL_POWER = "equal-power"
    """Both have as many active plugs and as much voltage left: a draw."""


class PowerdrainPosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The edges, the grid and the plugs left."""

    left: tuple[int, ...]
    top: tuple[int, ...]
    grid: bytes
    """A byte for each of `SECTIONS`: 0, or 1 + plug for Positive's, 17 + plug for Negative's."""
    hands: tuple[int, ...]
    """Sets of plugs, as ints with those bits set: each player's hand, or the pool alone."""

    @property
    def plies(self) -> int:
        """The number of plugs in the grid."""
        return len(SECTIONS) - self.grid.count(0)

    @property
    def turn(self) -> Seat:
        """The seat to move while there are plugs left."""
        return self.plies % 2

    @property
    def over(self) -> bool:
        """Whether all plugs are in the grid."""
        return not any(self.hands)

    @property
    def hand(self) -> int:
        """The plugs that the player to move may choose from, as a set."""
        return self.hands[self.turn % len(self.hands)]


class PowerdrainMove(msgspec.Struct, frozen=True, gc=False):
    """A plug and the section it goes into."""

    plug: int
    section: int


_MOVES: Final = tuple(
    tuple(PowerdrainMove(plug, section) for section in range(len(SECTIONS)))
    for plug in range(len(PLUGS))
)


def grid_of(position: PowerdrainPosition) -> dict[str, tuple[str, Seat]]:
    """Return plug and seat by section, in order."""
    return {
        SECTIONS[section]: (PLUGS[(byte - 1) % len(PLUGS)], (byte - 1) // len(PLUGS))
        for section, byte in enumerate(position.grid)
        if byte
    }


class _PowerdrainSetupJson(msgspec.Struct, forbid_unknown_fields=True):
    left: tuple[int, int, int, int, int]
    top: tuple[int, int, int, int, int]
    hands: tuple[list[str], list[str]] | None = None
    pool: list[str] | None = None


def first_position(data: object, options: PowerdrainOptions) -> PowerdrainPosition:
    """Return the position with an empty grid, from a setup that chance has drawn."""
    form = read_setup(data, _PowerdrainSetupJson, KEY)
    _check_edges(form, options.order)
    hands = _hands(form, options)
    _check_dealt(hands)
    return PowerdrainPosition(form.left, form.top, bytes(len(SECTIONS)), hands)


def _check_edges(form: _PowerdrainSetupJson, order: EdgeOrder) -> None:
    for edge, digits in (("left", form.left), ("top", form.top)):
        if tuple(sorted(digits)) != DIGITS:
            raise bad_setup(KEY, f"the {edge} edge is not 1 3 5 7 9 in some order")
        if digits != EDGES.get(order, digits):
            fixed = " ".join(map(str, EDGES[order]))
            raise bad_setup(KEY, f"with -{order} the {edge} edge is {fixed}")


def _hands(form: _PowerdrainSetupJson, options: PowerdrainOptions) -> tuple[int, ...]:
    """Return the plugs left, as sets."""
    if options.p:
        if form.pool is None or form.hands is not None:
            raise bad_setup(KEY, "with -p there is a pool, and there are no hands")
        return (_plugs(form.pool),)
    if form.hands is None or form.pool is not None:
        raise bad_setup(KEY, "without -p there are two hands, and there is no pool")
    return tuple(map(_plugs, form.hands))


def _plugs(listed: Iterable[str]) -> int:
    found = 0
    for name in listed:
        if name not in PLUG:
            raise bad_setup(KEY, f"{name[:24]!r} is no plug")
        plug = 1 << PLUG[name]
        if found & plug:
            raise bad_setup(KEY, f"plug {name} is there twice")
        found |= plug
    return found


def _check_dealt(hands: Sequence[int]) -> None:
    """Refuse missing and repeated plugs, and players with too many or too few."""
    together = 0
    for hand in hands:
        if together & hand:
            raise bad_setup(KEY, f"plug {plug_names(together & hand)[0]} is there twice")
        together |= hand
    if missing := plug_names((1 << len(PLUGS)) - 1 & ~together):
        raise bad_setup(KEY, f"plug {missing[0]} is missing")
    for own, hand in enumerate(hands):
        if len(hands) > 1 and hand.bit_count() != HAND:
            raise bad_setup(KEY, f"{SIDES[own]} does not have {HAND} plugs in all")


def _plugs_left_json(position: PowerdrainPosition) -> dict[str, Any]:
    """Return the JSON form of the plugs left."""
    if len(position.hands) == 1:
        return {"pool": plug_names(position.hands[0])}
    return {"hands": [plug_names(hand) for hand in position.hands]}


class PowerdrainRules(Rules[PowerdrainPosition, PowerdrainMove, PowerdrainOptions]):
    """Powerdrain, version 1."""

    key = KEY
    title = "Powerdrain"
    sides: tuple[Text, ...] = (SAY("side", seat=0), SAY("side", seat=1))
    displays: tuple[str, ...] = ("grid",)
    position_type = PowerdrainPosition
    options_type = PowerdrainOptions

    def needs_draw(self, options: PowerdrainOptions, players: int) -> bool:
        """Return whether chance draws edges or hands."""
        del players
        return options.order is EdgeOrder.RANDOM or not options.p

    def draw(self, options: PowerdrainOptions, players: int, chance: Chance) -> object | None:
        """Draw the edges, left then top, and deal the plugs, unless the options fix them."""
        if not self.needs_draw(options, players):
            return None
        edges = EDGES.get(options.order)
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
        """Return the first position, an empty grid."""
        self.check_players(players)
        if self.needs_draw(options, players):
            return first_position(setup, options)
        if setup is not None:
            raise bad_setup(KEY, f"with -{options.order} and -p chance draws no setup")
        edge = EDGES[options.order]
        return PowerdrainPosition(edge, edge, bytes(len(SECTIONS)), ((1 << len(PLUGS)) - 1,))

    def to_move(self, position: PowerdrainPosition) -> Seat | None:
        """Return the seat to move; None when all plugs are in the grid."""
        return None if position.over else position.turn

    def moves(self, position: PowerdrainPosition) -> list[PowerdrainMove]:
        """Return all legal moves, each once, by plug and section."""
        hand = position.hand
        # at least nine sections are empty, so `itemgetter` returns a tuple
        empty = itemgetter(*[section for section, byte in enumerate(position.grid) if not byte])
        found: list[PowerdrainMove] = []
        for plug, into in enumerate(_MOVES):
            if hand >> plug & 1:
                found += empty(into)
        return found

    def count_moves(self, position: PowerdrainPosition) -> int:
        """Count the legal moves: each plug of the hand into each empty section."""
        return position.hand.bit_count() * position.grid.count(0)

    def play(self, position: PowerdrainPosition, move: PowerdrainMove) -> PowerdrainPosition:
        """Apply a legal move."""
        seat, grid, hands = position.turn, bytearray(position.grid), list(position.hands)
        grid[move.section] = 1 + move.plug + len(PLUGS) * seat
        hands[seat % len(hands)] ^= 1 << move.plug
        return PowerdrainPosition(position.left, position.top, bytes(grid), tuple(hands))

    def read(self, text: str) -> PowerdrainMove:
        """Read a plug and a section in any order, with or without a hyphen between."""
        found = _READ.fullmatch("".join(text.split()))
        if not found:
            raise unreadable_move(text, FORM)
        plug, section = found[1] or found[4], found[2] or found[3]
        return PowerdrainMove(PLUG[plug], SECTION[section])

    def write(self, move: PowerdrainMove) -> str:
        """Return the canonical text of a move."""
        return f"{PLUGS[move.plug]}-{SECTIONS[move.section]}"

    def why_illegal(self, position: PowerdrainPosition, move: PowerdrainMove) -> Text | None:
        """Return which rule a move breaks, and where; None for a legal move."""
        if position.hand >> move.plug & 1 and not position.grid[move.section]:
            return None
        if position.over:
            return SAY("over", plugs=len(PLUGS))
        plug, section, grid = PLUGS[move.plug], SECTIONS[move.section], grid_of(position)
        for at, (other, _) in grid.items():
            if other == plug:
                return SAY("used", plug=move.plug, section=SECTION[at])
        if not position.hand >> move.plug & 1:
            return SAY("owner", plug=move.plug, other=1 - position.turn, mover=position.turn)
        return SAY("taken", section=move.section, plug=PLUG[grid[section][0]])

    def outcome(self, position: PowerdrainPosition) -> GameOutcome | None:
        """Return the ending, once the last plug is in the grid."""
        if not position.over:
            return None
        left = remaining_volts(position.left, position.top, position.grid).values()
        powers = ([volts for volts in left if volts > 0], [-volts for volts in left if volts < 0])
        more, less = sorted(powers, key=lambda own: (len(own), sum(own)), reverse=True)
        plugs, volts, winner = len(more), sum(more), powers.index(more)
        if plugs != len(less):
            said = SAY("more-active", plugs=plugs, fewer=len(less))
            return GameOutcome((winner,), Ending.MORE_ACTIVE, said)
        if volts != sum(less):
            said = SAY("more-power", plugs=plugs, volts=volts, less=sum(less))
            return GameOutcome((winner,), Ending.MORE_POWER, said)
        said = SAY("equal-power", plugs=plugs, volts=volts)
        return GameOutcome((0, 1), Ending.EQUAL_POWER, said)

    def to_json(self, position: PowerdrainPosition) -> dict[str, Any]:
        """Return the edges, each section's plug and its seat, and the plugs left."""
        grid = {section: list(plugged) for section, plugged in grid_of(position).items()}
        edges = {"left": list(position.left), "top": list(position.top)}
        return {**edges, "grid": grid, **_plugs_left_json(position)}

    def public_json(self, position: PowerdrainPosition) -> dict[str, Any]:
        """Return the grid and the plugs left, without the edges, because the setup has them."""
        form = self.to_json(position)
        return {key: value for key, value in form.items() if key not in ("left", "top")}
