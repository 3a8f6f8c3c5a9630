"""Conditions of an entry beside ratings, finished matches and a club: declared here once, for all ways in.

What front ends know of a condition is derived from its field: its bounds, its value in a plan, its JSON and its documentation there.
Its words are a row in `services.words.entry_conditions`, and a condition that events can't decide is checked in
`services.app.tournament_entries`.
"""

from collections.abc import Mapping
from typing import Annotated, Final

import msgspec
import msgspec.inspect

from domain.errors import Code, Refusal
from domain.tournament.sentences import SAY

EVERY_FLAG: Final = 100
"""Percent of matches lost on time that asks for nothing."""


class EntryTerms(msgspec.Struct, frozen=True, array_like=True):
    """Further conditions of an entry. The default of each asks for nothing.

    The first event of a tournament records them, so the order of the fields is final and a new one comes at the end.
    """

    invited: bool = False
    """Whether only those enter whom the organiser has invited."""
    most_flags: Annotated[int, msgspec.Meta(ge=0, le=100)] = EVERY_FLAG
    """The most percent of an entrant's finished matches, at any game, that may have been lost on time; 100 for any."""


ENTRY_BOUNDS: Final[Mapping[str, range]] = {
    one.encode_name: range(one.type.ge or 0, (one.type.le or 0) + 1)
    for one in getattr(msgspec.inspect.type_info(EntryTerms), "fields", ())
    if isinstance(one.type, msgspec.inspect.IntType)
}
"""The numbers among the conditions, each with the values that it may have."""


def check_entry_terms(terms: EntryTerms) -> None:
    """Refuse conditions that can't be: `bad-option`."""
    for name, allowed in ENTRY_BOUNDS.items():
        if getattr(terms, name) not in allowed:
            least, most = min(allowed), max(allowed)
            raise Refusal(Code.BAD_OPTION, SAY("entry-terms", name=name, least=least, most=most))
