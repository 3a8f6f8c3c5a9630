"""All that a store reads of a match is the same after it was retired, for both stores and in every game."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Barrier, Event
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace
from redis import Redis

from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope, ResignMatch
from domain.match.history import PackedSnapshot, unpack_snapshot
from infra.archive.archive import Archive, ArchivedMatch
from infra.archive.directory_pages import DirectoryPage
from infra.archive.objects import PublishedLeaves
from infra.archive.store import AsyncStoreWithArchive, StoreWithArchive
from infra.durability.durability import Mode
from infra.objects.files import FileObjects
from infra.objects.port import ObjectStoreError
from infra.redis import keys
from infra.redis.autopipeline import AutoPipeline
from infra.redis.clients import make_async_client
from infra.store import port
from infra.store.async_gateway import AsyncCommandGateway
from infra.store.gateway import submission_of
from infra.store.leases import AsyncLaneLeases
from infra.store.outcomes import parse
from tests.helpers.archiving import Archiving
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from tests.helpers.given import ALICE, BOB, sent

MATCHES = 40
EMPTY_PAGE = DirectoryPage.empty(4, 1, 0).encode()
Reads = dict[int, dict[str, Any]]


def state_of(packed: PackedSnapshot | None) -> Any:
    """A snapshot without its cached position."""
    found = unpack_snapshot(packed)
    return replace(found, state=replace(found.state, position=None))


def reads_of(store: port.Store, boards: list[int]) -> Reads:
    snapshots = store.snapshots(boards)
    with_moves = store.snapshots_with_conditional_moves(boards)
    firsts = store.first_events(boards)
    return {
        board: {
            "snapshot": state_of(snapshots[place]),
            "with conditional moves": state_of(with_moves[place][0]),
            "first": firsts[place],
            "events": store.events(board),
            "outcomes": dict(store.outcomes(board)),
            "each outcome": {id_: store.outcome(board, id_) for id_ in store.outcomes(board)},
            "indexes": store.leaf_indexes(board),
        }
        for place, board in enumerate(boards)
    }


@pytest.fixture(scope="module")
def played(own_valkey, tmp_path_factory) -> Iterator[tuple[Archiving, list[int], Reads]]:
    """Matches of all kinds, of which those that are over are retired, and what was read before."""
    with own_valkey.client() as client:
        bench = Bench(client, tmp_path_factory.mktemp("seeds"))
        corpus = Corpus(bench, seed=5, matches=MATCHES)
        while corpus.leaves() < 800:
            corpus.step()
        archiving = Archiving(client, bench.store, tmp_path_factory.mktemp("log"))
        over = [
            board for shard in range(4) for board in bench.store.ended_boards(shard, 1 << 50, 99)
        ]
        assert len(over) > 8
        before = reads_of(bench.store, [*range(1, max(over) + 1), 999])
        assert archiving.retire() == len(over)
        yield archiving, over, before


def test_redis_has_nothing_of_a_retired_match_but_its_bit(played):
    archiving, over, _ = played
    client = archiving.plain._client
    names = {name.decode().split(":m:")[1].split(":")[0] for name in client.scan_iter("{s*:m:*")}
    assert names.isdisjoint(map(str, over))
    assert all(client.getbit(*keys.archive_mark(board, 4)) for board in over)
    assert sum(client.bitcount(keys.archived(shard)) for shard in range(4)) == len(over)
    assert [archiving.plain.ended_boards(shard, 1 << 50, 9) for shard in range(4)] == [[]] * 4


def test_all_reads_are_as_before_those_of_matches_that_go_on_and_of_none_as_well(played):
    archiving, over, before = played
    assert reads_of(archiving.store, list(before)) == before
    assert archiving.plain.events(over[0]) == []


def test_an_event_loop_reads_the_same(played, own_valkey):
    archiving, _, before = played

    async def read() -> None:
        async with make_async_client(own_valkey.url) as client, AutoPipeline(client) as pipe:
            store = AsyncStoreWithArchive(pipe, archiving.plain.layout(), 100, archiving.archive())
            counts = await store.event_counts(list(before))
            assert counts == [len(one["events"]) for one in before.values()]
            for board, one in before.items():
                assert state_of(await store.snapshot(board)) == one["snapshot"]
                assert await store.events(board, 1) == one["events"]
                assert await store.events(board, 3) == one["events"][2:]
                wanted = [(board, id_) for id_ in one["outcomes"]]
                assert await store.outcomes(wanted) == list(one["outcomes"].values())
                assert await store.outcomes([(board, bytes(16))]) == [None]

    asyncio.run(read())


def repeated(board: int, id_: bytes, digest: bytes) -> port.Submission:
    return port.Submission(board, id_, digest, b"payload", b"alice...", 0, "reply:1")


def submit_by_a_loop(archiving: Archiving, url: str, new: list[port.Submission]) -> list[Any]:
    async def submit() -> list[Any]:
        async with make_async_client(url) as client, AutoPipeline(client) as pipe:
            layout = archiving.plain.layout()
            store = AsyncStoreWithArchive(pipe, layout, 100, archiving.archive())
            answers = await store.submit(new)
            later = [store.answer_later(*one) for one in zip(new, answers, strict=True)]
            return [
                answer if one is None else await one
                for one, answer in zip(later, answers, strict=True)
            ]

    return asyncio.run(submit())


@pytest.fixture(params=["store", "event loop"])
def submit(request, played, own_valkey) -> Callable[[list[port.Submission]], list[Any]]:
    archiving = played[0]
    if request.param == "store":
        return archiving.store.submit
    return lambda new: submit_by_a_loop(archiving, own_valkey.url, new)


def test_each_command_that_is_repeated_gets_its_stored_outcome(played, submit):
    archiving, over, before = played
    for board in over:
        outcomes = before[board]["outcomes"]
        same = [repeated(board, id_, stored[:8]) for id_, stored in outcomes.items()]
        assert submit(same) == [port.AlreadyDecided(stored) for stored in outcomes.values()]
    assert archiving.plain.inbox_size(range(4)) == 0


def test_a_new_command_is_refused_and_a_used_id_too(played, submit):
    _, over, before = played
    used = next(iter(before[over[0]]["outcomes"]))
    new = [repeated(over[0], bytes(16), b"digest.."), repeated(over[0], used, b"another.")]
    assert submit(new) == [port.NotAccepted(Code.MATCH_OVER), port.NotAccepted(Code.ID_REUSED)]


class _SlowArchive(Archive):
    """An archive that reads nothing before `together` reads are under way, and while it is `held`."""

    def __init__(self, archive: Archive, together: int) -> None:
        self._archive = archive
        self._barrier = Barrier(together)
        self.held = Event()

    def match(self, board: int) -> ArchivedMatch:
        self._barrier.wait(10)
        assert self.held.wait(10)
        return self._archive.match(board)


def test_matches_of_the_archive_hold_up_no_other_command_and_are_read_at_the_same_time(
    played, own_valkey
):
    archiving, over, before = played
    boards = over[:3]
    slow = _SlowArchive(archiving.archive(), len(boards))
    known = [next(iter(before[board]["outcomes"])) for board in boards]
    queued = asyncio.Event()

    async def read() -> None:
        async with make_async_client(own_valkey.url) as client, AutoPipeline(client) as pipe:
            store = AsyncStoreWithArchive(pipe, archiving.plain.layout(), 100, slow)
            lanes = AsyncLaneLeases(pipe, lambda _: queued.set())
            async with AsyncCommandGateway(store, lanes, client) as gateway:
                # all of them in one batch, the last to a match that is not in the archive
                orders = [sent(ALICE, ResignMatch(), 1 << 99 | one, one) for one in (*boards, 990)]
                tasks = [asyncio.create_task(gateway.send(order, 0, 10)) for order in orders]
                await asyncio.wait_for(queued.wait(), 5)
                assert not any(task.done() for task in tasks)
                slow.held.set()
                for task in tasks[:-1]:
                    with pytest.raises(Refusal, match=str(Code.MATCH_OVER)):
                        await task
                tasks[-1].cancel()
                archiving.plain._client.delete(keys.inbox(archiving.plain.layout().shard_of(990)))
            wanted = list(zip(boards, known, strict=True))
            found = await store.outcomes(wanted)
            assert found == [before[board]["outcomes"][id_] for board, id_ in wanted]

    asyncio.run(read())


# an archive that fails


class _FailingObjects(FileObjects):
    """A folder whose objects can't be read while `fails` is set."""

    fails = False

    def get(self, name: str) -> bytes:
        if self.fails:
            raise ObjectStoreError("the store is away")
        return super().get(name)


