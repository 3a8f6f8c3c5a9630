"""Mū tōrere: rules, every sentence and ending, the drawing, the help, and a slow second opinion."""

import re

from domain.errors import Code
from tests.games import playing
from tests.games.svg_pictures import after, marked, with_class
from tests.games.torere import reference

TORERE = playing.Game("torere")
RULES, start, played, legal = TORERE.rules, TORERE.start, TORERE.played, TORERE.legal
SHUT_IN = "1-0 8-1 0-8 1-0 8-1 7-8"
"""A shortest match: Light hems itself in, and Dark wins."""


def letters(at):
    return [TORERE.board(at).get(str(place), "*") for place in range(9)]


class TestTorere(playing.GameTests):
    key = "torere"
    illegal = (
        (start(), "2-0", "neither 1 nor 3, beside 2, holds a stone of Dark's"),
        (played("4-0"), "7-4", "7 and 4 are not neighbours on the circle"),
        (played("4-0"), "1-4", "the stone on 1 is Light's"),
        (start(), "8-0", "the stone on 8 is Dark's"),
        (start(), "0-1", "no stone stands on 0"),
        (start(), "1-2", "2 is occupied by a light stone"),
        (start(), "1-1", "1 is occupied by a light stone"),
        (start(), "1-8", "8 is occupied by a dark stone"),
        (played(SHUT_IN), "2-1", "the match is over: Light can't move"),
    )
    unreadable = "", "4", "40", "4-9", "4-0-5", "-4-0", "4:0", "\u0664-0", "4\u20130"
    form = "a move is written as two points from 0 to 8, such as 4-0"
    shown = ((start(), "large"),)

    def test_there_are_no_options(self):
        said = playing.refusal(Code.UNKNOWN_OPTION, RULES.read_options, ["-limit=9"])
        assert said == "there is no option '-limit'; this game has none"


def test_moves_and_ends_agree_with_the_reference_in_every_position():
    assert letters(start()) == reference.START
    reached, new = {start()}, [start()]
    while new:
        at = new.pop()
        texts = reference.legal(letters(at), "ox"[at.turn])
        assert legal(at) == texts
        assert RULES.count_moves(at) == len(texts)
        assert RULES.to_move(at) == (at.turn if texts else None)
        assert (RULES.outcome(at) is None) == bool(texts)
        for text in texts:
            after = played(text, at=at)
            assert letters(after) == reference.play(letters(at), text)
            assert after.turn == 1 - at.turn
            new += [after] * (after not in reached)
            reached.add(after)
    assert len(reached) > 50


def test_a_stone_goes_straight_to_the_putahi_and_round_to_the_next_kewai():
    drawn = [
        with_class(after("torere", start(), *texts.split()), "trail")[0].get("d")
        for texts in ("4-0", "4-0 5-4", "1-0 8-1")
    ]
    assert re.fullmatch(r"M\S+ \S+L\S+ \S+", drawn[0])
    assert ["0 0 0" in drawn[1], "0 0 1" in drawn[2]] == [True, True]  # against and with the clock
    assert marked(after("torere", start(), "4-0", "5-4")) == {"-5", "4"}
