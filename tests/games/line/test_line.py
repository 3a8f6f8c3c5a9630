"""That's My Line: its options, every sentence, its drawings, and a slow second opinion."""

import pytest

from domain.errors import Code
from domain.games.line.rules import LinePosition
from tests.games import playing
from tests.games.line import reference

LINE = playing.Game("line")
RULES, start, played, legal = LINE.rules, LINE.start, LINE.played, LINE.legal
LIGHT, DARK = 0, 1


def position(light, dark, seat):
    board = dict.fromkeys(light.split(), "o") | dict.fromkeys(dark.split(), "x")
    return LinePosition(*playing.sets(board, "ox"), seat, 0)


class TestLine(playing.GameTests):
    key = "line"
    options = (("-stones=0", ""), ("-stones=64", "-stones=64"))
    illegal = (
        (played("c3"), "c3", "a light stone is already there"),
        (position("c3", "g9", LIGHT), "g9", "a dark stone is already there"),
        (played("a1"), "c3", "Light's stone at a1 stands on a line through it"),
        (position("a1", "h8", LIGHT), "m13", "Dark's stone at h8 stands on a line through it"),
        (position("a1 c3", "g9", DARK), "f6", "Light's stones at a1 and c3 stand on lines through it"),
        (position("a1 a5 c3", "g9 h8", DARK), "e5", "Light's stones at a1, a5 and c3 stand on lines through it"),
    )  # fmt: skip
    unreadable = tuple(
        (text, f"{text!r} isn't an intersection")
        for text in ("", "c", "c03", "c4", "n1", "c3-d4", "c3,", "-c3", "c3:d4", "\u212a6", "c\u0663")
    )  # fmt: skip
    form = "a move is written as one intersection, such as c3"
    shown = ((start(), "large"), (played("a1 h8"), "small"))

    @pytest.mark.parametrize("flag", ["-stones", "-stones=65", "-stones=08", "-stones=-1"])
    def test_a_number_of_stones_out_of_range_is_refused(self, flag):
        said = playing.refusal(Code.BAD_OPTION, RULES.read_options, [flag])
        assert "with N from 0 to 64" in said


@pytest.mark.parametrize("stones", [0, 1, 3, 7, 16])
def test_moves_passes_and_ends_agree_with_the_reference(stones):
    for game in LINE.games(start(f"-stones={stones}"), range(5)):
        told = reference.Game(stones)
        for at, text in game:
            assert legal(at) == told.legal
            assert LINE.board(at) == told.board
            turn = RULES.to_move(at)
            assert told.turn == (None if turn is None else "ox"[turn])
            if text is None:
                assert RULES.outcome(at).winners == ("ox".index(told.winner),)
            else:
                told.place(text)
