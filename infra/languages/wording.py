"""The words of the pages in each language: gettext catalogues, and dates, by Babel.

English is in the templates and the code. `de/*.po` have the German, one file for each area of the
pages. What a game says (sides, refusals, endings) has its words in the game's own package instead.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from io import BytesIO
from typing import Any, Final

from babel.dates import format_datetime, format_timedelta
from babel.lists import format_list
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal

from domain.sentences import LANGUAGES

TRANSLATED: Final = LANGUAGES[1:]
"""The languages with a catalogue: all but English."""

_DAY: Final = 86_400_000


class Wording:
    """The words of one language. A value for `%(name)s` in a message is given by its name."""

    def __init__(self, language: str) -> None:
        self.language: Final = language
        self.translations: Final[NullTranslations] = _translations(language)

    def gettext(self, message: str, /, **values: object) -> str:
        """Return a message in this language."""
        text = self.translations.gettext(message)
        return text % values if values else text

    def ngettext(self, one: str, many: str, count: int, /, **values: object) -> str:
        """Return a message for a count, which is its value `%(count)s`."""
        return self.translations.ngettext(one, many, count) % {"count": count, **values}

    def pgettext(self, context: str, message: str, /, **values: object) -> str:
        """Return a message whose words depend on its context."""
        text = self.translations.pgettext(context, message)
        return text % values if values else text

    def moment(self, at: int) -> str:
        """Return an instant (ms since 1970) to the minute, in UTC."""
        when = datetime.fromtimestamp(at / 1000, UTC)
        return f"{self.day(at)}, {format_datetime(when, 'HH:mm', locale=self.language)} UTC"

    def day(self, at: int) -> str:
        """Return the day of an instant (ms since 1970), in UTC."""
        when = datetime.fromtimestamp(at / 1000, UTC)
        # the pattern of CLDR, by which German has a point after the day
        pattern = self.gettext("d MMM y")
        return format_datetime(when, pattern, locale=self.language)

    def stamp(self, at: int) -> str:
        """Return an instant (ms since 1970) to the minute, in UTC, as wide as any other, for a list."""
        when = datetime.fromtimestamp(at / 1000, UTC)
        pattern = self.gettext("y-MM-dd HH:mm 'UTC'")
        return format_datetime(when, pattern, locale=self.language)

    def hour(self, at: int) -> str:
        """Return the time of day of an instant (ms since 1970), in UTC."""
        when = datetime.fromtimestamp(at / 1000, UTC)
        return f"{format_datetime(when, 'HH:mm', locale=self.language)} UTC"

    def span(self, ms: int) -> str:
        """Return a span in its largest unit or two, rounded down, such as `9 days 3 hours`."""
        ms = max(ms, 0)
        if ms < 60_000:  # noqa: PLR2004 - a minute
            return self.gettext("less than a minute")
        days, rest = divmod(ms, _DAY)
        hours, rest = divmod(rest, 3_600_000)
        parts = (
            [(days, "day"), (hours, "hour")]
            if days
            else [(hours, "hour"), (rest // 60_000, "minute")]
        )
        return " ".join(self._unit(count, unit) for count, unit in parts if count)

    def clock(self, ms: int) -> str:
        """Return a span as a clock shows it, such as `9 d 3 h`; `times.js` goes on with the same words."""
        minutes = max(ms, 0) // 60_000
        days, hours = divmod(minutes // 60, 24)
        if days:
            return self.gettext("%(days)s d %(hours)s h", days=days, hours=hours)
        if hours:
            return self.gettext("%(hours)s h %(minutes)s min", hours=hours, minutes=minutes % 60)
        return self.gettext("%(minutes)s min", minutes=minutes)

    def _unit(self, count: int, unit: str) -> str:
        span = timedelta(**{f"{unit}s": count})
        return format_timedelta(span, granularity=unit, threshold=1e9, locale=self.language)  # type: ignore[arg-type]

    def number(self, number: int) -> str:
        """Return a number with its thousands marked."""
        return format_decimal(number, locale=self.language)

    def names(self, names: Sequence[str]) -> str:
        """Return names as a list in words, such as `alice, bob and carol`."""
        return format_list(list(names), locale=self.language).replace(", and ", " and ")


def capitalised(text: str) -> str:
    """Return a clause as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


@cache
def wording(language: str) -> Wording:
    """Return the words of a language; English for one that is unknown."""
    return Wording(language if language in LANGUAGES else LANGUAGES[0])


def N_(message: str) -> str:  # noqa: N802 - the name by which gettext's tools find messages
    """Return a message as it is, so that it is put into a language later."""
    return message


def catalogues(language: str) -> Iterator[tuple[str, Catalog]]:
    """Yield the catalogue of each area, by the name of its file."""
    for path in sorted(files("infra.languages").joinpath(language).iterdir(), key=str):
        yield path.name, read_po(BytesIO(path.read_bytes()), locale=language)


def _translations(language: str) -> NullTranslations:
    if language not in TRANSLATED:
        return NullTranslations()
    whole = Catalog(locale=language)
    for _, catalogue in catalogues(language):
        for message in catalogue:
            if message.id:
                whole[message.id] = message
    packed = BytesIO()
    write_mo(packed, whole)
    packed.seek(0)
    return GNUTranslations(packed)


def script_words(language: str) -> bytes:
    """Return a script with the words that scripts use, for `words.js` to read."""
    shown: Mapping[str, Any] = {
        message.id if isinstance(message.id, str) else message.id[0]: message.string
        for _, catalogue in catalogues(language)
        for message in catalogue
        if message.id and _is_of_scripts(message)
    }
    return f"globalThis.translated = {json.dumps(shown, ensure_ascii=False)};\n".encode()


def _is_of_scripts(message: Message) -> bool:
    """Return whether a message is marked as used by scripts: `#. script` stands above it."""
    return "script" in message.auto_comments


ENGLISH: Final = wording(LANGUAGES[0])
"""For a reader of whom no language is known."""
