"""Hex: rules, every sentence and ending, the drawing, the help, robots, and two second opinions."""

import pytest

from domain.games.hex import candidates, choice, evaluate, stones_missing
from tests.games import openspiel, playing
from tests.games.hex import reference

HEX = playing.Game("hex")
RULES, start, played = HEX.rules, HEX.start, HEX.played
legal, board, ending = HEX.legal, HEX.board, HEX.ending
WON = "c3 b2 d2 c2 d1 b4 c4 b5 c5"
"""A whole match on five rows and columns, won by Black from d1 to c5."""
TOO_LATE = "you can only swap in reply to the first move of the match"


class TestHex(playing.GameTests):
    key = "hex"
    options = (("-size=13 -noswap", "-noswap -size=13"), ("", ""))
    illegal = (
        (start(), "swap", TOO_LATE),
        (played("f6 swap"), "swap", TOO_LATE),
        (played("f6 a1"), "swap", TOO_LATE),
        (played("f6", "-noswap"), "swap", "this match is played without swapping"),
        (start(), "l1", "this board ends at k11"),
        (start("-size=4"), "a5", "this board ends at d4"),
        (played("f6"), "f6", "a black stone is already there"),
        (played("f6 swap"), "f6", "a white stone is already there"),
        (played(WON, "-size=5"), "a1", "the match is over: Black has connected both sides"),
    )
    unreadable = "", "a", "6f", "a0", "a15", "o1", "a01", "a1-b2", "pass", "a\u0661"
    form = "a move is written as one place, such as f6; in reply to the first move, also swap"
    shown = ((start("-size=5"), "large"), (played(WON, "-size=5"), "large"))
    words = "c2 b3"


def test_a_swapped_stone_is_mirrored_and_black_moves_again():
    at = played("c2 swap")
    assert board(at) == {"b3": "o"}
    assert RULES.to_move(at) == 0
    assert "swap" not in legal(at)


@pytest.mark.parametrize(
    ("moves", "end"),
    [
        ("b1 d1 b2 d2 b3 d3 b4", ((0,), "connected", "Black has connected top and bottom")),
        ("a4 a2 b4 b2 c4 c2 d4 d2", ((1,), "connected", "White has connected left and right")),
    ],
)
def test_each_player_wins_by_the_own_sides_alone(moves, end):
    assert ending(played(moves, "-size=4", "-noswap")) == end


@pytest.mark.parametrize("flags", [(), ("-size=5",), ("-size=14", "-noswap")])
def test_random_games_agree_with_the_reference(flags):
    first = start(*flags)
    for game in HEX.games(first, range(5)):
        letters, letter = {}, "x"
        for at, move in game:
            assert board(at) == letters
            won = reference.winner(letters, first.size)
            swaps = first.swap and letter == "o" and [*letters.values()] == ["x"]
            assert legal(at) == ([] if won else reference.legal(letters, first.size, swap=swaps))
            assert (RULES.outcome(at) is None) == (won is None)
            if move:
                letters = reference.swapped(letters) if move == "swap" else letters | {move: letter}
            letter = "xo"[letter == "x"]
        assert RULES.outcome(at).winners == ("xo".index(won),)


@pytest.mark.parametrize("size", [4, 11])
def test_games_are_those_of_openspiel(size):
    def name_of(state, action):
        return state.action_to_string(state.current_player(), action)

    flags = (f"-size={size}", "-noswap")
    openspiel.plays_alike(RULES, flags, f"hex(board_size={size})", name_of)


def test_the_missing_stones_are_counted_through_the_opponents_gaps():
    at = played("c3 b2 d2 c2", "-size=5", "-noswap")
    black, white = at.stones
    assert stones_missing(5, black, white, 0) == 3
    assert stones_missing(5, white, black, 1) == 3
    assert evaluate(at)[0] > 0.5
    assert stones_missing(5, *played(WON, "-size=5").stones, 0) == 0


def test_a_robot_takes_over_a_first_move_in_the_middle_and_not_one_at_the_edge():
    assert [RULES.write(each) for each in candidates(played("f6"))] == ["swap"]
    assert "swap" not in [RULES.write(each) for each in candidates(played("a1"))]


def test_the_page_offers_to_swap_and_says_what_follows():
    words = choice(played("c2"), ("alice", "bob"))
    assert str(words.words["swap"].follows) == "the black stone is replaced by a white one at b3"
    assert choice(start(), ()) is None
