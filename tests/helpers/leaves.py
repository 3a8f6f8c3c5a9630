"""Leaves of a shard's log: what they are, and a change of one, which no command of the server makes."""

from typing import Any

import msgspec
from redis import Redis

from infra.redis import keys


class _EventPlace(msgspec.Struct, frozen=True, array_like=True):
    """The beginning of an event; the rest is not decoded. Other leaves begin with a word."""

    schema: int
    match: int
    seq: int


_PLACES = msgspec.msgpack.Decoder(_EventPlace)


def event_place(leaf: bytes) -> tuple[int, int] | None:
    """Return the match and sequence number of an event's leaf; None for any other leaf."""
    try:
        place = _PLACES.decode(leaf)
    except msgspec.MsgspecError:
        return None
    return place.match, place.seq


def replace_leaf(client: Redis, shard: int, index: int, leaf: bytes) -> None:
    """Write the whole log again, with another leaf at that index."""
    name = keys.log(shard)
    entries: Any = client.xrange(name)
    client.delete(name)
    for id_, fields in entries:
        client.xadd(name, {"l": leaf} if id_ == b"%d-1" % index else fields, id_)
