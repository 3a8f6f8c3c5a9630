"""Lines of Action: rules, every sentence and ending, the drawing, the help, robots, and two second opinions."""

import pytest

from domain.games.loa import evaluate, spread
from domain.games.loa.rules import GRID, LoaPosition
from tests.games import openspiel, playing
from tests.games.loa import reference

LOA = playing.Game("loa")
RULES, start, played = LOA.rules, LOA.start, LOA.played
legal, board, ending = LOA.legal, LOA.board, LOA.ending
WON = "b1-d3 h3-f1 e1-c3 a7-c7 c1-c5 h2-e5 d3-d6 e5-e3 g1-g3 a6-c8 g3-c7 a5-a1 d1-d4"
"""A whole match, won by Black."""
CROWDED = "xooxxxoo xxoxoxxo xooxxoox xxxxxxxx xxxxooox oxxxooox oo.ooooo xxooxooo"
"""More pieces than a match has, row by row: after a4-d1 neither player can move."""
FULL = LoaPosition(
    *(sum(1 << at for at, one in enumerate(CROWDED.replace(" ", "")) if one == own) for own in "xo"),
    0,
)  # fmt: skip


def set_up(black, white, turn=0):
    """Return a position with pieces on these squares."""
    sets = [sum(1 << GRID.index[name] for name in names.split()) for names in (black, white)]
    return LoaPosition(*sets, turn)


class TestLinesOfAction(playing.GameTests):
    key = "loa"
    illegal = (
        (start(), "a2-c2", "there is no black piece on a2"),
        (start(), "d4-d5", "there is no black piece on d4"),
        (played("b1-b3"), "b3-b4", "there is no white piece on b3"),
        (start(), "b1-c3", "a piece moves along a row, a column or a diagonal"),
        (start(), "b1-b1", "a piece moves along a row, a column or a diagonal"),
        (start(), "b1-b4", "on this line b1 moves 2 squares, one for each piece on it"),
        (start(), "c1-d1", "on this line c1 moves 6 squares, one for each piece on it"),
        (set_up("a1 a8", "h2"), "a1-c3", "on this line a1 moves 1 square, one for each piece on it"),
        (set_up("a1 c1 f8", "h2 h4"), "a1-c1", "a piece of your own is already on c1"),
        (played("b1-b3"), "a3-d3", "a piece can't jump over an opposing one, such as that on b3"),
        (set_up("a1 h1", "c1 h8"), "a1-d1", "a piece can't jump over an opposing one, such as that on c1"),
        (played(WON), "a1-a2", "the match is over"),
    )  # fmt: skip
    unreadable = "", "b1", "b1b3", "c1xa3", "b1-b3-b5", "i1-i3", "b0-b2", "pass"
    form = "a move is written from-to, such as b1-b3"
    shown = ((start(), "large"), (played(WON), "large"))
    words = "d1-d4"


BLACK, WHITE = "all of Black's pieces are connected", "all of White's pieces are connected"
BOTH = "the last move has connected the pieces of both players"


@pytest.mark.parametrize(
    ("at", "move", "end"),
    [
        (start(), WON, ((0,), "connected", BLACK)),
        (set_up("c1 d4 d5", "c3 h7 h8"), "c1-c3", ((0, 1), "both-connected", BOTH)),
        (set_up("c1 a8", "c3 h7 h8"), "c1-c3", ((1,), "connected", WHITE)),
        (set_up("c1 a8", "c3 h8"), "c1-c3", ((1,), "connected", WHITE)),
        (FULL, "a4-d1", ((0, 1), "stuck", "neither player can move")),
    ],
)
def test_a_match_ends_with_all_pieces_connected_or_without_a_move(at, move, end):
    assert ending(played(move, at=at)) == end


def test_a_player_who_cannot_move_is_passed_by():
    at = played("b4-b2", at=set_up("a1 h8", "a2 b1 b4 g7 g8 h7", turn=1))
    assert RULES.outcome(at) is None
    assert RULES.to_move(at) == 1
    assert all(move[:2] in ("a2", "b1", "b2", "g7", "g8", "h7") for move in legal(at))


def test_random_games_agree_with_the_reference():
    for game in LOA.games(start(), range(4)):
        letters, letter = reference.START, "x"
        for at, move in game:
            assert board(at) == letters
            won = [one for one in "xo" if reference.connected(letters, one)]
            assert sorted(legal(at)) == ([] if won else reference.legal(letters, letter))
            if move is None:
                assert RULES.outcome(at).winners == tuple(map("xo".index, won))
            else:
                letters, letter = reference.play(letters, move), "xo"[letter == "x"]


def test_games_are_those_of_openspiel():
    """But for its own rules: it ends a match when a position repeats, and lets the mover win if both connect."""

    def name_of(state, action):
        return state.action_to_string(state.current_player(), action).replace("x", "-")

    def parts(_, at):
        outcome = RULES.outcome(at)
        return outcome is None or len(outcome.winners) > 1

    seeds = range(len(openspiel.SEEDS) // 3)
    assert (
        openspiel.plays_alike(RULES, (), "lines_of_action", name_of, seeds, parts) < len(seeds) / 3
    )


def test_pieces_that_are_near_each_other_count():
    assert evaluate(start())[0] == 1 - evaluate(start())[1] > 0.5  # for the turn
    assert spread(set_up("d4 d5 e4", "").black) == pytest.approx(2 / 3)
    assert spread(set_up("a1 h8", "").black) > 3
    assert evaluate(set_up("d4 d5 g4", "a1 h8"))[0] > 0.6
