"""Generations of a projection: the rebuild of a new one beside the live one, and the end of old ones.

All generations that have data are in a hash, with their number of buckets, and each bucket has the set of
its keys. So nothing is searched for in the whole server, however many other keys it has.

Base of the queries of projections, which read the live generation.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import Any, ClassVar, Final

import msgspec
import redis

from infra.projections.buckets import (
    BUCKETS,
    HOLD_MS,
    Bucket,
    Checkpoint,
    EventPosition,
    Owner,
    ProjectionFailure,
    Spec,
    bucket_of,
    decode,
    encode,
)
from infra.redis import keys, scripts

BUILDING_MS: Final = 30_000
"""How long a builder may be silent before another may begin."""

RENEW_SECONDS: Final = 5.0
"""Between two renewals of a build, and while old data are deleted."""

EXPIRE_SECONDS: Final = 60
"""How long a replaced generation can be read by a query that has read the pointer before."""

BUFFER: Final = "pending"
"""Key of the events of an ordered projection that wait for their turn."""

_STEP: Final = 1_000


class BusyError(Exception):
    """Another process rebuilds or replaces the projection; the message says so."""


class Generation(msgspec.Struct, frozen=True):
    """One copy of a projection's data."""

    name: str
    number: int
    buckets: int

    def bucket(self, number: int) -> Bucket:
        """Return one of its buckets."""
        return Bucket(self.name, self.number, number, self.buckets)

    def of(self, owner: Owner) -> Bucket:
        """Return the bucket of an owner's data."""
        return self.bucket(bucket_of(owner, self.buckets))

    @property
    def all(self) -> list[Bucket]:
        """Return all of its buckets."""
        return [self.bucket(number) for number in range(self.buckets)]


