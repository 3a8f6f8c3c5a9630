"""Changing a leaf of a shard's log, which no command of the server does."""

from typing import Any

from redis import Redis

from infra.redis import keys


def replace_leaf(client: Redis, shard: int, index: int, leaf: bytes) -> None:
    """Write the whole log again, with another leaf at that index."""
    name = keys.log(shard)
    entries: Any = client.xrange(name)
    client.delete(name)
    for id_, fields in entries:
        client.xadd(name, {"l": leaf} if id_ == b"%d-1" % index else fields, id_)
