"""The logs and inboxes of many shards, read by one command: new leaves, and the news of shards."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from infra.redis import keys

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


def log_streams(starts: Mapping[int, int]) -> dict[Any, Any]:
    """Return the logs of shards for XREAD, each with where to begin."""
    # the entries after `<index>-0` begin with that leaf, the first of all being `0-1`
    return {keys.log(shard): f"{start}-0" for shard, start in starts.items()}


def read_leaves(entries: Any) -> list[tuple[int, bytes]]:
    """Return the leaves of a log's entries, each with its index."""
    return [(int(id_.split(b"-")[0]), fields[b"l"]) for id_, fields in entries]


def read_log_streams(reply: Any, starts: Mapping[int, int]) -> dict[int, list[tuple[int, bytes]]]:
    """Return the leaves in a reply to XREAD of `log_streams`, in the order of the shards."""
    rows = dict(reply or ())
    names = [(shard, keys.log(shard).encode()) for shard in sorted(starts)]
    return {shard: read_leaves(rows[name]) for shard, name in names if name in rows}


def news_streams(shards: Sequence[int], ends: Sequence[int]) -> dict[Any, Any]:
    """Return the streams that `read_news` needs of these shards, for XREAD with COUNT `MOST_NEXT`."""
    inboxes = dict.fromkeys(map(keys.inbox, shards), "0")
    return {**inboxes, **log_streams({shard: ends[shard] for shard in shards})}


def read_news(replies: Sequence[Any], ends: Sequence[int]) -> tuple[list[ShardNews], list[int]]:
    """Return the news by replies to XREAD, and the shards with so many new leaves that the end is unknown."""
    rows = {name: entries for reply in replies for name, entries in reply or ()}
    found, unknown = [], []
    for shard, end in enumerate(ends):
        leaves = rows.get(keys.log(shard).encode(), ())
        if len(leaves) == MOST_NEXT:
            unknown.append(shard)
        last = int(leaves[-1][0].split(b"-")[0]) + 1 if leaves else end
        found.append(ShardNews(keys.inbox(shard).encode() in rows, last))
    return found, unknown
