"""Forms in which players choose the options of a game.

The options struct declares the options and their values. A form adds labels in English and in
German, and an order.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

import msgspec

from domain.game.options import declared_flags


class Bilingual(NamedTuple):
    """A text in the languages of the help pages; the fields' names are the codes of the languages."""

    en: str
    de: str


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
    label: Bilingual


class OptionField(msgspec.Struct, frozen=True):
    """One option of a game."""

    field: str
    """The name in the options struct."""
    kind: OptionKind
    title: Bilingual
    hint: Bilingual
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
    en: str,
    de: str,
    *picks: tuple[str, str, str],
    hint: tuple[str, str] = ("", ""),
) -> OptionField:
    """Return the form of one option: its title, and the flag and labels of each of `picks`.

    The flag of the default is empty. Switches, numbers and lists have no `picks`.
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
    chosen = tuple(OptionChoice(name, Bilingual(*words)) for name, *words in picks)
    low, high = flag.bounds if flag else (0, 0)
    number = usual if kind is OptionKind.NUMBER else 0
    return OptionField(
        field, kind, title, Bilingual(*hint), chosen, low, high, number, flag.names if flag else ()
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
