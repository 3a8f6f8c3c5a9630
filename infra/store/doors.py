"""The part of the store that a door in an event loop needs, on Redis or Valkey.

The same scripts and keys as `infra.store.server`; the guarantees are those of `infra.store.port`.
"""

from collections.abc import Sequence

from redis import asyncio

from infra import keys, scripts
from infra.store.port import Shape, Submission, Submitted
from infra.store.server import submit_call, submitted


class DoorStore:
    """Hands commands in and reads matches. Errors of the server pass through."""

    def __init__(self, client: asyncio.Redis, shape: Shape, cap: int) -> None:
        self._client = client
        self._shape = shape
        self._cap = cap

    def lane_of(self, board: int) -> int:
        """Give the lane that works a match's commands."""
        return keys.lane_of(self._shard(board), self._shape.lanes)

    async def submit(self, submissions: Sequence[Submission]) -> list[Submitted]:
        """Hand commands in, each with its own answer."""
        calls = [submit_call(self._shard(new.board), new, self._cap) for new in submissions]
        return [submitted(reply) for reply in await scripts.call_all_async(self._client, calls)]

    async def snapshots(self, boards: Sequence[int]) -> list[bytes | None]:
        """Give the snapshots, None where there is no match."""
        async with self._client.pipeline(transaction=False) as pipe:
            for board in boards:
                pipe.get(keys.snapshot(self._shard(board), board))
            return list(await pipe.execute())

    async def outcomes(self, wanted: Sequence[tuple[int, bytes]]) -> list[bytes | None]:
        """Give stored outcomes, each by its match and command id."""
        async with self._client.pipeline(transaction=False) as pipe:
            for board, command in wanted:
                pipe.hget(keys.outcomes(self._shard(board), board), command)
            return list(await pipe.execute())

    def _shard(self, board: int) -> int:
        return keys.shard_of(board, self._shape.shards)
