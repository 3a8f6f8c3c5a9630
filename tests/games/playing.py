"""What the tests of the games share: playing by text, at random, and what holds in every game."""

import random
from contextlib import suppress

import pytest
from hypothesis import strategies as st

from domain.boards.pow2_board import INDEX
from domain.engine.robot_move import choose_move
from domain.errors import Code, Refusal
from domain.game.engine import RobotLevel
from domain.game.protocol import IllegalMove, UnreadableMove

SYMMETRIES = [
    lambda x, y: (y, x),
    lambda x, y: (14 - x, y),
    lambda x, y: (x, 14 - y),
    lambda x, y: (14 - y, x),
    lambda x, y: (14 - x, 14 - y),
]
"""How the board of 64 intersections is turned and mirrored."""


# --- playing


def play(rules, at, *texts):
    """Return the position after moves written as text, each of which has to be legal."""
    for text in texts:
        at = rules.play(at, rules.check(at, rules.read(text)))
    return at


def legal(rules, at):
    """Return the legal moves as text."""
    return list(rules.legal_moves(at))


def board(rules, at):
    """Return the letters of a position's JSON form by their places."""
    return rules.to_json(at)["board"]


def over(rules, at):
    """Return the outcome of a position in which nobody is to move and nothing is legal."""
    assert rules.to_move(at) is None
    assert legal(rules, at) == rules.moves(at) == []
    assert rules.count_moves(at) == 0
    return rules.outcome(at)


def random_game(rules, at, rng, longest=10_000):
    """Yield the positions and moves of a game played at random, its end with None for a move."""
    for _ in range(longest):
        if rules.outcome(at) is not None:
            yield at, None
            return
        text = rules.write(rng.choice(rules.moves(at)))
        yield at, text
        at = play(rules, at, text)


def won_against_random_play(rules, first, matches=20):
    """Return how many matches of an easy robot, in turns from each seat, it wins against random play."""
    won = 0
    for seed in range(matches):
        at, chosen, robot = first, random.Random(seed), seed % 2
        while rules.outcome(at) is None:
            if rules.to_move(at) == robot:
                move = rules.read(choose_move(rules, at, RobotLevel.EASY, bytes([seed] * 32)))
            else:
                move = chosen.choice(rules.moves(at))
            at = rules.play(at, move)
        won += rules.outcome(at).winners == (robot,)
    return won


@st.composite
def positions(draw, kinds, seeds, game):
    """Positions of games, by their kind and a seed from 0 to the greatest, with their kind."""
    kind = draw(st.sampled_from(kinds))
    return kind, draw(st.sampled_from(game(kind, draw(st.integers(0, seeds)))))


# --- refusals


def refused(rules, at, text):
    """Return the sentence that refuses a move as illegal."""
    with pytest.raises(IllegalMove) as refusal:
        rules.check(at, rules.read(text))
    assert refusal.value.code is Code.ILLEGAL_MOVE
    return refusal.value.sentence


def unreadable(rules, text):
    """Return the sentence that refuses a text as no move."""
    with pytest.raises(UnreadableMove) as refusal:
        rules.read(text)
    assert refusal.value.code is Code.UNREADABLE_MOVE
    return refusal.value.sentence


def bad_setup(make, *args):
    """Return the sentence with which `make` refuses to make a position of these."""
    with pytest.raises(Refusal) as refusal:
        make(*args)
    assert refusal.value.code is Code.BAD_SETUP
    return refusal.value.sentence


def refuses_players_and_setup(rules, options, players, sentence):
    """Assert that so many players are refused with a sentence, and that there is no setup."""
    with pytest.raises(Refusal, match=sentence) as refusal:
        rules.start(options, players, None)
    assert refusal.value.code is Code.BAD_PLAYERS
    assert "no setup that chance draws" in bad_setup(rules.start, options, rules.players[0], {})


# --- legal moves


def accepted(rules, at, texts):
    """Return those of the texts that are accepted as moves, as they are written."""
    found = []
    for text in texts:
        with suppress(IllegalMove):
            found.append(rules.write(rules.check(at, rules.read(text))))
    return found


def sorted_each_once_and_counted(rules, at, key):
    """Assert that the legal moves are listed in order, each once, and counted."""
    texts = legal(rules, at)
    assert texts == sorted(texts, key=key)
    assert len(set(texts)) == len(texts) == rules.count_moves(at) == len(rules.moves(at))


# --- positions as values


def sets(letters, alphabet):
    """Return the sets of intersections with each letter of an alphabet, in its order."""
    return [sum(1 << INDEX[at] for at, own in letters.items() if own == one) for one in alphabet]


def turned(name, symmetry):
    """Return the name of the place that a symmetry of the board takes a place to."""
    column, row = symmetry("abcdefghijklm".index(name[0]) + 1, int(name[1:]))
    return f"{'abcdefghijklm'[column - 1]}{row}"


def turned_board(letters, symmetry):
    """Return the letters of a board by the places that a symmetry takes them to."""
    return {turned(name, symmetry): letter for name, letter in letters.items()}
