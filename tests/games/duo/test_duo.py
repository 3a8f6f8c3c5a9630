"""The cooperative That's My Line: turns, passes, every sentence, and a slow second opinion."""

from functools import partial

import pytest
from hypothesis import strategies as st

from domain.rules import latest_rules
from tests.games import playing
from tests.games.duo import reference
from tests.games.puzzles import random_match
from tests.games.puzzles import start as started

RULES = latest_rules("duo")
FORM = "a move is written as one intersection, such as c3, or done"
COLOURS = ("light", "dark", None)

play = partial(playing.play, RULES)
legal = partial(playing.legal, RULES)
refused = partial(playing.refused, RULES)
board = partial(playing.board, RULES)


def start():
    return started("duo")


def colour(at):
    return RULES.to_json(at)["colour"]


def split(at):
    """Return the stones of both colours as the reference has them."""
    shown = board(at)
    return [{name for name, letter in shown.items() if letter == one} for one in "ox"]


@st.composite
def positions(draw):
    """Positions that come about by random play."""
    match = [at for at, _ in random_match("duo", (), draw(st.integers(0, 100)))]
    return draw(st.sampled_from(match))


def test_a_stone_is_not_placed_on_a_line_with_the_other_colour():
    at = play(start(), "a1")
    sentence = "a13: the light stone at a1 stands on a line through it"
    assert refused(at, "a13") == sentence
    assert "a13" not in legal(at)
    assert refused(at, "a1") == "a1: a light stone is already there"


def test_a_colour_without_a_place_is_passed_until_neither_has_one():
    """After its fourth stone dark has no place; light goes on alone."""
    texts = ["a13", "b4", "f8", "c3", "i5", "d4", "j10", "f6", "m1", "a9"]
    at = play(start(), *texts)
    assert [colour(play(start(), *texts[:ply])) for ply in (7, 8, 9, 10)] == [
        "dark", "light", "light", "light",
    ]  # fmt: skip
    assert reference.places(*reversed(split(at))) == set()


def test_done_ends_the_match_with_the_score_as_its_sentence():
    for texts, detail in (
        ([], "0 stones placed, 0 light and 0 dark"),
        (["a1"], "1 stone placed, 1 light and 0 dark"),
        (["a1", "j10"], "2 stones placed, 1 light and 1 dark"),
    ):
        at = play(start(), *texts, "done")
        outcome = RULES.outcome(at)
        assert (outcome.winners, outcome.reason, outcome.detail) == ((0,), "done", detail)
        assert legal(at) == []
        assert refused(at, "c3") == "c3: the match is over: the puzzle has been submitted"


# --- notation


@pytest.mark.parametrize("text", ["", "c2", "c03", "-c3", "c3,c5", "pass", "\u212a3", "x" * 99])
def test_what_is_no_notation_is_refused_with_the_form(text):
    assert playing.unreadable(RULES, text) == f"{text[:24]!r} isn't a move; {FORM}"


# --- against the slow reference


def test_legal_moves_and_turns_agree_with_the_reference():
    for seed in range(10):
        stones, turn = [set(), set()], 0
        for at, text in random_match("duo", (), seed):
            assert split(at) == stones
            assert colour(at) == COLOURS[turn]
            assert set(legal(at)) == reference.places(stones[turn], stones[1 - turn]) | {"done"}
            stones[turn].add(text)
            turn = reference.next_colour(stones, turn)
        assert turn is None


# --- positions as values


def test_duo_is_solved_by_one_without_a_setup_and_without_options():
    options = RULES.read_options([])
    assert RULES.write_options(options) == ()
    playing.refuses_players_and_setup(RULES, options, 3, "duo is solved by one, not by 3")
