"""A server's data of format 1, as version 0.2.0 left them: `tests/golden/format-1.json`.

It has eight matches in four shards: with times, of three players, drawn by chance, refused moves, an offer, a
draft, conditional moves, chat, a command that waits. Each row is key, type, value and ms to live (0: no end); bytes
are in Base64.
"""

import json
from base64 import b64decode
from pathlib import Path
from typing import Any, Final

from redis import Redis

SAMPLE: Final = Path(__file__).parents[1] / "golden" / "format-1.json"

BOARDS: Final = range(1, 9)


def restore(client: Redis) -> None:
    """Write the sample to an empty server."""
    for key, kind, value, ttl in json.loads(SAMPLE.read_text()):
        _write(client, key, kind, value)
        if ttl:
            client.pexpire(key, ttl)


def _write(client: Redis, key: str, kind: str, value: Any) -> None:
    match kind:
        case "string":
            client.set(key, b64decode(value))
        case "list":
            client.rpush(key, *map(b64decode, value))
        case "set":
            client.sadd(key, *map(b64decode, value))
        case "hash":
            client.hset(key, mapping=_fields(value))
        case "zset":
            client.zadd(key, {b64decode(member): score for member, score in value})
        case "stream":
            last, entries = value
            for id_, fields in entries:
                client.xadd(key, _fields(fields), id=id_)
            if not entries:
                client.xadd(key, {"x": ""}, id=last)
                client.xdel(key, last)
        case other:
            raise AssertionError(other)


def _fields(pairs: Any) -> Any:
    return {b64decode(field): b64decode(value) for field, value in pairs}
