"""The move of all data from one server to another: what is written at both, so that at most one of them is ever used.

| step | at the source | at the target |
|---|---|---|
| 1 | writes wait | `{boards}:shape` has the format `copying`, and nothing reads the data |
| 2 | | all keys are copied |
| 3 | | it has its layout, with the mark `unverified`, with which no server starts |
| 4 | it has the format `moved`: nothing reads the data any longer | |
| 5 | | the mark is gone |

A move that was cut off in 1 or 2 begins again, in 3 is compared again, and in 4 goes on.
"""

import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from itertools import chain, islice
from threading import Event, Thread
from typing import Any, Final, Self, TypeAlias

from redis import Redis
from redis.exceptions import RedisError, ResponseError

from infra.durability.durability import Mode, append_barrier, check_barrier
from infra.process.failpoints import failpoint
from infra.redis import keys
from infra.redis.cluster import in_cluster, servers_of, slot_of_key, slots_of
from infra.redis.key_copy import Key, KeyCopier, all_keys, count_keys, differing_keys, missing_keys
from infra.redis.key_table import KEYS
from infra.store.board_numbers import is_of_numbers, numbered_by_shard
from infra.store.layout import COPYING, FORMAT, MOVED, Layout, Numbering, decode_layout

_PAUSE_SECONDS: Final = 60
"""How long the writes of a source wait after a move that was killed."""

_RENEWED_SECONDS: Final = 10.0

_LAYOUT: Final = keys.LAYOUT.encode()

_OF_QUEUE: Final = re.compile(
    "|".join(
        fnmatch.translate(pattern)
        for pattern in (
            "rq:*",
            *(key.pattern for key in KEYS if key.on_queue and not key.roles.writers),
        )
    ).encode()
)
"""The keys of the queue, where it is on the server of the data: signals, which may be lost."""


_EMPTY_ONE: Final = "name an empty one"

Tick: TypeAlias = Callable[[int], None]
"""Called with the number of keys that are done."""


class MoveError(Exception):
    """The data can't be moved; the message is a sentence for an operator."""


class Stage(Enum):
    """How far a move to a server is, by its keys."""

    EMPTY = "empty"
    """There is nothing."""
    COPYING = "copying"
    """Keys from the source are there, not all."""
    COPIED = "copied"
    """All are there."""
    MOVED = "moved"
    """The server may be used."""


class Target:
    """The server to which data are moved, and that `source` names where they come from.

    What is written is confirmed as `mode` has it, by so many replicas.
    """

    def __init__(self, client: Redis, source: str, mode: Mode, replicas: int) -> None:
        self.client = client
        self._source = source
        self._mode = mode
        self._replicas = replicas

    def stage(self) -> Stage:
        """Return how far the move is; `MoveError` if something else is on the server."""
        found: Any = self.client.hgetall(keys.LAYOUT)
        if not found:
            self._check_empty()
            return Stage.EMPTY
        if found.get(b"from", b"").decode() != self._source:
            raise MoveError(f"the server has other data: {_EMPTY_ONE}")
        if found[b"format"].decode() == COPYING:
            return Stage.COPYING
        return Stage.COPIED if b"unverified" in found else Stage.MOVED

    def _check_empty(self) -> None:
        number = count_keys(self.client)
        if number:
            names = (name for batch in all_keys(self.client) for name in batch)
            name = next(names, b"").decode(errors="replace")
            what = "1 key" if number == 1 else f"{number} keys"
            raise MoveError(f"the server is not empty, it has {what}, such as {name}: {_EMPTY_ONE}")

    def begin(self) -> None:
        """Take what an earlier move has left away, and mark the data as incomplete."""
        self.write([("HSET", keys.LAYOUT, "format", COPYING, "from", self._source)])
        for names in all_keys(self.client):
            self.write([("UNLINK", name) for name in names if name != _LAYOUT])

    def give_layout(self, found: Mapping[bytes, bytes]) -> Layout:
        """Write the layout of the source for the copied data, which are verified by it."""
        fields = {name.decode(): value.decode() for name, value in found.items()}
        if _renumbers(self.client, decode_layout(found)):
            fields["numbering"] = Numbering.SHARD
        fields |= {"from": self._source, "unverified": "yes"}
        self.write([("HSET", keys.LAYOUT, *(word for pair in fields.items() for word in pair))])
        given: Any = self.client.hgetall(keys.LAYOUT)
        return decode_layout(given)

    def finish(self, at: int) -> None:
        """Let the data be used; `at` is the time in ms."""
        self.write([
            ("HSET", keys.LAYOUT, "moved", at),
            ("HDEL", keys.LAYOUT, "unverified", "to"),
        ])  # fmt: skip

    def give_up(self) -> None:
        """Mark the copied data as incomplete again, so that nobody uses them."""
        self.write([("HSET", keys.LAYOUT, "format", COPYING)])

    def write(self, commands: Sequence[Sequence[Any]]) -> None:
        """Carry out commands; `MoveError` if they are not confirmed as the durability needs it."""
        if not commands:
            return
        pipe: Any
        with self.client.pipeline(transaction=False) as pipe:
            for words in commands:
                pipe.execute_command(*words)
            append_barrier(pipe, self._mode, replicas=self._replicas)
            replies = pipe.execute()
        failpoint("move.written")
        if self._mode.verified and not check_barrier(replies[-1], self._mode, self._replicas):
            raise MoveError(
                "the server did not confirm in time that what was copied is on its disks; look at them, and run "
                "the same command again"
            )


