"""Reversi: rules, every sentence and ending, the drawing, the help, and two second opinions."""

from tests.games import openspiel, playing
from tests.games.reversi import reference

REVERSI = playing.Game("reversi")
RULES, start, played, legal = REVERSI.rules, REVERSI.start, REVERSI.played, REVERSI.legal
WIPED_OUT = "e6 f4 e3 f6 g5 d6 e7 f5 c5"
"""A shortest match: nine moves, and all discs are black."""


class TestReversi(playing.GameTests):
    key = "reversi"
    illegal = (
        (start(), "a1", "a disc there would turn over none of White's"),
        (played("d3"), "h8", "a disc there would turn over none of Black's"),
        (start(), "d4", "a white disc is already there"),
        (start(), "e4", "a black disc is already there"),
        (played(WIPED_OUT), "a1", "the match is over: neither player can move"),
    )
    unreadable = "", "d", "3d", "d9", "i1", "d03", "d3 c4", "d\u0663", "pass"
    form = "a move is written as one square, such as d3"
    shown = ((start(), "large"), (played("d3"), "large"))
    words = " ".join((*legal(start())[1:], *legal(played("d3"))))


def test_random_games_agree_with_the_reference():
    for game in REVERSI.games(start(), range(6)):
        letters, letter = reference.START, "x"
        for at, move in game:
            assert REVERSI.board(at) == letters
            assert legal(at) == (reference.legal(letters, letter) if letter else [])
            assert RULES.to_move(at) == ("xo".index(letter) if letter else None)
            if move:
                letters = reference.play(letters, letter, move)
                letter = reference.next_letter(letters, letter)
        counts = [[*letters.values()].count(one) for one in "xo"]
        won = [seat for seat in (0, 1) if counts[seat] == max(counts)]
        assert RULES.outcome(at).winners == tuple(won)


def test_games_are_those_of_openspiel():
    def name_of(state, action):
        name = state.action_to_string(state.current_player(), action)
        return None if name == "pass" else name

    openspiel.plays_alike(RULES, (), "othello", name_of)
