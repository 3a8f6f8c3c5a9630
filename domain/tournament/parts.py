"""Events that would be of 64 KiB or more in parts: players that are numbered, matches that are drawn, and places."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from domain.tournament.events import (
    MatchesAdjudicated,
    PlacesConfirmed,
    PlacesListed,
    PlayersNumbered,
    TournamentStarted,
)
from domain.tournament.state import AdjudicatedPairing, Entrant, FinalPlace

MOST_NUMBERED: Final = 3_000
"""Players of one event of a start."""

MOST_DRAWN: Final = 5_000
"""Matches of one event at the end of a round."""

MOST_PLACES: Final = 6_000
"""Places of one event; a table is never divided."""


def start_of(players: Sequence[Entrant]) -> tuple[PlayersNumbered | TournamentStarted, ...]:
    """Return the events that number the players; the last is the start."""
    last = (len(players) - 1) // MOST_NUMBERED * MOST_NUMBERED
    parts = range(0, last, MOST_NUMBERED)
    return (
        *(PlayersNumbered(players=tuple(players[at : at + MOST_NUMBERED])) for at in parts),
        TournamentStarted(players=tuple(players[last:])),
    )


def end_of_round(
    drawn: Sequence[AdjudicatedPairing], text: bytes, stage: int
) -> Iterator[MatchesAdjudicated]:
    """Yield the events that decide what is not over at the end of a round; one at least."""
    for at in range(0, max(1, len(drawn)), MOST_DRAWN):
        some = tuple(drawn[at : at + MOST_DRAWN])
        yield MatchesAdjudicated(results=some, text=text, stage=stage)


def confirmation_of(
    places: Sequence[tuple[FinalPlace, ...]],
) -> Iterator[PlacesListed | PlacesConfirmed]:
    """Yield the events that have the places of all tables; the last is the confirmation."""
    rest = tuple(places)
    while sum(map(len, rest)) > MOST_PLACES:
        ends = accumulate(map(len, rest))
        some = max(1, sum(end <= MOST_PLACES for end in ends))
        yield PlacesListed(sections=rest[:some])
        rest = rest[some:]
    yield PlacesConfirmed(sections=rest)
