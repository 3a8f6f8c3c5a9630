"""The best that is known of the puzzles, played by the rules and scored as the bounds say.

What the help pages of the puzzles show and say, in both languages, is what the rules do.

The drawings of the puzzles, against boards on file.
"""

import json
import re
from pathlib import Path

import pytest

from domain.drawing import draw_text
from domain.rules import latest_rules, rules_by_id
from tests.games.puzzles import play, start

BEST = json.loads((Path(__file__).parent / "puzzles-best.json").read_text())


@pytest.mark.parametrize("best", BEST, ids=lambda best: best["what"])
def test_the_best_known_match_scores_what_is_on_record(best):
    rules = rules_by_id(best["rules"])
    at = start(rules.key)
    for text in best["moves"].split():
        assert rules.write(rules.check(at, rules.read(text))) == text
        at = play(rules.key, at, text)
    assert rules.score(at).detail == best["detail"]


@pytest.mark.parametrize(
    ("key", "index", "said"),
    [
        ("one", 0, "40 of the 44 lines at most, for which 12 stones are enough"),
        ("two", 0, "38 at most (25 stones)"),
        ("two", 1, "37 when no line may hold more than two (25 stones)"),
        ("duo", 0, "48 at most (44 and 4)"),
        ("duo", 1, "40 when no colour is passed before the end"),
    ],
)
def test_every_proven_bound_has_been_reached(key, index, said):
    best = [best for best in BEST if best["rules"] == f"{key}/1"][index]
    score = rules_by_id(best["rules"]).score(play(key, start(key), *best["moves"].split()))
    assert said in score.bound
    assert all(number in said for number in score.detail.split()[:1])


ROOT = Path(__file__).parents[2]
KEYS = ("duo", "jump", "one", "two")
EXAMPLES = {
    "duo": [((), "a13 b4 f8 c3 i5 d4 j10 f6 m1")],
    "jump": [((), "a1 e1:g1 e3:d4-g1"), (("-solitaire=a1,a5,a9,m1",), "a1-a7-a13")],
    "one": [((), "a9 d4 d7 d10 a13")],
    "two": [((), "a1 a13 g1")],
}
each_page = pytest.mark.parametrize(
    ("key", "page"),
    [
        pytest.param(
            key,
            (ROOT / f"domain/games/{key}/help{language}.txt").read_text(),
            id=f"{key}{language}",
        )
        for key in KEYS
        for language in ("", ".de")
    ],
)


@each_page
def test_the_boards_on_the_pages_are_the_drawn_ones(key, page):
    for flags, texts in EXAMPLES[key]:
        at = play(key, start(key, *flags), *texts.split())
        assert draw_text(latest_rules(key), at, "small") in page
        said = re.split(r", | und | and |: ", " ".join(page.split()))
        assert all(any(text in part for part in said) for text in texts.split())


@each_page
def test_every_move_on_the_pages_is_canonical_notation(key, page):
    moves = re.findall(r"^  (-?[a-m]\d\S*|done)  ", page, re.MULTILINE)
    assert moves[-1] == "done"
    for text in moves:
        assert latest_rules(key).write(latest_rules(key).read(text)) == text


GAMES = Path(__file__).parent
BEST_ON_FILE = {}
for _best in json.loads((GAMES / "puzzles-best.json").read_text()):
    BEST_ON_FILE.setdefault(_best["rules"].removesuffix("/1"), _best["moves"])
BOARDS = {
    "duo-beginning-large": ("duo", "a13 b4 f8"),
    "duo-best-small": ("duo", BEST_ON_FILE["duo"]),
    "jump-part-one-large": ("jump", "a1 e1:g1 e3:d4-g1"),
    "jump-part-two-small": ("jump", " ".join(BEST_ON_FILE["jump"].split()[:33])),
    "one-best-large": ("one", BEST_ON_FILE["one"]),
    "one-done-small": ("one", "a9 d4 d7 d10 a13 done"),
    "two-best-small": ("two", BEST_ON_FILE["two"]),
    "two-beginning-large": ("two", "a1 a13 g1"),
}


@pytest.mark.parametrize("name", BOARDS)
def test_positions_are_drawn_as_on_file(name):
    key, texts = BOARDS[name]
    drawn = draw_text(
        latest_rules(key), play(key, start(key), *texts.split()), name.rpartition("-")[2]
    )
    assert f"{drawn}\n" == (GAMES / f"{name.replace('-', '/', 1)}.txt").read_text()
