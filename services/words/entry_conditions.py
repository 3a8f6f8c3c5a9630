"""The further conditions of an entry in words: a label for forms, a clause for the terms, and a flag for a command.

A condition is a field of `EntryTerms`; with its row here the form for a tournament, its page, the command language and the
help of that have it.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from domain.tournament.entry_terms import ENTRY_BOUNDS, EntryTerms
from infra.languages.wording import N_, Wording


class EntryCondition(msgspec.Struct, frozen=True):
    """A condition: a number, or something that holds or does not."""

    field: str
    """Of `EntryTerms`."""
    name: str
    """Of its flag, with two hyphens before it, and of its field in a form."""
    label: str
    clause: Callable[[Any, Wording], str]
    """Returns the clause of a value that is not the default."""

    @property
    def bounds(self) -> range | None:
        """The values of a number; None for a condition that holds or does not."""
        return ENTRY_BOUNDS.get(self.field)

    @property
    def flag(self) -> str:
        """The flag, such as `--flags`."""
        return f"--{self.name}"

    @property
    def usage(self) -> str:
        """How the flag is written, such as `--flags=N`."""
        return f"{self.flag}=N" if self.bounds else self.flag

    @property
    def default(self) -> bool | int:
        """The value that asks for nothing."""
        found: bool | int = getattr(EntryTerms(), self.field)
        return found

    def value_in(self, terms: EntryTerms) -> bool | int:
        """Return the value in some terms."""
        found: bool | int = getattr(terms, self.field)
        return found


ENTRY_CONDITIONS: Final = (
    EntryCondition(
        "invited",
        "invited",
        N_("Only players whom I invite"),
        lambda _, words: words.gettext("for players whom the organiser invites"),
    ),
    EntryCondition(
        "most_flags",
        "flags",
        N_("Percent of matches lost on time at most (optional)"),
        lambda most, words: words.gettext(
            "for players who have lost at most %(percent)s %% of their finished matches on time",
            percent=most,
        ),
    ),
)


def entry_clauses(terms: EntryTerms, words: Wording) -> Iterator[str]:
    """Yield a clause for each condition that asks for something."""
    for one in ENTRY_CONDITIONS:
        if (value := one.value_in(terms)) != one.default:
            yield one.clause(value, words)
