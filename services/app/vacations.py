"""Vacations: a player's clocks stand still in all matches, for whole days."""

import time
from collections.abc import Callable, Iterator
from typing import Final

import msgspec
from msgspec.structs import replace

from domain.clocks import vacation
from domain.clocks.time_control import DAY, year_of
from domain.clocks.vacation import Vacation, Vacations, running_vacation
from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope, EndVacation, StartVacation
from domain.match.events import Challenged, MatchStarted, SeatTakenOver
from domain.records import AccountId, command_id
from infra.people.accounts import Account
from infra.people.accounts.record import vacations_of
from infra.projections.buckets import LISTS
from infra.projections.lag import unread_events
from infra.projections.match_lists import MatchFilter, MatchListRow
from infra.store.port import Watermark
from services.app.context import Actor, App
from services.app.sentences import SAY
from services.app.typed_values import typed_number

VACATION_FRONT_END: Final = "vacation"
"""The front end in the ids of the commands that notify matches of a vacation."""

_PAGE: Final = 500
_MOST_UNREAD: Final = 5_000
"""Leaves of each shard that are looked through for new matches."""
_PATIENCE_SECONDS: Final = 2.0
_PAUSE_SECONDS: Final = 0.02


class VacationStatus(msgspec.Struct, frozen=True):
    """Whether a player is on vacation, and how many days are left."""

    until: int | None
    """When the vacation is over, ms; None for a player who is not on vacation."""
    left: int
    """The days that can still be taken in the calendar year."""
    year: int
    matches: int | None = None
    """How many matches were notified of a change; None if nothing was changed."""


def status(app: App, account: AccountId) -> VacationStatus:
    """Return whether a player is on vacation, and how many days are left."""
    return _status(_vacations_of(app, account), app.store.now())


def take(app: App, actor: Actor, days: int) -> VacationStatus:
    """Begin a vacation, or prolong the one that runs; `bad-option` for more days than are left."""
    now = app.store.now()
    return _change(
        app, actor, now, lambda old: vacation.take_vacation(old, now, days), StartVacation
    )


def take_until(app: App, actor: Actor, day: int) -> VacationStatus:
    """Begin a vacation to the end of the day (UTC) that begins at `day`, ms, or prolong the one that runs.

    `bad-option` for a day that is over, or before the end of the vacation that runs.
    """
    begins = _status(_vacations_of(app, actor.account), now := app.store.now()).until or now
    if day + DAY <= begins:
        raise Refusal(Code.BAD_OPTION, SAY("vacation-past"))
    return take(app, actor, -((begins - day - DAY) // DAY))


def end(app: App, actor: Actor) -> VacationStatus:
    """End a vacation with its present day; `too-late` without one."""
    now = app.store.now()
    return _change(app, actor, now, lambda old: vacation.end_vacation(old, now), EndVacation)


def change(app: App, actor: Actor, text: str) -> VacationStatus:
    """Take a vacation of as many days as the text says, or end the one that runs, by `back`."""
    if text.lower() == "back":
        return end(app, actor)
    days = typed_number(text)
    if days is None:
        raise Refusal(Code.BAD_OPTION, SAY("days-form", text=text[:24]))
    return take(app, actor, days)


def _change(
    app: App,
    actor: Actor,
    now: int,
    change: Callable[[Vacations], Vacations],
    command_type: type[StartVacation | EndVacation],
) -> VacationStatus:
    """Change the vacations in the player's record, and notify the player's matches."""

    def changed(record: Account) -> Account:
        return replace(record, vacations=tuple(map(_pair, change(vacations_of(record)))))

    app.accounts.change_of(actor.account, changed)
    # crash window: the vacation is stored and not all matches are notified; another command, with
    # `back` or one more day, notifies them
    vacations = _vacations_of(app, actor.account)
    one = running_vacation(vacations, now)
    command = command_type(until=now if one is None else one.until)
    boards = _boards(app, actor.account)
    app.gateway.submit_all([_sent(actor, board, command) for board in boards])
    return replace(_status(vacations, now), matches=len(boards))


def _sent(actor: Actor, board: int, command: StartVacation | EndVacation) -> CommandEnvelope:
    id_ = command_id(VACATION_FRONT_END, actor.account, f"{board} {actor.key}")
    return CommandEnvelope(board, id_, actor.account, command)


def _boards(app: App, account: AccountId) -> list[int]:
    """Return the player's matches that go on, also those that are too new to be in the list.

    A match whose start is received later reads the player's record, and needs no notice.
    """
    mark = _complete_mark(app, app.store.now())
    # the log before the list: what the list takes in meanwhile is found twice, and never missed
    new = [
        event.match
        for event in unread_events(app.store, app.data, LISTS, mark, _MOST_UNREAD)
        if (isinstance(event.body, SeatTakenOver) and event.body.account == account)
        or (
            isinstance(event.body, Challenged | MatchStarted)
            and account in event.body.seats
            and len(event.body.seats) > 1
        )
    ]
    listed = [row.board for row in _active(app, account) if len(row.seats) > 1]
    return list(dict.fromkeys((*listed, *new)))


def _complete_mark(app: App, now: int) -> Watermark:
    """Return a watermark after a time, ms: what was received until then is in the logs.

    After `_PATIENCE_SECONDS` it is the last one. A start that still waits in an inbox then is decided later,
    and reads the record as it is by then.
    """
    end = time.monotonic() + _PATIENCE_SECONDS
    while (mark := app.store.watermark(now)).at <= now and time.monotonic() < end:
        time.sleep(_PAUSE_SECONDS)
    return mark


def _active(app: App, account: AccountId) -> Iterator[MatchListRow]:
    """Return the player's matches that go on, and those that somebody has yet to accept."""
    yield from app.lists.proposed(account)
    start = 0
    while rows := app.lists.of(account, MatchFilter.ACTIVE, None, start, _PAGE):
        yield from rows
        start += _PAGE


def _vacations_of(app: App, account: AccountId) -> Vacations:
    profile = app.accounts.record_of(account)
    if profile is None:
        raise Refusal(Code.UNKNOWN_USER, SAY("deleted"))
    return vacations_of(profile)


def _pair(one: Vacation) -> tuple[int, int]:
    return one.since, one.days


def _status(vacations: Vacations, now: int) -> VacationStatus:
    one, year = running_vacation(vacations, now), year_of(now // DAY)
    return VacationStatus(one.until if one else None, vacation.days_left(vacations, year), year)
