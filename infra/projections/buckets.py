"""Buckets: the parts of a projection's data, each in a slot, and with a checkpoint, of its own.

The data of an account, a board or a game are in the bucket that its hash falls in. After a kill the
buckets of a projection stand at different positions in the logs, so what is written to a bucket depends
on events and on the data of that bucket alone.

A bucket's checkpoint changes in the same script as its data, and only from the value that the writer has
read: so a writer that was overtaken, or whose generation was replaced, writes nothing, and several
writers do no harm.

The projections. Raising a version makes the projection worker rebuild that projection.
"""

from collections.abc import Container, Iterable, Sequence
from typing import Any, Final, Self
from zlib import crc32

import msgspec
import redis

from infra.redis import keys, scripts
from infra.redis.cluster import in_cluster


class Spec(msgspec.Struct, frozen=True):
    """A projection's name and the version of its data."""

    name: str
    version: int
    """Raised whenever the same log would lead to other data."""


LISTS: Final = Spec("lists", 8)
NOTICES: Final = Spec("notifications", 6)
SCORES: Final = Spec("scores", 3)
HISTORY: Final = Spec("history", 5)
STANDINGS: Final = Spec("standings", 5)
HEAD_TO_HEAD: Final = Spec("head-to-head", 3)
RATINGS: Final = Spec("ratings", 4)
CASES: Final = Spec("cases", 1)
ROBOTS: Final = Spec("robots", 2)
TOURNAMENTS: Final = Spec("tournaments", 2)

SPECS: Final = (
    LISTS, NOTICES, SCORES, HISTORY, STANDINGS, HEAD_TO_HEAD, RATINGS, CASES, ROBOTS,
    TOURNAMENTS,
)  # fmt: skip


BUCKETS: Final = 1
"""Buckets of a projection that is built for the first time; `docs/growing.md` says what more cost."""

HOLD_MS: Final = 30_000
"""How long a bucket stays frozen after the last renewal."""

FAILURES: Final = "stuck"

Arg = str | bytes | int

RedisWrite = tuple[Arg, ...]
"""A command on one key: its name, the key within the bucket, its arguments."""

RedisRead = tuple[Arg, ...]
"""The same, for a command that writes nothing."""

EventPosition = tuple[int, int, int]
"""Position of an event among all events: time in ms, board, seq."""

Owner = bytes | int | str
"""An account, a board, or a game or puzzle, to which data belong."""


def bucket_of(owner: Owner, buckets: int) -> int:
    """Return the bucket of an owner's data; the same in all versions and processes."""
    if buckets == 1:
        return 0
    data = owner if isinstance(owner, bytes) else str(owner).encode()
    return crc32(data) % buckets


class Checkpoint(msgspec.Struct, frozen=True, array_like=True):
    """How far a bucket has read the logs."""

    version: int
    counts: tuple[int, ...]
    """For each shard's log, how many leaves were folded or buffered."""
    last: EventPosition = (0, 0, 0)
    """For ordered projections: the last event that was folded; later ones may be buffered."""
    late: bool = False
    """Whether an event came that belongs before `last`: then a rebuild is needed."""
    erasures: int = 0
    """How often data were erased; each stops the writers that have not seen it."""

    @classmethod
    def zero(cls, spec: Spec, shards: int) -> Self:
        """Return the checkpoint of a bucket that has read nothing."""
        return cls(spec.version, (0,) * shards)


encode: Final = msgspec.msgpack.Encoder().encode
decode: Final = msgspec.msgpack.Decoder(Checkpoint).decode


class Bucket(msgspec.Struct, frozen=True):
    """One bucket of one generation of a projection."""

    name: str
    generation: int
    number: int
    count: int
    """Buckets of the generation."""
    shard: int | None = None
    """The shard whose leaves are counted by a checkpoint of their own, while a generation is being built."""

    def of_shard(self, shard: int) -> "Bucket":
        """Return the same bucket, as it is written with the leaves of one shard."""
        return msgspec.structs.replace(self, shard=shard)

    def owns(self, owner: Owner) -> bool:
        """Return whether an owner's data are in this bucket."""
        return self.count == 1 or bucket_of(owner, self.count) == self.number

    def key(self, rest: str) -> str:
        """Return one of its keys."""
        return keys.bucket(self.name, self.number, self.generation, rest)

    @property
    def checkpoint_key(self) -> str:
        """Return the key of its checkpoint."""
        return self.key("at" if self.shard is None else f"at:{self.shard}")

    @property
    def hold_key(self) -> str:
        """Return the key of the mark that freezes it."""
        return self.key("hold")

    @property
    def failures_key(self) -> str:
        """Return the key of its failures."""
        return self.key(FAILURES)

    @property
    def names_key(self) -> str:
        """Return the key of the set of the keys that hold data."""
        return self.key("keys")

    def add_reads(self, pipe: Any, reads: Iterable[RedisRead]) -> None:
        """Add reads to a pipeline."""
        for command, key, *args in reads:
            pipe.execute_command(command, self.key(str(key)), *args)

    def change_call(
        self,
        before: Checkpoint,
        after: Checkpoint,
        writes: Sequence[RedisWrite] = (),
        registered: Container[str] = (),
    ) -> scripts.Call:
        """Return the script call of writes, for `make_changes`; it checks that the checkpoint is as it was read.

        It also adds the written keys to the set of keys, except those that are `registered` there.
        """
        written = dict.fromkeys(str(key) for _, key, *_ in writes)
        # the new ones first
        ordered = sorted(written, key=lambda key: key == FAILURES or key in registered)
        new = sum(key != FAILURES and key not in registered for key in ordered)
        places = {key: place for place, key in enumerate(ordered, 1)}
        args: list[Arg] = [encode(before), encode(after), HOLD_MS, new]
        for command, key, *rest in writes:
            args += [len(rest) + 2, command, places[str(key)], *rest]
        names = [self.checkpoint_key, self.hold_key, self.names_key, *map(self.key, ordered)]
        return scripts.APPLY_PROJECTION, names, [len(names), len(args), *args]


_MOST_WORDS: Final = 20_000
"""Words of a script call to which those of another bucket are added: one runs for milliseconds, and moves wait for it."""


def make_changes(client: redis.Redis, calls: Sequence[scripts.Call]) -> list[bytes]:
    """Make the changes of `change_call`s, and return the reply for each; in a cluster one script call a bucket."""
    groups: list[list[scripts.Call]] = []
    left = 0
    for call in calls:
        if len(call[2]) > left or in_cluster(client):
            groups.append([])
            left = _MOST_WORDS
        groups[-1].append(call)
        left -= len(call[2])
    together = [
        (
            scripts.APPLY_PROJECTION,
            [name for _, names, _ in group for name in names],
            [arg for *_, args in group for arg in args],
        )
        for group in groups
    ]
    return [one for reply in scripts.call_all(client, together) for one in reply]


class ProjectionFailure(msgspec.Struct, frozen=True, array_like=True):
    """A leaf that could not be folded."""

    what: str
    """Such as `leaf 17 of shard 3`."""
    since: int
    """Milliseconds, by the clock of the process that tried."""
    error: str
