"""Lists of finished matches: a sorted set of those in Redis, and the places of those in the archive.

| key | what |
|---|---|
| `<list>` | sorted set: matches whose places are not packed; score: when the match ended, ms |
| `archived:<list>` | hash: `n` -> packed places, of matches in the archive, `at` -> when the last of them ended, ms; number -> chunk |

A chunk has 512 places in the order of the list, packed into some bytes each; the last one has the rest. A place is
packed some time after its row has gone, together with others, because a place alone would take more than it does in the
sorted set. The two parts of a list may overlap: a match that is disputed goes into the archive later than others that
ended after it. So a reader merges the places of the chunks that it needs with those in the sorted set that are older than
the last one packed.
"""

import zlib
from collections.abc import Callable, Iterable, Sequence
from heapq import merge
from itertools import islice, pairwise
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
import redis

from domain.errors import Code, Refusal
from infra.projections.buckets import HOLD_MS, Bucket
from infra.redis import scripts
from infra.sentences import SAY

PLACES: Final = 512
"""Places of a chunk."""

_PREFIX: Final = "archived:"

_COUNT: Final = b"n"
_LAST: Final = b"at"

PACKED_AT: Final = 64
"""Places that a list has before any is packed: below that a sorted set is one block of some 20 bytes each."""

_MOST_ROUNDS: Final = 64
"""Chunks of a list that one call packs at most, so that it does not outlast a lease."""

ARCHIVED_HEAD: Final = (_COUNT, _LAST)
"""The fields beside the chunks."""

_ATTEMPTS: Final = 5
"""A list may change between two reads, but not each time."""

Wanted = TypeVar("Wanted")

Place = tuple[int, bytes]
"""When a match ended, in ms, and its board, as a member of the sorted set."""


def archived_key(name: str) -> str:
    """Return the key of the archived places of a list."""
    return _PREFIX + name


def is_archived_key(name: str) -> bool:
    """Return whether a key has archived places."""
    return name.startswith(_PREFIX)


class ListKey(NamedTuple):
    """A list: its bucket, and its key in there."""

    bucket: Bucket
    name: str

    @property
    def rows(self) -> str:
        """Return the key of the sorted set."""
        return self.bucket.key(self.name)

    @property
    def archived(self) -> str:
        """Return the key of the archived places."""
        return self.bucket.key(archived_key(self.name))


class _Chunk(msgspec.Struct, frozen=True, array_like=True):
    """Places as differences, each from the place before."""

    times: list[int]
    boards: list[int]


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(_Chunk).decode


def pack_places(places: Sequence[Place]) -> bytes:
    """Return the bytes of a chunk with these places."""
    times = [at for at, _ in places]
    boards = [int(member) for _, member in places]
    return zlib.compress(_encode(_Chunk(_differences(times), _differences(boards))))


def unpack_places(data: bytes) -> list[Place]:
    """Return the places of a chunk; ValueError if it is damaged."""
    try:
        chunk = _decode(zlib.decompress(data))
    except zlib.error as error:
        raise ValueError(f"a chunk of places is damaged: {error}") from error
    found, at, board = [], 0, 0
    for time, step in zip(chunk.times, chunk.boards, strict=True):
        at, board = at + time, board + step
        found.append((at, b"%d" % board))
    return found


def _differences(values: Sequence[int]) -> list[int]:
    return [after - before for before, after in pairwise([0, *values])]


def queue_size(pipe: Any, one: ListKey) -> None:
    """Queue the two reads of which `size_of` makes the number of a list's matches."""
    pipe.zcard(one.rows)
    pipe.hget(one.archived, _COUNT)


def size_of(rows: int, archived: bytes | None) -> int:
    """Return the number of a list's matches by the replies to `queue_size`."""
    return rows + int(archived or 0)


def queue_last(pipe: Any, one: ListKey) -> None:
    """Queue the two reads of which `last_of` makes the time of the last match."""
    pipe.zrange(one.rows, -1, -1, withscores=True)
    pipe.hget(one.archived, _LAST)


def last_of(rows: Sequence[tuple[bytes, float]], archived: bytes | None) -> int:
    """Return when the last match of a list ended, in ms, by the replies to `queue_last`; 0 without any."""
    return max(int(rows[0][1]) if rows else 0, int(archived or 0))


