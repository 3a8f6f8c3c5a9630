"""How a game's options are explained where they can be chosen, such as on a page.

The options struct says what there is and which values are allowed. A form adds the words, in
English and in German, and the order in which people read them.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

import msgspec

from domain.rules.options import declared_flags


class Bilingual(NamedTuple):
    """Words in the languages there is help in; the fields' names are the languages' codes."""

    en: str
    de: str


class OptionKind(StrEnum):
    """How an option is chosen."""

    SWITCH = "switch"
    ONE_OF = "one-of"
    NUMBER = "number"
    NAMES = "names"


class Pick(msgspec.Struct, frozen=True):
    """A switch by itself, or one of the values that exclude each other."""

    flag: str
    """As in a challenge, such as `-exact`; empty for what is usual."""
    label: Bilingual


class OptionField(msgspec.Struct, frozen=True):
    """One option of a game."""

    field: str
    """Its name in the options struct."""
    kind: OptionKind
    title: Bilingual
    hint: Bilingual
    picks: tuple[Pick, ...]
    """Of a switch and of values that exclude each other."""
    low: int
    """The least number, or the fewest names."""
    high: int
    usual: int
    """The number without the option."""
    names: tuple[str, ...]
    """What may be in a list of names."""


def option(
    options: type[msgspec.Struct],
    field: str,
    en: str,
    de: str,
    *picks: tuple[str, str, str],
    hint: tuple[str, str] = ("", ""),
) -> OptionField:
    """Return an option of a struct with its title, and the flag and label of each value.

    The flag of what is usual is empty. Of switches, numbers and lists there are no values to name.
    """
    flags = declared_flags(options)
    title, flag, usual = Bilingual(en, de), flags.get(field), getattr(options(), field)
    kind = OptionKind.NUMBER
    if flag and flag.names:
        kind = OptionKind.NAMES
    elif picks:
        kind = OptionKind.ONE_OF
    elif usual is False:
        kind, picks = OptionKind.SWITCH, ((f"-{field}", en, de),)
    chosen = tuple(Pick(name, Bilingual(*words)) for name, *words in picks)
    low, high = flag.bounds if flag else (0, 0)
    number = usual if kind is OptionKind.NUMBER else 0
    return OptionField(
        field, kind, title, Bilingual(*hint), chosen, low, high, number, flag.names if flag else ()
    )


def unmatched_flags(options: type[msgspec.Struct], form: Iterable[OptionField]) -> set[str]:
    """Return the flags of a struct that its form lacks, and those of the form that do not exist.

    The flag of a default value may be in a form or not, because it can be left out.
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
