"""The reasons for the end of a match that do not come from its game, as events have them.

The rules of a game have reasons of their own, such as `goal`. They are texts like these, and each game has the
sentences for its own.
"""

from enum import StrEnum


class Reason(StrEnum):
    """The reasons for the end of a match other than its game's rules."""

    AGREEMENT = "agreement"
    """A draw by agreement."""
    REPETITION = "repetition"
    """A draw on one player's proposal, when the same position with the same player to move stands for
    the third time."""
    TIME = "time"
    """All but one ran out of time or resigned; the last ran out of time."""
    RESIGNATION = "resignation"
    """All but one ran out of time or resigned; the last resigned."""
    ABORTED = "aborted"
    """All agreed that the match does not count; nobody wins."""
    DECLINED = "declined"
    """A player refused to play before their first move; nobody wins."""
    RULING = "ruling"
    """An arbiter decided the result."""
    ANNULLED = "annulled"
    """An arbiter annulled the match; nobody wins."""
    TRANSFERRED = "transferred"
    """All agreed to go on at another server; nobody wins here."""
