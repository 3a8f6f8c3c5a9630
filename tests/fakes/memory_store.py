"""The store in memory: for tests, and as the simplest implementation of the port.

A server in memory, which goes with its last client.

An object store in a dict, which can fail at a chosen write.
"""

import itertools
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec
from fakeredis import FakeRedis, FakeServer

from domain.errors import Code
from domain.match.history import NO_HASH, PackedSnapshot, is_move
from domain.records import AccountId, CommandId
from infra.objects import port
from infra.redis.keys import shard_of
from infra.store import locators
from infra.store.layout import Layout, Numbering, check_lanes
from infra.store.log_streams import MOST_NEXT, NextLeaves, ShardNews
from infra.store.outcomes import ANY_DIGEST, encode_stored
from infra.store.port import (
    MOST_AHEAD_MS,
    MOST_REFUSALS,
    AlreadyDecided,
    CommitClosed,
    CommitConflict,
    CommitDone,
    CommitResult,
    CommitUnderWay,
    InboxEntry,
    LogCutOff,
    NotAccepted,
    Queued,
    SeedChain,
    ShardClosedError,
    Submission,
    SubmitResult,
    Watermark,
    Write,
    refusal_field,
)
from infra.store.refused_commands import NO_REFUSED, RefusedId
from infra.store.snapshots import WholeMatch
from infra.store.store_calls import archived_result


class _MemoryMatch(msgspec.Struct):
    snapshot: PackedSnapshot | None = None
    events: list[bytes] = msgspec.field(default_factory=list)
    outcomes: dict[CommandId, bytes] = msgspec.field(default_factory=dict)
    refusals: dict[str, int] = msgspec.field(default_factory=dict)
    replies: bytes = b""
    indexes: list[int] = msgspec.field(default_factory=list)


def _now() -> int:
    return time.time_ns() // 1_000_000


def _is_next(draws: SeedChain | None, write: Write) -> bool:
    return draws is not None and (draws.chain, draws.used + 1) == (write.chain, write.k)


def _head(match: _MemoryMatch) -> bytes:
    return match.snapshot.state[:32] if match.snapshot else b""


def _after(before: PackedSnapshot | None, write: Write) -> PackedSnapshot | None:
    new = write.snapshot
    if new is None or before is None or write.rewritten:
        return new
    return PackedSnapshot(new.state, before.moves + new.moves, before.turns + new.turns)


def _until(times: Mapping[int, int], until: int, count: int) -> list[int]:
    come = sorted((at, board) for board, at in times.items() if 0 < at <= until)
    return [board for _, board in come[:count]]


