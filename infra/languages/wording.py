"""Messages in a language, by its catalogues, and its dates, spans and numbers, by Babel."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache, cached_property
from gettext import NullTranslations
from typing import TYPE_CHECKING, Final

from domain.sentences import ENGLISH
from infra.languages.catalogues import languages, translations

if TYPE_CHECKING:
    from infra.languages.formats import Formats

_DAY: Final = 86_400_000


class Wording:
    """The words of one language, which is the `Translation` of sentences, too.

    A value for `%(name)s` in a message is given by its name.
    """

    def __init__(self, code: str) -> None:
        self.code: Final = code

    @property
    def translations(self) -> NullTranslations:
        """The messages of the language, as gettext looks them up."""
        return translations(self.code)

    @cached_property
    def _formats(self) -> "Formats":
        from infra.languages.formats import Formats  # noqa: PLC0415 - Babel takes long to import

        return Formats(self.code)

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

    def npgettext(self, context: str, one: str, many: str, count: int, /) -> str:
        """Return a message for a count in a context, as it stands in the catalogue."""
        return self.translations.npgettext(context, one, many, count)

    def moment(self, at: int) -> str:
        """Return an instant (ms since 1970) to the minute, in UTC."""
        return f"{self.day(at)}, {self.hour(at)}"

    def day(self, at: int) -> str:
        """Return the day of an instant (ms since 1970), in UTC."""
        when = datetime.fromtimestamp(at // _DAY * _DAY // 1000, UTC)
        # the pattern of CLDR, by which German has a point after the day
        pattern = self.gettext("d MMM y")
        return self._formats.date(when, pattern)

    def stamp(self, at: int) -> str:
        """Return an instant (ms since 1970) to the minute, in UTC, as wide as any other, for a list."""
        when = datetime.fromtimestamp(at / 1000, UTC)
        pattern = self.gettext("y-MM-dd HH:mm 'UTC'")
        return self._formats.date(when, pattern)

    def hour(self, at: int) -> str:
        """Return the time of day of an instant (ms since 1970), in UTC."""
        when = datetime.fromtimestamp(at % _DAY // 60_000 * 60, UTC)
        return f"{self._formats.date(when, 'HH:mm')} UTC"

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
        return " ".join(self._formats.span(count, unit) for count, unit in parts if count)

    def clock(self, ms: int) -> str:
        """Return a span as a clock shows it, such as `9 d 3 h`; `times.js` goes on with the same words."""
        minutes = max(ms, 0) // 60_000
        days, hours = divmod(minutes // 60, 24)
        if days:
            return self.gettext("%(days)s d %(hours)s h", days=days, hours=hours)
        if hours:
            return self.gettext("%(hours)s h %(minutes)s min", hours=hours, minutes=minutes % 60)
        return self.gettext("%(minutes)s min", minutes=minutes)

    def number(self, number: float) -> str:
        """Return a number with its thousands marked, and at most three decimals."""
        return self._formats.number(number)

    def names(self, names: Sequence[str]) -> str:
        """Return names as a list in words, such as `alice, bob and carol`."""
        return self._formats.names(names).replace(", and ", " and ")


def wording(code: str) -> Wording:
    """Return the words of a language; English for one that is unknown."""
    return _wording(code if code in languages() else ENGLISH.code)


def capitalised(text: str) -> str:
    """Return a clause as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


@cache
def _wording(code: str) -> Wording:
    return Wording(code)


def all_wordings() -> list[Wording]:
    """Return the words of every language, English first."""
    return [wording(code) for code in languages()]


def N_(message: str) -> str:  # noqa: N802 - the name by which gettext's tools find messages
    """Return a message as it is, so that it is put into a language later."""
    return message


IN_ENGLISH: Final = wording(ENGLISH.code)
"""The words for a reader of whom no language is known."""
