"""The stores on a server, with the archive behind them: what Redis does not have any longer is read from there.

Redis wins: the archive is read only where Redis has nothing and the match is marked as in the archive. It may
block, so the store of event loops reads it in threads.
"""

from asyncio import gather, to_thread
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

import redis

from domain.errors import Code, Refusal
from domain.match.history import PackedSnapshot
from domain.records import CommandId
from infra.archive.archive import Archive, ArchivedMatch
from infra.archive.directory_pages import DirectoryEntry
from infra.durability.durability import Mode
from infra.redis import keys
from infra.redis.autopipeline import CommandPipeline, raise_errors
from infra.store import snapshots
from infra.store.async_gateway import AsyncStore
from infra.store.layout import Layout
from infra.store.port import (
    AlreadyDecided,
    CommitArchived,
    CommitUnderWay,
    NotAccepted,
    Submission,
    SubmitResult,
    Write,
)
from infra.store.redis_store import RedisStore
from infra.store.store_calls import archived_result

if TYPE_CHECKING:
    from infra.log.published_log import PublishedLogs

Found = TypeVar("Found")
Wanted = TypeVar("Wanted", bound=Hashable)

IN_ARCHIVE: Final = NotAccepted(Code.MATCH_OVER)
"""The answer of `submit` for a match in the archive: of others it accepts commands after their end, too."""


def answer_from_archive(archive: Archive, new: Submission, answer: SubmitResult) -> SubmitResult:
    """Return the answer to a submission; for a match in the archive it has the outcome of a repetition.

    It raises nothing, because the answers to others would be lost with it.
    """
    if answer != IN_ARCHIVE:
        return answer
    try:
        stored = archive.match(new.board).outcomes.get(new.id)
    except Refusal as refusal:
        return NotAccepted(refusal.code)
    if stored is None:
        return answer
    return AlreadyDecided(stored) if stored[:8] == new.digest else NotAccepted(Code.ID_REUSED)


class StoreWithArchive(RedisStore):
    """See `infra.store.port.Store`. Where the archive can't be read, it raises `Refusal` as that does."""

    def __init__(
        self,
        client: redis.Redis,
        mode: Mode,
        archive: Archive,
        cap: int = 100_000,
        open_logs: "Callable[[], PublishedLogs] | None" = None,
        *,
        replicas: int = 1,
    ) -> None:
        super().__init__(client, mode, cap, open_logs=open_logs, replicas=replicas)
        self._archive = archive

    def submit(self, submissions: Sequence[Submission]) -> list[SubmitResult]:
        """Submit commands."""
        answers = super().submit(submissions)
        return [
            answer_from_archive(self._archive, new, answer)
            for new, answer in zip(submissions, answers, strict=True)
        ]

    def begin_commit(self, writes: Sequence[Write]) -> CommitUnderWay:
        """Begin to commit."""
        results = super().begin_commit(writes)
        return lambda: [
            self._known(write) if isinstance(result, CommitArchived) else result
            for write, result in zip(writes, results(), strict=True)
        ]

    def _known(self, write: Write) -> CommitArchived:
        """Return the result for a match in the archive; without the outcome where that can't be read."""
        with suppress(Refusal):
            return archived_result(write, self._archive.match(write.board).outcomes.get(write.id))
        return archived_result(write)

    def snapshots(self, boards: Sequence[int]) -> list[PackedSnapshot | None]:
        """Return the snapshots."""
        return self._filled(boards, super().snapshots(boards), _snapshot)

    def snapshots_with_conditional_moves(
        self, boards: Sequence[int]
    ) -> list[tuple[PackedSnapshot | None, bytes]]:
        """Return the snapshots with the conditional moves; a match that is over has none."""
        found = super().snapshots_with_conditional_moves(boards)
        plain = self._filled(boards, [one for one, _ in found], _snapshot)
        return [(one, moves) for one, (_, moves) in zip(plain, found, strict=True)]

    def outcome(self, board: int, command: CommandId) -> bytes | None:
        """Return a stored outcome."""
        return self._one(board, super().outcome(board, command), lambda m: m.outcomes.get(command))

    def outcomes(self, board: int) -> Mapping[CommandId, bytes]:
        """Return all stored outcomes of a match."""
        return self._one(board, super().outcomes(board), lambda m: m.outcomes)

    def events(self, board: int) -> list[bytes]:
        """Return a match's events in order."""
        return self._one(board, super().events(board), lambda m: list(m.events))

    def leaf_indexes(self, board: int) -> list[int]:
        """Return the indexes of a match's leaves."""
        return self._one(board, super().leaf_indexes(board), lambda m: list(m.indexes))

    def first_events(self, boards: Sequence[int]) -> list[bytes | None]:
        """Return the first events."""
        return self._filled(boards, super().first_events(boards), lambda m: m.events[0])

    def entries(self, boards: Sequence[int]) -> list[DirectoryEntry | None]:
        """Return what the directory pages have of matches; None for those that are not in the archive."""
        archived = self._in_archive(boards)
        found = iter(self._archive.entries([board for board in boards if board in archived]))
        return [next(found) if board in archived else None for board in boards]

    def _one(self, board: int, found: Found, read: Callable[[ArchivedMatch], Found]) -> Found:
        return self._filled([board], [found], read)[0]

    def _filled(
        self, boards: Sequence[int], found: Sequence[Found], read: Callable[[ArchivedMatch], Found]
    ) -> list[Found]:
        missing = _missing(boards, found)
        archived = self._in_archive(missing) if missing else ()
        return _filled(boards, found, {one: read(self._archive.match(one)) for one in archived})

    def _in_archive(self, boards: Sequence[int]) -> set[int]:
        """Return which of these boards have matches in the archive."""
        return boards_in_archive(self._client, self.shards, boards)


