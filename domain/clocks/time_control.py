"""The time control of a match, read from flags and written as flags.

    --nagtime=7 --forfeittime=21 --totaltime=90 --days=3 --bank=10+1 --weekends=off --unrated
    --nagtime=14,28 --bank=10+1:20 --silence=40 --vacation=10 --pause=off --rated-from=5

`docs/clocks.md` explains each flag to players.

Calendar arithmetic in UTC: counted milliseconds, and the year of a day.

Instants are milliseconds since 1970, which began on a Thursday.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, Final

import msgspec

from domain.errors import Code, Refusal
from domain.sentences import Sentence, Sentences, Text

SAY: Final = Sentences(
    "time",
    {
        "near": "there is no option {written!r}; did you mean {near}?",
        "unknown": "there is no option {written!r}; the options are {known}",
        "twice": "--{name} is given twice; give it once",
        "alone": "--unrated takes no value; write it alone",
        "misread": "{written!r} isn't understood; write {form}",
        "range": "{written!r} is out of range; write {form}",
        "on-off": "--weekends=off or --weekends=on",
        "pause-on-off": "--pause=off or --pause=on",
        "capped": "--bank=A+B:C, with C from A to {most}",
        "several": (
            "--nagtime=N,N,..., with up to {count} days from 1 to {most}, each more than the one before"
        ),
        "same": "--silence and --forfeittime mean the same; give one of them",
        "rated-or-not": "--unrated and --rated-from contradict each other; give one of them",
        "number": "{text}, with N from {low} to {high}",
        "numbers": "{text}, with A from {low} to {high} and B from {least} to {most}",
    },
)


class ClockOptions(msgspec.Struct, frozen=True, array_like=True):
    """The options of a clock beside its limits, of which most matches have at most the first."""

    weekends: bool = True
    """Whether Saturdays and Sundays, UTC, count."""
    cap: int = 0
    """The days above which the bank of a seat never grows; 0 is no cap."""
    vacation: int | None = None
    """How many days of its player's vacations may stop the clock of a seat; None for all of them."""
    pause: bool = True
    """Whether the players can agree to a pause."""
    nags: tuple[int, ...] = ()
    """The days of a turn after which its player is reminded again, in order."""

    @property
    def recorded(self) -> "bool | ClockOptions":
        """How terms record it: as `weekends` alone, unless another option was chosen."""
        return self.weekends if self == _BY_WEEKENDS[self.weekends] else self


_BY_WEEKENDS: Final = (ClockOptions(weekends=False), ClockOptions())


class TimeControl(msgspec.Struct, frozen=True, array_like=True):
    """A time control. Times are counted days; 0 is no limit, and for `nag` no reminder.

    The start event of a match records it, and commands have digests, so the fields are final: one more
    would change the bytes of all. What is new goes where `weekends` is.
    """

    nag: int = 7
    """The time of a turn after which its player is reminded, for the first time."""
    forfeit: int = 21
    """The time that a turn may take."""
    total: int = 0
    """The time that all turns of a seat may take together."""
    days: int = 0
    """The time that a turn may take, like `forfeit`; the lesser of both is the limit."""
    bank: int = 0
    """The time that each seat begins with and its turns use up."""
    increment: int = 0
    """The time that each move adds to the bank of its seat."""
    weekends: bool | ClockOptions = True
    """`options` as they are recorded."""
    rated: bool | int = True
    """Whether it changes ratings; a number from 2 on: also whether one that is lost by forfeit does before each seat has
    made so many moves."""

    @property
    def options(self) -> ClockOptions:
        """The options beside the limits."""
        return _BY_WEEKENDS[self.weekends] if isinstance(self.weekends, bool) else self.weekends

    @property
    def rated_from(self) -> int:
        """The moves of the loser before which a forfeit changes no rating; 0 for a match that changes none."""
        return int(self.rated)

    @property
    def turn(self) -> int:
        """The days that one turn may take; 0 if single turns have no limit."""
        return min(self.forfeit or self.days, self.days or self.forfeit)

    @property
    def nag_days(self) -> tuple[int, ...]:
        """The days of a turn after which its player is reminded, in order."""
        return (self.nag, *self.options.nags) if self.nag else ()

    @property
    def reminders(self) -> tuple[int, ...]:
        """Those of `nag_days` that can come before a flag."""
        # a bank that grows may outlast the reminder in a later turn, if not in the first
        bank = self.options.cap if self.increment else self.bank
        limits = [limit for limit in (self.turn, self.total, bank) if limit]
        return tuple(day for day in self.nag_days if all(day < limit for limit in limits))


class _FlagSyntax(msgspec.Struct, frozen=True):
    """The syntax of a flag with numbers, and the field and bounds of each number."""

    text: str
    pattern: re.Pattern[str]
    numbers: tuple[tuple[str, int, int], ...]

    @property
    def form(self) -> Sentence:
        """The syntax with its bounds, for people."""
        (_, low, high), *more = self.numbers
        if not more:
            return SAY("number", text=self.text, low=low, high=high)
        ((_, least, most),) = more
        return SAY("numbers", text=self.text, low=low, high=high, least=least, most=most)


