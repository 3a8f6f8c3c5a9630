"""The Power of Two board, checked against the rules' figures and a reference by fractions."""

import random
import re
from itertools import pairwise
from math import dist
from pathlib import Path

import pytest

from domain.boards import pow2_board
from domain.boards.pow2_board import (
    LINES,
    NAMES,
    SMALL,
)
from domain.drawing import draw_text
from domain.rules import latest_rules
from tests.games.playing import Game, help_pages
from tests.games.pow2 import reference
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

GAMES = Path(__file__).parent


def test_names_are_the_marks_of_figure_1():
    figure = (GAMES / "pow2/figure-1.txt").read_text().splitlines()[3:16]
    marks = {
        f"{'abcdefghijklm'[(column - 3) // 2]}{row}"
        for row, line in enumerate(figure, start=1)
        for column, mark in enumerate(line)
        if mark in "*OX" and 3 <= column < 29
    }
    assert marks == set(NAMES)
    assert SMALL.count("*") == 64


def test_lines_equal_those_found_by_fractions():
    ours = {frozenset(NAMES[at] for at in line) for line in LINES}
    assert ours == {frozenset(line) for line in reference.BOARD_LINES}
    by_end = [[NAMES[at] for at in line] for line in LINES]
    assert all(
        line in reference.BOARD_LINES or line[::-1] in reference.BOARD_LINES for line in by_end
    )


def test_jumps_lead_over_the_next_intersection_of_a_line_to_the_one_behind():
    for at, name in enumerate(NAMES):
        expected = {
            (line[place + 2 * way], line[place + way])
            for line in reference.BOARD_LINES
            if name in line
            for place in [line.index(name)]
            for way in (1, -1)
            if 0 <= place + 2 * way < len(line)
        }
        jumps = pow2_board.JUMPS[at]
        found = [(NAMES[to], *pow2_board.names_of(over)) for to, over, _ in jumps]
        assert set(found) == expected
        assert len({to for to, _ in found}) == len(found)  # a landing tells what is jumped over
        assert all(landing == 1 << to for to, _, landing in jumps)
        assert list(jumps) == sorted(jumps)


# --- the drawings of goliath and line, against boards on record; the templates are pow


COUNTED = "m13-a13:b10 a1-b4:f11 a13-e11:a13 b4-c6:e9 e11-d10:g13 c6-g4:i3 d10-c11:d10"
"""A match that ends by -count."""
NINETEEN = (
    "b4 m13 k5 d10 g4 d12 f3 i1 e7 h8 f6 i7 c3 i11 e3 j10 d4 c11 e5 j12 a5 k3 c5 k8 c6 k11 d7 k9 d2"
    " g10 k6 h6 i13 m9 l10"
)
"""A match as the source pictures its end: 19 to 16, Dark has won."""


BOARDS = [
    ("goliath/start", [], "", "large"),
    ("goliath/example", [], "m13-h8:i9 a1-c3:f6", "small"),
    ("goliath/counted", ["-count"], COUNTED, "large"),
    ("line/start", [], "", "small"),
    ("line/19-16", [], NINETEEN, "large"),
]


@pytest.mark.parametrize(("name", "flags", "moves", "display"), BOARDS)
def test_positions_are_drawn_as_on_record(name, flags, moves, display):
    game = Game(name.partition("/")[0])
    assert (
        draw_text(game.rules, game.played(moves, *flags), display) + "\n"
        == (GAMES / f"{name}.txt").read_text()
    )


def test_every_move_on_the_pages_is_canonical_notation():
    written = r"\b[a-m]\d+-[a-m]\d+(?::[a-m]\d+(?:[,>][a-m]\d+)*)?"
    for key in ("pow2", "goliath"):
        for page in help_pages(key):
            moves = [text for text in re.findall(written, page) if not text.startswith("a1-d3")]
            assert moves  # a1-d3 is quoted as the error it is
            assert [
                latest_rules(key).write(latest_rules(key).read(text)) for text in moves
            ] == moves


# --- the games on the Power of Two board in SVG: where things are, what is marked, wha


def test_a_touch_means_the_nearest_place_and_never_two():
    drawn = places(parsed("line", start("line")))
    areas = {
        name: (centre(place), corners(place.find(f"{SVG}path"))) for name, place in drawn.items()
    }
    rng = random.Random(1)
    hit = 0
    for _ in range(500):
        touch = rng.uniform(20, 492), rng.uniform(20, 492)
        distances = {name: dist(touch, middle) for name, (middle, _) in areas.items()}
        nearest, second = sorted(distances, key=distances.get)[:2]
        if distances[second] - distances[nearest] < 0.1:
            continue
        inside = [name for name, area in areas.items() if _holds(*area, touch)]
        assert inside in ([], [nearest])
        hit += len(inside)
        assert inside or distances[nearest] > 29
    assert hit > 250


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
