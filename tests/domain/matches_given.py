"""Matches played at random, as their laws are shown in."""

import random

from hypothesis import strategies as st

from domain.match.commands import PlayMove
from domain.match.state import position_of
from domain.rules import rules_by_id
from tests.helpers.given import ALICE, BOB, CAROL, Match, Turn, challenge

TWO, THREE = (ALICE, BOB), (ALICE, BOB, CAROL)
KINDS = {
    "pow2": ("pow2", (), TWO),
    "line": ("line", (), TWO),
    "goliath": ("goliath", (), TWO),
    "halves": ("halves", ("-manual_start", "-tiles_each=3"), THREE),
    "halves with invert": ("halves", ("-manual_start", "-tiles_each=2", "-invert_win"), THREE),
}

seeds = st.integers(0, 2**32 - 1)


def called(kind: str, *terms: str) -> Turn:
    """The challenge that begins a match of a kind."""
    game, options, seats = KINDS[kind]
    return challenge(game, *options, *terms, seats=seats)


def any_move(match: Match, rng: random.Random) -> str:
    """Give a legal move of who is to move."""
    rules = rules_by_id(match.state.rules)
    return rules.write(rng.choice(list(rules.moves(position_of(match.state)))))


def moves(match: Match, rng: random.Random) -> Turn:
    """Give a command that plays a legal move."""
    assert match.state.next is not None
    return match.state.seats[match.state.next], PlayMove(text=any_move(match, rng))
