"""Amazons: rules, every sentence and the ending, the drawing, the help, robots, and two second opinions."""

import random
import re
from functools import partial
from pathlib import Path

import pytest

from domain.drawing import draw_svg, draw_text
from domain.engine.robot_move import choose_move
from domain.game.engine import RobotLevel
from domain.games.amazons.engine import candidates, evaluate, territory
from domain.games.amazons.rules import INDEX, AmazonsPosition, all_places, set_of
from domain.rules import latest_rules
from tests.games import playing
from tests.games.amazons import reference

RULES = latest_rules("amazons")
HERE = Path(__file__).parent
HELP = HERE.parents[2] / "domain/games/amazons"

legal = partial(playing.legal, RULES)
board = partial(playing.board, RULES)


def start(*flags):
    return RULES.start(RULES.read_options(flags), 2, None)


def played(texts, *flags):
    return playing.play(RULES, start(*flags), *texts.split())


def position(size, white, black, arrows, turn=0):
    """Return a position from the names of squares."""
    places = [sorted(INDEX[name] for name in names.split()) for names in (white, black)]
    shot = sum(1 << INDEX[name] for name in arrows.split())
    packed = shot.to_bytes(14, "little").rstrip(b"\0")
    return AmazonsPosition(size, bytes(places[0]), bytes(places[1]), packed, turn)


LAST = position(6, "a1 f6 e6 f5", "a6 b6 a5 b5", "b1 a3 b2 b3 a4 b4 c4 c5 c6 d6 d5 e5 e4 f4")
"""White can go from a1 to a2, and shoot back."""
OVER = playing.play(RULES, LAST, "a1-a2/a1")


def test_it_is_played_by_two_without_a_setup():
    options = RULES.read_options(["-size=8"])
    playing.refuses_players_and_setup(RULES, options, 3, "amazons is played by two, not by 3")
    assert RULES.write_options(options) == ("-size=8",)
    assert RULES.write_options(RULES.read_options(["-size=10"])) == ()


# --- refusals and notation


@pytest.mark.parametrize(
    ("at", "text", "sentence"),
    [
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
    ],
)
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(at, text, sentence):
    assert playing.refused(RULES, at, text) == f"{text}: {sentence}"


@pytest.mark.parametrize(
    "text", ["", "d1", "d1-d7", "d1-d7/g11", "d1-d7/k7", "d0-d7/g7", "d1-d7/g7/g8", "d1-d7/g\u0661"]
)
def test_what_is_no_notation_is_refused_with_the_form(text):
    said = playing.unreadable(RULES, text)
    assert said == f"{text!r} isn't a move; a move is written from-to/arrow, such as d1-d7/g7"


@pytest.mark.parametrize("text", ["d1-d7/g7", " D1 - D7 / G7", "d1 d7 g7", "d1-d7-g7", "d1d7/g7"])
def test_the_signs_between_squares_may_be_left_out(text):
    assert RULES.write(RULES.read(text)) == "d1-d7/g7"


def test_a_two_digit_row_is_read_whole():
    assert RULES.write(RULES.read("d10d9j10")) == "d10-d9/j10"


# --- rules


@pytest.mark.parametrize("size", [6, 7, 8, 10])
def test_both_players_begin_with_four_amazons(size):
    assert board(start(f"-size={size}")) == reference.start(size)
    assert RULES.to_move(start(f"-size={size}")) == 0


def test_the_first_position_has_2176_moves():
    assert RULES.count_moves(start()) == len(RULES.moves(start())) == 2176


def test_an_arrow_may_hit_and_pass_the_square_that_its_amazon_has_left():
    at = played("d1-d7/d1")
    assert board(at)["d1"] == "#"
    assert "d1-e1/c1" in legal(start())


def test_who_cannot_move_loses():
    assert legal(LAST) == ["a1-a2/a1"]
    outcome = playing.over(RULES, OVER)
    assert (outcome.winners, outcome.reason) == ((0,), "no-move")
    assert outcome.detail == "Black can't move: White has won"


