"""One by One and Two by Two: what counts, every sentence, and a slow second opinion."""

import pytest

from domain.boards.pow2_board import NAMES
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
    for seed in range(12):
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
