"""Halves in SVG: tiles, cells, what the last move did."""

from itertools import pairwise

import pytest

from domain.rules import latest_rules
from tests.games.svg_pictures import (
    SVG,
    parsed,
    recorded,
    with_class,
)
from tests.golden.make_games import replay


def tiles(tree):
    return {
        tuple(map(int, each.get("data-cell").split(","))): each
        for each in tree.iter(f"{SVG}g")
        if each.get("data-cell")
    }


@pytest.mark.parametrize("family", ["2", "2 -manual_start"])
def test_tiles_and_free_cells_are_places_by_their_numbers(family):
    for at in replay(recorded("halves", family)):
        shown, tree = latest_rules("halves").to_json(at), parsed("halves", at)
        cells = {(q, r): str(number) for q, r, number in shown.get("cells", ())}
        named = {(q, r): str(number) for q, r, _, number in shown["tiles"] if number}
        drawn = tiles(tree)
        found = {cell: each.get("data-place") for cell, each in drawn.items()}
        assert {cell: name for cell, name in found.items() if name} == cells | named
        for cell in cells | named:
            assert with_class(drawn[cell], "number")[0].text == found[cell]
            assert len(with_class(drawn[cell], "hit")) == 1
            assert ("free" in drawn[cell].get("class").split()) == (cell in cells)


def test_the_tile_taken_last_leaves_a_mark_and_what_fell_off_too_if_before_is_known():
    game = recorded("halves")
    moves, played = game["moves"].split(), list(replay(game))
    fallen = 0
    for last, (before, at) in zip(moves, pairwise(played), strict=True):
        there = [
            {(q, r): number for q, r, _, number in latest_rules("halves").to_json(each)["tiles"]}
            for each in (before, at)
        ]
        gone = set(there[0]) - set(there[1])
        taken = {cell for cell in gone if str(there[0][cell]) == last.partition(",")[0]}
        for expected, more in ((taken, {}), (gone, {"before": before})):
            drawn = tiles(parsed("halves", at, last=last, **more))
            assert {cell for cell, each in drawn.items() if with_class(each, "ring")} == expected
        fallen += len(gone) - len(taken)
    assert fallen > 0
