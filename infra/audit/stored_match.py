"""The audit of a stored match: its whole history, from its bytes up.

The history is intact if the events are in sequence, chained, and decided again by the recorded rules
with the same result (`infra.audit.match`); if the stored snapshot equals the fold of the events; if
each command has one stored outcome, with that command's digest, which names the command's first event,
or for a refusal the last event before it; if each refusal is decided again with the same code and sentence
(`domain.refusal_audit`); if the shard's log has the events and refusals at the indexes that the
outcomes name; and if the match's locator has just these indexes.

Frozen evidence: the document of a match as it was at a claim, in the object store, and never changed.

An object has neither texts nor userids, because both can be erased; a reader gets those that are there.
It is written once the published log has the claim, so that the document proves each of its leaves.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

import msgspec
from redis.exceptions import ResponseError

from domain import aggregates
from domain.errors import Code, Refusal
from domain.match.history import (
    BrokenHistory,
    PackedSnapshot,
    RefusedLeaf,
    decode_refusal,
)
from domain.records import CommandId
from infra.audit.build_document import Additions, ReadMatch, ServerLogs, build_document
from infra.audit.draws import AnchorOf, KnownSeeds
from infra.audit.match import AcceptedCommand, CheckedMatch, MatchAudit
from infra.audit.match_document import MatchDocument, read_document, write_document
from infra.objects.port import ObjectDiffersError, ObjectNotFoundError, ObjectStore
from infra.sentences import SAY
from infra.store.outcomes import CommandOutcome, parse
from infra.store.port import Store
from infra.store.refused_commands import RefusedId

_CHUNK: Final = 500
"""Leaves that are read in one round trip."""


class StoredMatch(msgspec.Struct, frozen=True):
    """Everything that is stored of a match."""

    board: int
    shard: int
    snapshot: PackedSnapshot | None
    events: Sequence[bytes]
    outcomes: Mapping[CommandId, bytes]
    indexes: Sequence[int]
    """Where its leaves are in the shard's log, by its locator."""


KeptCommands = Callable[[Sequence[RefusedId]], Sequence[bytes | None]]
"""Returns refused commands without their envelopes, None for those that are not kept."""

LeavesAt = Callable[[Mapping[int, bytes | None]], Mapping[int, bytes]]
"""Returns leaves of the shard's log by their indexes, without missing ones.

The indexes come with the event that should be there; None for a refusal, and where nobody knows.
"""


def check(store: Store, board: int) -> str:
    """Return a sentence that a match is intact; raise `BrokenHistory` at the first event that is damaged.

    Refused as `unknown-board` if there is no such match.
    """
    return str(check_match(store, board))


def check_match(store: Store, board: int) -> CheckedMatch:
    """Return what the audit has found of a match whose events hold; other errors as those of `check`."""
    found = _read(store, board)
    if found.snapshot is None and not found.events and not found.outcomes:
        raise Refusal(Code.UNKNOWN_BOARD, SAY("no-board", board=board))
    shard = found.shard
    return audit_stored(
        found,
        lambda wanted: read_leaves(store, shard, wanted),
        anchors_in(store, shard),
        partial(store.kept_commands, shard),
    )


def audit_stored(
    found: StoredMatch,
    leaves_at: LeavesAt,
    anchor_of: AnchorOf,
    kept: KeptCommands,
    known: KnownSeeds | None = None,
) -> CheckedMatch:
    """Audit what is stored of a match, and its leaves in the log; raises `BrokenHistory`."""
    outcomes = _readable(found.outcomes)
    refused_after = {one.seq for one in outcomes.values() if one.code}
    audit = MatchAudit(found.board, found.events, refused_after)
    _check_snapshot(found.snapshot, audit)
    commands = list(audit.commands())
    log = _Log(found, leaves_at(_wanted(found, outcomes, commands)))
    indexes = _check_accepted(audit, log, outcomes, commands)
    leaves = dict(zip(indexes, found.events, strict=True))
    accepted = {command.events[0].command for command in commands}
    refused: list[tuple[RefusedLeaf, CommandOutcome]] = []
    for command in found.outcomes:
        if command not in accepted:
            outcome = _outcome(outcomes, command, len(indexes))
            data, leaf = log.refusal(command, outcome, indexes)
            leaves[outcome.index] = data
            refused.append((leaf, outcome))
    if refused:
        found_kept = kept([RefusedId(leaf.actor, leaf.command) for leaf, _ in refused])
        for (leaf, outcome), sent in zip(refused, found_kept, strict=True):
            audit.check_refused(leaf, outcome, outcome.seq, sent)
    log.check_locator(leaves, indexes)
    draw = audit.check_draw(found.shard, indexes, anchor_of, known or KnownSeeds())
    return audit.found(leaves, draw)


