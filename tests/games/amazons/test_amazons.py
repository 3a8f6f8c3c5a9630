"""Amazons: rules, every sentence and the ending, the drawing, the help, robots, and two second opinions."""

import random
import re

import pytest

from domain.drawing import draw_svg
from domain.games.amazons.engine import candidates, evaluate, territory
from domain.games.amazons.rules import INDEX, AmazonsPosition, all_places, set_of
from tests.games import openspiel, playing
from tests.games.amazons import reference

AMAZONS = playing.Game("amazons")
RULES, start, played = AMAZONS.rules, AMAZONS.start, AMAZONS.played
legal, board, ending = AMAZONS.legal, AMAZONS.board, AMAZONS.ending


def position(size, white, black, arrows):
    """Return a position from the names of squares, in which White is to move."""
    places = [sorted(INDEX[name] for name in names.split()) for names in (white, black)]
    shot = sum(1 << INDEX[name] for name in arrows.split())
    packed = shot.to_bytes(14, "little").rstrip(b"\0")
    return AmazonsPosition(size, bytes(places[0]), bytes(places[1]), packed, 0)


LAST = position(6, "a1 f6 e6 f5", "a6 b6 a5 b5", "b1 a3 b2 b3 a4 b4 c4 c5 c6 d6 d5 e5 e4 f4")
"""White can go from a1 to a2, and shoot back."""
OVER = played("a1-a2/a1", at=LAST)


class TestAmazons(playing.GameTests):
    key = "amazons"
    options = (("-size=8", "-size=8"), ("-size=10", ""))
    illegal = (
        (start("-size=6"), "b1-b7/b3", "this board ends at f6"),
        (start("-size=6"), "b1-b3/g3", "this board ends at f6"),
        (start(), "d10-d7/g7", "the amazon on d10 is Black's"),
        (start(), "e1-e2/e3", "there is no amazon on e1"),
        (played("d1-d7/g7"), "g7-g8/g9", "there is no amazon on g7"),
        (start(), "d1-e3/e4", "no straight line leads from d1 to e3"),
        (start(), "d1-d1/e4", "no straight line leads from d1 to d1"),
        (start(), "d1-d7/e9", "no straight line leads from d7 to e9"),
        (start(), "d1-d7/d7", "no straight line leads from d7 to d7"),
        (start(), "d1-h1/h2", "a white amazon on g1 is in the way"),
        (start(), "d1-d10/c10", "a black amazon on d10 is in the way"),
        (start(), "d1-d7/d10", "a black amazon on d10 is in the way"),
        (played("d1-d7/g7"), "g10-g6/h6", "an arrow on g7 is in the way"),
        (played("d1-d7/g7 a7-b7/a7"), "a4-a8/b8", "an arrow on a7 is in the way"),
        (OVER, "a6-a5/a6", "the match is over: Black can't move"),
    )
    unreadable = (
        "",
        "d1",
        "d1-d7",
        "d1-d7/g11",
        "d1-d7/k7",
        "d0-d7/g7",
        "d1-d7/g7/g8",
        "d1-d7/g\u0661",
    )
    form = "a move is written from-to/arrow, such as d1-d7/g7"
    shown = tuple((at, "large") for at in (start("-size=6"), played("b1-b5/d3", "-size=6"), OVER))
    words = "2176"


def test_the_signs_between_squares_may_be_left_out():
    for text in (" D1 - D7 / G7", "d1 d7 g7", "d1-d7-g7", "d1d7/g7"):
        assert RULES.write(RULES.read(text)) == "d1-d7/g7"
    assert RULES.write(RULES.read("d10d9j10")) == "d10-d9/j10"


def test_the_first_position_has_2176_moves():
    assert RULES.count_moves(start()) == len(RULES.moves(start())) == 2176


def test_who_cannot_move_loses():
    assert legal(LAST) == ["a1-a2/a1"]
    assert ending(OVER) == ((0,), "no-move", "Black can't move: White has won")


@pytest.mark.parametrize("size", [10, 8, 7, 6])
def test_random_games_agree_with_the_reference(size):
    for game in AMAZONS.games(start(f"-size={size}"), range(2)):
        letters, letter = reference.start(size), "o"
        for ply, (at, move) in enumerate(game):
            assert board(at) == letters
            if not move or ply % 8 == 0:
                expected = reference.legal(letters, size, letter)
                assert set(legal(at)) == expected
                assert RULES.count_moves(at) == len(RULES.moves(at)) == len(expected)
            if move:
                letters, letter = reference.after(letters, move), "ox"[letter == "o"]
        assert RULES.outcome(at).winners == ("xo".index(letter),)


def test_whole_moves_are_openspiels_steps():
    theirs = pytest.importorskip("pyspiel").load_game("amazons(board_size=6)")

    def name(action):
        return f"{'abcdef'[action % 6]}{6 - action // 6}"

    def steps(state, begun=()):
        """Yield the whole moves of OpenSpiel, which are three steps each."""
        for action in state.legal_actions():
            whole = (*begun, action)
            yield from [whole] if len(whole) == 3 else steps(state.child(action), whole)

    for seed in openspiel.SEEDS:
        chosen, at, state = random.Random(seed), start("-size=6"), theirs.new_initial_state()
        while not state.is_terminal():
            assert state.current_player() == RULES.to_move(at)
            if chosen.random() < 0.05:
                texts = {"{}-{}/{}".format(*map(name, actions)) for actions in steps(state)}
                assert texts == set(legal(at))
            actions = []
            for _ in range(3):
                actions.append(chosen.choice(state.legal_actions()))
                state.apply_action(actions[-1])
            at = played("{}-{}/{}".format(*map(name, actions)), at=at)
        assert state.returns()[RULES.outcome(at).winners[0]] == 1, seed


def test_an_empty_square_is_whose_amazon_comes_first():
    at = position(6, "a1", "f1", "c1 c2 c3 c4 c5 c6")
    assert territory(set_of(at.white), set_of(at.black), at.empty) == (11 - 17, 0)
    alone = all_places(6) & ~(1 << INDEX["a1"] | 1 << INDEX["f6"])
    assert territory(1 << INDEX["a1"], 1 << INDEX["f6"], alone)[0] == 0
    assert evaluate(at)[0] < 0.5 < evaluate(position(6, "f1", "a1", "c1 c2 c3 c4 c5 c6"))[0]


def test_few_of_thousands_of_moves_are_searched_and_all_of_them_are_legal():
    found = candidates(start())
    assert len(set(found)) == len(found) < 60
    assert {*found} <= {*RULES.moves(start())}
    assert candidates(LAST) == RULES.moves(LAST)


def test_the_ways_of_the_last_amazon_and_of_its_arrow_are_drawn():
    drawn = draw_svg(RULES, played("d1-d7/g7"), (), last="d1-d7/g7")
    assert len(re.findall('class="trail', drawn)) == 2
    marked = set(re.findall('class="place last" data-place="([^"]+)"', drawn))
    assert marked == {"d1", "d7", "g7"}
    assert 'class="trail' not in draw_svg(RULES, start(), (), last="d1-d7")
