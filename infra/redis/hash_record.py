"""Structs that are stored as hashes: a field of the hash for each field of the struct, as text."""

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

import msgspec
import redis

Record = TypeVar("Record", bound=msgspec.Struct)


class HashRecord(Generic[Record]):
    """The stored form of one kind of struct, whose fields are texts, numbers and booleans."""

    def __init__(self, kind: type[Record]) -> None:
        self._kind = kind

    def fields(self, record: Record, before: Record | None = None) -> dict[str, str]:
        """Return the fields to store; with `before` only those that differ from it."""
        known = {} if before is None else msgspec.structs.asdict(before)
        found = msgspec.structs.asdict(record).items()
        return {name: str(value) for name, value in found if known.get(name) != value or not known}

    def parse(self, found: Mapping[bytes, bytes]) -> Record | None:
        """Return the struct of a hash; None for an empty one. `msgspec.ValidationError` if it is damaged."""
        fields = {name.decode(): value.decode(errors="replace") for name, value in found.items()}
        return msgspec.convert(fields, self._kind, strict=False) if fields else None

    def read_all(self, client: redis.Redis, keys: Sequence[str]) -> list[Record | None]:
        """Return the struct of each key."""
        with client.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.hgetall(key)
            return [self.parse(found) for found in pipe.execute()]

    def write(self, client: redis.Redis, key: str, record: Record, seconds: int) -> None:
        """Store a struct for so many seconds."""
        fields: Any = self.fields(record)
        with client.pipeline(transaction=False) as pipe:
            pipe.hset(key, mapping=fields)
            pipe.expire(key, seconds)
            pipe.execute()
