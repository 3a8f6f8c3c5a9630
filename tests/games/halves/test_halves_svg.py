"""Halves in SVG: tiles, cells, what the last move did."""

import re
from itertools import combinations, pairwise
from math import hypot

import pytest

from domain.rules import latest_rules
from tests.games.playing import play
from tests.games.svg_pictures import (
    SVG,
    after,
    centre,
    corners,
    parsed,
    recorded,
    start,
    wide,
    with_class,
)
from tests.golden.make_games import read_games, replay


def tiles(tree):
    return {
        tuple(map(int, each.get("data-cell").split(","))): each
        for each in tree.iter(f"{SVG}g")
        if each.get("data-cell")
    }


def test_neighbouring_cells_lie_side_by_side():
    for at in replay(recorded("halves", "3")):
        where = {cell: centre(each) for cell, each in tiles(parsed("halves", at)).items()}
        for (one, here), (other, there) in combinations(where.items(), 2):
            q, r = other[0] - one[0], other[1] - one[1]
            beside = (abs(q), abs(r), abs(q + r)) in ((1, 0, 1), (0, 1, 1), (1, 1, 0))
            apart = hypot(here[0] - there[0], here[1] - there[1])
            assert (apart < 59) == beside
            assert apart > 58


def test_the_picture_does_not_jump_while_tiles_are_removed():
    boxes = set()
    for at in list(replay(recorded("halves")))[:-1]:
        tree = parsed("halves", at)
        (frame,) = with_class(tree, "tiles")
        boxes.add((tree.get("viewBox"), frame.get("transform")))
    assert len(boxes) == 1


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


def test_the_tiles_of_an_ordinary_match_can_be_touched_by_a_finger():
    for game in read_games("halves")[:20]:
        tree = parsed("halves", next(replay(game)))
        (frame,) = with_class(tree, "tiles")
        scale = float((re.search(r"scale\((\S+)\)", frame.get("transform")) or ["", "1"])[1])
        _, down = zip(*corners(with_class(tree, "hit")[0]), strict=True)
        assert scale * (max(down) - min(down)) >= wide(tree)


def test_a_large_match_is_drawn_small_enough_to_fit():
    rules = latest_rules("halves")
    at = start("halves", "-manual_start", "-touch_any", "-tiles_each=20")
    while rules.to_json(at)["phase"] == "wax":
        at = play(rules, at, "1")  # always farther up
    tree = parsed("halves", at)
    (frame,) = with_class(tree, "tiles")
    left, top, scale = map(float, re.findall(r"[-\d.]+", f"{frame.get('transform')} 1")[:3])
    width, height = map(float, tree.get("viewBox").split()[2:])
    for cell in tiles(tree).values():
        x, y = centre(cell)
        assert 0 < left + scale * (x - 34) < left + scale * (x + 34) < width
        assert 0 < top + scale * (y - 34) < top + scale * (y + 34) < height


def test_swapped_colours_stay_what_they_are_and_change_hands():
    at = next(replay(recorded("halves")))
    kept, swapped = (
        [(each.get("class"), each.get("data-seat")) for each in with_class(after("halves", at, word),
                                                                          "piece")]
        for word in ("keep", "swap")
    )  # fmt: skip
    assert [classes for classes, _ in kept] == [classes for classes, _ in swapped]
    assert all(one[1] != other[1] for one, other in zip(kept, swapped, strict=True))


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


def test_the_tile_placed_last_is_marked_if_the_position_before_is_known():
    game = recorded("halves", "2 -manual_start")
    for last, (before, at) in zip(game["moves"].split(), pairwise(replay(game)), strict=False):
        shown = latest_rules("halves").to_json(before)
        if shown["phase"] == "wax":
            cell = next((q, r) for q, r, number in shown["cells"] if str(number) == last)
            drawn = tiles(parsed("halves", at, last=last, before=before))
            assert [each for each in drawn if with_class(drawn[each], "ring")] == [cell]
            assert not with_class(parsed("halves", at, last=last), "ring")


def test_one_of_three_who_has_left_is_said_to_be_out():
    at = next(replay(recorded("halves", "3")))
    tree = parsed("halves", latest_rules("halves").remove_seat(at, 2))
    assert [each.text for each in with_class(tree, "counts")] == [
        "12 tiles", "12 tiles", "12 tiles, out",
    ]  # fmt: skip
