"""Vacations: a player's clocks stand still in all matches, for whole days."""

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from domain.clocks.days import year_of
from domain.clocks.vacation import Vacation, Vacations, back, left, running, take
from domain.errors import Code, Refusal
from domain.match.commands import Away, Command, Return, Sent
from domain.match.events import AccountId, command_id
from infra.accounts import Account, Profile
from infra.projections.lists import Row, State
from services.language.answer import Answer
from services.language.desk import Call, Desk
from services.language.times import day_of, instant

DOOR = "vacation"
"""Under which the players' absences are sent to their matches."""

_PAGE = 500

_DIGITS = 3


def vacation(call: Call) -> Answer:
    """Begin a vacation, make it longer, end it early, or tell how many days there are."""
    value = call.line.get("value").lower()
    now = call.desk.store.now()
    account = call.account()
    if not value:
        return Answer(_told(_taken(call.profile(account)), now))
    call.desk.ready()
    if value == "back":
        return _changed(call, now, lambda old: back(old, now), Return)
    days = _read_days(value)
    return _changed(call, now, lambda old: take(old, now, days), Away)


def _read_days(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS):
        raise Refusal(Code.BAD_OPTION, f"{text[:24]!r} is no number of days; write one, or `back`")
    return int(text)


def _changed(
    call: Call,
    now: int,
    change: Callable[[Vacations], Vacations],
    told: Callable[..., Away | Return],
) -> Answer:
    """Change what is taken, and tell the player's matches."""

    def changed(record: Account) -> Account:
        return replace(record, vacations=tuple(map(_pair, change(_taken(record)))))

    name, password = call.sender
    account = call.desk.accounts.change(name, password, changed)
    # crash window: the vacation is taken and not all matches know; the same command with `back`,
    # or a day more, tells them
    taken = _taken(call.profile(account))
    until = _until(taken, now)
    command = told(until=until)
    boards = [row.board for row in _active(call.desk, account) if len(row.seats) > 1]
    call.desk.post.hand_in([_sent(account, board, command, call.key) for board in boards])
    count = f"{len(boards)} match{'es' * (len(boards) != 1)}"
    return Answer(f"{_told(taken, now)}; {count} of yours with a clock heard of it")


def absences(desk: Desk, board: int, seats: Sequence[AccountId]) -> list[Sent]:
    """Give what a match that has just begun is to be told of players who are on vacation."""
    if len(seats) == 1:  # who plays alone has no clock
        return []
    now = desk.store.now()
    away = []
    for account in seats:
        profile = desk.accounts.record_of(account)
        if profile is not None and (one := running(_taken(profile), now)) is not None:
            away.append(_sent(account, board, Away(until=one.until), str(one.until)))
    return away


def _sent(account: AccountId, board: int, command: Command, key: str) -> Sent:
    return Sent(board, command_id(DOOR, account, f"{board} {key}"), account, command)


def _active(desk: Desk, account: AccountId) -> Iterator[Row]:
    """Give the player's matches that go on."""
    start = 0
    while rows := desk.lists.of(account, State.ACTIVE, None, start, _PAGE):
        yield from rows
        start += _PAGE


def _taken(profile: Profile) -> Vacations:
    return tuple(Vacation(since, days) for since, days in profile.vacations)


def _pair(one: Vacation) -> tuple[int, int]:
    return one.since, one.days


def _until(taken: Vacations, now: int) -> int:
    one = running(taken, now)
    return now if one is None else one.until


def _told(taken: Vacations, now: int) -> str:
    """Say whether the player is on vacation, and how many days are left."""
    one = running(taken, now)
    where = f"you are on vacation until {instant(one.until)}" if one else "you are not on vacation"
    year = year_of(day_of(now))
    return f"{where}; {left(taken, year)} days of vacation are left in {year}"
