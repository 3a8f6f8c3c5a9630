"""The check of a stored match: its whole history, from its bytes up.

The history is intact if the events are in sequence, chained, and decided again by the recorded rules
with the same result (`domain.match.audit`); if the stored snapshot equals the fold of the events; if
each command has one stored outcome, with that command's digest, which names the command's first event,
or for a refusal the last event before it; if the shard's log has the events and refusals at the
indexes that the outcomes name; and if the match's locator has just these indexes.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby

import msgspec
from redis.exceptions import ResponseError

from domain.errors import Code, Refusal
from domain.match import commands
from domain.match.audit import AuditResult, determines_command, possible_commands, verify
from domain.match.commands import CommandEnvelope
from domain.match.dispute_events import SetBack
from domain.match.events import (
    CommandId,
    EventEnvelope,
    Moved,
    RefusedLeaf,
    Undone,
    decode_event,
    decode_refusal,
)
from domain.match.history import BrokenHistory, PackedSnapshot, unpack_snapshot
from infra.audit.draws import check_draw
from infra.audit.shard_log import ShardLog
from infra.store.outcomes import ANY_DIGEST, CommandOutcome, parse
from infra.store.port import Store


class StoredMatch(msgspec.Struct, frozen=True):
    """Everything that is stored of a match."""

    snapshot: PackedSnapshot | None
    events: list[bytes]
    outcomes: Mapping[CommandId, bytes]
    indexes: list[int]
    """Where its leaves are in the shard's log, by its locator."""


def check(store: Store, board: int) -> str:
    """Return a sentence that a match is intact; raise `BrokenHistory` at the first event that is damaged.

    Refused as `unknown-board` if there is no such match.
    """
    found = _read(store, board)
    if found.snapshot is None and not found.events:
        raise Refusal(Code.UNKNOWN_BOARD, f"there is no match {board}")
    verdict = verify(board, found.events)
    _check_snapshot(found.snapshot, verdict)
    log = ShardLog(store, board)
    log.read(_indexes_in(found))
    indexes = _check_events(log, found, verdict.state.rules)
    refused = _check_refusals(log, found, indexes)
    if found.indexes != sorted([*indexes, *refused]):
        raise BrokenHistory(verdict.events, "the locator of the match has other leaves of the log")
    drawn = check_draw(log, list(map(decode_event, found.events)), indexes)
    return (
        f"match {board} holds: {_event_count(verdict.events)} in sequence, chained, and decided again by "
        f"{verdict.state.rules} with the same result; snapshot, outcomes and log agree{drawn}"
    )


def damaged_matches(store: Store, boards: Iterable[int]) -> Iterator[tuple[int, BrokenHistory]]:
    """Yield the boards of damaged matches with their first fault; skip boards without a match."""
    for board in boards:
        try:
            check(store, board)
        except BrokenHistory as broken:
            yield board, broken
        except Refusal as refusal:
            if refusal.code is not Code.UNKNOWN_BOARD:
                raise


def _event_count(events: int) -> str:
    return "1 event" if events == 1 else f"{events} events"


def _read(store: Store, board: int) -> StoredMatch:
    """Return everything that is stored at one moment, even while the match goes on."""
    try:
        return _read_steady(store, board)
    except ResponseError as error:
        if not str(error).startswith("WRONGTYPE"):
            raise
        raise BrokenHistory(
            1, f"what is stored for the match is of another type ({error})"
        ) from error


def _read_steady(store: Store, board: int) -> StoredMatch:
    while True:
        (before,), indexes = store.snapshots([board]), _indexes(store, board)
        found = StoredMatch(before, store.events(board), store.outcomes(board), indexes)
        (after,) = store.snapshots([board])
        # each commit adds a leaf, and only refusals leave the snapshot as it was
        if before == after and _indexes(store, board) == indexes:
            return found


def _indexes(store: Store, board: int) -> list[int]:
    try:
        return store.leaf_indexes(board)
    except ValueError as error:
        raise BrokenHistory(1, str(error)) from error


def _check_snapshot(data: PackedSnapshot | None, verdict: AuditResult) -> None:
    """Compare the stored snapshot with the fold of the events."""
    try:
        snapshot = unpack_snapshot(data)
    except msgspec.MsgspecError as error:
        raise BrokenHistory(
            verdict.events, f"the snapshot after it can't be read: {error}"
        ) from error
    seq = snapshot.state.seq
    if seq > verdict.events:
        raise BrokenHistory(
            verdict.events + 1, f"it is missing: the snapshot was made after {seq} events"
        )
    if seq < verdict.events:
        raise BrokenHistory(seq + 1, f"the snapshot lacks it: it was made after {seq} events")
    if snapshot.head != verdict.head:
        raise BrokenHistory(seq, "the snapshot was made after another event: the hash differs")
    if snapshot.state != verdict.state:
        raise BrokenHistory(
            seq, "the snapshot's state differs from the fold of the events up to it"
        )


