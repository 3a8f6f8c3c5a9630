"""The store of event loops, with the archive behind it; see `infra.archive.store`.

The archive may block, so it is read in threads.
"""

from asyncio import gather, to_thread
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeVar

from domain.match.history import PackedSnapshot
from infra.archive.archive import Archive
from infra.archive.store import IN_ARCHIVE, answer_from_archive
from infra.redis import keys
from infra.redis.autopipeline import CommandPipeline, raise_errors
from infra.store.async_store import AsyncStore
from infra.store.layout import Layout
from infra.store.port import Submission, SubmitResult

Found = TypeVar("Found")


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
        found = await super().read_snapshot(board, reply)
        if found is None and await self._in_archive([board]):
            return (await to_thread(self._archive.match, board)).snapshot
        return found

    async def outcomes(self, wanted: Sequence[tuple[int, bytes]]) -> list[bytes | None]:
        """Return stored outcomes, each by its match and command id."""
        found = await super().outcomes(wanted)
        missing = {board for (board, _), one in zip(wanted, found, strict=True) if one is None}
        archived = await self._read(self._archive.match, await self._in_archive(list(missing)))
        return [
            archived[board].outcomes.get(command) if board in archived else one
            for (board, command), one in zip(wanted, found, strict=True)
        ]

    async def events(self, board: int, start: int) -> list[bytes]:
        """Return a match's events from the one with sequence number `start` on."""
        found = await super().events(board, start)
        if not found and await self._in_archive([board]):
            return (await to_thread(self._archive.match, board)).events[start - 1 :]
        return found

    async def event_counts(self, boards: Sequence[int]) -> list[int]:
        """Return how many events each match has."""
        found = await super().event_counts(boards)
        missing = [board for board, count in zip(boards, found, strict=True) if not count]
        archived = await self._read(self._archive.entry, await self._in_archive(missing))
        return [
            archived[board].seq if board in archived else count
            for board, count in zip(boards, found, strict=True)
        ]

    async def _read(self, read: Callable[[int], Found], boards: Iterable[int]) -> dict[int, Found]:
        """Return what is read of each match in the archive, of all at the same time."""
        wanted = list(boards)
        found = await gather(*(to_thread(read, board) for board in wanted))
        return dict(zip(wanted, found, strict=True))

    async def _in_archive(self, boards: Sequence[int]) -> set[int]:
        """Return which of these boards have matches in the archive, in one round trip if there are any."""
        if not boards:
            return set()
        marks = [("GETBIT", *keys.archive_mark(board, self._shape.shards)) for board in boards]
        bits = raise_errors(await self._pipe.send(marks))
        return {board for board, bit in zip(boards, bits, strict=True) if bit}
