"""The store on Redis or Valkey: scripts that write, and pipelines that read."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import redis
from redis.exceptions import ResponseError

from domain.errors import Code
from domain.match.events import AccountId, CommandId
from infra import keys, scripts
from infra.clients import Clock, time_ms
from infra.durability import Mode, append_barrier, check_barrier
from infra.faults import point
from infra.store.port import (
    NOTHING,
    REFUSALS,
    Committed,
    Conflict,
    Done,
    Draws,
    Entry,
    Known,
    NotDurable,
    Queued,
    Shape,
    Submission,
    Submitted,
    Turned,
    Watermark,
    Write,
    refusal_field,
)

FORMAT: Final = b"1"
"""Version of the keys and values; data of another format are refused."""

GIVEN_KEPT: int = 1_000_000
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
        self._shape: Shape | None = None

    # layout

    def shape(self) -> Shape:
        """Return the layout, read once."""
        if self._shape is None:
            self._shape = self._read_shape()
        return self._shape

    def _read_shape(self) -> Shape:
        found: Any = self._client.hgetall(keys.SHAPE)
        if not found:
            raise LookupError("there is no data yet")
        if found[b"format"] != FORMAT:
            theirs = found[b"format"].decode()
            raise LookupError(f"the data has format {theirs}; this version reads {FORMAT.decode()}")
        return Shape(int(found[b"shards"]), int(found[b"lanes"]))

    def create(self, shape: Shape) -> Shape:
        """Create the layout."""
        with self._client.pipeline(transaction=True) as pipe:
            pipe.hsetnx(keys.SHAPE, "format", FORMAT.decode())
            pipe.hsetnx(keys.SHAPE, "shards", str(shape.shards))
            pipe.hset(keys.SHAPE, "lanes", str(shape.lanes))
            pipe.execute()
        self._shape = None
        return self.shape()

    def _shard(self, board: int) -> int:
        return keys.shard_of(board, self.shape().shards)

    # commands in

    def allocate(self, command: CommandId) -> int:
        """Return the board number for the start with that id."""
        names = [keys.BOARDS, keys.given(command), keys.GIVEN]
        args: list[scripts.Arg] = [command, GIVEN_KEPT, keys.given(b"")]
        return int(scripts.call(self._client, scripts.ALLOCATE_BOARD, names, args))

    def numbers(self, commands: Sequence[CommandId]) -> list[int | None]:
        """Return the board numbers of these ids."""
        with self._client.pipeline(transaction=False) as pipe:
            for command in commands:
                pipe.get(keys.given(command))
            return [None if found is None else int(found) for found in pipe.execute()]

    def submit(self, submissions: Sequence[Submission]) -> list[Submitted]:
        """Submit commands."""
        received = "" if self._clock is None else str(self._clock())
        calls = [
            submit_call(self._shard(new.board), new, self._cap, received) for new in submissions
        ]
        return [submitted(reply) for reply in scripts.call_all(self._client, calls)]

    # the inbox

    def waiting(
        self,
        shards: Sequence[int],
        count: int,
        block_ms: int = 0,
        first: Mapping[str, bytes] = NOTHING,
    ) -> list[Entry]:
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
            Entry(numbers[name], id_.decode(), int(f[b"t"]), f[b"d"].decode(), f[b"c"])
            for name, entries in found or []
            for id_, f in entries
        ]

    def depth(self, shards: Sequence[int]) -> int:
        """Return the number of entries that wait."""
        with self._client.pipeline(transaction=False) as pipe:
            for shard in shards:
                pipe.xlen(keys.inbox(shard))
            return sum(pipe.execute())

    def try_again(self, shard: int, entry: str) -> int:
        """Count one more attempt."""
        return int(self._client.hincrby(keys.tries(shard), entry, 1))

    def forgive(self, shard: int, entry: str) -> None:
        """Forget the attempts."""
        self._client.hdel(keys.tries(shard), entry)

    def tried(self, shard: int) -> Mapping[str, int]:
        """Return the attempts."""
        found: Any = self._client.hgetall(keys.tries(shard))
        return {entry.decode(): int(count) for entry, count in found.items()}

    def set_aside(self, entry: Entry) -> None:
        """Move an entry from the inbox to the dead letters."""
        fields: Any = {"c": entry.payload, "t": entry.received, "d": entry.reply_to, "id": entry.id}
        with self._client.pipeline(transaction=True) as pipe:
            pipe.xadd(keys.aside(entry.shard), fields)
            pipe.xdel(keys.inbox(entry.shard), entry.id)
            pipe.execute()

    # commit

    def commit(self, writes: Sequence[Write]) -> list[Committed]:
        """Commit: one script call a shard, all in one pipeline that ends in the barrier."""
        runs: dict[int, list[int]] = {}
        for i, write in enumerate(writes):
            runs.setdefault(write.shard, []).append(i)
        calls = [_commit_call(shard, [writes[i] for i in run]) for shard, run in runs.items()]
        replies = self._durably(calls)
        results: list[Committed] = [Conflict()] * len(writes)
        for run, reply in zip(runs.values(), replies, strict=False):
            for i, result in zip(run, reply, strict=True):
                results[i] = _committed(result)
        return results

    def _durably(self, calls: Sequence[scripts.Call]) -> list[Any]:
        """Run scripts, wait until their writes are durable, and return their replies."""
        replies = scripts.call_all(
            self._client, calls, finish=lambda pipe: append_barrier(pipe, self._mode)
        )
        point("commit.answered")
        if self._mode.durable and not check_barrier(replies[-1]):
            raise NotDurable("the server did not confirm that the commit is on disk")
        return replies[: len(calls)]

    # draws

    def draws(self, shard: int) -> Draws | None:
        """Return the shard's chain of seeds."""
        found: Any = self._client.hgetall(keys.draws(shard))
        if not found:
            return None
        chain = int(found[b"chain"])
        index = int(found[b"index:%d" % chain])
        return Draws(chain, int(found[b"k"]), bytes.fromhex(found[b"anchor"].decode()), index)

    def anchored(self, shard: int, chain: int) -> int | None:
        """Return the log index of a chain's anchor."""
        found: Any = self._client.hget(keys.draws(shard), f"index:{chain}")
        return None if found is None else int(found)

    def anchor(self, shard: int, chain: int, anchor: bytes, leaf: bytes) -> bool:
        """Anchor the next chain."""
        names = [keys.log(shard), keys.draws(shard)]
        args: list[scripts.Arg] = [chain - 1, chain, anchor.hex(), leaf]
        (done,) = self._durably([(scripts.ANCHOR_SEED_CHAIN, names, args)])
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

    def due(self, shard: int, now: int, count: int) -> list[int]:
        """Return the boards that are due."""
        found: Any = self._client.zrangebyscore(keys.due(shard), 0, now, start=0, num=count)
        return [int(board) for board in found]

    def matches(self, boards: Sequence[int]) -> list[tuple[bytes | None, bytes]]:
        """Return the snapshots with the conditional moves."""
        with self._client.pipeline(transaction=False) as pipe:
            for board in boards:
                shard = self._shard(board)
                pipe.mget(keys.snapshot(shard, board), keys.replies(shard, board))
            return [(snapshot, replies or b"") for snapshot, replies in pipe.execute()]

    def lay(self, board: int, head: bytes, before: bytes, after: bytes) -> bool:
        """Store the conditional moves."""
        shard = self._shard(board)
        names = [keys.snapshot(shard, board), keys.replies(shard, board)]
        (done,) = self._durably([(scripts.SET_CONDITIONAL_MOVES, names, [head, before, after])])
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

    def refused(self, board: int, actor: AccountId, ply: int) -> int:
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
        rows = [(int(id_.split(b"-")[0]), fields) for id_, fields in found]
        with self._client.pipeline(transaction=False) as pipe:
            for _, fields in rows:
                if b"e" in fields:
                    board, seq = map(int, fields[b"e"].split(b":"))
                    pipe.lindex(keys.events(shard, board), seq - 1)
            events = iter(pipe.execute())
        return [(i, next(events) if b"e" in fields else fields[b"l"]) for i, fields in rows]

    def news(self, starts: Sequence[int], block_ms: int = 0) -> list[int]:
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
            for shard in range(self.shape().shards)
        ]
        marks = scripts.call_all(self._client, calls)
        return Watermark(min(int(at) for at, _ in marks), tuple(int(end) for _, end in marks))


