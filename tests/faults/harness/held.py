"""What the store holds after a run, read past our own reading code as far as that goes."""

from collections.abc import Iterator

import msgspec
from redis import Redis

from domain.match.history import PackedSnapshot
from infra.redis import keys


class Held(msgspec.Struct):
    """Everything of all matches."""

    shards: int
    events: dict[int, list[bytes]]
    snapshots: dict[int, PackedSnapshot]
    outcomes: dict[int, dict[bytes, bytes]]
    locators: dict[int, bytes]
    logs: dict[int, list[tuple[int, bytes]]]
    """Of each shard: index and bytes of each leaf."""
    waiting: int = 0
    """Commands in the inboxes."""


def read(client: Redis) -> Held:
    """Read all of it, as it was at one moment: again if a commit came in between."""
    shards = int(client.hget(keys.LAYOUT, "shards") or 0)
    while True:
        before = _ends(client, shards)
        held = _read(client, shards)
        # every commit adds a leaf
        if _ends(client, shards) == before:
            return held


def _ends(client: Redis, shards: int) -> list[int]:
    """Give the lengths of all logs."""
    return [client.xlen(keys.log(shard)) for shard in range(shards)]


def _read(client: Redis, shards: int) -> Held:
    boards = sorted(_boards(client))
    held = Held(shards, {}, {}, {}, {}, {})
    for board in boards:
        shard = keys.shard_of(board, shards)
        with client.pipeline(transaction=True) as pipe:
            pipe.lrange(keys.events(shard, board), 0, -1)
            pipe.get(keys.snapshot(shard, board))
            pipe.get(keys.moves(shard, board))
            pipe.get(keys.turns(shard, board))
            pipe.hgetall(keys.outcomes(shard, board))
            pipe.get(keys.locator(shard, board))
            events, state, moves, turns, outcomes, locator = pipe.execute()
        held.events[board] = events
        held.outcomes[board] = outcomes
        held.locators[board] = locator or b""
        if state is not None:
            # the byte after the head marks what else there is of the match
            packed = PackedSnapshot(state[:32] + state[33:], moves or b"", turns or b"")
            held.snapshots[board] = packed
    for shard in range(shards):
        held.logs[shard] = list(_log(client, shard))
        held.waiting += client.xlen(keys.inbox(shard))
    return held


def _boards(client: Redis) -> Iterator[int]:
    """Give every board of which there is a key."""
    found = {int(name.split(b":")[2]) for name in client.scan_iter("{s*}:m:*", count=1000)}
    yield from found


def _log(client: Redis, shard: int) -> Iterator[tuple[int, bytes]]:
    for id_, fields in client.xrange(keys.log(shard)):
        yield int(id_.split(b"-")[0]), fields[b"l"]
