"""Lines of Action: rules, every sentence and ending, the drawing, the help, robots, and two second opinions."""

import random
from functools import partial
from pathlib import Path

import pytest

from domain.drawing import draw_text
from domain.games.loa import evaluate, spread
from domain.games.loa.rules import GRID, LoaPosition
from domain.rules import latest_rules
from tests.games import openspiel, playing
from tests.games.loa import reference

RULES = latest_rules("loa")
HERE = Path(__file__).parent
HELP = HERE.parents[2] / "domain/games/loa"
WON = "b1-d3 h3-f1 e1-c3 a7-c7 c1-c5 h2-e5 d3-d6 e5-e3 g1-g3 a6-c8 g3-c7 a5-a1 d1-d4"
"""A whole match, won by Black."""
CROWDED = """
xooxxxoo
xxoxoxxo
xooxxoox
xxxxxxxx
xxxxooox
oxxxooox
oo.ooooo
xxooxooo
"""
"""More pieces than a match has: after a4-d1 neither player can move."""

legal = partial(playing.legal, RULES)
board = partial(playing.board, RULES)


def start():
    return RULES.start(RULES.read_options([]), 2, None)


def played(texts, at=None):
    return playing.play(RULES, at or start(), *texts.split())


def set_up(black, white, turn=0):
    """Return a position with pieces on these squares."""
    sets = [sum(1 << GRID.index[name] for name in names.split()) for names in (black, white)]
    return LoaPosition(*sets, turn)


def test_it_is_played_by_two_without_options_or_a_setup():
    options = RULES.read_options([])
    playing.refuses_players_and_setup(RULES, options, 3, "loa is played by two, not by 3")
    assert RULES.write_options(options) == ()


# --- refusals and notation


@pytest.mark.parametrize(
    ("at", "text", "sentence"),
    [
        (start(), "a2-c2", "there is no black piece on a2"),
        (start(), "d4-d5", "there is no black piece on d4"),
        (played("b1-b3"), "b3-b4", "there is no white piece on b3"),
        (start(), "b1-c3", "a piece moves along a row, a column or a diagonal"),
        (start(), "b1-b1", "a piece moves along a row, a column or a diagonal"),
        (start(), "b1-b4", "on this line b1 moves 2 squares, one for each piece on it"),
        (start(), "c1-d1", "on this line c1 moves 6 squares, one for each piece on it"),
        (
            set_up("a1 a8", "h2"),
            "a1-c3",
            "on this line a1 moves 1 square, one for each piece on it",
        ),
        (set_up("a1 c1 f8", "h2 h4"), "a1-c1", "a piece of your own is already on c1"),
        (
            played("b1-b3"),
            "a3-d3",
            "a piece can't jump over an opposing one, such as that on b3",
        ),
        (
            set_up("a1 h1", "c1 h8"),
            "a1-d1",
            "a piece can't jump over an opposing one, such as that on c1",
        ),
        (played(WON), "a1-a2", "the match is over"),
    ],
)
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(at, text, sentence):
    assert playing.refused(RULES, at, text) == f"{text}: {sentence}"


@pytest.mark.parametrize("text", ["", "b1", "b1b3", "c1xa3", "b1-b3-b5", "i1-i3", "b0-b2", "pass"])
def test_what_is_no_notation_is_refused_with_the_form(text):
    said = playing.unreadable(RULES, text)
    assert said == f"{text!r} isn't a move; a move is written from-to, such as b1-b3"


# --- rules


def test_a_piece_moves_as_far_as_there_are_pieces_on_its_line():
    assert {move for move in legal(start()) if move.startswith("c1")} == {
        "c1-a3",
        "c1-c3",
        "c1-e3",
    }
    assert "b1-h1" in legal(start())  # across its own player's pieces
    assert "a3-c1" in legal(played("b1-b3"))  # a capture


