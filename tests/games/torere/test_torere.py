"""Mū tōrere: rules, every sentence and ending, the drawing, the help, and a slow second opinion.

Mū tōrere in SVG.

The hard robot makes no mistake in mū tōrere, which is solved here by going back from the endings.
"""

import re
from functools import cache, partial
from math import dist
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.drawing import draw_text
from domain.engine.robot_move import choose_move
from domain.errors import Code, Refusal
from domain.game.engine import RobotLevel
from domain.games.torere.rules import START, Ending, TorerePosition
from domain.rules import latest_rules
from tests.games import playing
from tests.games.svg_pictures import after, centre, marked, parsed, places, start, with_class
from tests.games.torere import reference

RULES = latest_rules("torere")
LIGHT, DARK = 0, 1
HERE = Path(__file__).parent
HELP = HERE.parents[2] / "domain/games/torere"
SHUT_IN = "1-0 8-1 0-8 1-0 8-1 7-8"
"""A shortest match: Light hems itself in, and Dark wins."""
FORM = "a move is written as two points from 0 to 8, such as 4-0"
EVERY_TEXT = [f"{first_position}-{end}" for first_position in range(9) for end in range(9)]

legal = partial(playing.legal, RULES)


def first_position():
    return RULES.start(RULES.read_options([]), 2, None)


def position(letters, seat):
    """Return a position by the nine letters of the places 0 to 8."""
    light, dark = (
        sum(1 << at for at, letter in enumerate(letters) if letter == one) for one in "ox"
    )
    return TorerePosition(light, dark, seat)


def letters(at):
    board = RULES.to_json(at)["board"]
    return [board.get(str(place), "*") for place in range(9)]


def played(texts, at=None):
    return playing.play(RULES, at or first_position(), *texts.split())


@cache
def reached():
    """Return all positions that come about from the start, in the order they are found."""
    found = {first_position(): None}
    new = list(found)
    while new:
        at = new.pop()
        for move in RULES.moves(at):
            after = RULES.play(at, move)
            if after not in found:
                found[after] = None
                new.append(after)
    return list(found)


positions = st.deferred(lambda: st.sampled_from(reached()))


# --- start and moves


def test_the_stones_stand_in_two_halves_and_light_begins_beside_dark():
    assert "".join(letters(first_position())) == "*ooooxxxx"
    assert RULES.to_move(first_position()) == LIGHT
    assert legal(first_position()) == ["1-0", "4-0"]


def test_a_stone_moves_around_the_circle_from_the_putahi_and_to_it():
    assert legal(position("o*oooxxxx", DARK)) == ["8-1"]
    assert legal(position("o*oooxxxx", LIGHT)) == ["0-1", "2-1"]
    assert legal(position("*oxoxoxox", DARK)) == ["2-0", "4-0", "6-0", "8-0"]


def test_without_the_rule_of_the_putahi_light_would_win_at_once():
    assert RULES.outcome(position("oo*ooxxxx", DARK)).winners == (LIGHT,)


def test_torere_is_played_by_two_without_options_or_a_setup():
    options = RULES.read_options([])
    playing.refuses_players_and_setup(RULES, options, 3, "torere is played by two, not by 3")
    with pytest.raises(Refusal, match="there is no option '-limit'; this game has none") as option:
        RULES.read_options(["-limit=9"])
    assert option.value.code is Code.UNKNOWN_OPTION
    assert RULES.write_options(options) == ()


# --- the ending


def test_who_cannot_move_loses():
    last = played(SHUT_IN)
    outcome = playing.over(RULES, last)
    assert (outcome.winners, outcome.reason) == ((DARK,), Ending.NO_MOVE)
    assert outcome.detail == "Light can't move: Dark has won"
    mirrored = position(["xo"["ox".index(x)] if x != "*" else x for x in letters(last)], DARK)
    assert RULES.outcome(mirrored).detail == "Dark can't move: Light has won"


def test_with_good_play_nobody_loses():
    """Work back from the ends: at the start neither player can force one."""
    wins = {}  # whether who is to move wins; positions without an entry go on for ever
    before = -1
    while before < len(wins):
        before = len(wins)
        for at in reached():
            after = [wins.get(RULES.play(at, move)) for move in RULES.moves(at)]
            if False in after:
                wins[at] = True
            elif all(after):
                wins[at] = False
    assert first_position() not in wins
    assert {True, False} == set(wins.values())


# --- refusals and notation


@pytest.mark.parametrize(
    ("at", "text", "sentence"),
    [
        (first_position(), "2-0", "2-0: neither 1 nor 3, beside 2, holds a stone of Dark's"),
        (played("4-0"), "7-4", "7-4: 7 and 4 are not neighbours on the circle"),
        (played("4-0"), "1-4", "1-4: the stone on 1 is Light's"),
        (first_position(), "8-0", "8-0: the stone on 8 is Dark's"),
        (first_position(), "0-1", "0-1: no stone stands on 0"),
        (first_position(), "1-2", "1-2: 2 is occupied by a light stone"),
        (first_position(), "1-1", "1-1: 1 is occupied by a light stone"),
        (first_position(), "1-8", "1-8: 8 is occupied by a dark stone"),
        (played(SHUT_IN), "2-1", "2-1: the match is over: Light can't move"),
    ],
)
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(at, text, sentence):
    assert playing.refused(RULES, at, text) == sentence