def _check_events(log: ShardLog, found: StoredMatch, rules: str) -> list[int]:
    """Check the outcome and the leaf of each event, and return the log index of each."""
    indexes: list[int] = []
    ply = 0
    for group in _commands(found.events):
        first = group[0]
        stored = found.outcomes.get(first.command)
        if stored is None:
            raise BrokenHistory(first.seq, "no outcome is stored for the command that led to it")
        outcome = _parsed(stored, first.seq)
        if outcome.code or outcome.sentence or outcome.seq != first.seq:
            raise BrokenHistory(first.seq, "the outcome stored for its command is a different one")
        for index, envelope in enumerate(group, outcome.index):
            if log.leaf(index, envelope.seq) != found.events[envelope.seq - 1]:
                raise BrokenHistory(envelope.seq, f"{log.name(index)} is a different one")
            if indexes and index <= indexes[-1]:
                raise BrokenHistory(envelope.seq, "the log has it before its predecessor")
            indexes.append(index)
        known = outcome.digest != ANY_DIGEST and determines_command(first, rules)
        if known and outcome.digest not in _digests(group, ply):
            raise BrokenHistory(
                first.seq, "the outcome stored for its command is of another command"
            )
        ply = _ply_after(group, ply)
    return indexes


def _indexes_in(found: StoredMatch) -> Iterator[int]:
    """Yield the log indexes of all leaves that the outcomes name; damaged outcomes name none."""
    groups = {group[0].command: len(group) for group in _commands(found.events)}
    for command, stored in found.outcomes.items():
        with suppress(ValueError, msgspec.MsgspecError):
            first = parse(stored).index
            yield from range(first, first + groups.get(command, 1))


def _digests(group: Sequence[EventEnvelope], ply: int) -> list[bytes]:
    """Return the digests of all commands, as sent, that can have led to these events."""
    return [
        commands.command_digest(
            commands.encode_command(
                CommandEnvelope(group[0].match, group[0].command, group[0].actor, command)
            )
        )
        for command in possible_commands(group[0], ply, group[1:])
    ]


def _ply_after(group: Sequence[EventEnvelope], ply: int) -> int:
    """Return the ply after a command's events."""
    for envelope in group:
        if isinstance(envelope.body, Moved | Undone | SetBack):
            ply = envelope.body.ply
    return ply


def _check_refusals(log: ShardLog, found: StoredMatch, indexes: Sequence[int]) -> list[int]:
    """Check that each outcome without an event belongs to a refusal in the log; return their indexes."""
    refused = []
    accepted = {decode_event(data).command for data in found.events}
    for command, stored in found.outcomes.items():
        if command in accepted:
            continue
        outcome = _parsed(stored, len(indexes))
        if not outcome.code:
            raise BrokenHistory(
                outcome.seq,
                f"it does not come from command {command.hex()}, whose outcome names it",
            )
        if bisect_left(indexes, outcome.index) != outcome.seq:
            raise BrokenHistory(
                outcome.seq,
                "the outcome of a refusal names it, but the refusal's leaf does not follow it",
            )
        leaf = _refusal(log.leaf(outcome.index, outcome.seq))
        wanted = (log.board, command, outcome.code)
        if leaf is None or (leaf.match, leaf.command, leaf.code) != wanted:
            raise BrokenHistory(
                outcome.seq,
                f"{log.name(outcome.index)}, for a refusal after it, is a different one",
            )
        refused.append(outcome.index)
    return refused


def _refusal(data: bytes) -> RefusedLeaf | None:
    try:
        return decode_refusal(data)
    except msgspec.MsgspecError:
        return None


def _parsed(stored: bytes, seq: int) -> CommandOutcome:
    try:
        return parse(stored)
    except (ValueError, msgspec.MsgspecError) as error:
        raise BrokenHistory(seq, "an outcome stored for it or after it can't be read") from error


def _commands(events: Sequence[bytes]) -> Iterator[list[EventEnvelope]]:
    """Yield the events of each command together."""
    for _, group in groupby(map(decode_event, events), key=lambda envelope: envelope.command):
        yield list(group)
