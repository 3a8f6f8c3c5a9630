"""Trims the logs in Redis: leaves that are published and read by all are there no longer.

Whatever reads earlier leaves, as a rebuild does, gets them from the published log.
"""

from collections.abc import Sequence
from typing import Final

import redis

from infra.log.tiles import WIDTH
from infra.mail.progress import MailerProgress
from infra.mail.push_queue import PushQueue
from infra.projections.generations import Generations
from infra.projections.specs import SPECS
from infra.redis import keys
from infra.store.published_sizes import read_published_sizes

KEPT: Final = 10_000
"""Leaves of a shard that stay, so that what is read often is near, and small servers trim nothing."""


MOST_WAITING: Final = 200_000
"""Leaves of a shard that wait for slow readers; a slower one reads the published log."""


def trim(client: redis.Redis, shards: int, kept: int = KEPT) -> list[int]:
    """Trim the logs of all shards, and return below which leaf of each nothing is kept.

    The last published bundle stays, with which the publisher compares before it goes on. Of a shard whose
    data contradict what is published, everything stays.
    """
    limits = [
        0
        if one.fault
        else min(
            one.size // WIDTH * WIDTH - max(kept, WIDTH), max(position, one.size - MOST_WAITING)
        )
        for one, position in zip(
            read_published_sizes(client, shards), _positions(client, shards), strict=True
        )
    ]
    with client.pipeline(transaction=False) as pipe:
        for shard, limit in enumerate(limits):
            if limit > 0:
                pipe.xtrim(keys.log(shard), minid=f"{limit}-0", approximate=False)
        pipe.execute()
    return [max(0, limit) for limit in limits]


def _positions(client: redis.Redis, shards: int) -> Sequence[int]:
    """Return for each shard how far all projections and the mailer have read, for mail and for push."""
    found = []
    for spec in SPECS:
        generations = Generations(client, spec)
        live = generations.live()
        checkpoints = generations.checkpoints(live[1]) if live else []
        found += [one.counts if one else (0,) * shards for one in checkpoints]
        if live is None:
            # the projection worker is about to read everything
            found.append((0,) * shards)
    for follower in (MailerProgress(client), PushQueue(client)):
        cursor = follower.cursor()
        if cursor is not None:
            found.append(cursor)
    return [min(counts) for counts in zip(*found, strict=True)]
