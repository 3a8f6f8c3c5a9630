"""The drawings of the puzzles, against boards on file."""

import json
from pathlib import Path

import pytest

from domain.drawing import draw_text
from domain.rules import latest_rules
from tests.games.puzzles import play, random_match, start

GAMES = Path(__file__).parent
KEYS = ("duo", "jump", "one", "two")
BEST = {}
for _best in json.loads((GAMES / "puzzles-best.json").read_text()):
    BEST.setdefault(_best["rules"].removesuffix("/1"), _best["moves"])
BOARDS = {
    "duo-beginning-large": ("duo", "a13 b4 f8"),
    "duo-best-small": ("duo", BEST["duo"]),
    "jump-part-one-large": ("jump", "a1 e1:g1 e3:d4-g1"),
    "jump-part-two-small": ("jump", " ".join(BEST["jump"].split()[:33])),
    "one-best-large": ("one", BEST["one"]),
    "one-done-small": ("one", "a9 d4 d7 d10 a13 done"),
    "two-best-small": ("two", BEST["two"]),
    "two-beginning-large": ("two", "a1 a13 g1"),
}


@pytest.mark.parametrize("name", BOARDS)
def test_positions_are_drawn_as_on_file(name):
    key, texts = BOARDS[name]
    drawn = draw_text(
        latest_rules(key), play(key, start(key), *texts.split()), name.rpartition("-")[2]
    )
    assert f"{drawn}\n" == (GAMES / f"{name.replace('-', '/', 1)}.txt").read_text()


@pytest.mark.parametrize("display", ["large", "small"])
@pytest.mark.parametrize("key", KEYS)
def test_no_line_ends_with_a_blank_or_is_wider_than_a_terminal(key, display):
    for at, _ in random_match(key, (), 1):
        lines = draw_text(latest_rules(key), at, display).split("\n")
        assert all(line == line.rstrip() and len(line) <= 78 for line in lines)


@pytest.mark.parametrize(
    ("key", "texts", "counts"),
    [
        ("jump", "", "Stones set: 0"),
        ("jump", "a1 c3:d4", "Stones set: 2"),
        ("jump", BEST["jump"], "Stones left: 1 Plies: 3"),
        ("one", "", "Stones set: 0 Lines with exactly one: 0 with more: 0 Best: 0 by 0"),
        ("one", "a1 m1", "Stones set: 2 Lines with exactly one: 8 with more: 1 Best: 5 by 1"),
        ("two", "a1 a13", "Stones set: 2 Lines with exactly two: 1 Best: 1 by 2"),
        ("two", "a1 a13 a7", "Stones set: 3 Lines with exactly two: 0 Best: 1 by 2"),
        ("duo", "", "Stones placed: Light 0 Dark 0 Next: Light"),
        ("duo", "a1", "Stones placed: Light 1 Dark 0 Next: Dark"),
        ("duo", "a1 done", "Stones placed: Light 1 Dark 0"),
    ],
)
def test_the_counts_stand_above_the_board(key, texts, counts):
    drawn = draw_text(latest_rules(key), play(key, start(key), *texts.split()), "small")
    assert drawn.split("\n")[:2] == [counts, ""]


@pytest.mark.parametrize("key", KEYS)
def test_a_finished_position_is_drawn_with_its_score(key):
    at = play(key, start(key), "done")
    assert draw_text(latest_rules(key), at, "small").split("\n")[-2:] == [
        "", latest_rules(key).score(at).detail,
    ]  # fmt: skip
