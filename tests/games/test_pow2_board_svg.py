"""The games on the Power of Two board in SVG: where things are, what is marked, what differs how."""

import random
import re
from itertools import pairwise
from math import dist

import pytest

from domain.boards.pow2_board import LINES, NAMES
from domain.drawing import draw_text
from domain.rules import latest_rules
from tests.games.svg_pictures import (
    SVG,
    after,
    centre,
    corners,
    marked,
    parsed,
    places,
    points,
    recorded,
    start,
    with_class,
)
from tests.golden.make_games import replay


def test_a_touch_means_the_nearest_place_and_never_two():
    drawn = places(parsed("line", start("line")))
    areas = {
        name: (centre(place), corners(place.find(f"{SVG}path"))) for name, place in drawn.items()
    }
    rng = random.Random(1)
    hit = 0
    for _ in range(2000):
        touch = rng.uniform(20, 492), rng.uniform(20, 492)
        distances = {name: dist(touch, middle) for name, (middle, _) in areas.items()}
        nearest, second = sorted(distances, key=distances.get)[:2]
        if distances[second] - distances[nearest] < 0.1:
            continue
        inside = [name for name, area in areas.items() if _holds(*area, touch)]
        assert inside in ([], [nearest])
        hit += len(inside)
        assert inside or distances[nearest] > 29
    assert hit > 1000


def _holds(middle, area, touch):
    """Return whether a convex area around its middle holds a point."""
    x, y = touch[0] - middle[0], touch[1] - middle[1]
    sides = [
        (bx - ax) * (y - ay) - (by - ay) * (x - ax)
        for (ax, ay), (bx, by) in pairwise([*area, area[0]])
    ]
    return all(side >= 0 for side in sides) or all(side <= 0 for side in sides)


@pytest.mark.parametrize("key", ["one", "two"])
def test_lines_that_count_and_lines_with_too_many_stones_are_marked(key):
    for at in replay(recorded(key)):
        tree, counts = parsed(key, at), draw_text(latest_rules(key), at, "small").split("\n")[0]
        full = re.search(r"Lines with exactly \w+: (\d+)", counts)[1]
        assert len(with_class(tree, "full")) == int(full)
        stones = latest_rules(key).to_json(at)["board"]
        most = {"one": 1, "two": 2}[key]
        over = sum(sum(NAMES[place] in stones for place in line) > most for line in LINES)
        assert len(with_class(tree, "over")) == over
        (said,) = with_class(tree, "counts")
        assert f"{full} lines with {key}, {over} with more" in said.text


@pytest.mark.parametrize(
    ("key", "texts", "touched", "ways", "thrown"),
    [
        ("pow2", "m13-j7", "-m13 j7", "m13-j7", ""),
        ("pow2", "m13-j7 a13-a9 j7-m7", "-j7 m7", "j7-m7", ""),
        ("goliath", "m13-h8:i9", "-m13 h8 i9", "m13-h8", "h8-i9"),
        ("line", "c3 j12", "j12", "", ""),
        ("duo", "c3 j12", "j12", "", ""),
        ("jump", "a1 e1:g1", "e1 g1", "", ""),
        ("jump", "a1 e1:g1 e3:d4-g1", "e3 -d4 g1", "d4-g1", ""),
        ("one", "a5 -a5", "-a5", "", ""),
        ("two", "a5 c3", "c3", "", ""),
        ("two", "a5 done", "", "", ""),
    ],
)
def test_the_last_move_is_marked_with_the_ways_that_were_gone(key, texts, touched, ways, thrown):
    tree = after(key, start(key, players=latest_rules(key).players[0]), *texts.split())
    assert marked(tree) == set(touched.split())
    where = {name: centre(place) for name, place in places(tree).items()}
    trails = {"trail": [], "trail thrown": []}
    for each in with_class(tree, "trail"):
        trails[each.get("class")].append(points(each))
    for kind, expected in (("trail", ways), ("trail thrown", thrown)):
        assert trails[kind] == [
            [where[name] for name in way.split("-")] for way in expected.split()
        ]
