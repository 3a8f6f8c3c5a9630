"""The store on Redis or Valkey: scripts that write, and pipelines that read."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import redis
from redis.exceptions import ResponseError

from domain.errors import Code
from domain.match.events import AccountId, CommandId
from infra.durability import Mode, append_barrier, check_barrier
from infra.failpoints import failpoint
from infra.redis import keys, scripts
from infra.redis.clients import Clock, time_ms
from infra.store.port import (
    MOST_REFUSALS,
    NO_MESSAGES,
    AlreadyDecided,
    CommitConflict,
    CommitDone,
    CommitResult,
    InboxEntry,
    Layout,
    NotAccepted,
    NotDurable,
    Queued,
    SeedChain,
    Submission,
    SubmitResult,
    Watermark,
    Write,
    refusal_field,
)

FORMAT: Final = b"1"
"""Version of the keys and values; data of another format are refused."""

IDS_KEPT: int = 1_000_000
"""Starts whose board numbers are remembered, so that a repetition gets the same."""


class RedisStore:
    """See `infra.store.port.Store`."""

    def __init__(
        self,
        client: redis.Redis,
        mode: Mode,
        cap: int = 100_000,
        clock: Clock | None = None,
    ) -> None:
        self._client = client
        self._mode = mode
        self._cap = cap
        self._clock = clock
        self._layout: Layout | None = None

    # layout

    def layout(self) -> Layout:
        """Return the layout, read once."""
        if self._layout is None:
            self._layout = self._read_layout()
        return self._layout

    def _read_layout(self) -> Layout:
        found: Any = self._client.hgetall(keys.LAYOUT)
        if not found:
            raise LookupError("there is no data yet")
        if found[b"format"] != FORMAT:
            theirs = found[b"format"].decode()
            raise LookupError(f"the data has format {theirs}; this version reads {FORMAT.decode()}")
        return Layout(int(found[b"shards"]), int(found[b"lanes"]))

    def create(self, shape: Layout) -> Layout:
        """Create the layout."""
        with self._client.pipeline(transaction=True) as pipe:
            pipe.hsetnx(keys.LAYOUT, "format", FORMAT.decode())
            pipe.hsetnx(keys.LAYOUT, "shards", str(shape.shards))
            pipe.hset(keys.LAYOUT, "lanes", str(shape.lanes))
            pipe.execute()
        self._layout = None
        return self.layout()

    def _shard(self, board: int) -> int:
        return keys.shard_of(board, self.layout().shards)

    # commands in

    def allocate(self, command: CommandId) -> int:
        """Return the board number for the start with that id."""
        names = [keys.BOARDS, keys.allocated(command), keys.ALLOCATED_IDS]
        args: list[scripts.Arg] = [command, IDS_KEPT, keys.allocated(b"")]
        return int(scripts.call(self._client, scripts.ALLOCATE_BOARD, names, args))

    def board_numbers(self, commands: Sequence[CommandId]) -> list[int | None]:
        """Return the board numbers of these ids."""
        with self._client.pipeline(transaction=False) as pipe:
            for command in commands:
                pipe.get(keys.allocated(command))
            return [None if found is None else int(found) for found in pipe.execute()]

    def submit(self, submissions: Sequence[Submission]) -> list[SubmitResult]:
        """Submit commands."""
        received = "" if self._clock is None else str(self._clock())
        calls = [
            submit_call(self._shard(new.board), new, self._cap, received) for new in submissions
        ]
        return [read_submit_reply(reply) for reply in scripts.call_all(self._client, calls)]

    # the inbox

    def read_inbox(
        self,
        shards: Sequence[int],
        count: int,
        block_ms: int = 0,
        first: Mapping[str, bytes] = NO_MESSAGES,
    ) -> list[InboxEntry]:
        """Return the oldest entries, in one round trip with the messages `first`."""
        each = -(-count // len(shards))
        streams: Any = {keys.inbox(shard): "0" for shard in shards}
        with self._client.pipeline(transaction=False) as pipe:
            for channel, message in first.items():
                pipe.publish(channel, message)
            pipe.xread(streams, count=each, block=block_ms or None)
            found = pipe.execute()[-1]
        numbers = {keys.inbox(shard).encode(): shard for shard in shards}
        return [
            InboxEntry(numbers[name], id_.decode(), int(f[b"t"]), f[b"d"].decode(), f[b"c"])
            for name, entries in found or []
            for id_, f in entries
        ]

    def inbox_size(self, shards: Sequence[int]) -> int:
        """Return the number of entries that wait."""
        with self._client.pipeline(transaction=False) as pipe:
            for shard in shards:
                pipe.xlen(keys.inbox(shard))
            return sum(pipe.execute())

    def count_attempt(self, shard: int, entry: str) -> int:
        """Count one more attempt."""
        return int(self._client.hincrby(keys.attempts(shard), entry, 1))

    def reset_attempts(self, shard: int, entry: str) -> None:
        """Forget the attempts."""
        self._client.hdel(keys.attempts(shard), entry)

    def attempts(self, shard: int) -> Mapping[str, int]:
        """Return the attempts."""
        found: Any = self._client.hgetall(keys.attempts(shard))
        return {entry.decode(): int(count) for entry, count in found.items()}

    def dead_letter(self, entry: InboxEntry) -> None:
        """Move an entry from the inbox to the dead letters."""
        fields: Any = {"c": entry.payload, "t": entry.received, "d": entry.reply_to, "id": entry.id}
        with self._client.pipeline(transaction=True) as pipe:
            pipe.xadd(keys.dead_letters(entry.shard), fields)
            pipe.xdel(keys.inbox(entry.shard), entry.id)
            pipe.execute()

    # commit

    def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
        """Commit: one script call a shard, all in one pipeline that ends in the barrier."""
        runs: dict[int, list[int]] = {}
        for i, write in enumerate(writes):
            runs.setdefault(write.shard, []).append(i)
        calls = [_commit_call(shard, [writes[i] for i in run]) for shard, run in runs.items()]
        replies = self._run_durably(calls)
        results: list[CommitResult] = [CommitConflict()] * len(writes)
        for run, reply in zip(runs.values(), replies, strict=False):
            for i, result in zip(run, reply, strict=True):
                results[i] = _read_commit_reply(result)
        return results

    def _run_durably(self, calls: Sequence[scripts.Call]) -> list[Any]:
        """Run scripts, wait until their writes are durable, and return their replies."""
        replies = scripts.call_all(
            self._client, calls, finish=lambda pipe: append_barrier(pipe, self._mode)
        )
        failpoint("commit.answered")
        if self._mode.durable and not check_barrier(replies[-1]):
            raise NotDurable("the server did not confirm that the commit is on disk")
        return replies[: len(calls)]

    # draws

    def seed_chain(self, shard: int) -> SeedChain | None:
        """Return the shard's chain of seeds."""
        found: Any = self._client.hgetall(keys.seed_chain(shard))
        if not found:
            return None
        chain = int(found[b"chain"])
        index = int(found[b"index:%d" % chain])
        return SeedChain(chain, int(found[b"k"]), bytes.fromhex(found[b"anchor"].decode()), index)

    def anchor_index(self, shard: int, chain: int) -> int | None:
        """Return the log index of a chain's anchor."""
        found: Any = self._client.hget(keys.seed_chain(shard), f"index:{chain}")
        return None if found is None else int(found)

    def anchor(self, shard: int, chain: int, anchor: bytes, leaf: bytes) -> bool:
        """Anchor the next chain."""
        names = [keys.log(shard), keys.seed_chain(shard)]
        args: list[scripts.Arg] = [chain - 1, chain, anchor.hex(), leaf]
        (done,) = self._run_durably([(scripts.ANCHOR_SEED_CHAIN, names, args)])
        return bool(done)

    # reading

    def snapshots(self, boards: Sequence[int]) -> list[bytes | None]:
        """Return the snapshots."""
        with self._client.pipeline(transaction=False) as pipe:
            for board in boards:
                pipe.get(keys.snapshot(self._shard(board), board))
            return list(pipe.execute())

    def now(self) -> int:
        """Return the time that stamps submitted commands."""
        return time_ms(self._client, self._clock)

    def due_boards(self, shard: int, now: int, count: int) -> list[int]:
        """Return the boards that are due."""
        found: Any = self._client.zrangebyscore(keys.due(shard), 0, now, start=0, num=count)
        return [int(board) for board in found]

    def snapshots_with_conditional_moves(
        self, boards: Sequence[int]
    ) -> list[tuple[bytes | None, bytes]]:
        """Return the snapshots with the conditional moves."""
        with self._client.pipeline(transaction=False) as pipe:
            for board in boards:
                shard = self._shard(board)
                pipe.mget(keys.snapshot(shard, board), keys.conditional_moves(shard, board))
            return [(snapshot, replies or b"") for snapshot, replies in pipe.execute()]

    def set_conditional_moves(self, board: int, head: bytes, before: bytes, after: bytes) -> bool:
        """Store the conditional moves."""
        shard = self._shard(board)
        names = [keys.snapshot(shard, board), keys.conditional_moves(shard, board)]
        (done,) = self._run_durably([(scripts.SET_CONDITIONAL_MOVES, names, [head, before, after])])
        return bool(done)

    def outcome(self, board: int, command: CommandId) -> bytes | None:
        """Return a stored outcome."""
        name = keys.outcomes(self._shard(board), board)
        found: Any = self._client.hget(name, command)
        return found if found is None else bytes(found)

    def outcomes(self, board: int) -> Mapping[CommandId, bytes]:
        """Return all stored outcomes of a match."""
        found: Any = self._client.hgetall(keys.outcomes(self._shard(board), board))
        return dict(found)

    def count_refusals(self, board: int, actor: AccountId, ply: int) -> int:
        """Return the number of a player's refusals at a ply."""
        name = keys.refusals(self._shard(board), board)
        found: Any = self._client.hget(name, refusal_field(actor, ply))
        return int(found or 0)

    def events(self, board: int) -> list[bytes]:
        """Return a match's events in order."""
        found: Any = self._client.lrange(keys.events(self._shard(board), board), 0, -1)
        return list(found)

    def leaves(self, shard: int, start: int, count: int) -> list[tuple[int, bytes]]:
        """Return leaves of a shard's log; events are read from their matches."""
        found: Any = self._client.xrange(keys.log(shard), f"{start}-0", "+", count=count)
        return self._leaves_of(shard, found)

    def leaves_at(self, shard: int, indexes: Sequence[int]) -> list[bytes | None]:
        """Return leaves by their indexes, in two round trips."""
        with self._client.pipeline(transaction=False) as pipe:
            for index in indexes:
                pipe.xrange(keys.log(shard), f"{index}-1", f"{index}-1")
            found = [row for rows in pipe.execute() for row in rows]
        leaves = dict(self._leaves_of(shard, found))
        return [leaves.get(index) for index in indexes]

    def _leaves_of(self, shard: int, found: Sequence[Any]) -> list[tuple[int, bytes]]:
        rows = [(int(id_.split(b"-")[0]), fields) for id_, fields in found]
        with self._client.pipeline(transaction=False) as pipe:
            for _, fields in rows:
                if b"e" in fields:
                    board, seq = map(int, fields[b"e"].split(b":"))
                    pipe.lindex(keys.events(shard, board), seq - 1)
            events = iter(pipe.execute())
        return [(i, next(events) if b"e" in fields else fields[b"l"]) for i, fields in rows]

    def wait_for_leaves(self, starts: Sequence[int], block_ms: int = 0) -> list[int]:
        """Return the shards with new leaves."""
        # the entries after `<index>-0` begin with that leaf, the first of all being `0-1`
        streams: Any = {keys.log(shard): f"{start}-0" for shard, start in enumerate(starts)}
        found: Any = self._client.xread(streams, count=1, block=block_ms or None)
        numbers = {keys.log(shard).encode(): shard for shard in range(len(starts))}
        return sorted(numbers[name] for name, _ in found or [])

    def watermark(self) -> Watermark:
        """Return up to when the logs are complete: one script a shard reads inbox and clock."""
        now = "" if self._clock is None else str(self._clock())
        calls: list[scripts.Call] = [
            (scripts.WATERMARK, [keys.inbox(shard), keys.log(shard)], [now])
            for shard in range(self.layout().shards)
        ]
        marks = scripts.call_all(self._client, calls)
        return Watermark(min(int(at) for at, _ in marks), tuple(int(end) for _, end in marks))


