"""Kills between any two steps of a retirement."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from domain.match.commands import CommandEnvelope, StartMatch
from infra.archive.objects import PageStore
from infra.durability.durability import Mode
from infra.objects.port import ObjectStore
from infra.store.gateway import submission_of
from infra.store.port import AlreadyDecided
from infra.store.redis_store import RedisStore
from tests.fakes.dying import DyingClient, Killed
from tests.helpers.archiving import Archiving, publish
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB
from tests.workers.retire.ended_matches import ACTIVE, LATER_OVER, OVER, SHARD, listed, reads
from workers.archived_rows import ArchivedRows
from workers.retire import Retirement


class DyingObjects:
    """Passes `calls` calls on to an object store; before the next one the process is killed."""

    def __init__(self, objects: ObjectStore, calls: int) -> None:
        self._objects = objects
        self._left = calls

    def __getattr__(self, name: str) -> Callable[..., Any]:
        call: Callable[..., Any] = getattr(self._objects, name)

        def counted(*args: Any) -> Any:
            if self._left == 0:
                raise Killed
            self._left -= 1
            return call(*args)

        return counted


def killed_runs(bench: Bench, archiving: Archiving) -> Iterator[Retirement]:
    """Runs that are killed before one more step each time: of the store, then of the objects."""
    for trips in range(40):
        client: Any = DyingClient(bench.client, trips)
        store = RedisStore(client, Mode.NONE)
        yield Retirement(
            store,
            PageStore(archiving.objects),
            archiving.leaves(),
            SHARD,
            limit=lambda: 1 << 40,
            after_ms=0,
            rows=ArchivedRows(client, 4),
        )
    for calls in range(20):
        dying: Any = DyingObjects(archiving.objects, calls)
        yield Retirement(
            bench.store,
            PageStore(dying),
            archiving.leaves(),
            SHARD,
            limit=lambda: 1 << 40,
            after_ms=0,
            rows=archiving.rows,
        )


def test_wherever_it_is_killed_nothing_is_lost_and_nothing_begins_twice(
    bench: Bench, archiving: Archiving
) -> None:
    publish(bench.store, archiving.objects)
    boards = (OVER, ACTIVE, LATER_OVER)
    before = {board: reads(bench.store, board) for board in boards}
    starts = {board: start_of(bench, board) for board in boards}
    kills = whole = 0
    for work in killed_runs(bench, archiving):
        try:
            while work.step() is not None:
                pass
            whole += 1
        except Killed:
            kills += 1
        # a process that has read nothing yet
        fresh = Archiving(bench.client, bench.store, archiving.objects._root).store  # type: ignore[attr-defined]
        for board in boards:
            assert reads(fresh, board) == before[board], (kills, board)
            (answer,) = fresh.submit([submission_of(starts[board], 0, "reply:1")])
            assert isinstance(answer, AlreadyDecided)
            assert answer.stored == before[board]["outcomes"][starts[board].id]
    assert kills > 5
    assert whole
    assert listed(bench) == []
    assert bench.store.inbox_size(range(4)) == 0


class HalfRemoved(RedisStore):
    """A store whose process is killed while it removes matches, after the first of them."""

    def retire(self, matches: Sequence[tuple[int, bytes, Sequence[int]]], *more: Any) -> list[bool]:
        super().retire(matches[:1], *more)
        raise Killed


def test_killed_between_two_removals_it_is_followed_by_a_run_that_removes_the_other(
    bench: Bench, archiving: Archiving
) -> None:
    publish(bench.store, archiving.objects)
    before = {board: reads(bench.store, board) for board in (OVER, LATER_OVER)}
    store = HalfRemoved(bench.client, Mode.FSYNC)
    pages = PageStore(archiving.objects)
    work = Retirement(
        store,
        pages,
        archiving.leaves(),
        SHARD,
        limit=lambda: 1 << 40,
        after_ms=0,
        rows=archiving.rows,
    )
    with pytest.raises(Killed):
        work.step()
    assert listed(bench) == [LATER_OVER]
    assert {board: reads(archiving.store, board) for board in before} == before
    assert archiving.retire(SHARD) == 1
    assert listed(bench) == []
    assert {board: reads(archiving.store, board) for board in before} == before


def start_of(bench: Bench, board: int) -> CommandEnvelope:
    """The command that began a match, as its sender repeats it."""
    number = (OVER, ACTIVE, LATER_OVER).index(board) + 1
    start = StartMatch(rules="pow2/1", options=(), seats=(ALICE, BOB))
    order = CommandEnvelope(board, number.to_bytes(16, "big"), ALICE, start)
    assert bench.store.outcome(board, order.id) is not None
    return order