MOST_REMINDERS: Final = 5
"""The most reminders in a turn."""

_LONGEST_NAG: Final = 365
_LONGEST: Final = 3650
"""Days of the longest limit, about ten years."""

_NUMBER: Final = "(0|[1-9][0-9]{0,8})"  # no sign, no leading zero


def _days_syntax(name: str, field: str, low: int, high: int) -> _FlagSyntax:
    return _FlagSyntax(f"--{name}=N", re.compile(_NUMBER), ((field, low, high),))


_SYNTAX: Final[Mapping[str, _FlagSyntax]] = {
    "nagtime": _days_syntax("nagtime", "nag", 0, _LONGEST_NAG),
    "forfeittime": _days_syntax("forfeittime", "forfeit", 0, _LONGEST),
    "silence": _days_syntax("silence", "forfeit", 1, _LONGEST),
    "totaltime": _days_syntax("totaltime", "total", 1, _LONGEST),
    "days": _days_syntax("days", "days", 1, 365),
    "bank": _FlagSyntax(
        "--bank=A+B",
        re.compile(rf"{_NUMBER}(?:\+{_NUMBER})?"),
        (("bank", 1, _LONGEST), ("increment", 0, 365)),
    ),
    "vacation": _days_syntax("vacation", "vacation", 0, 365),
    "rated-from": _days_syntax("rated-from", "rated", 1, 100),
}
_SWITCHES: Final = {"on": True, "off": False}
UNRATED: Final = "--unrated"
"""The flag of a match that changes no rating."""

_NAMES: Final = (*_SYNTAX, "weekends", "pause", "unrated")
_QUOTED: Final = 24
"""The most characters of a wrong flag that are compared or quoted."""


class TermsFlag(msgspec.Struct, frozen=True):
    """A flag of a time control, for programs and forms."""

    name: str
    pattern: str
    """A regular expression of the whole flag. Its numbers are within the bounds of `form`."""
    form: Text
    """How it is written, with bounds."""
    example: str


_EXAMPLES: Final[Mapping[str, str]] = {
    "nagtime": "7,14",
    "forfeittime": "30",
    "silence": "30",
    "totaltime": "90",
    "days": "3",
    "bank": "10+1:20",
    "vacation": "10",
    "rated-from": "5",
    "weekends": "off",
    "pause": "off",
}
"""A value of each flag that takes one."""


def terms_flags() -> tuple[TermsFlag, ...]:
    """Return all flags that `read_time_control` reads."""
    more = {"nagtime": f"(?:,{_NUMBER}){{0,{MOST_REMINDERS - 1}}}", "bank": f"(?::{_NUMBER})?"}
    switches = {"weekends": SAY("on-off"), "pause": SAY("pause-on-off")}
    found = [
        (name, syntax.pattern.pattern + more.get(name, ""), syntax.form)
        for name, syntax in _SYNTAX.items()
    ]
    found += [(name, f"(?:{'|'.join(_SWITCHES)})", form) for name, form in switches.items()]
    valued = [
        TermsFlag(name, f"^--{name}={values}$", form, f"--{name}={_EXAMPLES[name]}")
        for name, values, form in found
    ]
    return (*valued, TermsFlag("unrated", f"^{UNRATED}$", UNRATED, UNRATED))


def read_time_control(flags: Sequence[str]) -> TimeControl:
    """Read flags such as `--days=3`; the defaults are those of `TimeControl()`.

    With `--days` or `--bank` there is no default of `--forfeittime`, of which `--silence` is another name. Names are read in any letter
    case. Raises `Refusal` with `unknown-option` for an unknown name, and with `bad-option` for a
    repeated name and for a value that can't be read or is out of range.
    """
    fields: dict[str, Any] = {}
    seen: set[str] = set()
    for text in flags:
        written, equals, value = text.partition("=")
        name = _flag_name(written)
        if name in seen:
            raise Refusal(Code.BAD_OPTION, SAY("twice", name=name))
        seen.add(name)
        fields.update(_fields_of(name, value if equals else None))
    if seen >= {"silence", "forfeittime"}:
        raise Refusal(Code.BAD_OPTION, SAY("same"))
    if seen >= {"unrated", "rated-from"}:
        raise Refusal(Code.BAD_OPTION, SAY("rated-or-not"))
    if "rated" in fields:
        fields["rated"] = _rated(fields["rated"])
    chosen = {name: fields.pop(name) for name in ClockOptions.__struct_fields__ if name in fields}
    options = ClockOptions(**chosen)
    return msgspec.structs.replace(_defaults(fields), **fields, weekends=options.recorded)


def _rated(moves: int) -> bool | int:
    """Return `rated` as it is recorded: a number only if it says more than True and False."""
    return moves if moves > 1 else bool(moves)


