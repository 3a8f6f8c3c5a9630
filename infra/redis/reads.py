"""Reads of several modules in one round trip, and in few commands.

A module returns a `Read` in place of its result; `read_all` sends the commands of many in one pipeline.
The strings that they need are read by one command. In a cluster a command has keys of one slot, so there
it is one command a slot.

Structs that are stored as hashes: a field of the hash for each field of the struct, as text.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
import redis
from redis.crc import key_slot

from infra.redis.cluster import in_cluster

Result = TypeVar("Result")
Other = TypeVar("Other")


class Read(NamedTuple, Generic[Result]):
    """Commands that only read, and how their replies are understood."""

    queue: Callable[[Any], object]
    """Adds the commands to a pipeline; redis-py types no part of its pipelines."""
    parse: Callable[[list[Any]], Result]
    """Returns the result from the values of `strings` and the replies to these commands."""
    strings: Sequence[str] = ()
    """Keys of strings. Those of one slot are read at one moment."""


def read_strings(names: Sequence[str], parse: Callable[[list[Any]], Result]) -> Read[Result]:
    """Return the read of strings alone; `parse` gets None for a missing one."""
    return Read(_queue_nothing, parse, names)


def read_nothing(result: Result) -> Read[Result]:
    """Return a read without a command, for a result that is known."""
    return read_strings((), lambda _: result)


def mapped(read: Read[Result], change: Callable[[Result], Other]) -> Read[Other]:
    """Return a read of something else that follows from the result of a read."""
    return Read(read.queue, lambda values: change(read.parse(values)), read.strings)


def _queue_nothing(pipe: object) -> None:
    """Add no command, because a read of strings alone has none of its own."""


def read_all(client: redis.Redis, *reads: Read[Any]) -> list[Any]:
    """Return the result of each read; one round trip for all, none without a command."""
    names = dict.fromkeys(name for read in reads for name in read.strings)
    groups = in_one_command(names, cluster=in_cluster(client))
    pipe: Any
    with client.pipeline(transaction=False) as pipe:
        for group in groups:
            pipe.mget(group)
        ends = []
        for read in reads:
            read.queue(pipe)
            ends.append(len(pipe))
        replies = pipe.execute()
    values: dict[str, bytes | None] = {}
    for group, reply in zip(groups, replies, strict=False):
        values.update(zip(group, reply, strict=True))
    starts = [len(groups), *ends]
    return [
        read.parse([*(values[name] for name in read.strings), *replies[start:end]])
        for read, start, end in zip(reads, starts, ends, strict=False)
    ]


def read_one(client: redis.Redis, read: Read[Result]) -> Result:
    """Return the result of one read."""
    (result,) = read_all(client, read)
    return result  # type: ignore[no-any-return]  # `read_all` can't type results of several types


def streams_in_one_command(client: redis.Redis, streams: Mapping[str, str]) -> list[dict[Any, Any]]:
    """Return streams, each with where to begin, in groups of which each can be read by one XREAD."""
    groups = in_one_command(streams, cluster=in_cluster(client))
    return [{name: streams[name] for name in group} for group in groups]


def in_one_command(names: Iterable[str], *, cluster: bool) -> list[list[str]]:
    """Return keys in groups of which each can be read by one command."""
    groups: dict[int, list[str]] = {}
    for name in names:
        groups.setdefault(key_slot(name.encode()) if cluster else 0, []).append(name)
    return list(groups.values())


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
