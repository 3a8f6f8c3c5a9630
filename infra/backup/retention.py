"""Which backups are kept: the newest of each of the last days, weeks and months that have any."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Final

import msgspec


class Retention(msgspec.Struct, frozen=True):
    """How many days, weeks and months keep a backup."""

    days: int = 7
    weeks: int = 5
    months: int = 12


ID_FORMAT: Final = "%Y%m%dT%H%M%SZ"
"""The id of a backup is when it was begun, in UTC."""


def id_of(at: float) -> str:
    """Return the id of a backup that is begun at a time in seconds since 1970."""
    return datetime.fromtimestamp(at, UTC).strftime(ID_FORMAT)


def time_of(id_: str) -> datetime | None:
    """Return when a backup was begun; None if the text is no id."""
    try:
        return datetime.strptime(id_, ID_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def kept(ids: Iterable[str], retention: Retention) -> set[str]:
    """Return the ids of the backups to keep; what is no id is kept as well, and so is the newest."""
    found = {one: time_of(one) for one in ids}
    times = sorted(((at, one) for one, at in found.items() if at), reverse=True)
    keep = {one for one, at in found.items() if at is None} | {one for _, one in times[:1]}
    wanted: tuple[tuple[int, Callable[[datetime], object]], ...] = (
        (retention.days, lambda at: at.date()),
        (retention.weeks, lambda at: at.isocalendar()[:2]),
        (retention.months, lambda at: (at.year, at.month)),
    )
    for count, period in wanted:
        newest: dict[object, str] = {}
        for at, one in times:
            newest.setdefault(period(at), one)
        keep |= {*list(newest.values())[:count]}
    return keep
