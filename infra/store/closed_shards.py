"""Closed shards: their logs lack leaves that are published, or have others, so they take no command.

| field of `{sNN}:closed` | what |
|---|---|
| `reason` | why, in a sentence |
| `kind` | `rolled-back`: the missing leaves can be restored; `forked`: only an operator can decide |

Matches of a closed shard can be read. `submit.lua` refuses their commands, and drains leave them alone.
"""

import logging
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

import msgspec
import redis

from infra.redis import keys, scripts
from infra.redis.cluster import in_cluster
from infra.redis.reads import HashRecord, in_one_command

logger = logging.getLogger(__name__)


class ClosedKind(StrEnum):
    """The fault of a closed shard's log."""

    ROLLED_BACK = "rolled-back"
    """It lacks published leaves."""
    FORKED = "forked"
    """It has other leaves than were published: it is another history."""


class ClosedShard(msgspec.Struct, frozen=True):
    """Why a shard is closed."""

    kind: ClosedKind
    reason: str


_CLOSED: Final = HashRecord(ClosedShard)


class ClosedShards:
    """Closes and opens shards; `data` is a client of the matches' Redis."""

    def __init__(self, data: redis.Redis) -> None:
        self._data = data

    def close(self, shard: int, why: ClosedShard) -> None:
        """Close a shard, and log an alarm; one that is forked stays so."""
        before = self.read([shard]).get(shard)
        if before and before.kind in (why.kind, ClosedKind.FORKED):
            return
        scripts.set_fields(self._data, keys.closed(shard), _CLOSED.fields(why))
        logger.error("ALARM: %s", why.reason)

    def open(self, shard: int) -> None:
        """Open a shard."""
        if self._data.delete(keys.closed(shard)):
            logger.warning("shard %d takes commands again", shard)

    def read(self, shards: Sequence[int]) -> Mapping[int, ClosedShard]:
        """Return those of these shards that are closed; mostly there is none, and one command shows it."""
        names = [keys.closed(shard) for shard in shards]
        groups = in_one_command(names, cluster=in_cluster(self._data))
        with self._data.pipeline(transaction=False) as pipe:
            for group in groups:
                pipe.exists(*group)
            if not any(pipe.execute()):
                return {}
        found = _CLOSED.read_all(self._data, names)
        return {shard: why for shard, why in zip(shards, found, strict=True) if why}


def rolled_back(shard: int, published: int, end: int | None) -> ClosedShard:
    """Return that a log lacks leaves at its end, from `end` on if that is known."""
    where = "earlier" if end is None else f"at leaf {end}"
    return ClosedShard(
        ClosedKind.ROLLED_BACK,
        f"shard {shard} is closed: {published} leaves are published, and the data end "
        f"{where}, because they were rolled back; no command is taken there until the missing "
        "leaves are restored from the published log",
    )


def forked(shard: int, index: int) -> ClosedShard:
    """Return that a log has another leaf than the published one."""
    return ClosedShard(
        ClosedKind.FORKED,
        f"shard {shard} is closed: leaf {index} in the data is not the one that is published, so the data "
        "are another history; nothing there is repaired or signed until you decide: "
        f"`matchpost log discard {shard}` takes the published log for right; else put back the right data, "
        "or the object store that belongs to them",
    )