@pytest.mark.parametrize("size", [10, 7, 6])
def test_random_games_agree_with_the_reference(size):
    for seed in range(3):
        letters, letter = reference.start(size), "o"
        for ply, (at, move) in enumerate(
            playing.random_game(RULES, start(f"-size={size}"), random.Random(seed))
        ):
            assert board(at) == letters
            if not move or ply % 5 == 0:
                expected = reference.legal(letters, size, letter)
                assert set(legal(at)) == expected
                assert RULES.count_moves(at) == len(RULES.moves(at)) == len(expected)
            if move:
                letters, letter = reference.after(letters, move), "ox"[letter == "o"]
        assert RULES.outcome(at).winners == ("xo".index(letter) ^ 0,)


def test_whole_moves_are_openspiels_steps_in_200_games():
    pyspiel = pytest.importorskip("pyspiel")
    theirs = pyspiel.load_game("amazons(board_size=6)")

    def name(action):
        return f"{'abcdef'[action % 6]}{6 - action // 6}"

    def steps(state, begun=()):
        """Yield the whole moves of OpenSpiel, which are three steps each."""
        if len(begun) == 3:
            yield begun
            return
        for action in state.legal_actions():
            yield from (
                steps(state.child(action), (*begun, action))
                if len(begun) < 2
                else [(*begun, action)]
            )

    for seed in range(200):
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
            at = playing.play(RULES, at, "{}-{}/{}".format(*map(name, actions)))
        outcome = RULES.outcome(at)
        assert outcome is not None, seed
        assert state.returns()[outcome.winners[0]] == 1


# --- robots


def test_an_empty_square_is_whose_amazon_comes_first():
    at = position(6, "a1", "f1", "c1 c2 c3 c4 c5 c6")
    assert territory(set_of(at.white), set_of(at.black), at.empty) == (11 - 17, 0)
    alone = all_places(6) & ~(1 << INDEX["a1"] | 1 << INDEX["f6"])
    assert territory(1 << INDEX["a1"], 1 << INDEX["f6"], alone)[0] == 0
    assert evaluate(at)[0] < 0.5 < evaluate(position(6, "f1", "a1", "c1 c2 c3 c4 c5 c6"))[0]


def test_few_of_thousands_of_moves_are_searched_and_all_of_them_are_legal():
    at = start()
    found = candidates(at)
    assert len(set(found)) == len(found) < 60
    assert {*found} <= {*RULES.moves(at)}
    assert candidates(LAST) == RULES.moves(LAST)


def test_an_easy_robot_beats_random_play():
    won = 0
    for seed in range(20):
        at, chosen, robot = start("-size=6"), random.Random(seed), seed % 2
        while RULES.outcome(at) is None:
            if RULES.to_move(at) == robot:
                move = RULES.read(choose_move(RULES, at, RobotLevel.EASY, bytes([seed] * 32)))
            else:
                move = chosen.choice(RULES.moves(at))
            at = RULES.play(at, move)
        won += RULES.outcome(at).winners == (robot,)
    assert won >= 19


# --- the drawing and the help


def test_the_ways_of_the_last_amazon_and_of_its_arrow_are_drawn():
    drawn = draw_svg(RULES, played("d1-d7/g7"), (), last="d1-d7/g7")
    assert len(re.findall('class="trail', drawn)) == 2
    marked = set(re.findall('class="place last" data-place="([^"]+)"', drawn))
    assert marked == {"d1", "d7", "g7"}
    assert 'class="trail' not in draw_svg(RULES, start(), (), last="d1-d7")


@pytest.mark.parametrize("language", ["", ".de"])
def test_what_the_help_shows_and_says_is_so(language):
    text = (HELP / f"help{language}.txt").read_text(encoding="utf-8")
    for at in (start("-size=6"), played("b1-b5/d3", "-size=6"), OVER):
        assert draw_text(RULES, at, "large") in text
    assert "2176" in text
