"""Generations of a projection: their checkpoints, and the rebuild of a new one beside the live one.

A generation's checkpoint changes in the same script as its data, and only from the value that the
writer has read: so a writer that was overtaken, or whose generation was replaced, writes nothing, and
several writers do no harm.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Self

import msgspec
import redis

from infra.projections.specs import Spec
from infra.redis import keys, scripts

BUILDING_MS: Final = 30_000
"""How long a builder may be silent before another may begin."""

EXPIRE_SECONDS: Final = 60
"""How long a replaced generation can be read by a query that has read the pointer before."""

Arg = str | bytes | int

RedisWrite = tuple[Arg, ...]
"""A command on one key: its name, the key within the generation, its arguments."""

RedisRead = tuple[Arg, ...]
"""The same, for a command that writes nothing."""

EventPosition = tuple[int, int, int]
"""Position of an event among all events: time in ms, board, seq."""

FAILURES: Final = "stuck"

_STEP: Final = 1_000


class BusyError(Exception):
    """Another process rebuilds or compares the projection; the message says so."""


class Checkpoint(msgspec.Struct, frozen=True, array_like=True):
    """How far a generation has read the logs."""

    version: int
    counts: tuple[int, ...]
    """For each shard's log, how many leaves were folded or buffered."""
    last: EventPosition = (0, 0, 0)
    """For ordered projections: the last event that was folded; later ones may be buffered."""
    late: bool = False
    """Whether an event came that belongs before `last`: then a rebuild is needed."""

    @classmethod
    def zero(cls, spec: Spec, shards: int) -> Self:
        """Return the checkpoint of a generation that has read nothing."""
        return cls(spec.version, (0,) * shards)


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(Checkpoint)


class Generation(msgspec.Struct, frozen=True):
    """One copy of a projection's data."""

    name: str
    number: int

    def key(self, rest: str) -> str:
        """Return one of its keys."""
        return keys.generation(self.name, self.number, rest)

    @property
    def checkpoint_key(self) -> str:
        """Return the key of its checkpoint."""
        return self.key("at")

    @property
    def hold_key(self) -> str:
        """Return the key of the mark that freezes it."""
        return self.key("hold")

    @property
    def failures_key(self) -> str:
        """Return the key of its failures."""
        return self.key(FAILURES)

    def add_reads(self, pipe: Any, reads: Iterable[RedisRead]) -> None:
        """Add reads to a pipeline."""
        for command, key, *args in reads:
            pipe.execute_command(command, self.key(str(key)), *args)

    def change_call(
        self, before: Checkpoint, after: Checkpoint, writes: Sequence[RedisWrite]
    ) -> scripts.Call:
        """Return the script call of writes, which checks that the checkpoint is as it was read."""
        places: dict[str, int] = {}
        args: list[Arg] = [_ENCODER.encode(before), _ENCODER.encode(after), BUILDING_MS]
        for command, key, *rest in writes:
            place = places.setdefault(str(key), len(places) + 1)
            args += [len(rest) + 2, command, place, *rest]
        names = [self.checkpoint_key, self.hold_key, *(self.key(key) for key in places)]
        return scripts.APPLY_PROJECTION, names, args


class ProjectionFailure(msgspec.Struct, frozen=True, array_like=True):
    """A leaf that could not be folded."""

    what: str
    """Such as `leaf 17 of shard 3`."""
    since: int
    """Milliseconds, by the clock of the process that tried."""
    error: str


