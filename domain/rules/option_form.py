"""How a game's options are explained where they can be chosen, such as on a page.

The options struct says what there is and which values are allowed. A form adds the words, in
English and in German, and the order in which people read them.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

import msgspec

from domain.rules.options import declared_flags


class Text(NamedTuple):
    """Words in the languages there is help in; the fields' names are the languages' codes."""

    en: str
    de: str


class Kind(StrEnum):
    """How an option is chosen."""

    SWITCH = "switch"
    ONE_OF = "one-of"
    NUMBER = "number"
    NAMES = "names"


class Pick(msgspec.Struct, frozen=True):
    """A switch by itself, or one of the values that exclude each other."""

    flag: str
    """As in a challenge, such as `-exact`; empty for what is usual."""
    label: Text


class OptionField(msgspec.Struct, frozen=True):
    """One option of a game."""

    field: str
    """Its name in the options struct."""
    title: Text
    kind: Kind
    picks: tuple[Pick, ...] = ()
    """Of a switch and of values that exclude each other."""
    low: int = 0
    """The least number, or the fewest names."""
    high: int = 0
    usual: int = 0
    """The number without the option."""
    names: tuple[str, ...] = ()
    """What may be in a list of names."""
    hint: Text = Text("", "")

    def flags(self) -> frozenset[str]:
        """Return the flags that can be chosen, a number or a list by its name alone."""
        if self.picks:
            return frozenset(pick.flag.partition("=")[0] for pick in self.picks if pick.flag)
        return frozenset([f"-{self.field}"])


def switch(field: str, title: Text) -> OptionField:
    """Return a flag that is given or not."""
    return OptionField(field, title, Kind.SWITCH, (Pick(f"-{field}", title),))


def one_of(field: str, title: Text, *picks: tuple[str, Text]) -> OptionField:
    """Return values that exclude each other, by their flags; that of what is usual is empty."""
    return OptionField(field, title, Kind.ONE_OF, tuple(Pick(*pick) for pick in picks))


def number(options: type[msgspec.Struct], field: str, title: Text, hint: Text) -> OptionField:
    """Return a number, within the bounds that the options struct declares."""
    low, high = declared_flags(options)[field].bounds
    usual = getattr(options(), field)
    return OptionField(field, title, Kind.NUMBER, low=low, high=high, usual=usual, hint=hint)


def list_of_names(
    options: type[msgspec.Struct], field: str, title: Text, hint: Text
) -> OptionField:
    """Return a list of names, as many as the options struct declares."""
    flag = declared_flags(options)[field]
    low, high = flag.bounds
    return OptionField(field, title, Kind.NAMES, low=low, high=high, names=flag.names, hint=hint)


def missing_flags(
    options: type[msgspec.Struct], form: Iterable[OptionField]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the flags of the struct that a form lacks, and those of the form that do not exist.

    The flag of a default value need not be in a form, because it can be left out.
    """
    declared = declared_flags(options)
    known = frozenset(f"-{name}" for name in declared)
    usual = {
        f"-{flag.value}"
        for flag in declared.values()
        if flag.value in msgspec.structs.astuple(options())
    }
    offered = frozenset[str]().union(*(field.flags() for field in form))
    return known - offered - usual, offered - known
