"""Four in a Row: rules, every sentence and ending, the drawing, the help, robots, and two second opinions."""

import pytest

from domain.drawing import draw_svg
from domain.games.connectfour import candidates, evaluate, gaps
from tests.games import openspiel, playing
from tests.games.connectfour import reference

CONNECTFOUR = playing.Game("connectfour")
RULES, start, played = CONNECTFOUR.rules, CONNECTFOUR.start, CONNECTFOUR.played
legal, board, ending = CONNECTFOUR.legal, CONNECTFOUR.board, CONNECTFOUR.ending
WON = "a1 b1 b2 c1 d1 c2 c3 d2 d3 g1 d4"
"""A whole match, won by Black from a1 to d4."""
FULL = "a b a b a b b a b a b a c d c d c d d c d c d c f e f e f e e f e f e f g g g g g g"
"""A match without four in a row."""


class TestConnectFour(playing.GameTests):
    key = "connectfour"
    illegal = (
        (start(), "d2", "a disc in this column lands on d1"),
        (played("d1"), "d1", "a disc in this column lands on d2"),
        (played("d d d d d d"), "d", "column d is full"),
        (played("d d d d d d"), "d6", "column d is full"),
        (played(WON), "a2", "the match is over"),
        (played(WON), "a", "the match is over"),
    )
    unreadable = "", "h", "4", "d0", "d7", "h1", "dd", "d01", "d1-d2", "\u212a"
    form = "a move is written as one square, such as d1, or as a column, such as d"
    shown = ((start(), "large"), (played(WON), "large"))
    words = "a1 b2 c3 d4"


def test_a_column_alone_means_the_square_where_the_disc_lands():
    for at, square in ((start(), "d1"), (played("d1"), "d2")):
        assert RULES.check(at, RULES.read(" D ")) == RULES.read(square)
    assert not RULES.has_one_spelling
    assert all(RULES.write(RULES.read(letter)) == letter for letter in "abcdefg")


@pytest.mark.parametrize(
    ("texts", "winner", "line"),
    [
        (WON, 0, "Black has four in a row from a1 to d4"),
        ("g f f e d e e d d c d", 0, "Black has four in a row from d4 to g1"),
        ("a b a b a b a", 0, "Black has four in a row from a1 to a4"),
        ("a b a b a b c b", 1, "White has four in a row from b1 to b4"),
        ("a a b b d d e e c", 0, "Black has four in a row from a1 to d1"),
    ],
)
def test_four_in_a_row_win_in_each_direction_and_so_do_five(texts, winner, line):
    assert ending(played(texts)) == ((winner,), "four", line)


def test_no_line_goes_around_the_edge():
    at = played("b a c a g a a d a e a")
    assert [board(at)[name] for name in ("a4", "a5", "a6", "b1")] == ["x"] * 4
    assert RULES.outcome(at) is None


def test_a_full_board_without_a_line_is_a_draw():
    said = "the board is full, and nobody has four in a row"
    assert ending(played(FULL)) == ((0, 1), "full", said)


def test_random_games_agree_with_the_reference():
    for game in CONNECTFOUR.games(start(), range(30)):
        columns, letter = reference.START, "x"
        for at, move in game:
            assert board(at) == reference.letters(columns)
            won, moves = reference.winner(columns), reference.legal(columns)
            assert legal(at) == ([] if won else moves)
            assert (move is None) == bool(won or not moves)
            if move:
                columns, letter = reference.play(columns, move, letter), "xo"[letter == "x"]
            elif won:
                assert RULES.outcome(at).winners == ("xo".index(won),)


def test_games_are_those_of_openspiel():
    def name_of(state, action):
        column = int(state.action_to_string(state.current_player(), action)[1:])
        discs = [row[column] for row in str(state).split() if row[column] != "."]
        return f"{'abcdefg'[column]}{len(discs) + 1}"

    openspiel.plays_alike(RULES, (), "connect_four", name_of)


def test_the_gaps_are_the_empty_squares_that_complete_four():
    at = played("d d c c e")
    found = gaps(*at.discs[::-1])
    assert [RULES.write(place) for place in range(48) if found >> place & 1] == ["b1", "f1"]
    assert gaps(*at.discs) == 0
    assert evaluate(at)[0] > 0.5


def test_a_robot_wins_or_prevents_four_and_does_not_make_it_possible():
    assert [RULES.write(move) for move in candidates(played("a g a g a g"))] == ["a4"]
    assert [RULES.write(move) for move in candidates(played("a g a g a"))] == ["a4"]
    at = played("c b b d d g c")  # discs on a1 and e1 would let Black complete four
    assert [RULES.write(move) for move in candidates(at)] == ["d3", "c3", "b3", "f1", "g2"]


def test_the_board_stands_upright_for_both_players():
    at = played("d d e")
    plain = draw_svg(RULES, at, (), plates=False)
    assert draw_svg(RULES, at, (), plates=False, turned=True) == plain
