"""The check of a stored match: its whole history, from its bytes up.

The history is intact if the events are in sequence, chained, and decided again by the recorded rules
with the same result (`domain.match.audit`); if the stored snapshot equals the fold of the events; if
each command has one stored outcome, with that command's digest, which names the command's first event,
or for a refusal the last event before it; if each refusal is decided again with the same code and sentence
(`domain.match.refusal_audit`); if the shard's log has the events and refusals at the indexes that the
outcomes name; and if the match's locator has just these indexes.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby

import msgspec
from redis.exceptions import ResponseError

from domain.errors import Code, Refusal
from domain.match.audit import (
    AuditResult,
    determines_command,
    possible_digests,
    verify,
)
from domain.match.events import (
    CommandId,
    EventEnvelope,
    RefusedLeaf,
    decode_refusal,
)
from domain.match.history import BrokenHistory, PackedSnapshot, unpack_snapshot
from domain.match.imported import ply_after
from domain.match.imports import describe_import
from domain.match.refusal_audit import UnexplainedRefusal
from domain.match.refused_commands import NotDecidedAgain
from domain.match.state import MatchState
from infra.audit.checked_refusals import CheckedRefusals, describe_refusals
from infra.audit.draws import check_draw
from infra.audit.shard_log import AuditedLog, ShardLog
from infra.evidence.faults import count
from infra.sentences import SAY
from infra.store.outcomes import ANY_DIGEST, CommandOutcome, parse
from infra.store.port import Store


class StoredMatch(msgspec.Struct, frozen=True):
    """Everything that is stored of a match."""

    snapshot: PackedSnapshot | None
    events: list[bytes]
    outcomes: Mapping[CommandId, bytes]
    indexes: list[int]
    """Where its leaves are in the shard's log, by its locator."""


class CheckedMatch(msgspec.Struct, frozen=True):
    """An intact match, as its check has found it."""

    board: int
    events: int
    rules: str
    leaves: Mapping[int, bytes]
    """All leaves of the match, by their indexes in the shard's log."""
    refusals: Mapping[NotDecidedAgain | None, int]
    """How many refusals there are, by the reason why they could not be decided again."""
    draw: str
    """Clauses about the draw, for the sentence."""
    unexplained: UnexplainedRefusal | None = None
    """The first refusal that can't be explained, though all else holds."""

    def __str__(self) -> str:
        history = (
            f"holds: {count(self.events, 'event')} in sequence, chained, and decided again by "
            f"{self.rules} with the same result"
        )
        return (
            f"match {self.board} {history if self.events else 'never began'}; snapshot, outcomes and log "
            f"agree{describe_refusals(self.refusals)}{self.draw}"
        )


def check(store: Store, board: int) -> str:
    """Return a sentence that a match is intact; raise `BrokenHistory` at the first event that is damaged.

    Raises `UnexplainedRefusal` if nothing but that is wrong. Refused as `unknown-board` if there is no such match.
    """
    found = check_match(store, board)
    if found.unexplained:
        raise found.unexplained
    return str(found)


def check_match(store: Store, board: int) -> CheckedMatch:
    """Return what the check has found of a match whose events hold; other errors as those of `check`."""
    found = _read(store, board)
    if found.snapshot is None and not found.events and not found.outcomes:
        raise Refusal(Code.UNKNOWN_BOARD, SAY("no-board", board=board))
    return check_stored(found, ShardLog(store, board))


def check_stored(found: StoredMatch, log: AuditedLog) -> CheckedMatch:
    """Check what is stored of a match, and its leaves in a log; raises `BrokenHistory`."""
    refused = _refused(found.outcomes)
    wanted = {outcome.seq for outcome in refused.values()}
    verdict = verify(log.board, found.events, wanted)
    _check_snapshot(found.snapshot, verdict)
    groups = _commands(verdict.envelopes)
    log.read(_indexes_in(found, groups))
    indexes = _check_events(log, found, groups, verdict.state.rules)
    leaves = dict(zip(indexes, found.events, strict=True))
    refusals = CheckedRefusals(verdict)
    accepted = {group[0].command for group in groups}
    for command, stored in found.outcomes.items():
        if command in accepted:
            continue
        outcome = _parsed(stored, len(indexes))
        data, leaf = _refusal_leaf(log, command, outcome, indexes)
        leaves[outcome.index] = data
        refusals.check(leaf, outcome, outcome.seq)
    _check_locator(log, found.indexes, leaves, indexes)
    return CheckedMatch(
        board=log.board,
        events=verdict.events,
        rules=verdict.state.rules,
        leaves=leaves,
        refusals=refusals.counts,
        draw=check_draw(log, verdict.envelopes, indexes, log.seeds) + _import_clause(verdict.state),
        unexplained=refusals.unexplained,
    )


