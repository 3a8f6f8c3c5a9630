"""Vacations: a player's clocks stand still in all matches, for whole days."""

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from domain.clocks.days import year_of
from domain.clocks.vacation import Vacation, Vacations, back, left, running, take
from domain.errors import Code, Refusal
from domain.match.commands import Away, Command, Return, Sent
from domain.match.events import AccountId, command_id
from infra.accounts import Account
from infra.accounts.absences import taken
from infra.projections.lists import Row, State
from services.app.context import App
from services.language.answer import Answer
from services.language.invocation import Invocation
from services.language.times import day_of, instant

DOOR = "vacation"
"""Under which the players' absences are sent to their matches."""

_PAGE = 500

_DIGITS = 3


def vacation(call: Invocation) -> Answer:
    """Begin a vacation, make it longer, end it early, or tell how many days there are."""
    value = call.line.get("value").lower()
    now = call.app.store.now()
    account = call.account()
    if not value:
        return Answer(_told(taken(call.profile(account)), now))
    call.app.ready()
    if value == "back":
        return _changed(call, now, lambda old: back(old, now), Return)
    days = _read_days(value)
    return _changed(call, now, lambda old: take(old, now, days), Away)


def _read_days(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS):
        raise Refusal(Code.BAD_OPTION, f"{text[:24]!r} is no number of days; write one, or `back`")
    return int(text)


def _changed(
    call: Invocation,
    now: int,
    change: Callable[[Vacations], Vacations],
    told: Callable[..., Away | Return],
) -> Answer:
    """Change what is taken, and tell the player's matches."""

    def changed(record: Account) -> Account:
        return replace(record, vacations=tuple(map(_pair, change(taken(record)))))

    name, password = call.sender
    account = call.app.accounts.change(name, password, changed)
    # crash window: the vacation is taken and not all matches know; the same command with `back`,
    # or a day more, tells them
    vacations = taken(call.profile(account))
    until = _until(vacations, now)
    command = told(until=until)
    boards = [row.board for row in _active(call.app, account) if len(row.seats) > 1]
    call.app.gateway.submit_all([_sent(account, board, command, call.key) for board in boards])
    count = f"{len(boards)} match{'es' * (len(boards) != 1)}"
    return Answer(f"{_told(vacations, now)}; {count} of yours with a clock heard of it")


def _sent(account: AccountId, board: int, command: Command, key: str) -> Sent:
    return Sent(board, command_id(DOOR, account, f"{board} {key}"), account, command)


def _active(app: App, account: AccountId) -> Iterator[Row]:
    """Return the player's matches that go on."""
    start = 0
    while rows := app.lists.of(account, State.ACTIVE, None, start, _PAGE):
        yield from rows
        start += _PAGE


def _pair(one: Vacation) -> tuple[int, int]:
    return one.since, one.days


def _until(vacations: Vacations, now: int) -> int:
    one = running(vacations, now)
    return now if one is None else one.until


def _told(vacations: Vacations, now: int) -> str:
    """Say whether the player is on vacation, and how many days are left."""
    one = running(vacations, now)
    where = f"you are on vacation until {instant(one.until)}" if one else "you are not on vacation"
    year = year_of(day_of(now))
    return f"{where}; {left(vacations, year)} days of vacation are left in {year}"