class Generations:
    """The generations of one projection. Errors of the server pass through."""

    def __init__(self, client: redis.Redis, spec: Spec) -> None:
        self.spec = spec
        self._client = client

    def _key(self, rest: str) -> str:
        return keys.projection(self.spec.name, rest)

    # reading

    def live(self) -> tuple[int, Generation] | None:
        """Return the version and the live generation; None if there is none."""
        return parse_pointer(self.spec.name, self._client.get(self._key("live")))

    def checkpoint(self, generation: Generation) -> Checkpoint | None:
        """Return the checkpoint of a generation; None if it was removed."""
        found: Any = self._client.get(generation.checkpoint_key)
        return None if found is None else _DECODER.decode(found)

    def failures(self, generation: Generation) -> Mapping[str, ProjectionFailure]:
        """Return its failures by shard, or by `order`."""
        found: Any = self._client.hgetall(generation.failures_key)
        return {
            where.decode(): msgspec.msgpack.decode(data, type=ProjectionFailure)
            for where, data in found.items()
        }

    def note_failure(self, generation: Generation, where: str, stuck: ProjectionFailure) -> None:
        """Store a failure."""
        self._client.hset(generation.failures_key, where, msgspec.msgpack.encode(stuck))

    # building

    @property
    def is_building(self) -> bool:
        """Return whether a process builds another generation."""
        left: Any = self._client.pttl(self._key("building"))
        return 0 <= int(left) <= BUILDING_MS

    def begin(self, token: str, shards: int) -> Generation:
        """Create an empty generation; `BusyError` if another process builds one.

        Generations of builders that were killed are removed.
        """
        if not scripts.claim(self._client, self._key("building"), token, BUILDING_MS):
            raise BusyError(f"{self.spec.name} are being rebuilt already; wait for that")
        self.collect_garbage()
        generation = Generation(self.spec.name, int(self._client.incr(self._key("last"))))
        # a process whose mark has expired may add a generation that the next builder removes
        self._client.set(
            generation.checkpoint_key, _ENCODER.encode(Checkpoint.zero(self.spec, shards))
        )
        return generation

    def renew(self, token: str) -> None:
        """Extend the mark of a build; `BusyError` if it has expired, so that another may have begun."""
        if not self._extend(self._key("building"), token, BUILDING_MS):
            raise BusyError(
                f"the rebuild of {self.spec.name} was silent for too long, and is given up"
            )

    def promote(
        self, generation: Generation, checkpoint: Checkpoint, ends: Sequence[int], token: str
    ) -> bool:
        """Make a generation the live one; the old one expires after its last readers.

        Return False without a change unless the new one is at `checkpoint` and has read at least as
        much as the live one, as far as the logs go: up to `ends`.
        """
        pointer: Any = self._client.get(self._key("live"))
        before = parse_pointer(self.spec.name, pointer)
        old = before[1] if before else None
        stand: Any = self._client.get(old.checkpoint_key) if old else None
        if stand is not None and not _has_read_as_much(checkpoint, _DECODER.decode(stand), ends):
            return False
        names = [self._key("live"), old.checkpoint_key if old else self._key("none")]
        names += [generation.checkpoint_key, self._key("building")]
        new = f"{self.spec.version}:{generation.number}"
        args: list[Arg] = [pointer or "", new, stand or "", _ENCODER.encode(checkpoint), token]
        if not scripts.call(self._client, scripts.PROMOTE_GENERATION, names, args):
            return False
        self.collect_garbage()
        return True

    def drop(self, generation: Generation, token: str) -> None:
        """Remove a generation that was never live, and end its build."""
        self._client.delete(generation.checkpoint_key)
        for names in self.keys_of(generation):
            self._client.unlink(*names)
        self._extend(self._key("building"), token, 0)

    def collect_garbage(self) -> None:
        """Let the keys of unused generations expire.

        Only the process with the mark `building` may call this, before it has created its generation
        or after that has become the live one.
        """
        live = self.live()
        kept = [self._key(rest) for rest in ("live", "last", "building")]
        own = live[1].key("") if live else None
        for names in self._scan(self._key("")):
            gone = [n for n in names if n not in kept and not (own and n.startswith(own))]
            self._expire(gone)

    def _expire(self, names: Sequence[str]) -> None:
        with self._client.pipeline(transaction=False) as pipe:
            for name in names:
                if name.endswith(":at"):
                    pipe.delete(name)  # so that nobody writes to it
                else:
                    pipe.expire(name, EXPIRE_SECONDS, nx=True)
            pipe.execute()

    # freezing

    def freeze(self, generation: Generation, token: str) -> None:
        """Freeze a generation; `BusyError` if another process has frozen it."""
        if not scripts.claim(self._client, generation.hold_key, token, BUILDING_MS):
            raise BusyError(f"{generation.name} are being compared already; wait for that")

    def keep_frozen(self, generation: Generation, token: str) -> None:
        """Extend the freeze; `BusyError` if it has expired, so that the data may have changed."""
        if not self._extend(generation.hold_key, token, BUILDING_MS):
            raise BusyError(f"{generation.name} could not be kept still long enough; try again")

    def unfreeze(self, generation: Generation, token: str) -> None:
        """End the freeze."""
        self._extend(generation.hold_key, token, 0)

    def _extend(self, name: str, token: str, milliseconds: int) -> bool:
        return bool(scripts.call(self._client, scripts.TOKEN_EXTEND, [name], [token, milliseconds]))

    # listing

    def keys_of(self, generation: Generation) -> Iterator[list[str]]:
        """Return the names of a generation's keys, in pages; a name may come twice."""
        return self._scan(generation.key(""))

    def _scan(self, beginning: str) -> Iterator[list[str]]:
        cursor = 0
        while True:
            found: Any = self._client.scan(cursor, match=f"{beginning}*", count=_STEP)
            cursor, names = found
            if names:
                yield [name.decode() for name in names]
            if not cursor:
                return


def parse_pointer(name: str, value: Any) -> tuple[int, Generation] | None:
    """Read a pointer: the version and the generation."""
    if value is None:
        return None
    version, number = value.split(b":")
    return int(version), Generation(name, int(number))


def _has_read_as_much(one: Checkpoint, other: Checkpoint, ends: Sequence[int]) -> bool:
    """Return whether one has read as much as the other, apart from leaves that the logs have lost."""
    counts = list(zip(one.counts, other.counts, ends, strict=True))
    lost = any(theirs > end for _, theirs, end in counts)
    far = all(mine >= min(theirs, end) for mine, theirs, end in counts)
    return far and (one.last >= other.last or other.late or lost)
