"""The numbers of boards: each start gets one, and a repeated start gets the same.

With `Numbering.SERVER` one counter numbers all boards. With `Numbering.SHARD` the command id chooses the
shard, each shard counts its own boards, and a board is `count * shards + shard`: so neither the counters
nor the ids are in one slot of a cluster.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import redis

from domain.records import CommandId
from infra.redis import keys, scripts
from infra.store.layout import Layout, Numbering

IDS_KEPT: int = 1_000_000
"""Starts whose board numbers are remembered, so that a repetition gets the same."""

_TOGETHER: Final = 500
"""Ids that are read at once."""


class BoardNumbers:
    """The board numbers of a layout. Errors of the server pass through."""

    def __init__(self, client: redis.Redis, layout: Layout) -> None:
        self._client = client
        self._layout = layout

    def allocate_all(self, commands: Sequence[CommandId]) -> list[int]:
        """Return the board numbers for the starts with these ids, in one round trip."""
        return [
            int(one)
            for one in scripts.call_all(self._client, [self._call(one) for one in commands])
        ]

    def find(self, commands: Sequence[CommandId]) -> list[int | None]:
        """Return the board numbers that `allocate_all` has returned for these ids, None for others."""
        with self._client.pipeline(transaction=False) as pipe:
            for command in commands:
                pipe.get(self._allocated(command))
            return [None if found is None else int(found) for found in pipe.execute()]

    def restore_call(self, command: CommandId, board: int) -> scripts.Call:
        """Return the call that restores the number of a start: a repetition gets it again."""
        _, names, _ = self._call(command)
        shared = self._layout.numbering is Numbering.SERVER
        count = board if shared else board // self._layout.shards
        return scripts.RESTORE_BOARD, names, [command, board, count]

    def highest_of(self, shard: int) -> int:
        """Return the highest number that a board of a shard can have; 0 before the first."""
        if self._layout.numbering is Numbering.SERVER:
            highest = self.highest()
            return max(0, highest - (highest - shard) % self._layout.shards)
        count = int(self._client.get(keys.shard_boards(shard)) or 0)
        return count * self._layout.shards + shard if count else 0

    def highest(self) -> int:
        """Return the highest number that a board can have; 0 before the first."""
        if self._layout.numbering is Numbering.SERVER:
            return int(self._client.get(keys.BOARDS) or 0)
        shards = self._layout.shards
        with self._client.pipeline(transaction=False) as pipe:
            for shard in range(shards):
                pipe.get(keys.shard_boards(shard))
            counts = pipe.execute()
        used = (int(count) * shards + shard for shard, count in enumerate(counts) if count)
        return max(used, default=0)

    def _call(self, command: CommandId) -> scripts.Call:
        shards = self._layout.shards
        if self._layout.numbering is Numbering.SERVER:
            names = [keys.BOARDS, keys.allocated(command), keys.ALLOCATED_IDS]
            return scripts.ALLOCATE_BOARD, names, [command, IDS_KEPT, keys.allocated(b""), 1, 0]
        shard = _shard_of(command, shards)
        names = [
            keys.shard_boards(shard),
            keys.shard_allocated(shard, command),
            keys.shard_allocated_ids(shard),
        ]
        args: list[scripts.Arg] = [command, -(-IDS_KEPT // shards)]
        return (
            scripts.ALLOCATE_BOARD,
            names,
            [*args, keys.shard_allocated(shard, b""), shards, shard],
        )

    def _allocated(self, command: CommandId) -> str:
        if self._layout.numbering is Numbering.SERVER:
            return keys.allocated(command)
        return keys.shard_allocated(_shard_of(command, self._layout.shards), command)


_OF_NUMBERS: Final = re.compile(
    rb"\{boards\}(:ids|:id:[0-9a-f]+)?|\{s[0-9]+\.[0-9a-z]+\}:(boards|ids|given:[0-9a-f]+)"
)


def is_of_numbers(key: bytes) -> bool:
    """Return whether a key is one of those by which boards are numbered."""
    return _OF_NUMBERS.fullmatch(key) is not None


def numbered_by_shard(client: redis.Redis, shards: int) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the commands by which each shard goes on from where one counter is, some at a time.

    Each shard's next board has a higher number than all so far, and a repeated start gets the number that it got.
    """
    highest = int(client.get(keys.BOARDS) or 0)
    count = -(-highest // shards)
    yield [("SET", keys.shard_boards(shard), count) for shard in range(shards if count else 0)]
    for first in range(0, client.llen(keys.ALLOCATED_IDS), _TOGETHER):
        ids: Any = client.lrange(keys.ALLOCATED_IDS, first, first + _TOGETHER - 1)
        with client.pipeline(transaction=False) as pipe:
            for id_ in ids:
                pipe.get(keys.allocated(id_))
            boards = pipe.execute()
        found = [(id_, board) for id_, board in zip(ids, boards, strict=True) if board is not None]
        yield [
            command
            for id_, board in found
            for shard in [_shard_of(id_, shards)]
            for command in (
                ("SET", keys.shard_allocated(shard, id_), board),
                ("RPUSH", keys.shard_allocated_ids(shard), id_),
            )
        ]


def _shard_of(command: CommandId, shards: int) -> int:
    return int.from_bytes(command) % shards
