"""What the store holds after a run, read past our own reading code as far as that goes.

Leaves that were trimmed are read from the files of the published log, and matches in the archive as
the server itself reads them.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec
from redis import Redis

from domain.match.history import PackedSnapshot
from infra.archive.archive import Archive
from infra.archive.objects import open_archive
from infra.archive.store import StoreWithArchive
from infra.durability.durability import Mode
from infra.log.published_log import PublishedLogs
from infra.redis import keys
from infra.redis.cluster import servers_of
from infra.settings.settings import Settings
from infra.store import locators

WIDTH = 256
"""Leaves of a bundle."""


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


def read(client: Redis, data: Path | None = None) -> Held:
    """Read all of it, as it was at one moment: again if a commit came in between.

    `data` is the data directory, if the log may be trimmed or matches may be in the archive.
    """
    shards = int(client.hget(keys.LAYOUT, "shards") or 0)
    while True:
        before = _ends(client, shards)
        held = _read(client, shards)
        if data is not None:
            _add_published(held, client, data)
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
        read_board(client, held, board)
    for shard in range(shards):
        held.logs[shard] = list(_log(client, shard))
        held.waiting += client.xlen(keys.inbox(shard))
    return held


def read_board(client: Redis, held: Held, board: int) -> None:
    """Add what Redis has of a match."""
    shard = keys.shard_of(board, held.shards)
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


def _boards(client: Redis) -> Iterator[int]:
    """Give every board of which there is a key."""
    for server in servers_of(client):
        names = server.scan_iter("{s*}:m:*", count=1000)
        yield from {int(name.split(b":")[2]) for name in names}


def _log(client: Redis, shard: int) -> Iterator[tuple[int, bytes]]:
    for id_, fields in client.xrange(keys.log(shard)):
        yield int(id_.split(b"-")[0]), fields[b"l"]


def store_with_archive(client: Redis, data: Path) -> StoreWithArchive:
    """Return a store that reads the archive of this data directory too, and has read nothing yet."""
    shards = int(client.hget(keys.LAYOUT, "shards") or 0)
    settings = Settings(data=data)
    archive = Archive(lambda: open_archive(settings), lambda: shards)
    return StoreWithArchive(client, Mode.FSYNC, archive, open_logs=lambda: PublishedLogs(settings))


def archived_boards(client: Redis, shards: int) -> list[int]:
    """Return the boards that are marked as in the archive."""
    found = []
    for shard in range(shards):
        bits = client.get(keys.archived(shard)) or b""
        found += [
            place * shards + shard
            for place in range(8 * len(bits))
            if bits[place // 8] & 0x80 >> place % 8
        ]
    return found


def unpack(data: bytes) -> list[bytes]:
    """Return the leaves of a bundle; one that is cut off ends with what there is."""
    found, at = [], 0
    while at < len(data):
        length = int.from_bytes(data[at : at + 2])
        found.append(data[at + 2 : at + 2 + length])
        at += 2 + length
    return found


def _add_published(held: Held, client: Redis, data: Path) -> None:
    for shard, log in held.logs.items():
        trimmed = log[0][0] if log else 0
        bundles = data / "log" / f"s{shard:02}" / "tile" / "entries"
        before: list[tuple[int, bytes]] = []
        for number in range(-(-trimmed // WIDTH)):
            leaves = unpack((bundles / f"{number:03}").read_bytes())
            before += enumerate(leaves, number * WIDTH)
        held.logs[shard] = [*before[:trimmed], *log]
    store = store_with_archive(client, data)
    for board in archived_boards(client, held.shards):
        if held.events.get(board):
            continue  # Redis has it still
        held.events[board] = store.events(board)
        held.outcomes[board] = dict(store.outcomes(board))
        held.locators[board] = locators.encode(store.leaf_indexes(board))
        (snapshot,) = store.snapshots([board])
        if snapshot is not None:
            held.snapshots[board] = snapshot
