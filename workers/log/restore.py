"""Restores the leaves that a shard's log has lost, from the published log.

Events are decided again, so snapshot, clock, seeds and all else are what they were. The bytes of the
leaves are those that were published. What the log does not have is not restored: conditional moves of the
matches that have lost events, and the sentences of refusals.

Closes the shards whose logs have lost leaves or differ, and restores what can be restored.

Looks whether logs have lost leaves in shards where nobody moves; drains notice it in the others.
"""

import logging
import time
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Final

import msgspec
import redis

from domain import aggregates
from domain.aggregates import AnySnapshot, AnyState
from domain.errors import Code
from domain.match.decision import Decision
from domain.match.events import SetBack, Undone
from domain.match.history import (
    AnchorLeaf,
    BrokenHistory,
    EventEnvelope,
    RefusedLeaf,
    command_of,
    decode_leaf,
    leaf_hash,
    without_last_command,
)
from domain.refusal_audit import restored_text
from infra.audit.log import first_difference
from infra.log.published_log import PublishedLog
from infra.process.failpoints import failpoint
from infra.process.intervals import every
from infra.redis import keys
from infra.store import outcomes
from infra.store.closed_shards import ClosedKind, ClosedShard, ClosedShards, forked
from infra.store.discarded_leaves import (
    NotRestoredError,
    Restored,
    RestoredAnchor,
    RestoredCommand,
    RestoredLeaves,
)
from infra.store.log_gate import read_ends
from infra.store.log_streams import log_streams, read_log_streams, read_streams
from infra.store.lost_leaves import LossRecord, add_log_ends
from infra.store.port import Store, Write, refusal_field

logger = logging.getLogger(__name__)

STEP: int = 1_024
"""About how many leaves are restored in one step."""

COMPARED: int = 4_096
"""The last leaves of the data that are compared with the published ones, if there are so many."""

_NO_ENTRY = "0-0"
"""The inbox entry of a restored command: none. If it waits once more, the drain finds its outcome."""


class ShardRestorer:
    """Restores one closed shard, step by step; `log` is at the checkpoint to restore."""

    def __init__(
        self, store: Store, written: RestoredLeaves, closed: ClosedShards, log: PublishedLog
    ) -> None:
        self._store = store
        self._written = written
        self._closed = closed
        self._log = log
        self._shard = log.shard
        self._compared = False
        self._matches: dict[int, AnySnapshot] = {}
        """Those of this step, as its leaves so far leave them."""

    def step(self) -> bool:
        """Restore some leaves; return whether nothing is left to do.

        Opens the shard after the last. Where the data are another history nothing is written, and the
        shard is closed as forked.
        """
        end = self._written.end(self._shard)
        if not self._compared and not self._compare(end):
            return True
        if end < self._log.size:
            try:
                self._restore(end)
            except (NotRestoredError, msgspec.MsgspecError) as error:
                if self._written.end(self._shard) != end:
                    return False  # another process restores it, too
                reason = f"shard {self._shard} is closed, and can't be restored: {error}"
                self._closed.close(self._shard, ClosedShard(ClosedKind.FORKED, reason))
                return True
            return False
        self._closed.open(self._shard)
        failpoint("restore.opened")
        return True

    def _compare(self, end: int) -> bool:
        """Return whether the last leaves of the data are the published ones; else close the shard."""
        common = min(end, self._log.size)
        first = max(0, common - COMPARED)
        published = list(self._log.leaves(first, common))
        rows = self._store.leaves(self._shard, first, COMPARED)
        other = first_difference(rows, published, first)
        if other is not None:
            self._closed.close(self._shard, forked(self._shard, other))
            return False
        self._compared = True
        logger.warning(
            "shard %d: leaves %d to %d are restored from the published log",
            *(self._shard, end, self._log.size - 1),
        )
        return True

    def _restore(self, start: int) -> None:
        self._matches.clear()
        end = min(start + STEP, self._log.size)
        leaves = list(self._log.leaves(start, end))
        if end < self._log.size:
            leaves = without_last_command(leaves)
        self._written.write(self._shard, start, self._commands(leaves))
        failpoint("restore.written")

    def _commands(self, leaves: list[bytes]) -> Iterator[Restored]:
        found = [(decode_leaf(data), data) for data in leaves]
        for _, group in groupby(found, key=lambda row: command_of(row[0])):
            rows = list(group)
            match rows[0][0]:
                case AnchorLeaf() as anchor:
                    yield RestoredAnchor(anchor, rows[0][1])
                case RefusedLeaf() as leaf:
                    yield RestoredCommand(self._refusal(leaf, rows[0][1]), starts=False)
                case EventEnvelope() as first:
                    events = [one for one, _ in rows if isinstance(one, EventEnvelope)]
                    write = self._events(events, tuple(data for _, data in rows))
                    yield RestoredCommand(write, starts=first.seq == 1)

    def _refusal(self, leaf: RefusedLeaf, data: bytes) -> Write:
        board = leaf.match
        before, _ = self._load(board)
        text = restored_text(leaf.code)
        return Write(
            shard=self._shard,
            entry=_NO_ENTRY,
            board=board,
            id=leaf.command,
            head=before.head,
            digest=outcomes.ANY_DIGEST,
            tail=outcomes.tail(Code(leaf.code), before.state.seq, text),
            leaves=(data,),
            snapshot=None,
            refusal_field=refusal_field(leaf.actor, before.state.ply),
        )

    def _events(self, group: list[EventEnvelope], leaves: tuple[bytes, ...]) -> Write:
        first = group[0]
        board = first.match
        before, conditional_moves = self._load(board)
        if before.head != first.prev:
            raise NotRestoredError(f"event {first.seq} of match {board} does not follow the data")
        state = _state_after(board, group, before)
        after = aggregates.snapshot_of(leaf_hash(leaves[-1]), state)
        self._matches[board] = after
        rewritten = any(isinstance(one.body, Undone | SetBack) for one in group)
        chain, k = Decision(tuple(one.body for one in group)).seed or (0, 0)
        return Write(
            shard=self._shard,
            entry=_NO_ENTRY,
            board=board,
            id=first.command,
            head=first.prev,
            digest=outcomes.ANY_DIGEST,
            tail=outcomes.tail("", first.seq),
            leaves=leaves,
            snapshot=aggregates.pack(after, None if rewritten else before.state),
            rewritten=rewritten,
            ended=aggregates.ended_at(state),
            due=aggregates.next_due(state),
            # those that are stored were prepared for another position
            conditional_before=conditional_moves,
            chain=chain,
            k=k,
        )

    def _load(self, board: int) -> tuple[AnySnapshot, bytes]:
        """Return a match before its next restored leaf, and its conditional moves."""
        if board in self._matches:
            return self._matches[board], b""
        packed, conditional_moves = self._written.read_match(self._shard, board)
        found = self._matches[board] = aggregates.unpack(packed)
        return found, conditional_moves


