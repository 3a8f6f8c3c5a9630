"""Breakthrough: rules, every sentence and ending, the drawing, the help, robots, and two second opinions."""

import pytest

from domain.games.breakthrough import evaluate
from domain.games.breakthrough.rules import GRID, BreakthroughPosition
from tests.games import openspiel, playing
from tests.games.breakthrough import reference

BREAKTHROUGH = playing.Game("breakthrough")
start, played = BREAKTHROUGH.start, BREAKTHROUGH.played
legal, board, ending = BREAKTHROUGH.legal, BREAKTHROUGH.board, BREAKTHROUGH.ending
MET = "d2-d3 d7-d6 d3-d4 d6-d5 a2-a3 e7-e6 a3-a4 e6-e5"
"""White's d4 has a black piece in front of it, and another diagonally."""
WON = "c2-c3 a4-a3 c3-b4 e4-e3 b4-a5"
"""A whole match on five rows and columns, won by White at a5."""
FORWARD = "a piece moves one square forward, straight or diagonally"


def set_up(white, black, turn):
    """Return a position of eight rows with pieces on these squares."""
    sets = [sum(1 << GRID.index[name] for name in names.split()) for names in (white, black)]
    return BreakthroughPosition(8, *sets, turn)


class TestBreakthrough(playing.GameTests):
    key = "breakthrough"
    options = (("-size=5", "-size=5"), ("-size=8", ""))
    illegal = (
        (start(), "a3-a4", "there is no white piece on a3"),
        (start(), "a7-a6", "there is no white piece on a7"),
        (played("a2-a3"), "a3-a4", "there is no black piece on a3"),
        (start(), "a1-a2", "a piece of your own is already on a2"),
        (start(), "a2-a4", FORWARD),
        (start(), "a2-a2", FORWARD),
        (start(), "a2-h3", FORWARD),
        (played("a2-a3 a7-a6"), "a3-a2", FORWARD),
        (played(MET), "d4-d5", "a piece can only capture diagonally, and d5 is straight ahead"),
        (start("-size=5"), "a6-a5", "there is no white piece on a6"),
        (start("-size=5"), "e2-f3", "this board ends at e5"),
        (played(WON, "-size=5"), "b5-b4", "the match is over: White has won"),
    )
    unreadable = "", "a2", "a2a3", "a2xb3", "a2-a3-a4", "i2-i3", "a0-a1", "a8-a9"
    form = "a move is written from-to, such as a2-a3"
    shown = ((start(), "large"), (played(MET), "large"))
    words = "c5 d5 e5"


@pytest.mark.parametrize(
    ("at", "move", "end"),
    [
        (played(WON[:-6], "-size=5"), "b4-a5", ((0,), "broke-through", "White has broken through at a5")),
        (set_up("a1 h1", "a2 c2", 1), "c2-d1", ((1,), "broke-through", "Black has broken through at d1")),
        (set_up("c4", "d5", 0), "c4-d5", ((0,), "no-pieces", "White has captured all of Black's pieces")),
        (set_up("c4", "d5", 1), "d5-c4", ((1,), "no-pieces", "Black has captured all of White's pieces")),
    ],
)  # fmt: skip
def test_the_farthest_row_wins_and_so_does_capturing_the_last_piece(at, move, end):
    assert ending(played(move, at=at)) == end


@pytest.mark.parametrize("size", [5, 6, 7, 8])
def test_random_games_agree_with_the_reference(size):
    for game in BREAKTHROUGH.games(start(f"-size={size}"), range(4)):
        letters, letter = reference.start(size), "o"
        for at, move in game:
            assert board(at) == letters
            won = reference.winner(letters, size)
            assert sorted(legal(at)) == ([] if won else reference.legal(letters, size, letter))
            assert won == (None if move else "ox"[BREAKTHROUGH.rules.outcome(at).winners[0]])
            if move:
                letters, letter = reference.play(letters, move), "ox"[letter == "o"]


@pytest.mark.parametrize("size", [6, 8])
def test_games_are_those_of_openspiel_with_black_below(size):
    def name_of(state, action):
        text = state.action_to_string(state.current_player(), action)
        begin, end = (f"{name[0]}{size + 1 - int(name[1])}" for name in (text[:2], text[2:4]))
        return f"{begin}-{end}"

    spiel = f"breakthrough(rows={size},columns={size})"
    openspiel.plays_alike(BREAKTHROUGH.rules, (f"-size={size}",), spiel, name_of)


def test_pieces_count_and_those_that_hang_count_less():
    assert evaluate(start()) == (0.5, 0.5)
    assert evaluate(played(f"{MET} d4-e5"))[0] > 0.52
    guarded, hanging = (set_up(white, "e5 e6", 0) for white in ("d4 c3 h1", "d4 c1 h3"))
    assert evaluate(guarded)[0] > evaluate(hanging)[0]
