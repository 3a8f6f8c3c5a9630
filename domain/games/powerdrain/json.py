"""Setups and positions of Powerdrain in their JSON form."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from domain.game.protocol import bad_setup, read_setup
from domain.games.powerdrain.position import (
    DIGITS,
    EDGES,
    HAND,
    PLUG,
    PLUGS,
    SECTION,
    SECTIONS,
    SIDES,
    EdgeOrder,
    PowerdrainOptions,
    PowerdrainPosition,
    grid_bytes,
    grid_of,
    plug_names,
    remaining_volts,
)

KEY: Final = "powerdrain"


class _PowerdrainSetupJson(msgspec.Struct, forbid_unknown_fields=True):
    left: tuple[int, int, int, int, int]
    top: tuple[int, int, int, int, int]
    hands: tuple[list[str], list[str]] | None = None
    pool: list[str] | None = None


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


def volts_left(position: Mapping[str, Any]) -> dict[str, int]:
    """Return the signed voltage that each plug has left, by section, from a position's JSON form."""
    grid = position["grid"]
    plugged = grid_bytes((section, plug, seat) for section, (plug, seat) in grid.items())
    left = remaining_volts(position["left"], position["top"], plugged)
    return {section: left[SECTION[section]] for section in grid}


def first_position(data: object, options: PowerdrainOptions) -> PowerdrainPosition:
    """Return the position with an empty grid, from a setup that chance has drawn."""
    form = read_setup(data, _PowerdrainSetupJson, KEY)
    _check_edges(form, options.order)
    hands = _hands(form, options)
    _check_dealt(hands)
    return PowerdrainPosition(form.left, form.top, bytes(len(SECTIONS)), hands)


def to_json(position: PowerdrainPosition) -> dict[str, Any]:
    """Return the edges, each section's plug and its seat, and the plugs left."""
    grid = {section: list(plugged) for section, plugged in grid_of(position).items()}
    edges = {"left": list(position.left), "top": list(position.top)}
    return {**edges, "grid": grid, **_plugs_left_json(position)}
