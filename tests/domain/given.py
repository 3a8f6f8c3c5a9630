"""Matches with clocks, matches played at random, and those with conditional moves."""

import random

from hypothesis import strategies as st

from domain.clocks.time_control import DAY
from domain.match.commands import PlayMove
from domain.match.conditional_moves import ConditionalMove, ConditionalMoves
from domain.match.events import Moved
from domain.match.history import EventEnvelope, decode_event
from domain.match.state import position_of
from domain.rules import rules_by_id
from tests.helpers.given import ALICE, BEGIN, BOB, CAROL, Match, Turn, challenge

TERMS = ("--nagtime=2", "--forfeittime=5")
NAG, FLAG = BEGIN + 2 * DAY, BEGIN + 5 * DAY
"""When the first turn's reminder and flag are due."""


def two(*words: str) -> Match:
    """A match of two that has just begun."""
    return Match(challenge("pow2", *(words or TERMS)))


def three(*words: str) -> Match:
    """A match of three, in which the players place their tiles themselves."""
    start = "-manual_start", "-tiles_each=3", "-no_contract"
    return Match(challenge("halves", *start, *(words or TERMS), seats=(ALICE, BOB, CAROL)))


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


DARK = 1
OUT, FORTH = "m13-j7", "a13-c11"
BACK, AND_BACK = "j7-m13", "c11-a13"
"""Four moves after which everything is as before."""


def queued(ply: int, seat: int, move: str, then: int | None) -> Moved:
    return Moved(ply=ply, seat=seat, move=move, next=then, queued=True)


def moved(ply: int, seat: int, move: str, then: int | None) -> Moved:
    return Moved(ply=ply, seat=seat, move=move, next=then)


def waiting(match: Match, seat: int) -> tuple[ConditionalMove, ...]:
    return match.replies.get(seat, ConditionalMoves()).moves


def envelopes(match: Match) -> list[EventEnvelope]:
    return [decode_event(data) for data in match.events]