@pytest.mark.parametrize(
    "text", ["", "4", "40", "4-9", "4-0-5", "-4-0", "4:0", "\u0664-0", "4\u20130"]
)
def test_what_is_no_notation_is_refused_with_the_form(text):
    assert playing.unreadable(RULES, text) == f"{text!r} isn't a move; {FORM}"


# --- all positions against the slow reference


def test_moves_and_ends_agree_with_the_reference_in_every_position():
    assert letters(first_position()) == reference.START
    for at in reached():
        texts = reference.legal(letters(at), "ox"[at.turn])
        assert legal(at) == texts
        assert RULES.count_moves(at) == len(texts)
        assert RULES.to_move(at) == (at.turn if texts else None)
        assert (RULES.outcome(at) is None) == bool(texts)
        for text in texts:
            after = played(text, at)
            assert letters(after) == reference.play(letters(at), text)
            assert after.turn == 1 - at.turn


@given(positions)
def test_exactly_the_legal_moves_are_accepted(at):
    assert playing.accepted(RULES, at, EVERY_TEXT) == legal(at)


# --- positions as values


def test_a_position_that_comes_about_again_is_the_same():
    assert played("4-0 5-4 0-5 4-0 5-4 0-5") == first_position()


# --- the drawing and the help


@pytest.mark.parametrize(("name", "moves"), [("start", ""), ("shut-in", SHUT_IN)])
def test_positions_are_drawn_as_on_record(name, moves):
    golden = (HERE / f"{name}.txt").read_text().removesuffix("\n")
    assert draw_text(RULES, played(moves), "large") == golden


@pytest.mark.parametrize("language", ["", ".de"])
def test_what_the_help_shows_and_says_is_so(language):
    text = (HELP / f"help{language}.txt").read_text(encoding="utf-8")
    assert draw_text(RULES, first_position(), "large") in text
    assert draw_text(RULES, played("4-0 5-4"), "large") in text
    assert legal(played("4-0")) == ["5-4"]
    assert legal(played("4-0 5-4")) == ["0-5"]
    assert all(move in text for move in ("1-0", "4-0", "5-4", "0-5"))


def test_a_stone_goes_straight_to_the_putahi_and_round_to_the_next_kewai():
    drawn = [
        with_class(after("torere", start("torere"), *texts.split()), "trail")[0].get("d")
        for texts in ("4-0", "4-0 5-4", "1-0 8-1")
    ]
    assert re.fullmatch(r"M\S+ \S+L\S+ \S+", drawn[0])
    assert ["0 0 0" in drawn[1], "0 0 1" in drawn[2]] == [True, True]  # against and with the clock
    assert marked(after("torere", start("torere"), "4-0", "5-4")) == {"-5", "4"}


def test_kewai_lie_around_the_putahi_clockwise_from_the_top():
    where = {
        name: centre(place) for name, place in places(parsed("torere", start("torere"))).items()
    }
    middle = where.pop("0")
    assert {round(dist(middle, at)) for at in where.values()} == {168}
    (top, right, bottom, left) = (where[name] for name in "1357")
    assert (top[0], bottom[0]) == (middle[0], middle[0])
    assert top[1] < middle[1] < bottom[1]
    assert left[0] < middle[0] < right[0]


def solved() -> dict[TorerePosition, float]:
    """Return the value of all positions for the player to move."""
    after: dict[TorerePosition, list[TorerePosition]] = {}
    found = [START]
    for at in found:
        if at not in after:
            after[at] = [RULES.play(at, move) for move in RULES.moves(at)]
            found += after[at]
    values: dict[TorerePosition, float] = {}
    while True:
        known = len(values)
        for at, following in after.items():
            if any(values.get(one) == 0 for one in following):
                values[at] = 1
            elif all(values.get(one) == 1 for one in following):
                values[at] = 0
        if len(values) == known:
            return {at: values.get(at, 0.5) for at in after}


@pytest.fixture(scope="module")
def values() -> dict[TorerePosition, float]:
    return solved()


def test_the_game_is_a_draw(values: dict[TorerePosition, float]) -> None:
    assert values[START] == 0.5
    assert len(values) == 1_180


def test_hard_keeps_every_win_and_every_draw(values: dict[TorerePosition, float]) -> None:
    for at, value in values.items():
        if RULES.to_move(at) is not None:
            move = RULES.read(choose_move(RULES, at, RobotLevel.HARD, b"seed"))
            assert 1 - values[RULES.play(at, move)] == value, at


def test_easy_makes_mistakes(values: dict[TorerePosition, float]) -> None:
    mistakes = 0
    for at, value in values.items():
        if RULES.to_move(at) is not None:
            move = RULES.read(choose_move(RULES, at, RobotLevel.EASY, b"seed"))
            mistakes += 1 - values[RULES.play(at, move)] < value
    assert mistakes > 0
