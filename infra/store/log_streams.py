"""The logs and inboxes of many shards, read in one round trip: new leaves, and the news of shards."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import redis

from domain.match.history import is_move
from infra.redis import keys
from infra.redis.reads import streams_in_one_command

MOST_NEXT: Final = 8
"""Leaves of a shard that are returned by a look whether there are some."""

NextLeaves = Mapping[int, Sequence[tuple[int, bytes]]]
"""Leaves by shard, each with its index; shards without any are left out."""


class ShardNews(msgspec.Struct, frozen=True):
    """The news of a shard."""

    waiting: bool
    """Whether commands wait in its inbox."""
    end: int
    """Index of the next leaf of its log; no less than the one of the last look."""
    only_moves: bool
    """Whether its new leaves are few, and all of them moves."""


def read_streams(client: redis.Redis, streams: Mapping[str, str], count: int) -> dict[bytes, Any]:
    """Return up to `count` entries of each stream, by its name; streams without any are left out."""
    with client.pipeline(transaction=False) as pipe:
        for group in streams_in_one_command(client, streams):
            pipe.xread(group, count=count)
        return {name: entries for reply in pipe.execute() for name, entries in reply or ()}


def log_streams(starts: Mapping[int, int]) -> dict[str, str]:
    """Return the logs of shards for XREAD, each with where to begin."""
    # the entries after `<index>-0` begin with that leaf, the first of all being `0-1`
    return {keys.log(shard): f"{start}-0" for shard, start in starts.items()}


def read_leaves(entries: Any) -> list[tuple[int, bytes]]:
    """Return the leaves of a log's entries, each with its index."""
    return [(int(id_.split(b"-")[0]), fields[b"l"]) for id_, fields in entries]


def read_log_streams(
    rows: Mapping[bytes, Any], starts: Mapping[int, int]
) -> dict[int, list[tuple[int, bytes]]]:
    """Return the leaves in the entries of `log_streams`, in the order of the shards."""
    names = [(shard, keys.log(shard).encode()) for shard in sorted(starts)]
    return {shard: read_leaves(rows[name]) for shard, name in names if name in rows}


def news_streams(ends: Sequence[int]) -> dict[str, str]:
    """Return the streams that `read_news` needs, for XREAD with COUNT `MOST_NEXT`."""
    inboxes = dict.fromkeys(map(keys.inbox, range(len(ends))), "0")
    return {**inboxes, **log_streams(dict(enumerate(ends)))}


def read_news(replies: Sequence[Any], ends: Sequence[int]) -> tuple[list[ShardNews], list[int]]:
    """Return the news by replies to XREAD, and the shards with so many new leaves that the end is unknown."""
    rows = {name: entries for reply in replies for name, entries in reply or ()}
    found, unknown = [], []
    for shard, end in enumerate(ends):
        leaves = rows.get(keys.log(shard).encode(), ())
        if len(leaves) == MOST_NEXT:
            unknown.append(shard)
        last = int(leaves[-1][0].split(b"-")[0]) + 1 if leaves else end
        few = len(leaves) < MOST_NEXT
        only_moves = few and all(is_move(leaf) for _, leaf in read_leaves(leaves))
        found.append(ShardNews(keys.inbox(shard).encode() in rows, last, only_moves))
    return found, unknown
