"""Changes by chance of a key in Redis, in the ways of its type."""

import random
from collections.abc import Callable
from typing import Any

import msgspec

from infra.store.outcomes import parse
from tests.helpers.server_copy import Dump


class KeyChanges:
    """Changes keys of a server; `before` has the earlier values to which a key may be rolled back."""

    def __init__(
        self, client: Any, now: Dump, before: Dump, names: list[tuple[str, bytes]]
    ) -> None:
        self._client = client
        self._now = now
        self._before = before
        self._names = names

    def change(self, name: bytes, kind: str, chance: random.Random) -> tuple[str, str]:
        """Change a key in one of the ways of its type; an empty name if this one says nothing."""
        of_type: dict[bytes, list[Callable[..., str]]] = {
            b"string": [self._edit_string, self._cut_string, self._longer_string],
            b"list": [self._edit_list, self._drop_list, self._swap_list, self._insert_list],
            b"hash": [self._edit_hash, self._drop_hash, self._swap_hash],
            b"zset": [self._edit_set, self._drop_set, self._insert_set],
            b"set": [self._drop_member],
            b"stream": [self._edit_stream, self._drop_stream, self._cut_stream],
        }
        ways: list[Callable[..., str]] = [*of_type[self._client.type(name)], self._drop]
        ways += [self._swap_keys, self._other_type]
        if name in self._before and self._before[name][1] != self._now[name][1]:
            ways += [self._roll_back] * 2
        way = chance.choice(ways)
        if kind == "list of userids" and way == self._insert_set:
            return "", ""  # any reader of the list removes it
        place = way(name, kind, chance)
        how = way.__name__.strip("_").replace("_", " ")
        return (how, place) if place else ("", "")

    # strings

    def _edit_string(self, name: bytes, _kind: str, chance: random.Random) -> str:
        data = self._client.get(name)
        if not data:
            return ""
        place = chance.randrange(len(data))
        if data.isdigit():
            self._client.set(name, int(data) - chance.randint(1, int(data)))
            return " to a lower number"
        self._client.set(name, other_byte(data, place, chance))
        return f" at byte {place}"

    def _cut_string(self, name: bytes, _kind: str, chance: random.Random) -> str:
        data = self._client.get(name)
        if not data or data.isdigit():
            return ""
        self._client.set(name, data[: chance.randrange(len(data))])
        return " cut"

    def _longer_string(self, name: bytes, _kind: str, chance: random.Random) -> str:
        data = self._client.get(name)
        if data is None or data.isdigit():
            return ""
        more = bytes([chance.randrange(1, 256)])
        self._client.set(name, data + more)
        return " with a byte more"

    # lists

    def _edit_list(self, name: bytes, _kind: str, chance: random.Random) -> str:
        place = chance.randrange(self._client.llen(name))
        data = self._client.lindex(name, place)
        self._client.lset(name, place, other_byte(data, chance.randrange(len(data)), chance))
        return f" at element {place}"

    def _drop_list(self, name: bytes, _kind: str, chance: random.Random) -> str:
        rows = self._client.lrange(name, 0, -1)
        place = chance.randrange(len(rows))
        self._rewrite(name, rows[:place] + rows[place + 1 :])
        return f" at element {place}"

    def _swap_list(self, name: bytes, _kind: str, chance: random.Random) -> str:
        rows = self._client.lrange(name, 0, -1)
        one, other = chance.randrange(len(rows)), chance.randrange(len(rows))
        if rows[one] == rows[other]:
            return ""
        rows[one], rows[other] = rows[other], rows[one]
        self._rewrite(name, rows)
        return f" at elements {one} and {other}"

    def _insert_list(self, name: bytes, _kind: str, chance: random.Random) -> str:
        rows = self._client.lrange(name, 0, -1)
        place = chance.randrange(len(rows) + 1)
        self._rewrite(name, [*rows[:place], chance.choice(rows), *rows[place:]])
        return f" at element {place}"

    def _rewrite(self, name: bytes, rows: list[bytes]) -> None:
        self._client.delete(name)
        if rows:
            self._client.rpush(name, *rows)

    # hashes

    def _edit_hash(self, name: bytes, kind: str, chance: random.Random) -> str:
        field, value = chance.choice(sorted(self._client.hgetall(name).items()))
        if value.isdigit():
            if field == b"k" and value == b"0":
                return ""
            self._client.hset(name, field, int(value) + chance.choice([-1, 1]))
        else:
            # the digest of a refused command whose text is not stored can't be checked: see docs/audit.md
            first = 8 if kind == "outcomes" and parse(value).code else 0
            place = chance.randrange(first, len(value))
            other = other_byte(value, place, chance)
            if kind == "statements" and _without_time(other) == _without_time(value):
                return ""  # only the digest of salt and text is in the log
            self._client.hset(name, field, other)
        return f" at {_shown(field)}"

    def _drop_hash(self, name: bytes, _kind: str, chance: random.Random) -> str:
        field = chance.choice(sorted(self._client.hgetall(name)))
        self._client.hdel(name, field)
        return f" at {_shown(field)}"

    def _swap_hash(self, name: bytes, _kind: str, chance: random.Random) -> str:
        rows = sorted(self._client.hgetall(name).items())
        (one, first), (other, second) = chance.choice(rows), chance.choice(rows)
        if first == second:
            return ""
        self._client.hset(name, mapping={one: second, other: first})
        return f" at {_shown(one)} and {_shown(other)}"

    # sorted sets

    def _edit_set(self, name: bytes, _kind: str, chance: random.Random) -> str:
        member, score = chance.choice(self._client.zrange(name, 0, -1, withscores=True))
        self._client.zadd(name, {member: score + chance.choice([-3_600_000, -1, 1, 3_600_000])})
        return f" at {_shown(member)}"

    def _drop_set(self, name: bytes, _kind: str, chance: random.Random) -> str:
        member = chance.choice(self._client.zrange(name, 0, -1))
        self._client.zrem(name, member)
        return f" at {_shown(member)}"

    def _insert_set(self, name: bytes, _kind: str, chance: random.Random) -> str:
        member, score = chance.choice(self._client.zrange(name, 0, -1, withscores=True))
        other = other_byte(member, chance.randrange(len(member)), chance)
        if self._client.zscore(name, other) is not None:
            return ""
        self._client.zadd(name, {other: score})
        return f" at {_shown(other)}"

    def _drop_member(self, name: bytes, _kind: str, chance: random.Random) -> str:
        member = chance.choice(sorted(self._client.smembers(name)))
        self._client.srem(name, member)
        return f" at {_shown(member)}"

    # streams

    def _edit_stream(self, name: bytes, _kind: str, chance: random.Random) -> str:
        rows = self._client.xrange(name)
        place = chance.randrange(len(rows))
        id_, fields = rows[place]
        data = other_byte(fields[b"l"], chance.randrange(len(fields[b"l"])), chance)
        rows[place] = (id_, {b"l": data})
        self._client.delete(name)
        for one, found in rows:
            self._client.xadd(name, found, id=one)
        return f" at {id_.decode()}"

    def _drop_stream(self, name: bytes, _kind: str, chance: random.Random) -> str:
        id_, _ = chance.choice(self._client.xrange(name))
        self._client.xdel(name, id_)
        return f" at {id_.decode()}"

    def _cut_stream(self, name: bytes, _kind: str, chance: random.Random) -> str:
        rows = self._client.xrange(name)
        rows = rows[: chance.randrange(len(rows))]
        self._client.delete(name)
        for one, found in rows:
            self._client.xadd(name, found, id=one)
        return f" after {len(rows)} entries"

    # whole keys

    def _drop(self, name: bytes, _kind: str, _chance: random.Random) -> str:
        self._client.delete(name)
        return " whole"

    def _swap_keys(self, name: bytes, kind: str, chance: random.Random) -> str:
        other = chance.choice([one for of, one in self._names if of == kind])
        if self._now[name][1] == self._now[other][1] or kind == "board counter":
            return ""
        for key, of in ((name, other), (other, name)):
            self._client.restore(key, 0, self._now[of][1], replace=True)
        return f" with {other.decode()}"

    def _other_type(self, name: bytes, _kind: str, _chance: random.Random) -> str:
        was = self._client.type(name)
        self._client.delete(name)
        if was == b"string":
            self._client.rpush(name, "another type")
        else:
            self._client.set(name, "another type")
        return " to another type"

    def _roll_back(self, name: bytes, _kind: str, _chance: random.Random) -> str:
        self._client.restore(name, 0, self._before[name][1], replace=True)
        return " to an earlier value"


def other_byte(data: bytes, place: int, chance: random.Random) -> bytes:
    return data[:place] + bytes([data[place] ^ chance.randrange(1, 256)]) + data[place + 1 :]


def _shown(field: bytes) -> str:
    return field.decode() if field.isascii() and field.decode().isprintable() else field.hex()


def _without_time(statement: bytes) -> object:
    """A statement without the time at which it was stored."""
    try:
        salt, account, _, text = msgspec.msgpack.decode(statement)
    except (msgspec.MsgspecError, ValueError, TypeError):
        return statement
    return salt, account, text