def ended_match(bench: Bench, board: int) -> CommandEnvelope:
    """A match of two commands, the last of which is returned."""
    bench.start(board)
    last = bench.send(ALICE, ResignMatch(), board)
    bench.drain()
    return last


class Failing(NamedTuple):
    """An archive whose objects can be made to fail, with a bench."""

    bench: Bench
    archiving: Archiving
    objects: _FailingObjects


@pytest.fixture
def failing(redis_client: Redis, tmp_path: Path) -> Failing:
    """Matches 1 and 2 are over, and the first is retired; nothing is cached."""
    bench = Bench(redis_client, tmp_path / "seeds")
    archiving = Archiving(redis_client, bench.store, tmp_path / "log")
    archiving.objects = objects = _FailingObjects(tmp_path / "log")
    for board in (1, 2):
        ended_match(bench, board)
    assert archiving.retire(1) == 1
    archiving.store = StoreWithArchive(redis_client, Mode.FSYNC, archiving.archive())
    return Failing(bench, archiving, objects)


def test_a_page_that_is_missing_makes_its_matches_unavailable(failing, tmp_path, caplog):
    (tmp_path / "log" / "s01" / "boards" / "000").unlink()
    with pytest.raises(Refusal) as caught:
        failing.archiving.store.events(1)
    assert caught.value.code == Code.UNAVAILABLE
    assert "there is no directory page 0 of shard 1" in caplog.text


