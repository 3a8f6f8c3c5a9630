"""The check of texts outside the log of which a match's events have digests: statements, and an imported source."""

from hashlib import sha256
from typing import Any

import msgspec

from domain.match.events import Appealed, Claimed, Ruled
from domain.match.leaves import decode_event
from domain.match.state import MatchState
from infra.objects.port import ObjectNotFoundError
from infra.people.statements import Statements
from infra.redis import keys
from workers.scrub.section import ScrubFault, ScrubParts


def text_faults(parts: ScrubParts, board: int, state: MatchState) -> list[ScrubFault]:
    """Return the texts of a match that are missing or changed."""
    shard = keys.shard_of(board, parts.shards)
    faults = _source_fault(parts, board, state)
    if state.cases or parts.data.exists(keys.statements(shard, board)):
        faults += _statement_faults(parts, board)
    return faults


def _statement_faults(parts: ScrubParts, board: int) -> list[ScrubFault]:
    """Compare the statements with the digests in the events; those of deleted accounts are erased."""
    try:
        found = Statements(parts.data, lambda: parts.shards).of_match(board)
        stored = {one.command: one for one in found}
    except (msgspec.MsgspecError, ValueError) as error:
        return [ScrubFault(f"statements of match {board}", f"one can't be read: {error}")]
    client: Any = parts.data
    faults = []
    for envelope in map(decode_event, parts.store.events(board)):
        if not isinstance(envelope.body, Claimed | Ruled | Appealed):
            continue
        about = f"statement of event {envelope.seq} of match {board}"
        statement = stored.get(envelope.command)
        if statement is None:
            if client.exists(keys.account(envelope.actor)):
                faults.append(ScrubFault(about, "it is missing, and its author is still there"))
        elif (statement.digest, statement.account) != (envelope.body.text, envelope.actor):
            faults.append(
                ScrubFault(
                    about, "its text or its author is not the one whose digest the event has"
                )
            )
    return faults


def _source_fault(parts: ScrubParts, board: int, state: MatchState) -> list[ScrubFault]:
    """Compare the document or record that a match was imported from with its digest."""
    if state.imported is None:
        return []
    digest = state.imported.source.digest
    about = f"source of match {board}"
    try:
        data = parts.objects().get(f"imports/{digest.hex()}")
    except ObjectNotFoundError:
        return [
            ScrubFault(about, f"imports/{digest.hex()}, from which it was imported, is missing")
        ]
    if sha256(data).digest() != digest:
        return [
            ScrubFault(about, f"imports/{digest.hex()}, from which it was imported, was changed")
        ]
    return []
