"""Option flags, read into and written from a game's frozen options struct.

The struct's fields declare the flags:

- `exact: bool = False` is the flag `-exact`;
- `tiles_each: Annotated[int, msgspec.Meta(ge=2, le=60)] = 12` is `-tiles_each=N`;
- `touch: Touch = Touch.ENEMY`, a StrEnum, is a group of flags that exclude each other. The
  members' values are the flags (`-touch_any`, `-touch_enemy`); a default with the empty value
  has no flag;
- `stones: Annotated[tuple[str, ...], msgspec.Meta(min_length=2, max_length=9,
  extra={"names": NAMES})] = ()` is `-stones=NAME,NAME`: names from `NAMES` in any order, none
  twice, recorded in the order of `NAMES`.

Forms in which players choose the options of a game.

The options struct declares the options and their values. A form adds labels in English, and an
order; `domain.game.protocol` has them in the reader's language.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from functools import cache
from typing import Final, TypeVar

import msgspec
from msgspec import inspect

from domain.errors import Code, Refusal
from domain.sentences import Sentences

O = TypeVar("O", bound=msgspec.Struct)  # noqa: E741 - O for options, as in protocol.py

_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,17}")  # no sign, no leading zero
_QUOTED: Final = 24
"""The most characters of a wrong option that are compared or quoted."""


SAY: Final = Sentences(
    "option",
    {
        "near": "there is no option {written!r}; did you mean {near}?",
        "none": "there is no option {written!r}; this game has none",
        "unknown": "there is no option {written!r}; the options are {known}",
        "alone": "-{name} takes no value; write it on its own",
        "number": "{written!r} needs a number: -{name}=N, with N from {low} to {high}",
        "range": "{written!r} is out of range: -{name}=N, with N from {low} to {high}",
        "form": "-{name}={some},... with {low} to {high} names",
        "unnamed": "'-{name}' needs names: {form}",
        "misnamed": "-{name} can't name {one!r}: {form}",
        "named-twice": "-{name} names {one} twice; name it once",
        "count": "-{name} has {count} names: {form}",
        "exclude": "-{earlier} and -{name} exclude each other; use only one of them",
        "twice": "-{name} is given twice; give it once",
    },
)
"""The sentences of refused options."""

_Value = bool | int | StrEnum | tuple[str, ...]


class OptionFlag(msgspec.Struct, frozen=True):
    """The effect of a flag: it sets a field to a value, a number within bounds, or a list of names."""

    field: str
    value: bool | StrEnum | None
    bounds: tuple[int, int] = (0, 0)
    names: tuple[str, ...] = ()


def _field_flags(field: inspect.Field) -> Iterator[tuple[str, OptionFlag]]:
    """Yield the flags that a field of an options struct declares."""
    match field.type:
        case inspect.BoolType():
            yield field.name, OptionFlag(field.name, value=True)
        case inspect.IntType(ge=int(low), le=int(high)):
            yield field.name, OptionFlag(field.name, None, (low, high))
        case inspect.EnumType(cls=group) if issubclass(group, StrEnum):
            yield from (
                (member.value, OptionFlag(field.name, member)) for member in group if member
            )
        case inspect.Metadata(
            type=inspect.VarTupleType(
                item_type=inspect.StrType(), min_length=int(low), max_length=int(high)
            ),
            extra={"names": tuple(names)},
        ):
            yield field.name, OptionFlag(field.name, None, (low, high), names)
        case _:
            raise TypeError(
                f"{field.name!r} declares no flag: a bool, bounded int, StrEnum or list of names does"
            )


@cache
def declared_flags(kind: type[msgspec.Struct]) -> Mapping[str, OptionFlag]:
    """Return the flags that an options struct declares, by their names without a hyphen."""
    declared = inspect.type_info(kind)
    assert isinstance(declared, inspect.StructType)
    return dict(flag for field in declared.fields for flag in _field_flags(field))


def _unknown_option(name: str, known: Mapping[str, OptionFlag]) -> Refusal:
    written = f"-{name[:_QUOTED]}"
    if near := get_close_matches(written[1:].lower(), known, n=1):
        text = SAY("near", written=written, near=f"-{near[0]}")
    elif not known:
        text = SAY("none", written=written)
    else:
        text = SAY("unknown", written=written, known=", ".join(f"-{one}" for one in sorted(known)))
    return Refusal(Code.UNKNOWN_OPTION, text)


def _value_of(name: str, flag: OptionFlag, value: str | None) -> _Value:
    """Return the value that a flag sets; `value` is the text after the equals sign, if any."""
    if flag.names:
        return _names_of(name, flag, value)
    if flag.value is None:
        return _number_of(name, flag, value)
    if value is not None:
        raise Refusal(Code.BAD_OPTION, SAY("alone", name=name))
    return flag.value


def _number_of(name: str, flag: OptionFlag, value: str | None) -> int:
    low, high = flag.bounds
    if value is None or not _NUMBER.fullmatch(value):
        written = f"-{name}" if value is None else f"-{name}={value[:_QUOTED]}"
        problem = SAY("number", written=written, name=name, low=low, high=high)
        raise Refusal(Code.BAD_OPTION, problem)
    if not low <= int(value) <= high:
        problem = SAY("range", written=f"-{name}={value}", name=name, low=low, high=high)
        raise Refusal(Code.BAD_OPTION, problem)
    return int(value)


def _names_of(name: str, flag: OptionFlag, value: str | None) -> tuple[str, ...]:
    """Return the names in the order of the declaration; case, blanks and order are free."""
    low, high = flag.bounds
    form = SAY("form", name=name, some=",".join(flag.names[:2]), low=low, high=high)
    if not value:
        raise Refusal(Code.BAD_OPTION, SAY("unnamed", name=name, form=form))
    spelt = (
        value.lower() if value.isascii() else value
    )  # some other letters become ASCII when lowered
    named = "".join(spelt.split()).split(",")
    for place, one in enumerate(named):
        if one not in flag.names:
            problem = SAY("misnamed", name=name, one=one[:_QUOTED], form=form)
            raise Refusal(Code.BAD_OPTION, problem)
        if one in named[:place]:
            raise Refusal(Code.BAD_OPTION, SAY("named-twice", name=name, one=one))
    if not low <= len(named) <= high:
        raise Refusal(Code.BAD_OPTION, SAY("count", name=name, count=len(named), form=form))
    return tuple(one for one in flag.names if one in named)


def read_options(kind: type[O], flags: Sequence[str]) -> O:
    """Read flags, with or without hyphen; refuse unknown, repeated and contradicting ones."""
    known = declared_flags(kind)
    values: dict[str, _Value] = {}
    used: dict[str, str] = {}
    for text in flags:
        name, equals, value = text.removeprefix("-").partition("=")
        flag = known.get(name)
        if flag is None:
            raise _unknown_option(name, known)
        earlier = used.setdefault(flag.field, name)
        if earlier != name:
            raise Refusal(Code.BAD_OPTION, SAY("exclude", earlier=earlier, name=name))
        if flag.field in values:
            raise Refusal(Code.BAD_OPTION, SAY("twice", name=name))
        values[flag.field] = _value_of(name, flag, value if equals else None)
    return kind(**values)


def _flag_text(field: str, value: object) -> str:
    match value:
        case bool():
            return f"-{field}"
        case StrEnum():
            return f"-{value}"
        case tuple():
            return f"-{field}={','.join(value)}"
        case _:
            return f"-{field}={value}"


def write_options(options: msgspec.Struct) -> tuple[str, ...]:
    """Return the recorded form: sorted, hyphenated, defaults left out."""
    set_here = (
        (field.name, getattr(options, field.name))
        for field in msgspec.structs.fields(options)
        if getattr(options, field.name) != field.default
    )
    return tuple(sorted(_flag_text(field, value) for field, value in set_here))


class OptionKind(StrEnum):
    """The kind of input for an option."""

    SWITCH = "switch"
    ONE_OF = "one-of"
    NUMBER = "number"
    NAMES = "names"


class OptionChoice(msgspec.Struct, frozen=True):
    """A switch, or one of several values that exclude each other."""

    flag: str
    """The flag in a challenge, such as `-exact`; empty for the default."""
    label: str


class OptionField(msgspec.Struct, frozen=True):
    """One option of a game."""

    field: str
    """The name in the options struct."""
    kind: OptionKind
    title: str
    hint: str
    picks: tuple[OptionChoice, ...]
    """The choices of a switch, or of values that exclude each other."""
    low: int
    """The least number, or the fewest names."""
    high: int
    usual: int
    """The number if the option is not given."""
    names: tuple[str, ...]
    """The names that a list may contain."""


def option(
    options: type[msgspec.Struct],
    field: str,
    title: str,
    *picks: tuple[str, str],
    hint: str = "",
) -> OptionField:
    """Return the form of one option: its title, and the flag and label of each of `picks`.

    The flag of the default is empty. Switches, numbers and lists have no `picks`.
    """
    flags = declared_flags(options)
    flag, usual = flags.get(field), getattr(options(), field)
    kind = OptionKind.NUMBER
    if flag and flag.names:
        kind = OptionKind.NAMES
    elif picks:
        kind = OptionKind.ONE_OF
    elif usual is False:
        kind, picks = OptionKind.SWITCH, ((f"-{field}", title),)
    chosen = tuple(OptionChoice(name, label) for name, label in picks)
    low, high = flag.bounds if flag else (0, 0)
    number = usual if kind is OptionKind.NUMBER else 0
    return OptionField(
        field, kind, title, hint, chosen, low, high, number, flag.names if flag else ()
    )


def unmatched_flags(options: type[msgspec.Struct], form: Iterable[OptionField]) -> set[str]:
    """Return the flags of a struct that its form lacks, and flags of the form that do not exist.

    A form may leave out the flag of a default, because a challenge may leave it out.
    """
    declared = declared_flags(options)
    usual = {
        f"-{name}"
        for name, flag in declared.items()
        if isinstance(flag.value, StrEnum) and flag.value is getattr(options(), flag.field)
    }
    offered = {
        flag
        for field in form
        for flag in ([pick.flag for pick in field.picks] or [f"-{field.field}"])
    }
    known = {f"-{name}" for name in declared}
    return (known ^ {flag.partition("=")[0] for flag in offered if flag}) - usual