def _defaults(fields: Mapping[str, Any]) -> TimeControl:
    """Return the defaults, which depend on the limits that are set."""
    return TimeControl(forfeit=0) if fields.get("days") or fields.get("bank") else TimeControl()


def _flag_name(written: str) -> str:
    # some other letters become ASCII when lowered
    name = written.lower() if written.isascii() else written
    if name.startswith("--") and name[2:] in _NAMES:
        return name[2:]
    quoted = written[:_QUOTED]
    near = get_close_matches(quoted.lower().lstrip("-"), _NAMES, n=1)
    raise Refusal(
        Code.UNKNOWN_OPTION,
        SAY("near", written=quoted, near=f"--{near[0]}")
        if near
        else SAY("unknown", written=quoted, known=_known_flags()),
    )


def _known_flags() -> str:
    return ", ".join(f"--{name}" for name in sorted(_NAMES))


def _fields_of(name: str, value: str | None) -> Mapping[str, Any]:
    """Return the fields that a flag sets; its value is None without an equals sign."""
    match name:
        case "unrated" if value is None:
            return {"rated": False}
        case "unrated":
            raise Refusal(Code.BAD_OPTION, SAY("alone"))
        case "weekends" | "pause" if value in _SWITCHES:
            return {name: _SWITCHES[value]}
        case "weekends":
            raise _misread(name, value, SAY("on-off"))
        case "pause":
            raise _misread(name, value, SAY("pause-on-off"))
        case "bank" if value and ":" in value:
            return _capped_bank(value)
        case "nagtime" if value and "," in value:
            return _several_reminders(value)
        case _:
            return _number_fields(name, value)


def _capped_bank(value: str) -> Mapping[str, int]:
    """Return the fields of a bank with a cap, which says nothing for a bank that never grows."""
    pair, _, text = value.partition(":")
    fields = _number_fields("bank", pair)
    if not re.fullmatch(_NUMBER, text) or not fields["bank"] <= int(text) <= _LONGEST:
        raise _misread("bank", value, SAY("capped", most=_LONGEST))
    return {**fields, "cap": int(text)} if fields["increment"] else fields


def _several_reminders(value: str) -> Mapping[str, Any]:
    texts = value.split(",")
    days = [int(text) if re.fullmatch(_NUMBER, text) else 0 for text in texts]
    ordered = all(one < later for one, later in pairwise((0, *days)))
    if not ordered or days[-1] > _LONGEST_NAG or len(days) > MOST_REMINDERS:
        raise _misread("nagtime", value, SAY("several", count=MOST_REMINDERS, most=_LONGEST_NAG))
    return {"nag": days[0], "nags": tuple(days[1:])}


def _number_fields(name: str, value: str | None) -> Mapping[str, int]:
    syntax = _SYNTAX[name]
    found = syntax.pattern.fullmatch(value or "")
    if not found:
        raise _misread(name, value, syntax.form)
    values = {
        field: int(text or 0)
        for (field, _, _), text in zip(syntax.numbers, found.groups(), strict=True)
    }
    if not all(low <= values[field] <= high for field, low, high in syntax.numbers):
        problem = SAY("range", written=_written(name, value), form=syntax.form)
        raise Refusal(Code.BAD_OPTION, problem)
    return values


def _misread(name: str, value: str | None, form: Sentence) -> Refusal:
    return Refusal(Code.BAD_OPTION, SAY("misread", written=_written(name, value), form=form))


def _written(name: str, value: str | None) -> str:
    return f"--{name}" if value is None else f"--{name}={value[:_QUOTED]}"


def write_time_control(terms: TimeControl) -> tuple[str, ...]:
    """Return the flags that `read_time_control` reads back: sorted, defaults left out."""
    limits = {"days": terms.days, "bank": terms.bank}
    return tuple(sorted(_flags(terms, _defaults(limits))))


def _flags(terms: TimeControl, usual: TimeControl) -> Iterator[str]:
    options = terms.options
    if options.nags or terms.nag != usual.nag:
        yield f"--nagtime={','.join(map(str, (terms.nag, *options.nags)))}"
    for name in ("forfeittime", "totaltime", "days"):
        ((field, _, _),) = _SYNTAX[name].numbers
        if getattr(terms, field) != getattr(usual, field):
            yield f"--{name}={getattr(terms, field)}"
    if terms.bank:
        more = f"+{terms.increment}" if terms.increment else ""
        cap = f":{options.cap}" if options.cap else ""
        yield f"--bank={terms.bank}{more}{cap}"
    if options.vacation is not None:
        yield f"--vacation={options.vacation}"
    for name in ("weekends", "pause"):
        if not getattr(options, name):
            yield f"--{name}=off"
    if not terms.rated:
        yield UNRATED
    elif terms.rated_from > 1:
        yield f"--rated-from={terms.rated_from}"


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