class FinishedLists:
    """Reads lists of finished matches. Errors of the server pass through."""

    def __init__(self, client: redis.Redis) -> None:
        # redis-py types no answer precisely
        self._client: Any = client

    def count(self, one: ListKey) -> int:
        """Return the number of a list's matches; O(1)."""
        with self._client.pipeline(transaction=True) as pipe:
            queue_size(pipe, one)
            return size_of(*pipe.execute())

    def read(self, one: ListKey, start: int, count: int) -> list[Place]:
        """Return places of a list, the newest first, from the `start`th on; `Refusal` if it changes each time.

        O(log n + count), and beyond those in the sorted set O(`PLACES` + count), wherever they are.
        """
        for _ in range(_ATTEMPTS):
            with self._client.pipeline(transaction=True) as pipe:
                pipe.zrange(one.rows, start, start + count - 1, desc=True, withscores=True)
                pipe.zcard(one.rows)
                pipe.hmget(one.archived, _COUNT, _LAST)
                found, size, (archived, last) = pipe.execute()
            newest = [(int(at), member) for member, at in found]
            if archived is None or (len(found) == count and found[-1][1] > int(last)):
                return newest
            between = self._between(one, int(last))
            later = size - len(between)
            older = self._merged(
                one, int(archived), between, max(0, start - later), start + count - later
            )
            if older is not None:
                return [*newest[: max(0, later - start)], *older]
        raise Refusal(Code.UNAVAILABLE, SAY("list-busy"))

    def _between(self, one: ListKey, last: int) -> list[Place]:
        """Return the places in Redis up to the time of the last archived one, the newest first."""
        found = self._client.zrange(one.rows, last, 0, desc=True, byscore=True, withscores=True)
        return [(int(at), member) for member, at in found]

    def _merged(
        self, one: ListKey, archived: int, between: Sequence[Place], start: int, end: int
    ) -> list[Place] | None:
        """Return some of the archived places and those between them; None if more are archived meanwhile.

        Those between push an archived place back by their number at most, so that many more are read.
        """
        skipped = max(0, start - len(between))
        first, last = max(0, archived - end), max(0, archived - skipped)
        numbers = range(first // PLACES, -(-last // PLACES))
        found, *chunks = self._client.hmget(one.archived, _COUNT, *numbers)
        if int(found or 0) != archived:
            return None
        places = [place for data in chunks for place in unpack_places(data)]
        base = numbers.start * PLACES
        wanted = places[first - base : last - base][::-1]
        # those that come before all that were read
        before = sum(place > wanted[0] for place in between) if skipped and wanted else 0
        at = skipped + before
        return list(islice(merge(wanted, between[before:], reverse=True), start - at, end - at))


class ArchivedPlaces:
    """Packs places of matches in the archive. Errors of the server pass through.

    `in_archive` returns which boards have matches in the archive.
    """

    def __init__(
        self, client: redis.Redis, in_archive: Callable[[Sequence[int]], set[int]]
    ) -> None:
        # redis-py types no answer precisely
        self._client: Any = client
        self._in_archive = in_archive

    def pack(self, lists: Iterable[ListKey]) -> None:
        """Pack the places of lists that have enough of matches in the archive.

        Only the `PLACES` oldest places of a list are looked at, of which those that can't be packed stay. So fewer than
        that are before the last packed place. A list that another writer changes meanwhile is left to the next call.
        """
        waiting = list(dict.fromkeys(lists))
        for _ in range(_MOST_ROUNDS):
            waiting = self._ready(waiting)
            if not waiting:
                return
            waiting = self._pack_some(waiting)

    def _ready(self, lists: Sequence[ListKey]) -> list[ListKey]:
        """Return the lists in which enough matches seem to be in the archive.

        The place with which there would be enough tells; where a disputed match is there, the last of those that are
        looked at.
        """
        sizes = self._each(lists, lambda pipe, one: pipe.zcard(one.rows))
        long = [one for one, size in zip(lists, sizes, strict=True) if size >= PACKED_AT]
        if not long:
            return []
        probes = [(one, at) for one in long for at in (PACKED_AT - 1, PLACES - 1)]
        found = self._each(
            probes, lambda pipe, probe: pipe.zrange(probe[0].rows, probe[1], probe[1])
        )
        boards = {int(members[0]) for members in found if members}
        archived = self._in_archive(list(boards))
        ready = {
            one
            for (one, _), members in zip(probes, found, strict=True)
            if members and int(members[0]) in archived
        }
        return [one for one in long if one in ready]

    def _pack_some(self, lists: Sequence[ListKey]) -> list[ListKey]:
        """Pack the oldest places of these lists; return those of which more may be ready."""
        oldest = self._each(
            lists, lambda pipe, one: pipe.zrange(one.rows, 0, PLACES - 1, withscores=True)
        )
        boards = {int(member) for some in oldest for member, _ in some}
        archived = self._in_archive(list(boards))
        counts = self._each(lists, lambda pipe, one: pipe.hget(one.archived, _COUNT))
        calls, packed = [], []
        for one, some, count in zip(lists, oldest, counts, strict=True):
            places = [(int(at), member) for member, at in some if int(member) in archived]
            call = self._call(one, places, count) if places else None
            if call is not None:
                calls.append(call)
                packed.append((one, len(places)))
        replies = scripts.call_all(self._client, calls) if calls else []
        return [
            one
            for (one, count), reply in zip(packed, replies, strict=True)
            if reply == b"done" and count >= PACKED_AT
        ]

    def _call(
        self, one: ListKey, places: Sequence[Place], found: bytes | None
    ) -> scripts.Call | None:
        """Return the script call that adds places to the chunks and removes them from the sorted set.

        It does so if the number of those packed is still the one `found`; None if the chunks are no longer those.
        """
        count = int(found or 0)
        number, rest = -(-count // PLACES), list[Place]()
        # from the last chunk back to the one in which the first of them belongs
        while number and not (rest and rest[0] <= places[0]):
            number -= 1
            data = self._client.hget(one.archived, str(number))
            if data is None:
                return None
            rest = unpack_places(data) + rest
        rest = sorted({*rest, *places})
        chunks = [rest[at : at + PLACES] for at in range(0, len(rest), PLACES)]
        fields: list[str | bytes | int] = [_COUNT, number * PLACES + len(rest), _LAST, rest[-1][0]]
        for at, chunk in enumerate(chunks, number):
            fields += [at, pack_places(chunk)]
        bucket = one.bucket
        names = [bucket.checkpoint_key, bucket.hold_key, bucket.names_key, one.rows, one.archived]
        words = [HOLD_MS, found or b"", len(fields), *fields, *(member for _, member in places)]
        return scripts.ARCHIVE_PLACES, names, words

    def _each(self, some: Iterable[Wanted], queue: Callable[[Any, Wanted], object]) -> list[Any]:
        """Return the replies to one read for each, in one round trip."""
        with self._client.pipeline(transaction=False) as pipe:
            for one in some:
                queue(pipe, one)
            return list(pipe.execute())
