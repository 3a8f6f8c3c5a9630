"""Mū tōrere: rules, every sentence and ending, the drawing, the help, and a slow second opinion.

Mū tōrere in SVG.

The hard robot makes no mistake in mū tōrere, which is solved here by going back from the endings.
"""

import re
from functools import cache, partial

import pytest
from hypothesis import strategies as st

from domain.errors import Code, Refusal
from domain.games.torere.rules import START, TorerePosition
from domain.rules import latest_rules
from tests.games import playing
from tests.games.svg_pictures import after, marked, start, with_class
from tests.games.torere import reference

RULES = latest_rules("torere")
SHUT_IN = "1-0 8-1 0-8 1-0 8-1 7-8"
"""A shortest match: Light hems itself in, and Dark wins."""
FORM = "a move is written as two points from 0 to 8, such as 4-0"

legal = partial(playing.legal, RULES)


def first_position():
    return RULES.start(RULES.read_options([]), 2, None)


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


def test_torere_is_played_by_two_without_options_or_a_setup():
    options = RULES.read_options([])
    playing.refuses_players_and_setup(RULES, options, 3, "torere is played by two, not by 3")
    with pytest.raises(Refusal, match="there is no option '-limit'; this game has none") as option:
        RULES.read_options(["-limit=9"])
    assert option.value.code is Code.UNKNOWN_OPTION
    assert RULES.write_options(options) == ()


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


# --- the drawing and the help


def test_a_stone_goes_straight_to_the_putahi_and_round_to_the_next_kewai():
    drawn = [
        with_class(after("torere", start("torere"), *texts.split()), "trail")[0].get("d")
        for texts in ("4-0", "4-0 5-4", "1-0 8-1")
    ]
    assert re.fullmatch(r"M\S+ \S+L\S+ \S+", drawn[0])
    assert ["0 0 0" in drawn[1], "0 0 1" in drawn[2]] == [True, True]  # against and with the clock
    assert marked(after("torere", start("torere"), "4-0", "5-4")) == {"-5", "4"}


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
