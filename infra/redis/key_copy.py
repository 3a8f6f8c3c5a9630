"""The copy of all keys from one server, or cluster, to another, whatever their versions; and the comparison of both.

Each key is read and written by commands of its type, a part at a time: a payload of DUMP is read by servers of the same
version or a later one only, and the log of a shard can be larger than any reply may be. The source must not change
meanwhile. A key that expires is gone at both when its time has come.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from redis import Redis

from infra.redis.clients import time_ms
from infra.redis.cluster import servers_of

PART: Final = 500
"""Elements that are read and written at once."""

_BYTES: Final = 256 << 10
"""The same for bytes of a string."""

_KEYS: Final = 200
"""Keys that are read at once."""

_SOON_MS: Final = 60_000
"""A key that expires sooner is not compared: one of the servers may have let go of it."""

Key: TypeAlias = bytes
_Words: TypeAlias = Sequence[Any]
_Place: TypeAlias = Any
"""How far a key was read; `_BEGIN` at first."""

_BEGIN: Final = 0


class KeyCopyError(Exception):
    """A key can't be copied; the message is a sentence for an operator."""


class _Kind(NamedTuple):
    """How the keys of one type are read and written."""

    ask: Callable[[Any, Key, _Place], object]
    """Adds the command that reads the next part to a pipeline."""
    write: Callable[[Key, _Place, Any], list[_Words]]
    """Return the commands that write the part that a reply has."""
    after: Callable[[_Place, Any], _Place]
    """Return the place after that part; None at the end."""
    size: str = ""
    """The command for the number of elements, of a type that has no order."""
    find: Callable[[Any, Key, Any], object] | None = None
    """Adds the command that looks for the elements of a part; of a type that has no order."""
    found: Callable[[Any, Any], bool] | None = None
    """Return whether a part and the reply to `find` agree."""


def _after_part(size: int) -> Callable[[_Place, Any], _Place]:
    """Return the `after` of a type whose places are numbers, read in parts of a size."""
    return lambda place, reply: place + size if len(reply) == size else None


def _after_scan(_: _Place, reply: Any) -> _Place:
    return int(reply[0]) or None


def _flat(pairs: Iterable[Iterable[Any]]) -> list[Any]:
    return [word for pair in pairs for word in pair]


_STREAM_END: Final = "end"


def _ask_stream(pipe: Any, key: Key, place: _Place) -> object:
    if place == _STREAM_END:
        return pipe.xinfo_stream(key)
    return pipe.xrange(key, min="-" if place == _BEGIN else b"(" + place, count=PART)


def _write_stream(key: Key, place: _Place, reply: Any) -> list[_Words]:
    """Return the commands for some entries, or for what a stream knows of those that it had."""
    if place != _STREAM_END:
        return [("XADD", key, id_, *_flat(fields.items())) for id_, fields in reply]
    # a stream without entries is there by a group alone
    made = [("XGROUP CREATE", key, "-", "$", "MKSTREAM"), ("XGROUP DESTROY", key, "-")]
    end = ("XSETID", key, reply["last-generated-id"], "ENTRIESADDED", reply["entries-added"])
    return [*made, (*end, "MAXDELETEDID", reply["max-deleted-entry-id"])]


def _after_stream(place: _Place, reply: Any) -> _Place:
    if place == _STREAM_END:
        return None
    return reply[-1][0] if len(reply) == PART else _STREAM_END


_KINDS: Final[Mapping[str, _Kind]] = {
    "string": _Kind(
        lambda pipe, key, at: pipe.getrange(key, at, at + _BYTES - 1),
        lambda key, _, reply: [("APPEND", key, reply)],
        _after_part(_BYTES),
    ),
    "list": _Kind(
        lambda pipe, key, at: pipe.lrange(key, at, at + PART - 1),
        lambda key, _, reply: [("RPUSH", key, *reply)] if reply else [],
        _after_part(PART),
    ),
    "zset": _Kind(
        lambda pipe, key, at: pipe.zrange(key, at, at + PART - 1, withscores=True),
        lambda key, _, reply: (
            [("ZADD", key, *_flat((repr(score), member) for member, score in reply))]
            if reply
            else []
        ),
        _after_part(PART),
    ),
    "hash": _Kind(
        lambda pipe, key, at: pipe.hscan(key, at, count=PART),
        lambda key, _, reply: [("HSET", key, *_flat(reply[1].items()))] if reply[1] else [],
        _after_scan,
        "HLEN",
        lambda pipe, key, reply: pipe.hmget(key, [*reply[1]] or [b""]),
        lambda reply, found: [*reply[1].values()] == (found if reply[1] else []),
    ),
    "set": _Kind(
        lambda pipe, key, at: pipe.sscan(key, at, count=PART),
        lambda key, _, reply: [("SADD", key, *reply[1])] if reply[1] else [],
        _after_scan,
        "SCARD",
        lambda pipe, key, reply: pipe.smismember(key, [*reply[1]] or [b""]),
        lambda reply, found: all(found) if reply[1] else True,
    ),
    "stream": _Kind(_ask_stream, _write_stream, _after_stream),
}


class _Reading(NamedTuple):
    """A key that is being read."""

    key: Key
    kind: _Kind
    expires: int
    """When, in ms since 1970; -1 for never."""
    place: _Place = _BEGIN


def all_keys(client: Redis) -> Iterator[list[Key]]:
    """Yield the names of all keys, some at a time, of each node of a cluster; a name may come twice."""
    for node in servers_of(client):
        cursor: Any = None
        while cursor != 0:
            cursor, found = node.scan(cursor or 0, count=_KEYS)
            names: list[Any] = [*dict.fromkeys(found)]
            yield names