def test_a_store_that_is_away_makes_the_match_unavailable_until_it_is_back(failing):
    _, archiving, objects = failing
    objects.fails = True
    for read in (archiving.store.events, archiving.store.outcomes, archiving.store.leaf_indexes):
        with pytest.raises(Refusal) as caught:
            read(1)
        assert caught.value.code == Code.UNAVAILABLE
    assert len(archiving.store.events(2)) == 3
    objects.fails = False
    assert len(archiving.store.events(1)) == 3


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda page: page.write_bytes(EMPTY_PAGE), "page 0 of shard 1 has no entry of match 1"),
        (lambda page: page.write_bytes(page.read_bytes()[:-3]), "is damaged"),
        (
            lambda page: page.write_bytes(page.read_bytes().replace(b"pow2", b"\xff\xffw2")),
            "is damaged",
        ),
    ],
)
def test_a_damaged_page_makes_its_matches_damaged(failing, tmp_path, caplog, damage, why):
    _, archiving, _ = failing
    damage(tmp_path / "log" / "s01" / "boards" / "000")
    with pytest.raises(Refusal, match="can't be read from the archive") as caught:
        archiving.store.snapshots([2, 1])
    assert caught.value.code == Code.DAMAGED
    assert "ALARM: match 1 can't be read from the archive" in caplog.text
    assert why in caplog.text


def test_another_history_than_that_of_the_page_is_damaged(failing, monkeypatch):
    bench, archiving, _ = failing
    other = [leaf for _, leaf in bench.store.leaves(2, 0, 3)]
    monkeypatch.setattr(PublishedLeaves, "leaves_at", lambda *_: other)
    with pytest.raises(Refusal) as caught:
        archiving.store.events(1)
    assert caught.value.code == Code.DAMAGED


def test_a_repetition_that_can_not_be_answered_harms_no_other(failing):
    _, archiving, objects = failing
    objects.fails = True
    own = repeated(1, bytes(16), b"digest..")
    others = [repeated(3, bytes([7]) * 16, b"digest.."), repeated(2, bytes([8]) * 16, b"digest..")]
    first, *rest = archiving.store.submit([own, *others])
    assert first == port.NotAccepted(Code.UNAVAILABLE)
    assert all(isinstance(answer, port.Queued) for answer in rest)


def test_a_command_that_waited_while_its_match_was_retired_gets_its_outcome_or_match_over(failing):
    bench, archiving, _ = failing
    known, new = ended_match(bench, 5), bench.order(BOB, ResignMatch(), 5)
    stored = archiving.plain.outcome(5, known.id)
    # both wait, as if the first had been submitted twice before it was decided
    shard = archiving.plain.layout().shard_of(5)
    entries = []
    for order in (known, new):
        submission = submission_of(order, 0, "reply:1")
        fields = {"c": submission.payload, "t": "1", "d": "reply:1"}
        entries.append(archiving.plain._client.xadd(keys.inbox(shard), fields))
    assert archiving.retire(shard) == 1
    writes = [
        port.Write(
            shard=shard,
            entry=entry.decode(),
            board=5,
            id=order.id,
            head=bytes(32),
            digest=b"digest..",
            tail=b"",
            leaves=(b"leaf",),
            snapshot=None,
        )
        for order, entry in zip((known, new), entries, strict=True)
    ]
    first, second = archiving.store.commit(writes)
    assert stored is not None
    assert first == port.CommitArchived(stored)
    assert isinstance(second, port.CommitArchived)
    assert parse(second.stored).code == Code.MATCH_OVER
    assert archiving.plain.inbox_size([shard]) == 0
