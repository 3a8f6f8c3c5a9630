"""Forms in which players choose the options of a game.

The options struct declares the options and their values. A form adds labels in English, and an
order; `domain.game.package` has them in the reader's language.
"""

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from domain.game.options import declared_flags


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