@pytest.mark.parametrize(
    ("at", "move", "winners", "reason", "detail"),
    [
        (start(), WON, (0,), "connected", "all of Black's pieces are connected"),
        (
            set_up("c1 d4 d5", "c3 h7 h8"),
            "c1-c3",
            (0, 1),
            "both-connected",
            "the last move has connected the pieces of both players",
        ),
        (
            set_up("c1 a8", "c3 h7 h8"),
            "c1-c3",
            (1,),
            "connected",
            "all of White's pieces are connected",
        ),
        (
            set_up("c1 a8", "c3 h8"),
            "c1-c3",
            (1,),
            "connected",
            "all of White's pieces are connected",
        ),
    ],
)
def test_the_first_with_all_pieces_connected_wins(at, move, winners, reason, detail):
    outcome = playing.over(RULES, played(move, at))
    assert (outcome.winners, outcome.reason, outcome.detail) == (winners, reason, detail)


def test_a_player_who_cannot_move_is_passed_by():
    at = played("b4-b2", set_up("a1 h8", "a2 b1 b4 g7 g8 h7", turn=1))
    assert RULES.outcome(at) is None
    assert RULES.to_move(at) == 1
    assert all(move[:2] in ("a2", "b1", "b2", "g7", "g8", "h7") for move in legal(at))


def test_it_is_a_draw_if_neither_player_can_move():
    rows = CROWDED.split()
    sets = [
        sum(1 << at for at, there in enumerate("".join(rows)) if there == letter) for letter in "xo"
    ]
    outcome = playing.over(RULES, played("a4-d1", LoaPosition(*sets, 0)))
    assert (outcome.winners, outcome.reason) == ((0, 1), "stuck")
    assert outcome.detail == "neither player can move"


# --- against the slow reference and OpenSpiel


@pytest.mark.parametrize("seed", range(5))
def test_random_games_agree_with_the_reference(seed):
    letters, letter = reference.START, "x"
    for at, move in playing.random_game(RULES, start(), random.Random(seed)):
        assert board(at) == letters
        won = [one for one in "xo" if reference.connected(letters, one)]
        assert sorted(legal(at)) == ([] if won else reference.legal(letters, letter))
        if move is None:
            assert RULES.outcome(at).winners == tuple(map("xo".index, won))
        else:
            letters, letter = reference.play(letters, move), "xo"[letter == "x"]


@pytest.mark.parametrize(
    "seeds", [range(20), pytest.param(range(20, 200), marks=pytest.mark.long)], ids=len
)
def test_games_are_those_of_openspiel(seeds):
    """But for its own rules: it ends a match when a position repeats, and lets the mover win if both connect."""

    def name_of(state, action):
        return state.action_to_string(state.current_player(), action).replace("x", "-")

    def parts(state, at):
        del state
        outcome = RULES.outcome(at)
        return outcome is None or len(outcome.winners) > 1

    parted = openspiel.plays_alike(RULES, (), "lines_of_action", name_of, seeds, parts)
    assert parted < len(seeds) / 3


# --- robots


def test_pieces_that_are_near_each_other_count():
    assert evaluate(start())[0] == 1 - evaluate(start())[1] > 0.5  # for the turn
    assert spread(set_up("d4 d5 e4", "").black) == pytest.approx(2 / 3)
    assert spread(set_up("a1 h8", "").black) > 3
    assert evaluate(set_up("d4 d5 g4", "a1 h8"))[0] > 0.6


def test_an_easy_robot_beats_random_play():
    assert playing.won_against_random_play(RULES, start()) >= 19


# --- the drawing and the help


@pytest.mark.parametrize("language", ["", ".de"])
def test_what_the_help_shows_and_says_is_so(language):
    text = (HELP / f"help{language}.txt").read_text(encoding="utf-8")
    assert draw_text(RULES, start(), "large") in text
    assert draw_text(RULES, played(WON), "large") in text
    assert WON.endswith("d1-d4")
    assert "d1-d4" in text