class Source:
    """The server from which data are moved; `with` has its writes wait, so that they do not change meanwhile.

    Writes of clients that wait are dropped when the data are marked as moved, and carried out if the move fails.
    """

    def __init__(self, client: Redis) -> None:
        self.client = client
        self._ended = Event()
        self._thread = Thread(target=self._keep_paused, name="pause", daemon=True)

    def fields(self) -> Mapping[bytes, bytes]:
        """Return the fields of the layout, as they are; empty if there are no data."""
        found: Any = self.client.hgetall(keys.LAYOUT)
        return {**found}

    def has_moved(self) -> bool:
        """Return whether the data are marked as moved."""
        return self.fields().get(b"format") == MOVED.encode()

    def __enter__(self) -> Self:
        try:
            self._pause()
        except ResponseError as error:
            raise MoveError(
                f"the server of the data does not let its writes wait ({error}): let MATCHPOST_REDIS_URL name a "
                "user who may do all, for this command alone"
            ) from error
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        with suppress(RedisError):  # the pause ends by itself
            for node in servers_of(self.client):
                node.client_unpause()

    def _pause(self) -> None:
        for node in servers_of(self.client):
            node.client_pause(_PAUSE_SECONDS * 1000, all=False)

    def _keep_paused(self) -> None:
        while not self._ended.wait(_RENEWED_SECONDS):
            with suppress(RedisError):
                self._pause()

    def _stop(self) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def mark_moved(self, to: str, at: int) -> None:
        """Mark the data as moved to a server, in ms; nobody else's write comes before."""
        self._write_first("HSET", keys.LAYOUT, "format", MOVED, "to", to, "moved", at)

    def take_back(self) -> None:
        """Let data that were marked as moved be used again."""
        self._write_first("HSET", keys.LAYOUT, "format", FORMAT)
        self.client.hdel(keys.LAYOUT, "to", "moved")

    def _write_first(self, *words: Any) -> None:
        self._stop()
        slots = slots_of(self.client)
        node = slots.node_of(slot_of_key(keys.LAYOUT)) if slots else self.client
        pipe: Any
        with node.pipeline(transaction=False) as pipe:
            # commands of one connection are carried out together, as long as none has to wait
            pipe.execute_command("CLIENT KILL", "TYPE", "normal", "SKIPME", "yes")
            pipe.client_unpause()
            pipe.execute_command(*words)
            pipe.execute()


def copy_all(source: Source, target: Target, tick: Tick) -> int:
    """Copy all keys but the layout, and return their number; each shard numbers its boards at a cluster."""
    layout = decode_layout(source.fields())
    number = KeyCopier(source.client, target.write, tick).run(_left_out(target.client, layout))
    if _renumbers(target.client, layout):
        for commands in numbered_by_shard(source.client, layout.shards):
            target.write(commands)
    return number


def find_differences(source: Source, target: Target, tick: Tick, most: int = 3) -> list[str]:
    """Return the names of some keys that are not the same at both, which should be none."""
    layout = decode_layout({**source.fields(), b"format": FORMAT.encode()})
    is_left_out = _left_out(target.client, layout)
    found: Iterator[Key] = chain(
        differing_keys(source.client, target.client, is_left_out, tick),
        missing_keys(target.client, source.client, is_left_out),
    )
    return [key.decode(errors="replace") for key in islice(found, most)]


def _renumbers(client: Redis, layout: Layout) -> bool:
    """Return whether boards are numbered in another way at that server."""
    return layout.numbering is Numbering.SERVER and in_cluster(client)


def _left_out(client: Redis, layout: Layout) -> Callable[[Key], bool]:
    """Return whether a key is not the same at that server: the layout, the queue, and the numbers of boards at a cluster."""
    renumbers = _renumbers(client, layout)
    return lambda key: (
        key == _LAYOUT or _OF_QUEUE.match(key) is not None or (renumbers and is_of_numbers(key))
    )