class Generations:
    """The generations of one projection. Errors of the server pass through."""

    def __init__(self, client: redis.Redis, spec: Spec) -> None:
        self.spec = spec
        # redis-py types no answer precisely
        self._client: Any = client
        self._next_renewal = 0.0

    def _key(self, rest: str) -> str:
        return keys.projection(self.spec.name, rest)

    # reading

    def live(self) -> tuple[int, Generation] | None:
        """Return the version and the live generation; None if there is none."""
        return parse_pointer(self.spec.name, self._client.get(self._key("live")))

    def losses(self) -> str:
        """Return the lost leaves that the live generation does not know of: `losses_text`."""
        return (self._client.get(self._key("losses")) or b"").decode()

    def note_losses(self, losses: str) -> None:
        """Note the lost leaves that the live generation does not know of."""
        if losses:
            self._client.set(self._key("losses"), losses)

    def stored(self) -> list[Generation]:
        """Return all generations that have data."""
        found = self._client.hgetall(self._key("generations"))
        return [Generation(self.spec.name, int(one), int(count)) for one, count in found.items()]

    def checkpoint(self, bucket: Bucket) -> Checkpoint | None:
        """Return the checkpoint of a bucket; None if it was removed."""
        found = self._client.get(bucket.checkpoint_key)
        return None if found is None else decode(found)

    def checkpoints(self, generation: Generation) -> list[Checkpoint | None]:
        """Return the checkpoints of all buckets of a generation."""
        with self._client.pipeline(transaction=False) as pipe:
            for bucket in generation.all:
                pipe.get(bucket.checkpoint_key)
            return [None if found is None else decode(found) for found in pipe.execute()]

    def parts_of(self, bucket: Bucket) -> list[Bucket]:
        """Return a bucket for each shard, if those have had checkpoints of their own; none without data."""
        checkpoint = self.checkpoint(bucket)
        return (
            [bucket.of_shard(shard) for shard in range(len(checkpoint.counts))]
            if checkpoint
            else []
        )

    def failures(self, bucket: Bucket) -> Mapping[str, ProjectionFailure]:
        """Return a bucket's failures by shard, or by `order`."""
        found = self._client.hgetall(bucket.failures_key)
        return {
            where.decode(): msgspec.msgpack.decode(data, type=ProjectionFailure)
            for where, data in found.items()
        }

    def all_failures(self, generation: Generation) -> list[ProjectionFailure]:
        """Return the failures of all buckets, each of them once."""
        found = [one for bucket in generation.all for one in self.failures(bucket).values()]
        return list({one.what: one for one in found}.values())

    def note_failure(self, bucket: Bucket, where: str, stuck: ProjectionFailure) -> None:
        """Store a failure."""
        self._client.hset(bucket.failures_key, where, msgspec.msgpack.encode(stuck))

    # building

    @property
    def is_building(self) -> bool:
        """Return whether a process builds another generation."""
        left = self._client.pttl(self._key("building"))
        return 0 <= int(left) <= BUILDING_MS

    def begin(self, token: str, shards: int, buckets: int = BUCKETS) -> Generation:
        """Create an empty generation; `BusyError` if another process builds one.

        Generations of builders that were killed are removed.
        """
        if not scripts.claim(self._client, self._key("building"), token, BUILDING_MS):
            raise BusyError(
                f"the projection `{self.spec.name}` is being rebuilt already; wait for that"
            )
        self.collect_garbage(token)
        number = int(self._client.incr(self._key("last")))
        generation = Generation(self.spec.name, number, buckets)
        # a process whose mark has expired may add a generation that the next builder removes
        self._client.hset(self._key("generations"), str(number), buckets)
        # where somebody has deleted only some keys, a number comes again
        self._delete(generation)
        zero = encode(Checkpoint.zero(self.spec, shards))
        with self._client.pipeline(transaction=False) as pipe:
            for bucket in generation.all:
                pipe.set(bucket.checkpoint_key, zero)
            pipe.execute()
        return generation

    def divide(self, generation: Generation) -> None:
        """Create a checkpoint for each shard of a new generation, so that several processes can build it."""
        for bucket in generation.all:
            parts = self.parts_of(bucket)
            zero = encode(Checkpoint.zero(self.spec, len(parts)))
            with self._client.pipeline(transaction=False) as pipe:
                for part in parts:
                    pipe.set(part.checkpoint_key, zero)
                pipe.execute()

    def unite(self, generation: Generation) -> None:
        """End what `divide` began: the one checkpoint of each bucket counts the leaves of all shards.

        Who still writes for a shard can't after that. `BusyError` if the generation was removed.
        """
        for bucket in generation.all:
            with self._client.pipeline(transaction=False) as pipe:
                for part in self.parts_of(bucket):
                    pipe.getdel(part.checkpoint_key)
                found = [None if data is None else decode(data) for data in pipe.execute()]
            counts = [one.counts[shard] for shard, one in enumerate(found) if one is not None]
            if not found or len(counts) < len(found):
                raise BusyError(f"the new {self.spec.name} were removed by another process")
            # an erasure may change it at this moment
            while not self._set_counts(bucket, tuple(counts)):
                pass

    def _set_counts(self, bucket: Bucket, counts: tuple[int, ...]) -> bool:
        before = self._client.get(bucket.checkpoint_key)
        if before is None:
            raise BusyError(f"the new {self.spec.name} were removed by another process")
        after = encode(msgspec.structs.replace(decode(before), counts=counts))
        return scripts.compare_and_set(self._client, bucket.checkpoint_key, before, after)

    def renew(self, token: str) -> None:
        """Extend the mark of a build; `BusyError` if it has expired, so that another may have begun."""
        if not self._extend(self._key("building"), token, BUILDING_MS):
            raise BusyError(
                f"the rebuild of {self.spec.name} was silent for too long, and is given up"
            )

    def promote(
        self,
        generation: Generation,
        checkpoints: Sequence[Checkpoint],
        ends: Sequence[int],
        token: str,
    ) -> bool:
        """Make a generation the live one; the old one expires after its last readers.

        Return False without a change unless the new one, whose buckets are at `checkpoints`, has read at
        least as much as the live one, as far as the logs go: up to `ends`.
        """
        before = self.live()
        old = before[1] if before else None
        if not self._has_read_as_much(generation, checkpoints, old, ends):
            return False
        if old is None:
            promoted = self._swap(generation, "", token)
        else:
            promoted = self._replace(old, generation, checkpoints, ends, token)
        if promoted:
            try:
                self.collect_garbage(token)
            except BusyError:
                return True  # another process builds, and has deleted what was left
            self._extend(self._key("building"), token, 0)
        return promoted

    def _replace(
        self,
        old: Generation,
        new: Generation,
        checkpoints: Sequence[Checkpoint],
        ends: Sequence[int],
        token: str,
    ) -> bool:
        """Replace the live generation while it is frozen, so that it can't read more meanwhile."""
        try:
            self.freeze(old, token)
        except BusyError:
            return False
        try:
            if not self._has_read_as_much(new, checkpoints, old, ends):
                return False
            live = self._client.get(self._key("live"))
            if parse_pointer(self.spec.name, live) is None or not self._swap(new, live, token):
                return False
            self._delete_checkpoints(old)
            return True
        finally:
            self.unfreeze(old, token)

    def _swap(self, generation: Generation, pointer: bytes | str, token: str) -> bool:
        names = [self._key("live"), self._key("building")]
        new = f"{self.spec.version}:{generation.number}:{generation.buckets}"
        return bool(
            scripts.call(self._client, scripts.PROMOTE_GENERATION, names, [pointer, new, token])
        )

    def _has_read_as_much(
        self,
        new: Generation,
        checkpoints: Sequence[Checkpoint],
        old: Generation | None,
        ends: Sequence[int],
    ) -> bool:
        """Return whether one has read as much as another, apart from leaves that the logs have lost."""
        found = self.checkpoints(old) if old else []
        theirs = [one for one in found if one is not None]
        if not theirs:
            return True
        fewest = map(min, zip(*(one.counts for one in checkpoints), strict=True))
        most = map(max, zip(*(one.counts for one in theirs), strict=True))
        counts = list(zip(fewest, most, ends, strict=True))
        if any(mine < min(other, end) for mine, other, end in counts):
            return False
        lost = any(other > end for _, other, end in counts)
        last = max(one.last for one in theirs)
        return lost or any(one.late for one in theirs) or self._has_folded(new, last)

    def _has_folded(self, generation: Generation, last: EventPosition) -> bool:
        """Return whether no event up to a position waits for its turn."""
        with self._client.pipeline(transaction=False) as pipe:
            for bucket in generation.all:
                pipe.zrange(bucket.key(BUFFER), 0, 0, withscores=True)
            found = [one for some in pipe.execute() for one in some]
        return all(position_of_member(member, score) > last for member, score in found)

    def drop(self, generation: Generation, token: str) -> None:
        """Remove a generation that was never live, and end its build."""
        self._delete_checkpoints(generation)
        self._delete(generation)
        self._client.hdel(self._key("generations"), str(generation.number))
        self._extend(self._key("building"), token, 0)

    def _delete_checkpoints(self, generation: Generation) -> None:
        """Delete them first, so that nobody writes data any longer."""
        with self._client.pipeline(transaction=False) as pipe:
            for bucket in generation.all:
                # the last one says which others there may be
                for one in (*self.parts_of(bucket), bucket):
                    pipe.delete(one.checkpoint_key)
            pipe.execute()

    def _delete(self, generation: Generation) -> None:
        for bucket in generation.all:
            for names in self.keys_of(bucket):
                self._client.unlink(*map(bucket.key, names))
            self._client.unlink(bucket.names_key, bucket.failures_key, bucket.hold_key)

    def collect_garbage(self, token: str) -> None:
        """Let the keys of unused generations expire.

        Only the process with the mark `building` may call this, before it has created its generation
        or after that has become the live one. `BusyError` if the mark is no longer its own.
        """
        live = self.live()
        for generation in self.stored():
            if live is None or generation.number != live[1].number:
                self._expire(generation, token)

    def _expire(self, generation: Generation, token: str) -> None:
        self._delete_checkpoints(generation)
        for bucket in generation.all:
            for names in self.keys_of(bucket):
                self._renew_in_time(token)
                self._expire_keys(map(bucket.key, names))
            self._expire_keys([bucket.names_key, bucket.failures_key, bucket.hold_key])
        self._client.hdel(self._key("generations"), str(generation.number))

    def _expire_keys(self, names: Iterable[str]) -> None:
        with self._client.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.expire(name, EXPIRE_SECONDS, nx=True)
            pipe.execute()

    def _renew_in_time(self, token: str) -> None:
        if time.monotonic() >= self._next_renewal:
            self._next_renewal = time.monotonic() + RENEW_SECONDS
            self.renew(token)

    # freezing

    def freeze(self, generation: Generation, token: str) -> None:
        """Freeze a generation; `BusyError` if another process has frozen a bucket of it."""
        for bucket in generation.all:
            if not scripts.claim(self._client, bucket.hold_key, token, HOLD_MS):
                self.unfreeze(generation, token)
                raise BusyError(f"{generation.name} are being replaced already; wait for that")

    def unfreeze(self, generation: Generation, token: str) -> None:
        """End the freeze."""
        for bucket in generation.all:
            self._extend(bucket.hold_key, token, 0)

    def _extend(self, name: str, token: str, milliseconds: int) -> bool:
        return bool(scripts.call(self._client, scripts.TOKEN_EXTEND, [name], [token, milliseconds]))

    # listing

    def keys_of(self, bucket: Bucket) -> Iterator[list[str]]:
        """Return the names of a bucket's keys, in pages; a name may come twice, or have no data now."""
        cursor = 0
        while True:
            cursor, names = self._client.sscan(bucket.names_key, cursor, count=_STEP)
            if names:
                yield [name.decode() for name in names]
            if not cursor:
                return


