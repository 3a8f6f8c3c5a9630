"""One by One and Two by Two: what counts, every sentence, and a slow second opinion."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.boards.pow2_board import INDEX, NAMES
from domain.errors import Refusal
from domain.rules import latest_rules
from tests.games import line_puzzle_reference as reference
from tests.games import playing
from tests.games.one.reference import worth as worth_one
from tests.games.puzzles import play, random_match, start
from tests.games.two.reference import worth as worth_two

KEYS = ("one", "two")
FORM = "a move is written a5 to place a stone, -a5 to take it back, or done"
WORTH = {"one": worth_one, "two": worth_two}
LIMIT = {"one": 64, "two": 32}
COVER = "a5 a9 d4 d10 e7 g1 g13 i7 j2 j4 j10 j12 m7"
"""Thirteen stones that touch every line."""


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


@pytest.mark.parametrize("key", KEYS)
def test_a_stone_is_set_anywhere_and_taken_back(key):
    assert legal(key, start(key)) == [*NAMES, "done"]
    at = play(key, start(key), "a5", "m13", "c3")
    assert board(key, at) == {"a5": "o", "c3": "o", "m13": "o"}
    assert board(key, play(key, at, "-a5")) == {"c3": "o", "m13": "o"}
    assert legal(key, at)[:3] == ["a1", "-a5", "a7"]


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


def test_a_line_with_more_than_one_stone_makes_a_position_of_one_worthless():
    assert rank("one") == (0, 0)
    a1 = sum("a1" in line for line in reference.BOARD_LINES)
    assert rank("one", "a1") == (-a1, 1)
    assert rank("one", "a1", "m1") == (-a1, 1)
    assert rank("one", "a1", "m1", "-a1", "-m1") == (-a1, 1)


def test_a_line_with_more_than_two_stones_only_fails_to_count_in_two():
    assert rank("two", "a1", "a13") == (-1, 2)
    assert rank("two", "a1", "a13", "a7") == rank("two", "a13", "a7", "a1")


def test_the_best_position_counts_wherever_it_was_in_the_match():
    way = ["a9", "d4", "d7", "d10", "e1", "g4", "g10", "i13", "j4", "j7", "j10", "m5"]
    worse = [*way, "a1", *(f"-{name}" for name in way)]
    assert rank("one", *way) == rank("one", *worse) == (-40, 12)
    score = rules("one").score(play("one", start("one"), *worse))
    assert score.detail == "40 lines with exactly one stone, by 12 stones"


def test_on_equal_lines_fewer_stones_are_better():
    """A stone at m9 is on no line with two; the two stones alone come later, and are better."""
    assert rank("two", "m9", "a1", "a13") == (-1, 3)
    assert rank("two", "m9", "a1", "a13", "-m9") == (-1, 2)
    assert rank("two", "a1", "a13", "m9") == (-1, 2)


def test_one_stone_and_one_line_are_told_in_the_singular():
    score = rules("two").score(play("two", start("two"), "a1", "a13"))
    assert score.detail == "1 line with exactly two stones, by 2 stones"
    score = rules("one").score(start("one"))
    assert score.detail == "0 lines with exactly one stone, by 0 stones"


def test_what_is_proven_is_shown_beside():
    assert rules("one").score(start("one")).bound == (
        "proven: 40 of the 44 lines at most, for which 12 stones are enough; "
        "13 stones are the fewest that touch every line when some may hold more"
    )
    assert rules("two").score(start("two")).bound == (
        "proven: 38 at most (25 stones), 37 when no line may hold more than two (25 stones); "
        "the booklet's target: 21"
    )


def test_thirteen_stones_touch_every_line():
    assert min(reference.numbers(set(COVER.split()))) == 1
    assert len(COVER.split()) == 13


@pytest.mark.parametrize("key", KEYS)
def test_scores_agree_with_the_reference_over_whole_matches(key):
    for seed in range(12):
        history = [set()]
        for at, text in random_match(key, (), seed, 60):
            assert set(board(key, at)) == history[-1]
            assert set(legal(key, at)) == reference.placing(history[-1], LIMIT[key])
            lines, stones = reference.best(WORTH[key], history)
            assert rules(key).score(at).rank == (-lines, stones)
            name = text.removeprefix("-")
            history.append(history[-1] ^ {name})


@pytest.mark.parametrize("key", KEYS)
def test_scores_agree_with_the_reference_for_few_stones_of_any_kind(key):
    """Random matches fill the board; here stones are set and taken back in turn."""
    for seed in range(8):
        names = [name.removeprefix("-") for _, name in random_match(key, (), seed, 24)]
        texts, history = [], [set()]
        for one, other in pairwise(dict.fromkeys(names)):
            texts += [one, other, f"-{one}", f"-{other}"]
            history += [{one}, {one, other}, {other}, set()]
        lines, stones = reference.best(WORTH[key], history)
        assert rank(key, *texts) == (-lines, stones)


# --- done


@pytest.mark.parametrize("key", KEYS)
def test_only_done_ends_the_match(key):
    for _, text in random_match(key, (), 1, 100):
        assert text != "done"
    at = play(key, start(key), "a5", "done")
    outcome = playing.over(rules(key), at)
    assert (outcome.winners, outcome.reason) == ((0,), "done")
    assert outcome.detail == rules(key).score(at).detail
    for text in ("done", "c3", "-a5"):
        assert refused(key, at, text) == f"{text}: the match is over: the puzzle has been submitted"


# --- notation


@pytest.mark.parametrize(
    "text", ["", "-", "a05", "--a5", "+a5", "a5-", "a5,c3", "-done", "resign", "\u212a3", "x" * 99]
)
def test_what_is_no_notation_is_refused_with_the_form(text):
    for key in KEYS:
        assert playing.unreadable(rules(key), text) == f"{text[:24]!r} isn't a move; {FORM}"


def order(text):
    return text == "done", INDEX.get(text.removeprefix("-"))


@given(positions())
def test_legal_moves_come_sorted_each_once_and_are_counted(drawn):
    key, at = drawn
    playing.sorted_each_once_and_counted(rules(key), at, order)


@given(positions(), st.sampled_from(playing.SYMMETRIES))
def test_a_turned_or_mirrored_board_is_worth_the_same(drawn, symmetry):
    key, at = drawn
    other = play(key, start(key), *(playing.turned(name, symmetry) for name in board(key, at)))
    assert rules(key).count_lines(other.stones) == rules(key).count_lines(at.stones)
    assert {playing.turned(text.removeprefix("-"), symmetry) for text in legal(key, at)[:-1]} == {
        text.removeprefix("-") for text in legal(key, other)[:-1]
    }


@given(positions())
def test_no_ply_makes_the_score_worse(drawn):
    key, at = drawn
    before = rules(key).score(at).rank
    after = (rules(key).score(rules(key).play(at, move)).rank for move in rules(key).moves(at))
    assert all(rank <= before for rank in after)


# --- positions as values


@pytest.mark.parametrize("key", KEYS)
def test_they_are_solved_by_one_without_a_setup_and_without_options(key):
    options = rules(key).read_options([])
    assert rules(key).write_options(options) == ()
    sentence = f"{key} is solved by one, not by 2"
    playing.refuses_players_and_setup(rules(key), options, 2, sentence)
    with pytest.raises(Refusal, match="this game has none"):
        rules(key).read_options(["-exact"])