def read_leaves(store: Store, shard: int, indexes: Iterable[int]) -> dict[int, bytes]:
    """Return leaves of a log by their indexes, many in one round trip; without those that are missing."""
    wanted = sorted({index for index in indexes if index >= 0})
    read: dict[int, bytes] = {}
    for start in range(0, len(wanted), _CHUNK):
        some = wanted[start : start + _CHUNK]
        try:
            found = store.leaves_at(shard, some)
        except (LookupError, ValueError, TypeError, ResponseError):
            found = [_read_alone(store, shard, index) for index in some]
        read |= {at: data for at, data in zip(some, found, strict=True) if data is not None}
    return read


def _read_alone(store: Store, shard: int, index: int) -> bytes | None:
    """Return a leaf by itself; None if it is missing, or can't be read."""
    if index < 0:
        return None
    try:
        ((at, data),) = store.leaves(shard, index, 1)
    except (LookupError, ValueError, TypeError, ResponseError):
        return None
    return data if at == index else None


def anchors_in(store: Store, shard: int) -> AnchorOf:
    """Return a function that returns the anchors of a shard's chains of seeds."""

    def anchor_of(chain: int) -> tuple[int, bytes | None] | None:
        index = store.anchor_index(shard, chain)
        return None if index is None else (index, _read_alone(store, shard, index))

    return anchor_of


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
    shard = store.shard_of(board)
    while True:
        (before,), indexes = store.snapshots([board]), _indexes(store, board)
        events, outcomes = store.events(board), store.outcomes(board)
        (after,) = store.snapshots([board])
        # each commit adds a leaf, and only refusals leave the snapshot as it was
        if before == after and _indexes(store, board) == indexes:
            return StoredMatch(board, shard, before, events, outcomes, indexes)


def _indexes(store: Store, board: int) -> list[int]:
    try:
        return store.leaf_indexes(board)
    except ValueError as error:
        raise BrokenHistory(1, str(error)) from error


def _check_snapshot(data: PackedSnapshot | None, audit: MatchAudit) -> None:
    """Compare the stored snapshot with the fold of the events."""
    events = len(audit.events)
    try:
        snapshot = aggregates.unpack(data)
    except msgspec.MsgspecError as error:
        raise BrokenHistory(events, f"the snapshot after it can't be read: {error}") from error
    seq = snapshot.state.seq
    if seq > events:
        raise BrokenHistory(events + 1, f"it is missing: the snapshot was made after {seq} events")
    if seq < events:
        raise BrokenHistory(seq + 1, f"the snapshot lacks it: it was made after {seq} events")
    if snapshot.head != audit.head:
        raise BrokenHistory(seq, "the snapshot was made after another event: the hash differs")
    if snapshot.state != audit.state:
        raise BrokenHistory(
            seq, "the snapshot's state differs from the fold of the events up to it"
        )


def _wanted(
    found: StoredMatch,
    outcomes: Mapping[CommandId, CommandOutcome],
    commands: Sequence[AcceptedCommand],
) -> dict[int, bytes | None]:
    """Return the indexes of all leaves that outcomes and locator name, as `LeavesAt` takes them."""
    wanted: dict[int, bytes | None] = dict.fromkeys(found.indexes)
    wanted |= dict.fromkeys(one.index for one in outcomes.values())
    for command in commands:
        if outcome := outcomes.get(command.events[0].command):
            for index, event in enumerate(command.events, outcome.index):
                wanted[index] = found.events[event.seq - 1]
    return wanted


def _readable(outcomes: Mapping[CommandId, bytes]) -> dict[CommandId, CommandOutcome]:
    """Return outcomes; damaged ones are left out."""
    found = {}
    for command, stored in outcomes.items():
        with suppress(ValueError, msgspec.MsgspecError):
            found[command] = parse(stored)
    return found


def _check_accepted(
    audit: MatchAudit,
    log: "_Log",
    outcomes: Mapping[CommandId, CommandOutcome],
    commands: Sequence[AcceptedCommand],
) -> list[int]:
    """Check the outcome and the leaf of each event, and return the log index of each."""
    indexes: list[int] = []
    for command in commands:
        first = command.events[0]
        if first.command not in log.match.outcomes:
            raise BrokenHistory(first.seq, "no outcome is stored for the command that led to it")
        outcome = _outcome(outcomes, first.command, first.seq)
        audit.check_accepted(command, outcome)
        for index, event in enumerate(command.events, outcome.index):
            if log.leaf(index, event.seq) != log.match.events[event.seq - 1]:
                raise BrokenHistory(event.seq, f"{log.name(index)} is a different one")
            if indexes and index <= indexes[-1]:
                raise BrokenHistory(event.seq, "the log has it before its predecessor")
            indexes.append(index)
        audit.check_digest(command, outcome)
    return indexes