class AsyncStoreWithArchive(AsyncStore):
    """Submits commands and reads matches. Where the archive can't be read, it raises `Refusal` as that does."""

    def __init__(self, pipe: CommandPipeline, shape: Layout, cap: int, archive: Archive) -> None:
        super().__init__(pipe, shape, cap)
        self._archive = archive

    def answer_later(self, new: Submission, answer: SubmitResult) -> Awaitable[SubmitResult] | None:
        """Return the read of the answer to a command to a match in the archive, which may be a repetition."""
        if answer != IN_ARCHIVE:
            return None
        return to_thread(answer_from_archive, self._archive, new, answer)

    async def read_snapshot(self, board: int, reply: Any) -> PackedSnapshot | None:
        """Return the snapshot in the reply to `snapshot_command`, or from the archive."""
        found = snapshots.read_reply(reply)
        if found is not None:
            return found
        return (await self._filled([board], [found], lambda m: m.snapshot))[0]

    async def outcomes(self, wanted: Sequence[tuple[int, bytes]]) -> list[bytes | None]:
        """Return stored outcomes, each by its match and command id."""
        found = await super().outcomes(wanted)
        matches = await self._read(self._archive.match, _missing([b for b, _ in wanted], found))
        archived = {
            one: matches[one[0]].outcomes.get(one[1]) for one in wanted if one[0] in matches
        }
        return _filled(wanted, found, archived)

    async def events(self, board: int, start: int) -> list[bytes]:
        """Return a match's events from the one with sequence number `start` on."""
        found = await super().events(board, start)
        return (await self._filled([board], [found], lambda m: list(m.events[start - 1 :])))[0]

    async def event_counts(self, boards: Sequence[int]) -> list[int]:
        """Return how many events each match has."""
        found = await super().event_counts(boards)
        entries = await self._read(self._archive.entry, _missing(boards, found))
        return _filled(boards, found, {board: entry.seq for board, entry in entries.items()})

    async def _filled(
        self, boards: Sequence[int], found: Sequence[Found], read: Callable[[ArchivedMatch], Found]
    ) -> list[Found]:
        matches = await self._read(self._archive.match, _missing(boards, found))
        return _filled(boards, found, {board: read(match) for board, match in matches.items()})

    async def _read(self, read: Callable[[int], Found], boards: Sequence[int]) -> dict[int, Found]:
        """Return what is read of those of the matches that are in the archive, of all at the same time."""
        if not boards:
            return {}
        marks = [("GETBIT", *keys.archive_mark(board, self.shards)) for board in boards]
        bits = raise_errors(await self._pipe.send(marks))
        wanted = {board for board, bit in zip(boards, bits, strict=True) if bit}
        found = await gather(*(to_thread(read, board) for board in wanted))
        return dict(zip(wanted, found, strict=True))


def _missing(boards: Sequence[int], found: Sequence[object]) -> list[int]:
    """Return the boards of which Redis has nothing."""
    return list(dict.fromkeys(board for board, one in zip(boards, found, strict=True) if not one))


def _filled(
    wanted: Sequence[Wanted], found: Sequence[Found], archived: Mapping[Wanted, Found]
) -> list[Found]:
    """Return what was found in Redis, and where that is nothing, what was found in the archive."""
    pairs = zip(wanted, found, strict=True)
    return [archived[key] if not one and key in archived else one for key, one in pairs]


def boards_in_archive(client: redis.Redis, shards: int, boards: Sequence[int]) -> set[int]:
    """Return which of these boards have matches in the archive, in one round trip."""
    pipe: Any  # redis-py types no part of its pipelines
    with client.pipeline(transaction=False) as pipe:
        for board in boards:
            pipe.getbit(*keys.archive_mark(board, shards))
        return {board for board, bit in zip(boards, pipe.execute(), strict=True) if bit}


def _snapshot(match: ArchivedMatch) -> PackedSnapshot | None:
    return match.snapshot