def submit_call(shard: int, new: Submission, cap: int, received: str = "") -> scripts.Call:
    """Return the call that submits a command; `received` in ms, or empty for the server's time."""
    names = [keys.inbox(shard), keys.outcomes(shard, new.board), keys.refusals(shard, new.board)]
    args: list[scripts.Arg] = [new.id, new.digest, new.payload, new.reply_to, received]
    args += [cap, refusal_field(new.actor, new.ply), MOST_REFUSALS]
    return scripts.SUBMIT, names, args


def read_submit_reply(reply: Any) -> SubmitResult:
    """Return the result of `submit_call`."""
    match reply[0]:
        case b"queued":
            return Queued(reply[1].decode(), int(reply[2]))
        case b"known":
            return AlreadyDecided(reply[1])
        case b"reused":
            return NotAccepted(Code.ID_REUSED)
        case b"refused-too-often":
            return NotAccepted(Code.TOO_MANY_REFUSALS)
        case b"full":
            return NotAccepted(Code.BUSY)
        case other:
            raise ResponseError(f"submit answered {other!r}")


def _read_commit_reply(reply: Any) -> CommitResult:
    match reply[0]:
        case b"done":
            return CommitDone(reply[1])
        case b"known":
            return AlreadyDecided(reply[1])
        case b"conflict":
            return CommitConflict()
        case other:
            raise ResponseError(f"commit answered {other!r}")


def _commit_call(shard: int, run: Sequence[Write]) -> scripts.Call:
    names = [keys.inbox(shard), keys.log(shard), keys.attempts(shard), keys.seed_chain(shard)]
    names.append(keys.due(shard))
    places: dict[int, int] = {}
    args: list[scripts.Arg] = []
    for write in run:
        board = write.board
        if board not in places:
            places[board] = len(places) + 1
            names += [
                keys.snapshot(shard, board),
                keys.events(shard, board),
                keys.outcomes(shard, board),
                keys.refusals(shard, board),
                keys.conditional_moves(shard, board),
            ]
        args += [write.entry, places[board], write.id, write.head, write.digest, write.tail]
        args += [write.refusal_field, write.snapshot or "", write.due]
        args += [write.conditional_before, write.conditional_after, write.chain, write.k]
        args += [len(write.leaves), *write.leaves]
    return scripts.COMMIT, names, args