def _outcome(
    outcomes: Mapping[CommandId, CommandOutcome], command: CommandId, seq: int
) -> CommandOutcome:
    """Return the outcome that is stored for a command; raise `BrokenHistory` at event `seq` if it is damaged."""
    outcome = outcomes.get(command)
    if outcome is None:
        raise BrokenHistory(seq, "an outcome stored for it or after it can't be read")
    return outcome


class _Log:
    """The leaves of a match in its shard's log."""

    def __init__(self, match: StoredMatch, leaves: Mapping[int, bytes]) -> None:
        self.match = match
        self._leaves = leaves

    def name(self, index: int) -> str:
        """Return a leaf's name for a sentence."""
        return f"leaf {index} of shard {self.match.shard}'s log"

    def leaf(self, index: int, seq: int) -> bytes:
        """Return a leaf; raise `BrokenHistory` at event `seq` if it is missing."""
        found = self._leaves.get(index)
        if found is None:
            raise BrokenHistory(seq, f"{self.name(index)} is missing")
        return found

    def refusal(
        self, command: CommandId, outcome: CommandOutcome, indexes: Sequence[int]
    ) -> tuple[bytes, RefusedLeaf]:
        """Return the leaf of a refusal, which must be where its outcome says."""
        seq = outcome.seq
        if not outcome.code:
            raise BrokenHistory(
                seq, f"it does not come from command {command.hex()}, whose outcome names it"
            )
        if bisect_left(indexes, outcome.index) != seq:
            raise BrokenHistory(
                seq,
                "the outcome of a refusal names it, but the refusal's leaf does not follow it",
            )
        data = self.leaf(outcome.index, seq)
        leaf = _refusal(data)
        wanted = (self.match.board, command, outcome.code)
        if leaf is None or (leaf.match, leaf.command, leaf.code) != wanted:
            raise BrokenHistory(
                seq, f"{self.name(outcome.index)}, for a refusal after it, is a different one"
            )
        return data, leaf

    def check_locator(self, leaves: Mapping[int, bytes], indexes: Sequence[int]) -> None:
        """Compare the locator with the leaves that the outcomes name; `indexes` are those of the events."""
        if self.match.indexes == sorted(leaves):
            return
        for index in sorted(set(self.match.indexes).difference(leaves)):
            leaf = _refusal(self._leaves.get(index, b""))
            if leaf is not None and leaf.match == self.match.board:
                raise BrokenHistory(
                    bisect_left(indexes, index),
                    f"{self.name(index)} is a refusal after it, and no outcome is stored for its command "
                    f"{leaf.command.hex()}",
                )
        raise BrokenHistory(len(indexes), "the locator of the match has other leaves of the log")


def _refusal(data: bytes) -> RefusedLeaf | None:
    try:
        return decode_refusal(data)
    except msgspec.MsgspecError:
        return None


FOLDER: Final = "evidence"


def evidence_name(board: int, claim: int) -> str:
    """Return the name of the object with the evidence of a case."""
    return f"{FOLDER}/{board}-{claim}.json"


class FrozenEvidence:
    """The evidence of cases. Errors of the store, the log and the object store pass through."""

    def __init__(
        self,
        store: Store,
        objects: Callable[[], ObjectStore],
        logs: Callable[[], ServerLogs | None],
        imported_from: Callable[[ReadMatch], MatchDocument | None] = lambda _: None,
    ) -> None:
        """`imported_from` returns the document that a match was imported from."""
        self._store = store
        self._objects = objects
        self._logs = logs
        self._additions = Additions(imported_from=imported_from)

    def read(self, board: int, claim: int) -> MatchDocument | None:
        """Return the evidence of a case; None if it is not frozen."""
        try:
            return read_document(self._objects().get(evidence_name(board, claim)))
        except ObjectNotFoundError:
            return None

    def is_frozen(self, board: int, claim: int) -> bool:
        """Return whether the evidence of a case is frozen."""
        try:
            self._objects().get_range(evidence_name(board, claim), 0, 1)
        except ObjectNotFoundError:
            return False
        return True

    def freeze(self, board: int, claim: int) -> bool:
        """Freeze the evidence of a case; False if the published log does not have the claim yet.

        It may be repeated, and several processes may do it at once: the first document stays.
        """
        if self.is_frozen(board, claim):
            return True
        document = build_document(self._store, board, self._logs(), self._additions, until=claim)
        if document is None:
            raise LookupError(f"match {board} is missing")
        if document.log.origin is not None and len(document.log.proofs) < len(document.leaves):
            return False
        try:
            self._objects().create(evidence_name(board, claim), write_document(document))
        except ObjectDiffersError:
            # another process was faster, and had an earlier or a later checkpoint
            return True
        return True
