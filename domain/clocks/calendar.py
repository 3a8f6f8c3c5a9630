"""Calendar arithmetic in UTC: counted milliseconds, and the year of a day.

Instants are milliseconds since 1970, which began on a Thursday.
"""

from typing import Final

DAY: Final = 86_400_000
"""A day, in milliseconds."""

_WEEK: Final = 7 * DAY
_WORK: Final = 5 * DAY
_SINCE_MONDAY: Final = 3 * DAY
"""The time from a Monday to the beginning of 1970."""

_TO_MARCH_0: Final = 719_468
"""Days from 1 March of the year 0 to 1970. Years begin in March here, so that they end with their
leap day."""
_ERA: Final = 146_097
"""Days in 400 years, after which the calendar repeats."""
_JANUARY: Final = 306
"""Days from 1 March to 1 January."""


def counted_ms(instant: int, *, weekends: bool) -> int:
    """Return the counted milliseconds from a fixed instant to this one; only differences have a meaning.

    Without `weekends`, Saturdays and Sundays don't count.
    """
    if weekends:
        return instant
    weeks, rest = divmod(instant + _SINCE_MONDAY, _WEEK)
    return weeks * _WORK + min(rest, _WORK)


def instant_of_count(tallied: int, *, weekends: bool) -> int:
    """Return the first instant with this `counted_ms`; in a weekend that is the end of the Friday."""
    if weekends:
        return tallied
    weeks, rest = divmod(tallied - 1, _WORK)
    return weeks * _WEEK + rest + 1 - _SINCE_MONDAY


def year_of(day: int) -> int:
    """Return the calendar year of a day, counted from 1 January 1970 as 0.

    A year that begins in March has 365 days, and at its end the leap day of the rules for 4, 100 and
    400 years.
    """
    era, of_era = divmod(day + _TO_MARCH_0, _ERA)
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    return era * 400 + year + (of_year >= _JANUARY)