def count_keys(client: Redis) -> int:
    """Return the number of keys of a server, or of all nodes of a cluster."""
    return sum(int(node.dbsize()) for node in servers_of(client))


class KeyCopier:
    """Copies keys from one server to another.

    `write` carries out commands at the target, and returns when they are as durable as they have to be. `tick` is called
    with the number of keys that are done, often.
    """

    def __init__(
        self,
        source: Redis,
        write: Callable[[Sequence[_Words]], None],
        tick: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._source = source
        self._write = write
        self._tick = tick

    def run(self, is_left_out: Callable[[Key], bool]) -> int:
        """Copy all keys but those left out, and return their number; `KeyCopyError` for one of an unknown type."""
        done = 0
        for names in all_keys(self._source):
            done += self._copy([name for name in names if not is_left_out(name)])
            self._tick(done)
        return done

    def _copy(self, names: Sequence[Key]) -> int:
        readings = _begin(self._source, names)
        number = len(readings)
        while readings:
            commands: list[_Words] = []
            rest: list[_Reading] = []
            for one, reply in zip(readings, _ask(self._source, readings), strict=True):
                if one.place == _BEGIN:  # a walk may meet a key twice
                    commands.append(("DEL", one.key))
                commands += one.kind.write(one.key, one.place, reply)
                after = one.kind.after(one.place, reply)
                if after is not None:
                    rest.append(one._replace(place=after))
                elif one.expires >= 0:
                    commands.append(("PEXPIREAT", one.key, one.expires))
            self._write(commands)
            readings = rest
        return number


def differing_keys(
    source: Redis,
    target: Redis,
    is_left_out: Callable[[Key], bool],
    tick: Callable[[int], None] = lambda _: None,
) -> Iterator[Key]:
    """Yield the keys of `source` that `target` lacks, or has with another value or another end."""
    done = 0
    for names in all_keys(source):
        chosen = [name for name in names if not is_left_out(name)]
        yield from _differing(source, target, chosen)
        done += len(chosen)
        tick(done)


def missing_keys(client: Redis, other: Redis, is_left_out: Callable[[Key], bool]) -> Iterator[Key]:
    """Yield the keys of `client` that `other` lacks."""
    for names in all_keys(client):
        chosen = [name for name in names if not is_left_out(name)]
        there = {one.key for one in _begin(other, chosen)}
        for one in _lasting(client, [name for name in chosen if name not in there]):
            yield one.key


def _lasting(client: Redis, names: Sequence[Key]) -> list[_Reading]:
    """Return the readings of the keys that are there, and do not end soon."""
    found = _begin(client, names)
    soon = time_ms(client) + _SOON_MS if found else 0
    return [one for one in found if one.expires < 0 or one.expires > soon]


def _differing(source: Redis, target: Redis, names: Sequence[Key]) -> Iterator[Key]:
    wanted = _lasting(source, names)
    there = {one.key: one for one in _begin(target, [one.key for one in wanted])}
    readings: list[_Reading] = []
    for one in wanted:
        if there.get(one.key) == one:
            readings.append(one)
        else:
            yield one.key
    sized = [one for one in readings if one.kind.size]
    for one, same in zip(sized, _sizes_agree(source, target, sized), strict=True):
        if not same:
            yield one.key
    while readings:
        rest: list[_Reading] = []
        for one, reply, other in _parts(source, target, readings):
            if not _agree(one, reply, other):
                yield one.key
            elif (after := one.kind.after(one.place, reply)) is not None:
                rest.append(one._replace(place=after))
        readings = rest


def _parts(
    source: Redis, target: Redis, readings: Sequence[_Reading]
) -> Iterator[tuple[_Reading, Any, Any]]:
    """Yield for each key the next part of `source`, and what `target` has of it."""
    replies = _ask(source, readings)
    with target.pipeline(transaction=False) as pipe:
        for one, reply in zip(readings, replies, strict=True):
            if one.kind.find is None:
                one.kind.ask(pipe, one.key, one.place)
            else:
                one.kind.find(pipe, one.key, reply)
        yield from zip(readings, replies, pipe.execute(), strict=True)


def _agree(one: _Reading, reply: Any, other: Any) -> bool:
    if one.kind.found is not None:
        return one.kind.found(reply, other)
    if one.place == _STREAM_END:
        kept = ("length", "last-generated-id", "entries-added", "max-deleted-entry-id")
        return all(reply[name] == other[name] for name in kept)
    return bool(reply == other)


def _sizes_agree(source: Redis, target: Redis, readings: Sequence[_Reading]) -> list[bool]:
    """Return for each key, of a type without an order, whether both have as many elements."""
    sizes: list[list[Any]] = []
    both: tuple[Any, Any] = (source, target)
    for client in both:
        with client.pipeline(transaction=False) as pipe:
            for one in readings:
                pipe.execute_command(one.kind.size, one.key)
            sizes.append(pipe.execute())
    return [here == there for here, there in zip(*sizes, strict=True)]


def _begin(client: Any, names: Sequence[Key]) -> list[_Reading]:
    """Return the readings of the keys that are there."""
    with client.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.type(name)
            pipe.pexpiretime(name)
        replies = pipe.execute()
    found = []
    for name, kind, expires in zip(names, replies[::2], replies[1::2], strict=True):
        word = kind.decode()
        if word in _KINDS:
            found.append(_Reading(name, _KINDS[word], int(expires)))
        elif word != "none":  # it has expired since
            raise KeyCopyError(
                f"the key {name.decode(errors='replace')!r} is of the type {word}, which this program never writes"
            )
    return found


def _ask(client: Redis, readings: Sequence[_Reading]) -> list[Any]:
    with client.pipeline(transaction=False) as pipe:
        for one in readings:
            one.kind.ask(pipe, one.key, one.place)
        found: list[Any] = pipe.execute()
    return found
