"""The check of an imported match's first event against the document of its source."""

from collections.abc import Sequence

from domain.match.commands import ImportMatch
from domain.match.events import Imported
from domain.match.history import replay
from domain.match.imports import DOCUMENT, import_command
from domain.match.leaves import EventEnvelope, is_event, leaf_hash
from infra.audit.faults import count, require
from infra.audit.match_document import MatchDocument, document_digest

PLACE = "imported_from"


def import_of(events: Sequence[EventEnvelope]) -> Imported | None:
    """Return the event by which a match was imported; None for a match that began on its server."""
    body = events[0].body
    return body if isinstance(body, Imported) else None


def check_place(imported: Imported | None, source: MatchDocument | None) -> None:
    """Check that there is a document of the source where an event names one, and nowhere else."""
    if imported is None:
        require(source is None, PLACE, "no event of the match imports one")
    elif imported.source.kind == DOCUMENT:
        require(source is not None, PLACE, "it is missing, and event 1 names it")
    else:
        require(source is None, PLACE, "the match was imported from a record, not from a document")


def check_source(imported: Imported, source: MatchDocument) -> str:
    """Check that a document is the source that an event names; return a sentence.

    The document was checked by itself before.
    """
    named = imported.source
    events = [one.leaf for one in source.leaves if is_event(one.leaf)]
    for said, wanted, what in (
        (named.digest, document_digest(source), "its digest is another one"),
        (named.origin, source.log.origin or "", "it has another origin"),
        (named.board, source.board, "it has another board"),
        (named.events, len(events), "it has another number of events"),
        (named.head, leaf_hash(events[-1]), "its last event is another one"),
    ):
        require(said == wanted, PLACE, f"it is not the document that event 1 names: {what}")
    wanted_command = import_command(replay(events), imported.seats, named)
    for name in ImportMatch.__struct_fields__:
        require(
            getattr(imported, name) == getattr(wanted_command, name),
            "event 1",
            f"it goes on with other {name} than those that the source leads to",
        )
    pairs = ", ".join(
        f"{there.account} there is {here.hex()} here"
        for there, here in zip(source.seats, imported.seats, strict=True)
    )
    return (
        f"the match goes on from {count(len(events), 'event')} of board {source.board} "
        f"of {source.server or 'a server without a name'}, as event 1 says: {pairs}"
    )
