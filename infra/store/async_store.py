"""The part of the store that an event loop needs, on Redis or Valkey.

The same scripts and keys as `infra.store.redis_store`; the guarantees are those of `infra.store.port`.
"""

from collections.abc import Sequence
from typing import Any

from redis import asyncio

from infra.redis import keys, scripts
from infra.redis.autopipeline import AutoPipeline, CommandWords, raise_errors
from infra.store.port import Layout, Submission, SubmitResult
from infra.store.redis_store import read_submit_reply, submit_call


class AsyncStore:
    """Submits commands and reads matches. Errors of the server pass through."""

    def __init__(self, client: asyncio.Redis, pipe: AutoPipeline, shape: Layout, cap: int) -> None:
        self._client = client
        self._pipe = pipe
        self._shape = shape
        self._cap = cap

    def lane_of(self, board: int) -> int:
        """Return the lane of a match."""
        return keys.lane_of(self._shard(board), self._shape.lanes)

    async def submit(self, submissions: Sequence[Submission]) -> list[SubmitResult]:
        """Submit commands; return an answer for each."""
        calls = [submit_call(self._shard(new.board), new, self._cap) for new in submissions]
        return [
            read_submit_reply(reply) for reply in await scripts.call_all_async(self._pipe, calls)
        ]

    def snapshot_command(self, board: int) -> CommandWords:
        """Return the command whose reply is a match's snapshot, None if there is none."""
        return ("GET", keys.snapshot(self._shard(board), board))

    async def snapshot(self, board: int) -> bytes | None:
        """Return a match's snapshot; None if there is none."""
        (found,) = raise_errors(await self._pipe.send([self.snapshot_command(board)]))
        return found  # type: ignore[no-any-return]

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

    async def inbox_size(self) -> int:
        """Count the commands in all inboxes."""
        shards = range(self._shape.shards)
        return sum(
            raise_errors(await self._pipe.send([("XLEN", keys.inbox(one)) for one in shards]))
        )

    async def log_ends(self) -> dict[str, str]:
        """Return for each shard's log the id of its last entry, to follow from there."""
        names = [keys.log(shard) for shard in range(self._shape.shards)]
        async with self._client.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.xrevrange(name, count=1)
            found = await pipe.execute()
        return {
            name: last[0][0].decode() if last else "0-0"
            for name, last in zip(names, found, strict=True)
        }

    async def follow(self, marks: dict[str, str], block_ms: int) -> list[tuple[int, int]]:
        """Return board and sequence number of events after `marks`, which are advanced.

        Waits up to `block_ms` for the first.
        """
        # redis-py types neither the argument nor the reply
        streams: Any = marks
        found: Any = await self._client.xread(streams, block=block_ms)
        events = []
        for name, entries in found or []:
            marks[name.decode()] = entries[-1][0].decode()
            for _, fields in entries:
                if b"e" in fields:
                    board, seq = fields[b"e"].split(b":")
                    events.append((int(board), int(seq)))
        return events

    def _shard(self, board: int) -> int:
        return keys.shard_of(board, self._shape.shards)
