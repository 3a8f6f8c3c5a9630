"""Dates, spans, numbers and lists as a language writes them, by Babel."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from babel import Locale, UnknownLocaleError
from babel.dates import format_datetime, format_timedelta
from babel.lists import format_list
from babel.numbers import format_decimal

from domain.sentences import ENGLISH

_DATES_KEPT: Final = 4_096
"""Dates and times of day that are kept as texts, because the rows of a list have few different ones."""


class Formats:
    """The formats of a language; those of English for one that Babel does not know."""

    def __init__(self, code: str) -> None:
        self._locale: Final = _locale_of(code) or Locale.parse(ENGLISH.code)

    def date(self, when: datetime, pattern: str) -> str:
        """Return an instant by a pattern of CLDR."""
        return _date(self._locale, when, pattern)

    def span(self, count: int, unit: str) -> str:
        """Return a number of days, hours or minutes."""
        span = timedelta(**{f"{unit}s": count})
        return format_timedelta(span, granularity=unit, threshold=1e9, locale=self._locale)  # type: ignore[arg-type]

    def number(self, number: float) -> str:
        """Return a number with its thousands marked, and at most three decimals."""
        return format_decimal(number, locale=self._locale)

    def names(self, names: Sequence[str]) -> str:
        """Return names as a list in words."""
        return format_list(list(names), locale=self._locale)


@lru_cache(_DATES_KEPT)
def _date(locale: Locale, when: datetime, pattern: str) -> str:
    return format_datetime(when, pattern, locale=locale)


def language_name(code: str, reader: str) -> str:
    """Return the name of a language in the reader's, such as `German`; its code if it has none."""
    locale = _locale_of(code)
    return (locale.get_language_name(reader) if locale else None) or code


def _locale_of(code: str) -> Locale | None:
    try:
        return Locale.parse(code)
    except (UnknownLocaleError, ValueError):
        return None