class MemoryStore:
    """See `infra.store.port.Store`; `clock` returns the received time in ms."""

    def __init__(self, clock: Callable[[], int] = _now, cap: int = 100_000) -> None:
        self._clock = clock
        self._cap = cap
        self._layout: Layout | None = None
        self._numbers: dict[int, Iterator[int]] = defaultdict(lambda: itertools.count(1))
        self._ids = itertools.count(1)
        self._allocated: dict[CommandId, int] = {}
        self._inboxes: dict[int, dict[str, InboxEntry]] = defaultdict(dict)
        self._logs: dict[int, list[bytes]] = defaultdict(list)
        self._tries: dict[int, dict[str, int]] = defaultdict(dict)
        self._matches: dict[int, _MemoryMatch] = defaultdict(_MemoryMatch)
        self._due: dict[int, dict[int, int]] = defaultdict(dict)
        self._ended: dict[int, dict[int, int]] = defaultdict(dict)
        self._archived: set[int] = set()
        self.kept: dict[int, dict[RefusedId, bytes]] = defaultdict(dict)
        """Refused commands that are kept, by shard."""
        self._draws: dict[int, SeedChain] = {}
        self.published: Callable[[int], int] = lambda _: 0
        self.closed: set[int] = set()
        """Shards that take no command."""
        self._floor = 0
        """The time of the last watermark: nothing is received before it."""
        self._anchors: dict[tuple[int, int], int] = {}
        self.dead_letters: list[InboxEntry] = []

    def layout(self) -> Layout:
        if self._layout is None:
            raise LookupError("there is no data yet")
        return self._layout

    @property
    def shards(self) -> int:
        return self.layout().shards

    def shard_of(self, board: int) -> int:
        return self.layout().shard_of(board)

    def create(self, shape: Layout) -> Layout:
        check_lanes(shape.lanes, shape.shards)
        self._layout = self._layout or shape
        return self._layout

    def change_lanes(self, lanes: int) -> Layout:
        check_lanes(lanes, self.layout().shards)
        self._layout = msgspec.structs.replace(self.layout(), lanes=lanes)
        return self._layout

    def allocate(self, command: CommandId) -> int:
        if command not in self._allocated:
            self._allocated[command] = self._next_number(command)
        return self._allocated[command]

    def allocate_all(self, commands: Sequence[CommandId]) -> list[int]:
        return [self.allocate(command) for command in commands]

    def _next_number(self, command: CommandId) -> int:
        layout = self.layout()
        if layout.numbering is Numbering.SERVER:
            return next(self._numbers[0])
        shard = int.from_bytes(command) % layout.shards
        return next(self._numbers[shard]) * layout.shards + shard

    def board_numbers(self, commands: Sequence[CommandId]) -> list[int | None]:
        return [self._allocated.get(command) for command in commands]

    def submit(self, submissions: Sequence[Submission]) -> list[SubmitResult]:
        return [self._submit(submission) for submission in submissions]

    def _submit(self, new: Submission) -> SubmitResult:
        match = self._matches[new.board]
        known = match.outcomes.get(new.id)
        if known is not None:
            same = known[:8] in (new.digest, ANY_DIGEST)
            return AlreadyDecided(known) if same else NotAccepted(Code.ID_REUSED)
        if new.board in self._archived:
            return NotAccepted(Code.MATCH_OVER)
        shard = shard_of(new.board, self.layout().shards)
        if shard in self.closed:
            return NotAccepted(Code.UNAVAILABLE)
        if match.refusals.get(refusal_field(new.actor, new.ply), 0) >= MOST_REFUSALS:
            return NotAccepted(Code.TOO_MANY_REFUSALS)
        if len(self._inboxes[shard]) >= self._cap:
            return NotAccepted(Code.BUSY)
        received = self._received(shard)
        entry = InboxEntry(shard, f"{next(self._ids)}-0", received, new.reply_to, new.payload)
        self._inboxes[shard][entry.id] = entry
        return Queued(entry.id, entry.received)

    def _received(self, shard: int) -> int:
        now = self._clock()
        newest = [entry.received for entry in self._inboxes[shard].values()][-1:]
        return max(now, *(at for at in (0, self._floor, *newest) if at <= now + MOST_AHEAD_MS))

    def read_inbox(self, shards: Sequence[int], count: int) -> list[InboxEntry]:
        each = -(-count // max(len(shards), 1))
        return [e for s in shards for e in itertools.islice(self._inboxes[s].values(), each)]

    def inbox_size(self, shards: Sequence[int]) -> int:
        return sum(len(self._inboxes[shard]) for shard in shards)

    def news(self, ends: Sequence[int]) -> tuple[int, list[ShardNews]]:
        shards = range(len(ends))
        return self._clock(), [
            ShardNews(
                bool(self._inboxes[shard]),
                len(self._logs[shard]),
                len(self._logs[shard]) < ends[shard] + MOST_NEXT
                and all(map(is_move, self._logs[shard][ends[shard] :])),
            )
            for shard in shards
        ]

    def snapshots(self, boards: Sequence[int]) -> list[PackedSnapshot | None]:
        return [self._matches[board].snapshot for board in boards]

    def snapshots_with_conditional_moves(
        self, boards: Sequence[int]
    ) -> list[tuple[PackedSnapshot | None, bytes]]:
        return [(self._matches[b].snapshot, self._matches[b].replies) for b in boards]

    def set_conditional_moves(self, board: int, head: bytes, before: bytes, after: bytes) -> bool:
        match = self._matches[board]
        if board in self._archived or _head(match) != head or match.replies != before:
            return False
        match.replies = after
        return True

    def begin_commit(self, writes: Sequence[Write]) -> CommitUnderWay:
        results = self.commit(writes)
        return lambda: results

    def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
        shards = {write.shard for write in writes}
        ends = {shard: len(self._logs[shard]) for shard in shards}
        lost = {shard for shard in shards if ends[shard] < self.published(shard)}
        return [
            LogCutOff(ends[one.shard])
            if one.shard in lost
            else CommitClosed()
            if one.shard in self.closed
            else self._commit(one)
            for one in writes
        ]

    def _commit(self, write: Write) -> CommitResult:
        match = self._matches[write.board]
        known = match.outcomes.get(write.id)
        head = _head(match) or NO_HASH
        if write.board in self._archived:
            self._leave_inbox(write)
            return archived_result(write, known)
        draws = self._draws.get(write.shard)
        if known is None and (head != write.head or (write.k and not _is_next(draws, write))):
            return CommitConflict()
        if (
            known is None
            and write.snapshot is not None
            and match.replies != write.conditional_before
        ):
            return CommitConflict()
        self._leave_inbox(write)
        if known is not None:
            return AlreadyDecided(known)
        log = self._logs[write.shard]
        match.outcomes[write.id] = encode_stored(write.digest, len(log), write.tail)
        match.indexes.extend(range(len(log), len(log) + len(write.leaves)))
        log.extend(write.leaves)
        if draws and write.k:
            self._draws[write.shard] = msgspec.structs.replace(draws, used=write.k)
        if write.snapshot is None:
            match.refusals[write.refusal_field] = match.refusals.get(write.refusal_field, 0) + 1
            if write.kept:
                self.kept[write.shard][RefusedId(write.actor, write.id)] = write.kept
        else:
            match.events.extend(write.leaves)
            match.snapshot = _after(match.snapshot, write)
            match.replies = write.conditional_after
            self._due[write.shard][write.board] = write.due
            if write.ended:
                self._ended[write.shard][write.board] = write.ended
            elif write.rewritten:
                self._ended[write.shard].pop(write.board, None)
            match.refusals.clear()
        return CommitDone(match.outcomes[write.id])

    def _leave_inbox(self, write: Write) -> None:
        self._inboxes[write.shard].pop(write.entry, None)
        self._tries[write.shard].pop(write.entry, None)

    def seed_chain(self, shard: int) -> SeedChain | None:
        return self._draws.get(shard)

    def anchor_index(self, shard: int, chain: int) -> int | None:
        return self._anchors.get((shard, chain))

    def anchor(self, shard: int, chain: int, anchor: bytes, leaf: bytes) -> bool:
        before = self._draws.get(shard)
        if (before.chain if before else 0) != chain - 1:
            return False
        index = len(self._logs[shard])
        if index < self.published(shard) or shard in self.closed:
            raise ShardClosedError(f"shard {shard} is closed, or has lost published leaves")
        self._logs[shard].append(leaf)
        self._draws[shard] = SeedChain(chain, 0, anchor, index)
        self._anchors[shard, chain] = index
        return True

    def count_attempt(self, shard: int, entry: str) -> int:
        self._tries[shard][entry] = self._tries[shard].get(entry, 0) + 1
        return self._tries[shard][entry]

    def reset_attempts(self, shard: int, entry: str) -> None:
        self._tries[shard].pop(entry, None)

    def attempts(self, shard: int) -> Mapping[str, int]:
        return dict(self._tries[shard])

    def dead_letter(self, entry: InboxEntry) -> None:
        self.dead_letters.append(entry)
        self._inboxes[entry.shard].pop(entry.id, None)

    def now(self) -> int:
        return self._clock()

    def next_due(self, shards: Sequence[int]) -> list[int | None]:
        return [
            min((at for at in self._due[shard].values() if at), default=None) for shard in shards
        ]

    def due_boards(self, shard: int, now: int, count: int) -> list[int]:
        return _until(self._due[shard], now, count)

    def ended_boards(self, shard: int, until: int, count: int) -> list[int]:
        return _until(self._ended[shard], until, count)

    def whole_matches(self, boards: Sequence[int]) -> list[WholeMatch | None]:
        matches = [self._matches[board] for board in boards]
        return [
            match.snapshot
            and WholeMatch(
                match.snapshot, [*match.events], {**match.outcomes}, locators.encode(match.indexes)
            )
            for match in matches
        ]

    def retire(
        self,
        matches: Sequence[tuple[int, bytes, Sequence[int]]],
        refused: Mapping[int, Sequence[RefusedId]] = NO_REFUSED,
    ) -> list[bool]:
        return [self._retire(*one, refused.get(one[0], ())) for one in matches]

    def _retire(
        self, board: int, head: bytes, indexes: Sequence[int], refused: Sequence[RefusedId]
    ) -> bool:
        match, ended = self._matches[board], self._ended[self.layout().shard_of(board)]
        if board not in ended or (_head(match), match.indexes) != (head, [*indexes]):
            return False
        match.refusals.clear()
        match.replies = b""
        del ended[board]
        self._archived.add(board)
        shard = self.layout().shard_of(board)
        for one in refused:
            self.kept[shard].pop(one, None)
        return True

    def outcome(self, board: int, command: CommandId) -> bytes | None:
        return self._matches[board].outcomes.get(command)

    def outcomes(self, board: int) -> Mapping[CommandId, bytes]:
        return dict(self._matches[board].outcomes)

    def count_refusals(self, board: int, actor: AccountId, ply: int) -> int:
        return self._matches[board].refusals.get(refusal_field(actor, ply), 0)

    def kept_commands(self, shard: int, refused: Sequence[RefusedId]) -> list[bytes | None]:
        return [self.kept[shard].get(one) for one in refused]

    def forget_refused(self, account: AccountId) -> None:
        for kept in self.kept.values():
            for one in [one for one in kept if one.actor == account]:
                del kept[one]

    def events(self, board: int) -> list[bytes]:
        return list(self._matches[board].events)

    def leaf_indexes(self, board: int) -> list[int]:
        return list(self._matches[board].indexes)

    def first_events(self, boards: Sequence[int]) -> list[bytes | None]:
        return [next(iter(self.events(board)), None) for board in boards]

    def leaves(self, shard: int, start: int, count: int) -> list[tuple[int, bytes]]:
        log = self._logs[shard][start : start + count]
        return list(enumerate(log, start))

    def durable_leaves(
        self, starts: Mapping[int, int], count: int, *, expected: bool = False
    ) -> dict[int, list[tuple[int, bytes]]]:
        del expected
        found = {shard: self.leaves(shard, start, count) for shard, start in starts.items()}
        return {shard: rows for shard, rows in found.items() if rows}

    def are_durable(self, leaves: Mapping[int, Sequence[tuple[int, bytes]]]) -> bool:
        del leaves
        return True

    def leaves_at(self, shard: int, indexes: Sequence[int]) -> list[bytes | None]:
        return [next((leaf for _, leaf in self.leaves(shard, one, 1)), None) for one in indexes]

    def next_leaves(self, starts: Mapping[int, int]) -> NextLeaves:
        found = {shard: self.leaves(shard, one, MOST_NEXT) for shard, one in starts.items()}
        return {shard: rows for shard, rows in found.items() if rows}

    def watermark(self, beyond: int = 0) -> Watermark:
        del beyond
        shards = range(self.layout().shards)
        now = self._clock()
        floor = self._floor if self._floor <= now + MOST_AHEAD_MS else 0
        oldest = [entry.received for inbox in self._inboxes.values() for entry in inbox.values()]
        self._floor = min(oldest, default=max(now, floor))
        return Watermark(self._floor, tuple(len(self._logs[shard]) for shard in shards))


def memory_client() -> FakeRedis:
    """A client of a server of its own.

    Without one named, the library keeps every server there ever was, and with it all that the last
    error's traceback reaches: a worker of the whole suite grew past a gigabyte.
    """
    return FakeRedis(server=FakeServer(version=(7,)))


class MemoryObjects:
    """See `infra.objects.port.ObjectStore`."""

    def __init__(self) -> None:
        self.found: dict[str, bytes] = {}
        self.reads: list[str] = []
        self.writes_left: int | None = None
        """How many writes succeed before one fails; None for all."""

    def get(self, name: str) -> bytes:
        port.check_name(name)
        self.reads.append(name)
        if name not in self.found:
            raise port.ObjectNotFoundError(f"{name} does not exist")
        return self.found[name]

    def get_range(self, name: str, start: int, length: int) -> bytes:
        return self.get(name)[start : start + length]

    def create(self, name: str, data: bytes) -> None:
        port.check_name(name)
        self._write()
        if self.found.setdefault(name, data) != data:
            raise port.ObjectDiffersError(f"{name} exists with other bytes")

    def replace(self, name: str, data: bytes, before: bytes | None) -> None:
        port.check_name(name)
        self._write()
        # one step, also for threads
        found = self.found.setdefault(name, data) if before is None else self.found.get(name)
        if before is None:
            if found != data:
                raise port.ObjectChangedError(f"{name} has been changed by another writer")
        elif found == before:
            self.found[name] = data
        elif found != data:
            raise port.ObjectChangedError(f"{name} has been changed by another writer")

    def delete(self, name: str) -> None:
        port.check_name(name)
        self._write()
        self.found.pop(name, None)

    def names(self, folder: str) -> list[str]:
        port.check_name(folder)
        return sorted(name for name in self.found if name.rpartition("/")[0] == folder)

    def _write(self) -> None:
        if self.writes_left == 0:
            raise port.ObjectStoreError("the store is away")
        if self.writes_left is not None:
            self.writes_left -= 1