def _state_after(board: int, group: list[EventEnvelope], before: AnySnapshot) -> AnyState:
    """Return the state after a command's events.

    Events that the rules would not give, such as those whose rules are missing here, are folded as they are.
    """
    try:
        return aggregates.decide_again(board, group, before)[1].state
    except BrokenHistory as broken:
        logger.warning("match %d is restored without deciding again: %s", board, broken)
    state = before.state
    for envelope in group:
        state = aggregates.evolve(state, envelope)
    return state


LOOK_SECONDS: Final = 5.0
"""How often closed shards are looked for, which are rare."""


class LogRecovery:
    """The closed shards, and the work to open them again; `restorer` returns that of a shard."""

    def __init__(self, closed: ClosedShards, restorer: Callable[[int], ShardRestorer]) -> None:
        self._closed = closed
        self._make_restorer = restorer
        self._restorers: dict[int, ShardRestorer] = {}
        """Of the shards that are being restored."""
        self.due = 0.0
        """When closed shards are looked for again, by the monotonic clock."""

    def close(self, shard: int, why: ClosedShard) -> None:
        """Close a shard."""
        self._closed.close(shard, why)
        failpoint("restore.closed")
        self.due = 0.0

    def lost(self, shards: range) -> list[int]:
        """Return the closed shards that can be restored, as of `LOOK_SECONDS` ago or later."""
        if time.monotonic() < self.due:
            return []
        found = self._closed.read(shards)
        lost = [shard for shard, why in found.items() if why.kind is ClosedKind.ROLLED_BACK]
        if not lost:
            self.due = time.monotonic() + LOOK_SECONDS
        return lost

    def step(self, shard: int) -> bool:
        """Restore some leaves of a shard; return whether nothing is left to do.

        Errors of the published log pass through, and the next step begins again.
        """
        one = self._restorers.pop(shard, None) or self._make_restorer(shard)
        done = one.step()
        if not done:
            self._restorers[shard] = one
        return done


EVERY_SECONDS: Final = 10.0


class LossCheck:
    """Compares the ends of logs with those on the server of the queue; call `tick` once a second."""

    def __init__(
        self,
        data: redis.Redis,
        queue: redis.Redis,
        shards: int,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._data = data
        self._queue = queue
        self._shards = range(shards)
        self._losses = LossRecord(data)
        self.tick = every(EVERY_SECONDS, self._look, timer)

    def _look(self) -> None:
        with self._queue.pipeline(transaction=False) as pipe:
            for shard in self._shards:
                pipe.hmget(keys.published(shard), "size", "end")
            announced = [(int(size or 0), int(end or 0)) for size, end in pipe.execute()]
        # after it, because a log only grows; mostly all that was announced is there, and one command shows it
        lasts = {shard: end - 1 for shard, (_, end) in enumerate(announced) if end}
        there = read_log_streams(read_streams(self._data, log_streams(lasts), 1), lasts)
        short = [shard for shard in lasts if shard not in there]
        ends = dict(zip(short, read_ends(self._data, short), strict=True))
        for shard in short:
            published, end = announced[shard]
            # what is published is restored first
            if published <= ends[shard] < end:
                self._losses.note(shard, ends[shard], end)
                with self._queue.pipeline(transaction=False) as pipe:
                    add_log_ends(pipe, {shard: ends[shard]})
                    pipe.execute()
