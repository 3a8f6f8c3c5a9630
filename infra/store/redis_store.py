"""The store on Redis or Valkey: scripts that write, and pipelines that read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
import redis

from domain.match.history import PackedSnapshot
from domain.records import AccountId, CommandId
from infra.durability.durability import Mode
from infra.redis import keys, scripts
from infra.redis.clients import Clock, time_ms
from infra.redis.reads import read_one, streams_in_one_command
from infra.redis.server import ServerTime
from infra.store import locators, snapshots
from infra.store.board_numbers import BoardNumbers
from infra.store.durable_scripts import DurableScripts
from infra.store.layout import KnownLayout, Layout, check_lanes, create_layout
from infra.store.leaf_reader import LeafReader
from infra.store.log_gate import read_ends
from infra.store.log_streams import (
    MOST_NEXT,
    NextLeaves,
    ShardNews,
    news_streams,
    read_news,
    read_streams,
)
from infra.store.port import (
    CommitConflict,
    CommitResult,
    CommitUnderWay,
    InboxEntry,
    SeedChain,
    ShardClosedError,
    Submission,
    SubmitResult,
    Watermark,
    Write,
)
from infra.store.refused_commands import (
    NO_REFUSED,
    RefusedId,
    forget_refused,
    read_kept,
    read_refused,
)
from infra.store.snapshots import WholeMatch, read_matches
from infra.store.store_calls import (
    anchor_call,
    commit_call,
    read_commit_replies,
    read_submit_reply,
    retire_call,
    submit_call,
)
from infra.store.trimmed_leaves import TrimmedLeaves
from infra.store.watermarks import WatermarkReader

if TYPE_CHECKING:
    from infra.log.published_log import PublishedLogs

DEAD_LETTERS_KEPT: int = 1_000
"""Entries of a shard that can't be decoded and are kept for an operator, the newest."""


