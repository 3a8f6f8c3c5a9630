"""Which matches can be retired, and figures of those that were, for the doctor and the retire job."""

from typing import Any, NamedTuple

import redis

from infra.mail.hooks import HookQueue
from infra.mail.progress import MailerProgress
from infra.mail.push import PushQueue
from infra.projections.buckets import SPECS
from infra.projections.generations import Generations
from infra.redis import keys
from infra.store.watermarks import read_published_sizes


def retirement_limits(client: redis.Redis, shards: int, *, mail: bool) -> list[int]:
    """Return for each shard below which index its leaves are published and read.

    The readers are the projections, and the mailer if there is `mail`, push or hooks. One that has not begun has read
    nothing.
    """
    nothing = (0,) * shards
    published = read_published_sizes(client, shards)
    # with a fault the published log may have another history
    limits = [tuple(0 if one.fault else one.size for one in published)]
    for spec in SPECS:
        generations = Generations(client, spec)
        live = generations.live()
        found = generations.checkpoints(live[1]) if live else [None]
        limits += [nothing if one is None else one.counts for one in found]
    if mail:
        limits.append(MailerProgress(client).cursor() or nothing)
    limits += [read for one in (PushQueue, HookQueue) if (read := one(client).cursor())]
    return [min(counts) for counts in zip(*limits, strict=True)]


class ArchiveFigures(NamedTuple):
    """How many matches are in the archive, and how many should be."""

    archived: int
    """Matches in the archive."""
    ended: int
    """Matches that are over, and in Redis."""
    late: int
    """Those of them that should be in the archive already."""
    oldest: int | None
    """When the first of them ended, ms; None if there is none."""


def archive_figures(client: redis.Redis, shards: int, until: int) -> ArchiveFigures:
    """Return the figures; matches that ended until then, in ms, should be in the archive."""
    pipe: Any  # redis-py types no part of its pipelines
    with client.pipeline(transaction=False) as pipe:
        for shard in range(shards):
            pipe.bitcount(keys.archived(shard))
            pipe.zcard(keys.ended(shard))
            pipe.zcount(keys.ended(shard), "-inf", until)
            pipe.zrange(keys.ended(shard), 0, 0, withscores=True)
        found = pipe.execute()
    first = [int(rows[0][1]) for rows in found[3::4] if rows and rows[0][1] <= until]
    return ArchiveFigures(
        sum(found[0::4]), sum(found[1::4]), sum(found[2::4]), min(first, default=None)
    )
