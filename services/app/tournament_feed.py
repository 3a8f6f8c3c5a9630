"""The news of a tournament that everybody may see: its start, its rounds, results and places.

A program that reads a feed has no account, so the news are those that a guest may see.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from domain.match.history import EventEnvelope, decode_event
from domain.records import AccountId
from domain.tournament import events
from domain.tournament.forms import form_of
from domain.tournament.results import PairResult
from domain.tournament.state import FinalPlace, TournamentState, seats_of
from domain.tournament.terms import TournamentForm, TournamentTerms
from domain.tournament.three_results import NO_PLACES, places_in
from services.app.context import App
from services.app.damaged_match import refuse_damaged
from services.app.tournaments import visible_state

MOST_NEWS: Final = 50
"""News of a feed, the newest."""


class NewsKind(StrEnum):
    """The kinds of news."""

    STARTED = "started"
    PAIRED = "paired"
    """A further round, stage or season."""
    CHALLENGED = "challenged"
    """On a ladder."""
    RESULT = "result"
    OVER = "over"
    """All matches are over."""
    PLACES = "places"
    CANCELLED = "cancelled"


class TournamentNews(msgspec.Struct, frozen=True):
    """A piece of news."""

    kind: NewsKind
    seq: int
    """The number of its event; with `pairing`, what no other news of the tournament has."""
    at: int
    """When it came, ms."""
    stage: int = 0
    """The round, stage or season that was paired."""
    pairing: int | None = None
    """Of a result."""
    players: tuple[AccountId, ...] = ()
    """Those of a result or a challenge in the order of their seats; those in first place."""
    result: str = ""
    """A `PairResult`, or the places of three."""
    board: int = 0
    """The match of a result; 0 where it was decided without one."""


class TournamentFeed(msgspec.Struct, frozen=True):
    """A tournament with its news."""

    number: int
    name: str
    terms: TournamentTerms
    at: int
    """The time of the last event, ms."""
    news: tuple[TournamentNews, ...]
    """The newest first, at most `MOST_NEWS`."""


def feed_of(app: App, number: int) -> TournamentFeed:
    """Return the news of a tournament; `unknown-tournament` also for one that guests may not see.

    O(n) in its events. Players are those who have the numbers now, as in its tables.
    """
    state = visible_state(app, None, number)
    terms = state.terms
    assert terms is not None
    with refuse_damaged(app.damage, number):
        history = [decode_event(data) for data in app.store.events(number)]
    newest = deque(_news(history, state, terms), MOST_NEWS)
    name = app.tournament_texts.of([number])[number].name or f"#{number}"
    return TournamentFeed(number, name, terms, state.at, tuple(reversed(newest)))


def _news(  # noqa: C901 - one case an event
    history: Sequence[EventEnvelope], state: TournamentState, terms: TournamentTerms
) -> Iterator[TournamentNews]:
    """Yield all news in their order; `state` is that after the history."""
    seats: list[tuple[int, ...]] = []
    known: dict[int, tuple[int, ...]] = {}
    stage = 1

    def seated(pairing: int) -> tuple[AccountId, ...]:
        return tuple(state.entrants[player].account for player in seats[pairing])

    for event in history:
        body, seq, at = event.body, event.seq, event.at
        match body:
            case events.TournamentStarted():
                yield TournamentNews(NewsKind.STARTED, seq, at)
            case events.SectionPaired():
                groups = isinstance(body, events.GroupsPaired)
                seats += body.seats if groups else seats_of(body.pairings)
                if terms.ladder is not None:
                    yield TournamentNews(NewsKind.CHALLENGED, seq, at, players=seated(-1))
                elif body.stage > stage:
                    yield TournamentNews(NewsKind.PAIRED, seq, at, stage := body.stage)
            case events.ResultsCounted() | events.MatchesAdjudicated():
                for pairing, result, board in _results(body):
                    made = _made(result, terms)
                    # the ruling that ends a match that was decided comes to the same
                    if made and known.get(pairing) != made:
                        yield TournamentNews(
                            NewsKind.RESULT,
                            seq,
                            at,
                            pairing=pairing,
                            players=seated(pairing),
                            result=result,
                            board=board,
                        )
                    known[pairing] = made
            case events.TournamentFinished():
                yield TournamentNews(NewsKind.OVER, seq, at)
            case events.PlacesConfirmed():
                first = _first(state.places, state, terms)
                yield TournamentNews(NewsKind.PLACES, seq, at, players=first)
            case events.TournamentCancelled():
                yield TournamentNews(NewsKind.CANCELLED, seq, at)
            case _:
                pass


def _made(result: str, terms: TournamentTerms) -> tuple[int, ...]:
    """Return the half points of two, or the places of three; nothing where the match counts for nobody."""
    if result in ("", NO_PLACES):
        return ()
    if terms.form == TournamentForm.THREES:
        return places_in(result)
    return PairResult(result).by_player


def _results(body: events.ResultsCounted | events.MatchesAdjudicated) -> list[tuple[int, str, int]]:
    """Return the results of an event: pairing, result, and the match, 0 for one that it does not name."""
    if isinstance(body, events.ResultsCounted):
        return [(one.pairing, one.result, one.board) for one in body.reports]
    return [(one.pairing, one.result, 0) for one in body.results]


def _first(
    tables: Sequence[Sequence[FinalPlace]], state: TournamentState, terms: TournamentTerms
) -> tuple[AccountId, ...]:
    """Return those in first place in the tables of the last stage or season."""
    sections = form_of(terms).tables(state)
    last = max(one.stage for one in sections)
    return tuple(
        state.entrants[one.player].account
        for table, section in zip(tables, sections, strict=True)
        for one in table
        if section.stage == last and one.place == 1
    )