class RedisStore:
    """See `infra.store.port.Store`.

    `clock` returns the received time in ms, for tests.
    `replicas` is how many replicas a commit waits for in the mode `replicated`.
    Leaves that were trimmed are read from the published logs that `open_logs` returns.
    """

    def __init__(
        self,
        client: redis.Redis,
        mode: Mode,
        cap: int = 100_000,
        clock: Clock | None = None,
        open_logs: "Callable[[], PublishedLogs] | None" = None,
        *,
        replicas: int = 1,
    ) -> None:
        self._client = client
        self._durably = DurableScripts(client, mode, replicas)
        self.published: Callable[[int], int] = lambda _: 0
        self._cap = cap
        self._clock = clock
        self._time = ServerTime(clock)
        self.layout: Final = KnownLayout(client)
        self._leaves = LeafReader(client, self._durably, TrimmedLeaves(open_logs))
        self._watermarks = WatermarkReader(client, clock)

    # layout

    def create(self, shape: Layout) -> Layout:
        """Create the layout."""
        check_lanes(shape.lanes, shape.shards)
        create_layout(self._client, shape)
        return self.layout.again()

    def change_lanes(self, lanes: int) -> Layout:
        """Divide the shards into so many lanes."""
        check_lanes(lanes, self.shards)
        self._client.hset(keys.LAYOUT, "lanes", str(lanes))
        return self.layout.again()

    @property
    def shards(self) -> int:
        """Return how many shards there are."""
        return self.layout.fixed.shards

    def shard_of(self, board: int) -> int:
        """Return the shard that a board lives in."""
        return self.layout.fixed.shard_of(board)

    # commands in

    def allocate(self, command: CommandId) -> int:
        """Return the board number for the start with that id."""
        return self.allocate_all([command])[0]

    def allocate_all(self, commands: Sequence[CommandId]) -> list[int]:
        """Return the board numbers for the starts with these ids."""
        return BoardNumbers(self._client, self.layout.fixed).allocate_all(commands)

    def board_numbers(self, commands: Sequence[CommandId]) -> list[int | None]:
        """Return the board numbers of these ids."""
        return BoardNumbers(self._client, self.layout.fixed).find(commands)

    def submit(self, submissions: Sequence[Submission]) -> list[SubmitResult]:
        """Submit commands."""
        received = "" if self._clock is None else str(self._clock())
        shards = self.shards
        calls = [submit_call(shards, new, self._cap, received) for new in submissions]
        return [read_submit_reply(reply) for reply in scripts.call_all(self._client, calls)]

    # the inbox

    def read_inbox(self, shards: Sequence[int], count: int) -> list[InboxEntry]:
        """Return the oldest entries, in one round trip."""
        each = -(-count // len(shards))
        return [
            InboxEntry(shard, id_.decode(), int(f[b"t"]), f[b"d"].decode(), f[b"c"])
            for shard, entries in self._oldest(shards, each)
            for id_, f in entries
        ]

    def _oldest(self, shards: Sequence[int], each: int) -> list[tuple[int, Any]]:
        """Return up to `each` entries of each shard."""
        found = read_streams(self._client, dict.fromkeys(map(keys.inbox, shards), "0"), each)
        numbers = {keys.inbox(shard).encode(): shard for shard in shards}
        return [(numbers[name], entries) for name, entries in found.items()]

    def inbox_size(self, shards: Sequence[int]) -> int:
        """Return the number of entries that wait."""
        with self._client.pipeline(transaction=False) as pipe:
            for shard in shards:
                pipe.xlen(keys.inbox(shard))
            return sum(pipe.execute())

    def counted_now(self) -> int:
        """Return the time in ms, by this machine's count since the server was last asked."""
        return self._time.now(self._client)

    def news(self, ends: Sequence[int]) -> tuple[int, list[ShardNews]]:
        """Return the time and the news of the shards."""
        now = self._time.counted()
        with self._client.pipeline(transaction=False) as pipe:
            for group in streams_in_one_command(self._client, news_streams(ends)):
                pipe.xread(group, count=MOST_NEXT)
            if now is None:
                pipe.time()
            replies = pipe.execute()
        if now is None:
            now = self._time.learn(replies.pop())
        found, unknown = read_news(replies, ends)
        for shard, end in zip(unknown, read_ends(self._client, unknown), strict=True):
            found[shard] = msgspec.structs.replace(found[shard], end=end)
        return now, found

    def count_attempt(self, shard: int, entry: str) -> int:
        """Count one more attempt."""
        return int(self._client.hincrby(keys.attempts(shard), entry, 1))

    def reset_attempts(self, shard: int, entry: str) -> None:
        """Forget the attempts."""
        self._client.hdel(keys.attempts(shard), entry)

    def dead_letter(self, entry: InboxEntry) -> None:
        """Move an entry from the inbox to the dead letters."""
        fields: Any = {"c": entry.payload, "t": entry.received, "d": entry.reply_to, "id": entry.id}
        with self._client.pipeline(transaction=True) as pipe:
            pipe.xadd(
                keys.dead_letters(entry.shard),
                fields,
                maxlen=DEAD_LETTERS_KEPT,
                approximate=False,
            )
            pipe.xdel(keys.inbox(entry.shard), entry.id)
            pipe.hdel(keys.attempts(entry.shard), entry.id)
            pipe.execute()

    # commit

    def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
        """Commit, and wait for the results."""
        return self.begin_commit(writes)()

    def begin_commit(self, writes: Sequence[Write]) -> CommitUnderWay:
        """Commit: one script call a shard, all in one pipeline that ends in the barrier."""
        runs: dict[int, list[int]] = {}
        for i, write in enumerate(writes):
            runs.setdefault(write.shard, []).append(i)
        shards = self.shards
        calls = [
            commit_call(shards, shard, [writes[i] for i in run], self.published(shard))
            for shard, run in runs.items()
        ]
        replies = self._durably.begin(calls)

        def results() -> list[CommitResult]:
            found: list[CommitResult] = [CommitConflict()] * len(writes)
            for run, reply in zip(runs.values(), replies(), strict=False):
                of_shard = read_commit_replies([writes[i] for i in run], reply)
                for i, result in zip(run, of_shard, strict=True):
                    found[i] = result
            return found

        return results

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
        call = anchor_call(shard, chain, anchor, leaf, self.published(shard))
        (done,) = self._durably.run([call])
        if done < 0:
            raise ShardClosedError(f"shard {shard} is closed, or its log has lost published leaves")
        return bool(done)

    # reading

    def snapshots(self, boards: Sequence[int]) -> list[PackedSnapshot | None]:
        """Return the snapshots."""
        return read_one(self._client, snapshots.read_snapshots(self.shard_of, boards))

    def now(self) -> int:
        """Return the time that stamps submitted commands."""
        return time_ms(self._client, self._clock)

    def next_due(self, shards: Sequence[int]) -> list[int | None]:
        """Return when the next match of each shard is due."""
        with self._client.pipeline(transaction=False) as pipe:
            for shard in shards:
                pipe.zrange(keys.due(shard), 0, 0, withscores=True)
            return [int(found[0][1]) if found else None for found in pipe.execute()]

    def due_boards(self, shard: int, now: int, count: int) -> list[int]:
        """Return the boards that are due."""
        found: Any = self._client.zrangebyscore(keys.due(shard), 0, now, start=0, num=count)
        return [int(board) for board in found]

    def ended_boards(self, shard: int, until: int, count: int) -> list[int]:
        """Return the boards of matches that have ended."""
        found: Any = self._client.zrangebyscore(keys.ended(shard), 0, until, start=0, num=count)
        return [int(board) for board in found]

    def whole_matches(self, boards: Sequence[int]) -> list[WholeMatch | None]:
        """Return all that is stored of matches."""
        return read_one(self._client, read_matches(self.shard_of, boards))

    def retire(
        self,
        matches: Sequence[tuple[int, bytes, Sequence[int]]],
        refused: Mapping[int, Sequence[RefusedId]] = NO_REFUSED,
    ) -> list[bool]:
        """Remove matches that are over."""
        shards = self.shards
        calls = [
            retire_call(shards, board, head, locators.encode(at), refused.get(board, ()))
            for board, head, at in matches
        ]
        return list(map(bool, scripts.call_all(self._client, calls)))

    def snapshots_with_conditional_moves(
        self, boards: Sequence[int]
    ) -> list[tuple[PackedSnapshot | None, bytes]]:
        """Return the snapshots with the conditional moves."""
        return read_one(self._client, snapshots.read_with_conditional_moves(self.shard_of, boards))

    def set_conditional_moves(self, board: int, head: bytes, before: bytes, after: bytes) -> bool:
        """Store the conditional moves."""
        shard = self.shard_of(board)
        names = [keys.snapshot(shard, board), keys.conditional_moves(shard, board)]
        (done,) = self._durably.run([(scripts.SET_CONDITIONAL_MOVES, names, [head, before, after])])
        return bool(done)

    def outcome(self, board: int, command: CommandId) -> bytes | None:
        """Return a stored outcome."""
        name = keys.outcomes(self.shard_of(board), board)
        found: Any = self._client.hget(name, command)
        return found if found is None else bytes(found)

    def outcomes(self, board: int) -> Mapping[CommandId, bytes]:
        """Return all stored outcomes of a match."""
        found: Any = self._client.hgetall(keys.outcomes(self.shard_of(board), board))
        return dict(found)

    def kept_commands(self, shard: int, refused: Sequence[RefusedId]) -> list[bytes | None]:
        """Return refused commands."""
        return read_kept(self._client, shard, refused)

    def refused_of(self, account: AccountId) -> Iterator[tuple[CommandId, bytes]]:
        """Yield the refused commands of an account with their ids, shard by shard."""
        for shard in range(self.shards):
            yield from read_refused(self._client, shard, account).items()

    def forget_refused(self, account: AccountId) -> None:
        """Erase the refused commands of an account."""
        forget_refused(self._client, self.shards, account)

    def events(self, board: int) -> list[bytes]:
        """Return a match's events in order."""
        found: Any = self._client.lrange(keys.events(self.shard_of(board), board), 0, -1)
        return list(found)

    def leaf_indexes(self, board: int) -> list[int]:
        """Return the indexes of a match's leaves."""
        found: Any = self._client.get(keys.locator(self.shard_of(board), board))
        return locators.decode(found or b"")

    def first_events(self, boards: Sequence[int]) -> list[bytes | None]:
        """Return the first events, in one round trip."""
        with self._client.pipeline(transaction=False) as pipe:
            for board in boards:
                pipe.lindex(keys.events(self.shard_of(board), board), 0)
            return list(pipe.execute())

    def leaves(self, shard: int, start: int, count: int) -> list[tuple[int, bytes]]:
        """Return leaves of a shard's log."""
        return self._leaves.read(shard, start, count)

    def durable_leaves(
        self, starts: Mapping[int, int], count: int, *, expected: bool = False
    ) -> dict[int, list[tuple[int, bytes]]]:
        """Return leaves that are durable."""
        return self._leaves.read_durable(starts, count, expected=expected)

    def are_durable(self, leaves: Mapping[int, Sequence[tuple[int, bytes]]]) -> bool:
        """Return whether no failover takes back these leaves."""
        return self._leaves.are_durable(leaves)

    def leaves_at(self, shard: int, indexes: Sequence[int]) -> list[bytes | None]:
        """Return leaves by their indexes, in one round trip."""
        return self._leaves.at(shard, indexes)

    def next_leaves(self, starts: Mapping[int, int]) -> NextLeaves:
        """Return the shards with new leaves."""
        return self._leaves.following(starts, MOST_NEXT)

    def watermark(self, beyond: int = 0) -> Watermark:
        """Return up to when the logs are complete."""
        return self._watermarks.watermark(self.shards, beyond)
