"""Days in UTC by arithmetic alone: milliseconds that count, and the year of a day.

Instants are milliseconds since 1970, which began on a Thursday; a day is 86,400,000 of them.
"""

from typing import Final

DAY: Final = 86_400_000
"""Milliseconds."""

_WEEK: Final = 7 * DAY
_WORK: Final = 5 * DAY
_SINCE_MONDAY: Final = 3 * DAY
"""1970 began this long after a Monday."""

_TO_MARCH_0: Final = 719_468
"""Days from 1 March of the year 0 to 1970: years that begin in March end with their leap day."""
_ERA: Final = 146_097
"""Days in 400 years, after which the calendar repeats."""
_JANUARY: Final = 306
"""Days from 1 March to 1 January."""


def tally(instant: int, *, weekends: bool) -> int:
    """Return the milliseconds that count up to an instant, from a fixed one on.

    Only differences of two tallies mean anything. Without weekends it stands still on Saturdays
    and Sundays.
    """
    if weekends:
        return instant
    weeks, rest = divmod(instant + _SINCE_MONDAY, _WEEK)
    return weeks * _WORK + min(rest, _WORK)


def instant_of(tallied: int, *, weekends: bool) -> int:
    """Return the first instant at which `tally` is this; where it stands still, the Friday's end."""
    if weekends:
        return tallied
    weeks, rest = divmod(tallied - 1, _WORK)
    return weeks * _WEEK + rest + 1 - _SINCE_MONDAY


def year_of(day: int) -> int:
    """Return the calendar year of a day, counted from 1 January 1970 as 0.

    Years that begin in March are 365 days long but for what the corrections by 4, 100 and 400
    years add at their ends.
    """
    era, of_era = divmod(day + _TO_MARCH_0, _ERA)
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    return era * 400 + year + (of_year >= _JANUARY)
