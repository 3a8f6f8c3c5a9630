"""The source of an imported match in its state, and the number of moves that an event leaves."""

from typing import Self

import msgspec

from domain.match.dispute_events import SetBack
from domain.match.events import Event, Imported, ImportedResult, MatchSource, Moved, Undone


class ImportedMatch(msgspec.Struct, frozen=True, array_like=True):
    """The source of an imported match, as its state has it."""

    source: MatchSource
    ply: int
    """The number of moves that are the source's."""
    result: ImportedResult | None
    """How it had ended there; None if it goes on here."""

    @classmethod
    def of(cls, event: Imported) -> Self:
        """Return what is kept of an event."""
        return cls(event.source, len(event.moves.split()), event.result)


def ply_after(event: Event, ply: int) -> int:
    """Return the number of moves after an event, which is `ply` before it."""
    match event:
        case Moved() | Undone() | SetBack():
            return event.ply
        case Imported():
            return ImportedMatch.of(event).ply
        case _:
            return ply