def submit_call(shard: int, new: Submission, cap: int, received: str = "") -> scripts.Call:
    """Return the call that submits a command; `received` in ms, or empty for the server's time."""
    names = [keys.inbox(shard), keys.outcomes(shard, new.board), keys.refusals(shard, new.board)]
    args: list[scripts.Arg] = [new.id, new.digest, new.payload, new.reply_to, received]
    args += [cap, refusal_field(new.actor, new.ply), REFUSALS]
    return scripts.SUBMIT, names, args


def submitted(reply: Any) -> Submitted:
    """Return the result of `submit_call`."""
    match reply[0]:
        case b"queued":
            return Queued(reply[1].decode(), int(reply[2]))
        case b"known":
            return Known(reply[1])
        case b"reused":
            return Turned(Code.ID_REUSED)
        case b"refused-too-often":
            return Turned(Code.TOO_MANY_REFUSALS)
        case b"full":
            return Turned(Code.BUSY)
        case other:
            raise ResponseError(f"submit answered {other!r}")


def _committed(reply: Any) -> Committed:
    match reply[0]:
        case b"done":
            return Done(reply[1])
        case b"known":
            return Known(reply[1])
        case b"conflict":
            return Conflict()
        case other:
            raise ResponseError(f"commit answered {other!r}")


def _commit_call(shard: int, run: Sequence[Write]) -> scripts.Call:
    names = [keys.inbox(shard), keys.log(shard), keys.tries(shard), keys.draws(shard)]
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
                keys.replies(shard, board),
            ]
        args += [write.entry, places[board], write.id, write.head, write.digest, write.tail]
        args += [write.refused, write.snapshot or "", write.due]
        args += [write.laid, write.left, write.chain, write.k]
        args += [len(write.leaves), *write.leaves]
    return scripts.COMMIT, names, args
