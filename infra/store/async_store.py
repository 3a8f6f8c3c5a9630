"""The part of the store that an event loop needs, on Redis or Valkey.

The same scripts and keys as `infra.store.redis_store`; the guarantees are those of `infra.store.port`.
"""

import time
from collections.abc import Awaitable, Sequence
from typing import Any

from domain.match.history import PackedSnapshot
from infra.redis import keys, scripts
from infra.redis.autopipeline import CommandPipeline, CommandWords, raise_errors
from infra.store import snapshots
from infra.store.layout import Layout, decode_layout
from infra.store.port import Submission, SubmitResult
from infra.store.redis_store import LAYOUT_SECONDS
from infra.store.store_calls import read_submit_reply, submit_call


class AsyncStore:
    """Submits commands and reads matches. Errors of the server pass through."""

    def __init__(self, pipe: CommandPipeline, shape: Layout, cap: int) -> None:
        self._pipe = pipe
        self._shape = shape
        self._cap = cap
        self._layout_due = 0.0
        """When the layout is read again, by the monotonic clock."""

    @property
    def shards(self) -> int:
        """Return the number of shards."""
        return self._shape.shards

    async def refresh_layout(self) -> None:
        """Refresh the layout if it is older than `LAYOUT_SECONDS`: its lanes may have changed."""
        if time.monotonic() < self._layout_due:
            return
        self._layout_due = time.monotonic() + LAYOUT_SECONDS
        (found,) = raise_errors(await self._pipe.send([("HGETALL", keys.LAYOUT)]))
        self._shape = decode_layout(dict(zip(found[::2], found[1::2], strict=True)))

    def node_of(self, board: int) -> object:
        """Return what tells the node of a match from other nodes; one server has one node."""
        return self._pipe.node_of(keys.inbox(self._shard(board)))

    def lane_of(self, board: int) -> keys.Lane:
        """Return the lane of a match."""
        return self._shape.lane_of(board)

    async def submit(self, submissions: Sequence[Submission]) -> list[SubmitResult]:
        """Submit commands; return an answer for each."""
        calls = [submit_call(self._shape.shards, new, self._cap) for new in submissions]
        return [
            read_submit_reply(reply) for reply in await scripts.call_all_async(self._pipe, calls)
        ]

    def answer_later(self, new: Submission, answer: SubmitResult) -> Awaitable[SubmitResult] | None:
        """Return the slow read of the true answer to a submission; None if `answer` is the true one."""
        del new, answer
        return None

    def snapshot_command(self, board: int) -> CommandWords:
        """Return the command that reads a match's snapshot; `read_snapshot` reads the reply."""
        return snapshots.read_command(self._shard(board), board)

    async def snapshot(self, board: int) -> PackedSnapshot | None:
        """Return a match's snapshot; None if there is none."""
        (reply,) = raise_errors(await self._pipe.send([self.snapshot_command(board)]))
        return await self.read_snapshot(board, reply)

    async def read_snapshot(self, board: int, reply: Any) -> PackedSnapshot | None:
        """Return the snapshot in the reply to `snapshot_command` of a match; None if there is none."""
        del board  # it is in the reply
        return snapshots.read_reply(reply)

    async def outcomes(self, wanted: Sequence[tuple[int, bytes]]) -> list[bytes | None]:
        """Return stored outcomes, each by its match and command id."""
        return raise_errors(
            await self._pipe.send(
                ("HGET", keys.outcomes(self._shard(board), board), command)
                for board, command in wanted
            )
        )

    async def events(self, board: int, start: int) -> list[bytes]:
        """Return a match's events from the one with sequence number `start` on."""
        name = keys.events(self._shard(board), board)
        # not by the client, because each of many streams would open a connection
        (found,) = raise_errors(await self._pipe.send([("LRANGE", name, start - 1, -1)]))
        return list(found)

    async def leaf(self, board: int, index: int) -> bytes | None:
        """Return the leaf with this index of the log that a match is in; None if Redis has it no longer."""
        shard, id_ = self._shard(board), f"{index}-1"
        (found,) = raise_errors(await self._pipe.send([("XRANGE", keys.log(shard), id_, id_)]))
        return bytes(found[0][1][1]) if found else None

    async def inbox_size(self) -> int:
        """Count the commands in all inboxes."""
        shards = range(self._shape.shards)
        return sum(
            raise_errors(await self._pipe.send([("XLEN", keys.inbox(one)) for one in shards]))
        )

    async def event_counts(self, boards: Sequence[int]) -> list[int]:
        """Return how many events each match has, in one round trip."""
        words = [("LLEN", keys.events(self._shard(board), board)) for board in boards]
        return raise_errors(await self._pipe.send(words))

    def _shard(self, board: int) -> int:
        return keys.shard_of(board, self._shape.shards)
