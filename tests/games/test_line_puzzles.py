"""One by One and Two by Two: what counts, every sentence, and a slow second opinion."""

import json
import re
from pathlib import Path

import pytest

from domain.boards.pow2_board import NAMES
from domain.drawing import draw_text
from domain.errors import Refusal
from domain.rules import latest_rules, rules_by_id
from tests.games import line_puzzle_reference as reference
from tests.games import playing
from tests.games.one.reference import worth as worth_one
from tests.games.puzzles import play, random_match, start
from tests.games.two.reference import worth as worth_two

KEYS = ("one", "two")
FORM = "a move is written a5 to place a stone, -a5 to take it back, or done"
WORTH = {"one": worth_one, "two": worth_two}
LIMIT = {"one": 64, "two": 32}


def rules(key):
    return latest_rules(key)


def board(key, at):
    return playing.board(rules(key), at)


def legal(key, at):
    return playing.legal(rules(key), at)


def rank(key, *texts):
    return rules(key).score(play(key, start(key), *texts)).rank


def refused(key, at, text):
    return playing.refused(rules(key), at, text)


def positions():
    """Positions that come about by random play, with the puzzle they are of."""

    def match(key, seed):
        return [at for at, _ in random_match(key, (), seed, 60)]

    return playing.positions(KEYS, 40, match)


# --- setting and taking back


def test_two_has_32_stones_and_one_as_many_as_there_is_room_for():
    full = play("two", start("two"), *NAMES[:32])
    assert legal("two", full) == [*(f"-{name}" for name in NAMES[:32]), "done"]
    sentence = "m13: all 32 stones are on the board; take one back first"
    assert refused("two", full, "m13") == sentence
    everywhere = play("one", start("one"), *NAMES)
    assert legal("one", everywhere) == [*(f"-{name}" for name in NAMES), "done"]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a5", "a5: there is already a stone at a5; -a5 takes it back"),
        ("-c3", "-c3: there is no stone at c3 to take back"),
    ],
)
def test_an_illegal_move_is_refused_by_what_stands_in_its_way(key, text, sentence):
    assert refused(key, play(key, start(key), "a5"), text) == sentence


# --- scores


def test_what_is_proven_is_shown_beside():
    assert rules("one").score(start("one")).bound == (
        "proven: 40 of the 44 lines at most, for which 12 stones are enough; "
        "13 stones are the fewest that touch every line when some may hold more"
    )
    assert rules("two").score(start("two")).bound == (
        "proven: 38 at most (25 stones), 37 when no line may hold more than two (25 stones); "
        "the booklet's target: 21"
    )


@pytest.mark.parametrize("key", KEYS)
def test_scores_agree_with_the_reference_over_whole_matches(key):
    for seed in range(5):
        history = [set()]
        for at, text in random_match(key, (), seed, 60):
            assert set(board(key, at)) == history[-1]
            assert set(legal(key, at)) == reference.placing(history[-1], LIMIT[key])
            lines, stones = reference.best(WORTH[key], history)
            assert rules(key).score(at).rank == (-lines, stones)
            name = text.removeprefix("-")
            history.append(history[-1] ^ {name})


# --- notation


@pytest.mark.parametrize(
    "text", ["", "-", "a05", "--a5", "+a5", "a5-", "a5,c3", "-done", "resign", "\u212a3", "x" * 99]
)
def test_what_is_no_notation_is_refused_with_the_form(text):
    for key in KEYS:
        assert playing.unreadable(rules(key), text) == f"{text[:24]!r} isn't a move; {FORM}"


# --- positions as values


@pytest.mark.parametrize("key", KEYS)
def test_they_are_solved_by_one_without_a_setup_and_without_options(key):
    options = rules(key).read_options([])
    assert rules(key).write_options(options) == ()
    sentence = f"{key} is solved by one, not by 2"
    playing.refuses_players_and_setup(rules(key), options, 2, sentence)
    with pytest.raises(Refusal, match="this game has none"):
        rules(key).read_options(["-exact"])


# --- the best that is known of the puzzles, played by the rules and scored as the boun


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
PUZZLES = ("duo", "jump", "one", "two")
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
        for key in PUZZLES
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
