"""Puzzles: One by One and Two by Two with a slow second opinion, pages, drawings, and what is best of all four."""

import json
import re
from pathlib import Path

import pytest

from domain.boards.pow2_board import NAMES
from domain.drawing import draw_text
from domain.rules import rules_id
from tests.games import line_puzzle_reference as reference
from tests.games import playing
from tests.games.one.reference import worth as worth_one
from tests.games.two.reference import worth as worth_two

GAMES = {key: playing.Game(key, players=1) for key in ("duo", "jump", "one", "two")}
ONE, TWO = GAMES["one"], GAMES["two"]
FOLDER = Path(__file__).parent


class OfLines(playing.GameTests):
    form = "a move is written a5 to place a stone, -a5 to take it back, or done"
    unreadable = ("", "-", "a05", "--a5", "+a5", "a5-", "a5,c3", "-done", "resign", "\u212a3", "x" * 99)  # fmt: skip

    @property
    def illegal(self):
        at = GAMES[self.key].played("a5")
        return (
            (at, "a5", "there is already a stone at a5; -a5 takes it back"),
            (at, "-c3", "there is no stone at c3 to take back"),
        )


class TestOne(OfLines):
    key = "one"
    wrong_players = 2, "is solved by one, not by 2"


class TestTwo(OfLines):
    key = "two"
    wrong_players = 2, "is solved by one, not by 2"


def test_two_has_32_stones_and_one_as_many_as_there_is_room_for():
    full = TWO.played(" ".join(NAMES[:32]))
    assert TWO.legal(full) == [*(f"-{name}" for name in NAMES[:32]), "done"]
    said = "m13: all 32 stones are on the board; take one back first"
    assert playing.refused(TWO.rules, full, "m13") == said
    everywhere = ONE.played(" ".join(NAMES))
    assert ONE.legal(everywhere) == [*(f"-{name}" for name in NAMES), "done"]


def test_what_is_proven_is_shown_beside():
    assert ONE.rules.score(ONE.start()).bound == (
        "proven: 40 of the 44 lines at most, for which 12 stones are enough; "
        "13 stones are the fewest that touch every line when some may hold more"
    )
    assert TWO.rules.score(TWO.start()).bound == (
        "proven: 38 at most (25 stones), 37 when no line may hold more than two (25 stones); "
        "the booklet's target: 21"
    )


@pytest.mark.parametrize(("game", "worth", "limit"), [(ONE, worth_one, 64), (TWO, worth_two, 32)])
def test_scores_agree_with_the_reference_over_whole_matches(game, worth, limit):
    for seed in range(4):
        history = [set()]
        for at, text in playing.random_puzzle(game, game.start(), seed, 60):
            assert set(game.board(at)) == history[-1]
            assert set(game.legal(at)) == reference.placing(history[-1], limit)
            lines, stones = reference.best(worth, history)
            assert game.rules.score(at).rank == (-lines, stones)
            history.append(history[-1] ^ {text.removeprefix("-")})


# --- the best that is known, played by the rules and scored as the bounds say


BEST = json.loads((FOLDER / "puzzles-best.json").read_text())


@pytest.mark.parametrize("best", BEST, ids=lambda best: best["what"])
def test_the_best_known_match_scores_what_is_on_record(best):
    game = GAMES[best["rules"].partition("/")[0]]
    assert rules_id(game.rules) == best["rules"]
    assert game.rules.score(game.played(best["moves"])).detail == best["detail"]


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
    score = GAMES[key].rules.score(GAMES[key].played(best["moves"]))
    assert said in score.bound
    assert all(number in said for number in score.detail.split()[:1])


# --- pages and drawings


EXAMPLES = (
    ("duo", "", "a13 b4 f8 c3 i5 d4 j10 f6 m1"),
    ("jump", "", "a1 e1:g1 e3:d4-g1"),
    ("jump", "-solitaire=a1,a5,a9,m1", "a1-a7-a13"),
    ("one", "", "a9 d4 d7 d10 a13"),
    ("two", "", "a1 a13 g1"),
)


@pytest.mark.parametrize(("key", "flags", "texts"), EXAMPLES)
def test_the_boards_on_the_pages_are_the_drawn_ones_and_moves_canonical(key, flags, texts):
    game = GAMES[key]
    drawn = draw_text(game.rules, game.played(texts, *flags.split()), "small")
    for page in playing.help_pages(key):
        assert drawn in page
        said = re.split(r", | und | and |: ", " ".join(page.split()))
        assert all(any(text in part for part in said) for text in texts.split())
        moves = re.findall(r"^  (-?[a-m]\d\S*|done)  ", page, re.MULTILINE)
        assert moves[-1] == "done"
        assert [game.rules.write(game.rules.read(text)) for text in moves] == moves


FIRST_BEST = {best["rules"].partition("/")[0]: best["moves"] for best in reversed(BEST)}


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("duo/beginning-large", "a13 b4 f8"),
        ("duo/best-small", FIRST_BEST["duo"]),
        ("jump/part-one-large", "a1 e1:g1 e3:d4-g1"),
        ("jump/part-two-small", " ".join(FIRST_BEST["jump"].split()[:33])),
        ("one/best-large", FIRST_BEST["one"]),
        ("one/done-small", "a9 d4 d7 d10 a13 done"),
        ("two/best-small", FIRST_BEST["two"]),
        ("two/beginning-large", "a1 a13 g1"),
    ],
)
def test_positions_are_drawn_as_on_file(name, texts):
    game = GAMES[name.partition("/")[0]]
    drawn = draw_text(game.rules, game.played(texts), name.rpartition("-")[2])
    assert f"{drawn}\n" == (FOLDER / f"{name}.txt").read_text()
