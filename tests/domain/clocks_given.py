"""Matches with clocks, as the tests of reminders, flags, pauses and vacations begin them."""

from domain.clocks.time_control import DAY
from domain.match.commands import MakeOffer
from domain.match.events import Paused
from tests.helpers.given import ALICE, BEGIN, BOB, CAROL, Match, challenge

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


def paused_match() -> Match:
    """A match of two that has been paused after a day."""
    match = two()
    match.do(ALICE, MakeOffer(kind="pause"), BEGIN + DAY)
    match.do(BOB, MakeOffer(kind="pause"), BEGIN + DAY)  # proposing it too is consent
    assert isinstance(match.bodies[-1], Paused)
    return match
