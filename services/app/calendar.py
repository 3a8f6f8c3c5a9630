"""A player's calendar: deadlines, vacations, and dates of tournaments, at a secret address.

The address opens the calendar and nothing else, and is no log-in. It ends with all access to the account, because a
thief with a stolen session could have made it.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

import msgspec

from domain.aggregates import TournamentSnapshot, unpack
from domain.errors import Code, Refusal
from domain.match.history import Snapshot
from domain.match.state import MatchState, deadline_of
from domain.records import AccountId
from domain.tournament.forms import form_of
from domain.tournament.state import Phase, TournamentState
from infra.people.accounts import Profile
from infra.people.accounts.record import vacations_of
from infra.projections.match_lists import MatchFilter
from services.app.accounts import end_if_suspended
from services.app.context import App
from services.app.names import names_of
from services.app.sentences import SAY
from services.app.tournament_names import names_in_notices

_MOST_MATCHES: Final = 500
_MOST_TOURNAMENTS: Final = 50


class CalendarKind(StrEnum):
    """The kinds of dates."""

    DEADLINE = "match"
    """The player's time for a move, a text or an answer to an invitation ends."""
    VACATION = "vacation"
    ENTRY_ENDS = "entry"
    """Entry to a tournament is closed, and it starts."""
    ROUND_ENDS = "round"
    """A round ends, and all that is not over in it is adjudicated."""
    ROUND_BEGINS = "next"
    """The next round or season is paired by date."""


class CalendarEntry(msgspec.Struct, frozen=True):
    """A date."""

    kind: CalendarKind
    number: int
    """Of the match or the tournament; of a vacation when it began, ms. With `kind` the same for a date that has moved."""
    at: int
    """Milliseconds."""
    until: int
    """The end of a vacation, ms; `at` for all others."""
    changed: int
    """The time of the event by which it is so, ms."""
    revision: int
    """Rises with each change."""
    name: str = ""
    """Of a tournament."""
    game: str = ""
    others: tuple[str, ...] = ()
    """The names of the other players of a match."""
    stage: int = 0


class Calendar(msgspec.Struct, frozen=True):
    """A player's dates, with the player's profile."""

    account: AccountId
    profile: Profile
    entries: tuple[CalendarEntry, ...]


def make_calendar(app: App, account: AccountId) -> str:
    """Return the path of a new calendar of an account, in place of the one before, whose address ends."""
    text = app.calendar_links.make(account)
    end_if_suspended(app, account)
    return f"/calendar/{text}.ics"


def end_calendar(app: App, account: AccountId) -> None:
    """End the address of an account's calendar; having none is no error."""
    app.calendar_links.forget(account)


def calendar_of(app: App, text: str) -> Calendar:
    """Return the calendar at a secret address; `not-found` for any that is not valid."""
    account = app.calendar_links.account_of(text)
    profile = None if account is None else app.accounts.record_of(account)
    if account is None or profile is None or profile.suspended:
        raise Refusal(Code.NOT_FOUND, SAY("no-calendar"))
    entries = (*_deadlines(app, account), *_vacations(app, profile), *_tournaments(app, account))
    return Calendar(account, profile, entries)


def _deadlines(app: App, account: AccountId) -> Iterator[CalendarEntry]:
    rows = app.lists.of(account, MatchFilter.NEXT, None, 0, _MOST_MATCHES)
    boards = [row.board for row in (*rows, *app.lists.proposed(account))]
    found: list[tuple[int, MatchState, int]] = []
    for board, data in zip(boards, app.store.snapshots(boards) if boards else (), strict=True):
        one = unpack(data)
        if not isinstance(one, Snapshot) or account not in one.state.seats or one.state.over:
            continue
        seat = one.state.seats.index(account)
        due = deadline_of(one.state, seat) if seat in one.state.waits else None
        if due is not None:
            found.append((board, one.state, due))
    names = names_of(app, (seat for _, state, _ in found for seat in state.seats))
    for board, state, due in found:
        others = tuple(names[seat] for seat in state.seats if seat != account)
        game = state.rules.partition("/")[0]
        yield CalendarEntry(
            CalendarKind.DEADLINE, board, due, due, state.at, state.seq, game=game, others=others
        )


def _vacations(app: App, profile: Profile) -> Iterator[CalendarEntry]:
    now = app.store.now()
    for one in vacations_of(profile):
        if one.until > now:
            yield CalendarEntry(
                CalendarKind.VACATION, one.since, one.since, one.until, one.since, one.days
            )


def _tournaments(app: App, account: AccountId) -> Iterator[CalendarEntry]:
    rows = app.tournaments.of_account(account, _MOST_TOURNAMENTS)
    numbers = [row.number for row in rows if row.phase in (Phase.ENTRY, Phase.RUNNING)]
    if not numbers:
        return
    names = names_in_notices(app, account, numbers)
    for number, data in zip(numbers, app.store.snapshots(numbers), strict=True):
        one = unpack(data)
        if number not in names or not isinstance(one, TournamentSnapshot):
            continue
        state = one.state
        for kind, at in _dates(state):
            yield CalendarEntry(
                kind, number, at, at, state.at, state.seq, name=names[number], stage=state.stage
            )


def _dates(state: TournamentState) -> Iterator[tuple[CalendarKind, int]]:
    terms = state.terms
    if terms is None:
        return
    if state.phase is Phase.ENTRY and terms.starts:
        yield CalendarKind.ENTRY_ENDS, terms.starts
    if state.phase is Phase.RUNNING and terms.ladder is None:
        form = form_of(terms)
        ends = form.round_ends(state, terms) if state.open_in_stage else 0
        begins = form.pairs_at(state, terms)
        if ends:
            yield CalendarKind.ROUND_ENDS, ends
        if begins:
            yield CalendarKind.ROUND_BEGINS, begins