def parse_pointer(name: str, value: Any) -> tuple[int, Generation] | None:
    """Read a pointer: the version and the generation."""
    if value is None:
        return None
    version, number, buckets = value.split(b":")
    return int(version), Generation(name, int(number), int(buckets))


def position_of_member(member: bytes, score: float) -> EventPosition:
    """Return the position of an event that waits for its turn."""
    board, seq = member.partition(b"|")[0].split(b":")
    return int(score), int(board), int(seq)


_PAGE: Final = 500


class Query:
    """Reads one projection. Errors of the server pass through.

    Without a live generation all results are empty. `LookupError`, with a sentence, while the data
    are of another version than this program's, until the projection worker has rebuilt them.
    """

    spec: ClassVar[Spec]

    live_seconds: ClassVar[float] = 1.0
    """How long it goes by the live generation that it has read: a page makes many queries within this time."""

    def __init__(self, client: redis.Redis) -> None:
        # redis-py types no answer precisely
        self._client: Any = client
        self._live: tuple[float, Generation] | None = None
        """When the live generation was read, by the monotonic clock, and which it was."""

    def _generation(self) -> Generation:
        """Return the live generation; an empty one if there is none.

        Read again after `live_seconds`: a replaced generation expires later than that.
        """
        if self._live and time.monotonic() - self._live[0] < self.live_seconds:
            return self._live[1]
        name = self.spec.name
        found = parse_pointer(name, self._client.get(keys.projection(name, "live")))
        if found is None:
            return Generation(name, 0, 1)
        version, generation = found
        if version != self.spec.version:
            raise LookupError(
                f"the projection `{name}` has version {version} and is being rebuilt for this server, "
                f"which reads version {self.spec.version}; try again later"
            )
        self._live = time.monotonic(), generation
        return generation

    def _fields(self, key: str, fields: Iterable[Any]) -> list[bytes | None]:
        """Return fields of a hash, None for missing ones."""
        wanted = list(fields)
        return list(self._client.hmget(key, wanted)) if wanted else []

    def _rows(self, generation: Generation, key: str, boards: Iterable[int]) -> list[bytes | None]:
        """Return fields, by board, of a hash that each bucket has of its own boards."""
        wanted = list(boards)
        groups = self._by_bucket(generation, wanted)
        with self._client.pipeline(transaction=False) as pipe:
            for bucket, some in groups.items():
                pipe.hmget(bucket.key(key), some)
            pages = zip(groups.values(), pipe.execute(), strict=True)
            found = {board: row for some, page in pages for board, row in zip(some, page)}  # noqa: B905 - of one length
        return [found[board] for board in wanted]

    @staticmethod
    def _by_bucket(generation: Generation, boards: Iterable[int]) -> dict[Bucket, list[int]]:
        """Return the buckets of boards, each with its own."""
        groups: dict[Bucket, list[int]] = {}
        for board in boards:
            groups.setdefault(generation.of(board), []).append(board)
        return groups

    def _count(self, generation: Generation, key: str) -> int:
        """Return the number of members of a sorted set of which each bucket has a part."""
        names = [bucket.key(key) for bucket in generation.all]
        return sum(self._of_each(names, lambda pipe, name: pipe.zcard(name)))

    def _members(self, key: str, *, newest: bool) -> Iterator[bytes]:
        """Return the members of a sorted set, read in pages as they are asked for."""
        return (member for _, member in self._scored(key, newest=newest))

    def _greatest(self, generation: Generation, key: str, start: int, count: int) -> list[bytes]:
        """Return members of a sorted set of which each bucket has a part, from the `start`th greatest on.

        Each score is a whole number that one member has. O(log n + count) for each bucket, and with several O(log n)
        round trips, because what is before the `start`th is divided among them somehow; near the beginning all of it is read.
        """
        names = [bucket.key(key) for bucket in generation.all]
        if len(names) == 1:
            return list(self._client.zrange(names[0], start, start + count - 1, desc=True))
        first: int | str = "+inf"
        if start + count > _PAGE:
            first, start = self._score_at(names, start), 0
        parts = self._of_each(
            names,
            lambda pipe, name: pipe.zrange(
                name,
                first,
                0,
                desc=True,
                byscore=True,
                offset=0,
                num=start + count,
                withscores=True,
            ),
        )
        pairs = ([(score, member) for member, score in part] for part in parts)
        found = merge(*pairs, reverse=True)
        return [member for _, member in islice(found, start, start + count)]

    def _score_at(self, names: Sequence[str], start: int) -> int:
        """Return the score of the `start`th greatest member of several sorted sets, 0 if there are not so many."""
        newest = self._of_each(names, lambda pipe, name: pipe.zrange(name, -1, -1, withscores=True))
        low, high = 0, max((int(part[0][1]) for part in newest if part), default=0)
        while low < high:
            middle = (low + high) // 2
            above = self._of_each(names, lambda pipe, name: pipe.zcount(name, f"({middle}", "+inf"))  # noqa: B023
            if sum(above) > start:
                low = middle + 1
            else:
                high = middle
        return low

    def _of_each(self, names: Sequence[str], queue: Callable[[Any, str], object]) -> list[Any]:
        """Return the replies to one read of each key, in one round trip."""
        with self._client.pipeline(transaction=False) as pipe:
            for name in names:
                queue(pipe, name)
            return list(pipe.execute())

    def _scored(self, key: str, *, newest: bool) -> Iterator[tuple[float, bytes]]:
        """Return score and member of each in a sorted set, read in pages."""
        for start in range(0, 1 << 62, _PAGE):
            end = start + _PAGE - 1
            page = self._client.zrange(key, start, end, desc=newest, withscores=True)
            yield from ((score, member) for member, score in page)
            if len(page) < _PAGE:
                return