def _import_clause(state: MatchState) -> str:
    return "" if state.imported is None else f"; {describe_import(state.imported)}"


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


def _check_events(
    log: AuditedLog, found: StoredMatch, groups: Sequence[Sequence[EventEnvelope]], rules: str
) -> list[int]:
    """Check the outcome and the leaf of each event, and return the log index of each."""
    indexes: list[int] = []
    ply = 0
    for group in groups:
        first = group[0]
        stored = found.outcomes.get(first.command)
        if stored is None:
            raise BrokenHistory(first.seq, "no outcome is stored for the command that led to it")
        outcome = _parsed(stored, first.seq)
        if outcome.code or outcome.sentence or outcome.seq != first.seq:
            raise BrokenHistory(first.seq, "the outcome stored for its command is a different one")
        for index, envelope in enumerate(group, outcome.index):
            if not log.has(index, found.events[envelope.seq - 1], envelope.seq):
                raise BrokenHistory(envelope.seq, f"{log.name(index)} is a different one")
            if indexes and index <= indexes[-1]:
                raise BrokenHistory(envelope.seq, "the log has it before its predecessor")
            indexes.append(index)
        known = outcome.digest != ANY_DIGEST and determines_command(first, rules)
        if known and outcome.digest not in possible_digests(group, ply):
            raise BrokenHistory(
                first.seq, "the outcome stored for its command is of another command"
            )
        for envelope in group:
            ply = ply_after(envelope.body, ply)
    return indexes


def _indexes_in(
    found: StoredMatch, groups: Sequence[Sequence[EventEnvelope]]
) -> Iterator[tuple[int, bool]]:
    """Yield the log indexes of all leaves that the outcomes name, and whether they are of refusals.

    Damaged outcomes name none.
    """
    sizes = {group[0].command: len(group) for group in groups}
    for command, stored in found.outcomes.items():
        with suppress(ValueError, msgspec.MsgspecError):
            first = parse(stored).index
            for index in range(first, first + sizes.get(command, 1)):
                yield index, command not in sizes


def _refused(outcomes: Mapping[CommandId, bytes]) -> dict[CommandId, CommandOutcome]:
    """Return the outcomes of refused commands; damaged ones are left out."""
    found = {}
    for command, stored in outcomes.items():
        with suppress(ValueError, msgspec.MsgspecError):
            outcome = parse(stored)
            if outcome.code:
                found[command] = outcome
    return found


def _refusal_leaf(
    log: AuditedLog, command: CommandId, outcome: CommandOutcome, indexes: Sequence[int]
) -> tuple[bytes, RefusedLeaf]:
    """Return the leaf of a refusal, which must be where its outcome says."""
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
    data = log.leaf(outcome.index, outcome.seq)
    leaf = _refusal(data)
    if leaf is None or (leaf.match, leaf.command, leaf.code) != (log.board, command, outcome.code):
        raise BrokenHistory(
            outcome.seq,
            f"{log.name(outcome.index)}, for a refusal after it, is a different one",
        )
    return data, leaf


def _check_locator(
    log: AuditedLog, located: Sequence[int], leaves: Mapping[int, bytes], indexes: Sequence[int]
) -> None:
    """Compare the locator with the leaves that the outcomes name."""
    if located == sorted(leaves):
        return
    for index in set(located).difference(leaves):
        seq = bisect_left(indexes, index)
        try:
            leaf = _refusal(log.leaf(index, seq))
        except BrokenHistory:
            continue
        if leaf is not None and leaf.match == log.board:
            raise BrokenHistory(
                seq,
                f"{log.name(index)} is a refusal after it, and no outcome is stored for its command "
                f"{leaf.command.hex()}",
            )
    raise BrokenHistory(len(indexes), "the locator of the match has other leaves of the log")


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


def _commands(envelopes: Sequence[EventEnvelope]) -> list[list[EventEnvelope]]:
    """Return the events of each command together."""
    return [list(group) for _, group in groupby(envelopes, key=lambda envelope: envelope.command)]
