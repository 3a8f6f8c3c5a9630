"""Setups and positions of Powerdrain in their JSON form."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from domain.games.powerdrain.position import (
    DIGITS,
    EDGES,
    HAND,
    PLUG,
    PLUGS,
    SECTION,
    SIDES,
    EdgeOrder,
    PowerdrainOptions,
    PowerdrainPosition,
    grid_bytes,
    grid_of,
    plug_names,
    remaining_volts,
)
from domain.rules.checks import bad_setup, read_setup
from domain.rules.protocol import Seat

KEY: Final = "powerdrain"


class _PowerdrainSetupJson(msgspec.Struct, forbid_unknown_fields=True):
    left: tuple[int, int, int, int, int]
    top: tuple[int, int, int, int, int]
    hands: tuple[list[str], list[str]] | None = None
    pool: list[str] | None = None


class _PositionJson(_PowerdrainSetupJson, kw_only=True):
    grid: dict[str, tuple[str, Seat]]


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


def _checked_grid(grid: Mapping[str, tuple[str, Seat]]) -> bytes:
    """Return the grid's bytes, after a check of each plug."""
    for section, (name, seat) in grid.items():
        if section not in SECTION:
            raise bad_setup(KEY, f"{section[:24]!r} is no section")
        if name not in PLUG:
            raise bad_setup(KEY, f"{name[:24]!r} is no plug")
        if seat not in (0, 1):
            raise bad_setup(KEY, f"plug {name} is of seat {seat}")
    return grid_bytes((section, name, seat) for section, (name, seat) in grid.items())


def _check_dealt(position: PowerdrainPosition) -> None:
    """Refuse missing and repeated plugs, and players with too many or too few."""
    plugged = grid_of(position).values()
    used = _plugs(name for name, _ in plugged)
    together = used
    for hand in position.hands:
        if together & hand:
            raise bad_setup(KEY, f"plug {plug_names(together & hand)[0]} is there twice")
        together |= hand
    if missing := plug_names((1 << len(PLUGS)) - 1 & ~together):
        raise bad_setup(KEY, f"plug {missing[0]} is missing")
    played = [sum(seat == own for _, seat in plugged) for own in (0, 1)]
    if played[0] - played[1] != position.turn:
        raise bad_setup(
            KEY, f"{played[0]} and {played[1]} plugs are not from turns taken alternately"
        )
    for own, hand in enumerate(position.hands):
        if len(position.hands) > 1 and played[own] + hand.bit_count() != HAND:
            raise bad_setup(KEY, f"{SIDES[own]} does not have {HAND} plugs in all")


def _position(
    form: _PowerdrainSetupJson, options: PowerdrainOptions, grid: Mapping[str, tuple[str, Seat]]
) -> PowerdrainPosition:
    """Return the position of a setup or of a position's JSON form, or refuse it."""
    _check_edges(form, options.order)
    hands = _hands(form, options)
    position = PowerdrainPosition(form.left, form.top, _checked_grid(grid), hands)
    _check_dealt(position)
    return position


def _plugs_left_json(position: PowerdrainPosition) -> dict[str, Any]:
    """Return the JSON form of the plugs left."""
    if len(position.hands) == 1:
        return {"pool": plug_names(position.hands[0])}
    return {"hands": [plug_names(hand) for hand in position.hands]}


def volts_left(position: Mapping[str, Any]) -> dict[str, int]:
    """Return the signed voltage that each plug has left, by section, from a position's JSON form."""
    grid = position["grid"]
    plugged = grid_bytes((section, plug, seat) for section, (plug, seat) in grid.items())
    left = remaining_volts(position["left"], position["top"], plugged)
    return {section: left[SECTION[section]] for section in grid}


def first_position(data: object, options: PowerdrainOptions) -> PowerdrainPosition:
    """Return the position with an empty grid, from a setup that chance has drawn."""
    return _position(read_setup(data, _PowerdrainSetupJson, KEY), options, {})


def to_json(position: PowerdrainPosition) -> dict[str, Any]:
    """Return the edges, each section's plug and its seat, and the plugs left."""
    grid = {section: list(plugged) for section, plugged in grid_of(position).items()}
    edges = {"left": list(position.left), "top": list(position.top)}
    return {**edges, "grid": grid, **_plugs_left_json(position)}


def from_json(data: object, options: PowerdrainOptions, to_move: Seat) -> PowerdrainPosition:
    """Read what `to_json` returned; the seat to move follows from the plugs in the grid."""
    form = read_setup(data, _PositionJson, KEY)
    position = _position(form, options, form.grid)
    if not position.over and to_move != position.turn:
        raise bad_setup(KEY, f"it can't be the turn of seat {to_move}")
    return position
