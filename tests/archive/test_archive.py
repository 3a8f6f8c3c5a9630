"""Matches that are over: directory pages, made again from entries and leaves, and read as before they were retired."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Barrier, Event
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from redis import Redis

from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope, ResignMatch
from domain.match.history import PackedSnapshot, unpack_snapshot
from infra.archive import directory_pages
from infra.archive.archive import (
    Archive,
    ArchivedMatch,
    ArchiveError,
    describe,
    require_same,
    restore,
)
from infra.archive.objects import PublishedLeaves
from infra.archive.store import AsyncStoreWithArchive, StoreWithArchive
from infra.durability.durability import Mode
from infra.objects.files import FileObjects
from infra.objects.port import ObjectStoreError
from infra.redis import keys
from infra.redis.autopipeline import AutoPipeline
from infra.redis.clients import make_async_client
from infra.store import locators, port
from infra.store.async_gateway import AsyncCommandGateway
from infra.store.gateway import submission_of
from infra.store.leases import AsyncLaneLeases
from infra.store.outcomes import parse
from tests.helpers.archiving import Archiving
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from tests.helpers.given import ALICE, BOB, sent
from workers.projections.log_reader import LogReader

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


def stored(store: port.Store, board: int) -> ArchivedMatch:
    (snapshot,) = store.snapshots([board])
    assert snapshot is not None
    return ArchivedMatch(
        snapshot, store.events(board), store.outcomes(board), store.leaf_indexes(board)
    )


def leaves_of(store: port.Store, board: int) -> list[bytes]:
    found = store.leaves_at(store.layout().shard_of(board), store.leaf_indexes(board))
    assert None not in found
    return found  # type: ignore[return-value]


class Played(NamedTuple):
    """Matches of all kinds, of which those that are over are retired, and what was stored of them before."""

    archiving: Archiving
    over: list[int]
    before: Reads
    matches: dict[int, ArchivedMatch]
    leaves: dict[int, list[bytes]]
    going_on: ArchivedMatch

    def entry(self) -> directory_pages.DirectoryEntry:
        """The entry of a match with a refusal."""
        for board in self.over:
            entry = describe(board, self.matches[board])
            if entry.refusals and entry.seq > 5:
                return entry
        raise AssertionError


@pytest.fixture(scope="module")
def played(own_valkey, tmp_path_factory) -> Iterator[Played]:
    with own_valkey.client() as client:
        bench = Bench(client, tmp_path_factory.mktemp("seeds"))
        corpus, store = Corpus(bench, seed=3, matches=50), bench.store
        while corpus.leaves() < 700:
            corpus.step()
        archiving = Archiving(client, store, tmp_path_factory.mktemp("log"))
        over = [one for shard in range(4) for one in store.ended_boards(shard, 1 << 50, 99)]
        assert len(over) > 10
        boards = [*range(1, max(over) + 1), 999]
        going_on = next(one for one in boards if one not in over and store.snapshots([one])[0])
        found = Played(
            archiving,
            over,
            reads_of(store, boards),
            {board: stored(store, board) for board in over},
            {board: leaves_of(store, board) for board in over},
            stored(store, going_on),
        )
        assert archiving.retire() == len(over)
        yield found


# made again from its entry and its leaves


def test_every_match_that_is_over_is_made_again_from_its_entry_and_leaves(played):
    refused = 0
    for board, match in played.matches.items():
        entry = describe(board, match)
        again = restore(entry, played.leaves[board])
        require_same(board, match, again)
        assert dict(again.outcomes) == dict(match.outcomes)
        refused += len(entry.refusals)
    assert refused > 8


def test_an_entry_has_the_result_that_projections_fold(played):
    reader, position, found = LogReader(played.archiving.store), (0,) * 4, {}
    while (chunk := reader.read(position)).leaves:
        position = chunk.counts
        found.update({fact.event.match: fact for fact in chunk.facts if fact.result})
    for board, match in played.matches.items():
        summary, fact = describe(board, match).summary, found[board]
        for name in ("rules", "options", "seats"):
            assert getattr(summary, name) == getattr(fact.setup, name), name
        for name in ("winners", "reason", "ranks", "plies", "rated", "played"):
            assert getattr(summary, name) == getattr(fact.result, name), name


def test_what_is_not_the_whole_match_is_refused(played):
    entry = played.entry()
    leaves = played.leaves[entry.board]
    other = played.leaves[next(board for board in played.over if board != entry.board)]
    indexes = locators.decode(entry.locator)
    short = replace(entry, locator=locators.encode(indexes[:-1]))
    for wrong, read, why in [
        (entry, leaves[:-1], "leaves, and"),
        (short, leaves[:-1], "ends with another event|than digests|other refusals"),
        (entry, [leaves[1], leaves[0], *leaves[2:]], "does not hold|other refusals"),
        (entry, [other[0], *leaves[1:]], "does not hold|other refusals"),
        (replace(entry, head=bytes(32)), leaves, "ends with another event"),
        (replace(entry, digests=entry.digests[:-8]), leaves, "than digests"),
        (entry, [b"", *leaves[1:]], "does not hold"),
        (entry, [*leaves[:-1], b"\x98"], "does not hold"),
        (entry, [b"\x98" + b"\x91" * 100_000, *leaves[1:]], "does not hold"),
    ]:
        with pytest.raises(ArchiveError, match=why):
            restore(wrong, read)


def test_what_can_not_be_made_again_has_no_entry_or_is_not_retired(played):
    entry = played.entry()
    match, again = played.matches[entry.board], restore(entry, played.leaves[entry.board])
    with pytest.raises(ArchiveError, match="is not over"):
        describe(7, played.going_on)
    with pytest.raises(ArchiveError, match="has no outcome"):
        describe(entry.board, replace(match, outcomes=dict(entry.refusals)))
    command = next(iter(match.outcomes))
    snapshot = replace(match.snapshot, state=bytes(32) + match.snapshot.state[32:])
    outcomes = {**match.outcomes, command: b"digest..7:\x92\x00\x01"}
    for name, damaged in {
        "snapshot": replace(match, snapshot=snapshot),
        "events": replace(match, events=match.events[:-1]),
        "outcomes": replace(match, outcomes=outcomes),
        "locator": replace(match, indexes=[*match.indexes, 1 << 20]),
    }.items():
        with pytest.raises(ArchiveError, match=f"the {name} of match {entry.board}"):
            require_same(entry.board, damaged, again)


# directory pages


SHARDS, SHARD = 8, 7
BOARD = (256 * 12 + 5) * SHARDS + SHARD

SUMMARY = directory_pages.MatchSummary(
    rules="pow2/1", options=("-fast",), seats=(ALICE, BOB), winners=(1,), reason="resignation", ranks=(2, 1),
    plies=3, rated=True, played=True,
)  # fmt: skip
ENTRY = directory_pages.DirectoryEntry(
    board=BOARD, head=bytes(range(32)), seq=4, first_at=1_700_000_000_000, last_at=1_700_000_360_000,
    locator=locators.encode([3, 300, 301, 70_000]), summary=SUMMARY, digests=b"digest.1digest.2digest.3",
    refusals=((b"command of bob..", b"digest.4301:\x93\x05\x02\xa2no"),),
)  # fmt: skip

GOLDEN = (
    "9501 08 07 0c"
    "96c0c0c0c0c0"
    "99cd602fc420000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f04"
    "cf0000018bcfe56800cf0000018bcfeae640c40803ac02ad02f0a204"
    "99a6706f77322f3191a52d6661737492c408616c6963652e2e2ec408626f622e2e2e2e2e9101"
    "ab72657369676e6174696f6e92020103c3c3"
    "c4186469676573742e316469676573742e326469676573742e33"
    "9192c410636f6d6d616e64206f6620626f622e2ec4126469676573742e343330313a930502a26e6f"
)


def page(*entries: directory_pages.DirectoryEntry) -> directory_pages.DirectoryPage:
    return directory_pages.DirectoryPage.empty(SHARDS, SHARD, 12).with_entries(entries)


def decoded(data: bytes) -> directory_pages.DirectoryPage:
    return directory_pages.DirectoryPage.decode(data, SHARDS, SHARD, 12)


def test_a_page_has_these_bytes():
    assert page(ENTRY).encode().hex() == GOLDEN.replace(" ", "")
    assert decoded(bytes.fromhex(GOLDEN)).find(BOARD) == ENTRY
    of_tournament = replace(ENTRY, summary=replace(SUMMARY, tournament=300))
    assert decoded(page(of_tournament).encode()).find(BOARD) == of_tournament


def test_a_board_is_in_the_page_of_its_256_neighbours_in_its_shard():
    assert directory_pages.page_number(BOARD, SHARDS) == 12
    boards = [(256 * 12 + place) * SHARDS + SHARD for place in (0, 255)]
    assert [directory_pages.page_number(board, SHARDS) for board in boards] == [12, 12]
    assert directory_pages.page_number(boards[1] + SHARDS, SHARDS) == 13
    assert directory_pages.page_path(12) == "boards/012"
    assert directory_pages.page_path(1_234_067) == "boards/x001/x234/067"


@given(st.lists(st.integers(0, directory_pages.BOARDS - 1), max_size=20))
def test_entries_come_back_whatever_their_order(places):
    boards = [(256 * 12 + place) * SHARDS + SHARD for place in places]
    found = decoded(page(*(replace(ENTRY, board=board, seq=board) for board in boards)).encode())
    for place in range(directory_pages.BOARDS):
        board = (256 * 12 + place) * SHARDS + SHARD
        entry = found.find(board)
        assert entry == (replace(ENTRY, board=board, seq=board) if board in boards else None)


def test_an_entry_is_replaced_and_the_others_stay():
    other = replace(ENTRY, board=BOARD + SHARDS)
    newer = page(ENTRY, other).with_entries([replace(ENTRY, seq=9)])
    assert (newer.find(BOARD), newer.find(BOARD + SHARDS)) == (replace(ENTRY, seq=9), other)


def test_a_board_of_another_page_is_refused():
    for board in (BOARD + 1, BOARD + 256 * SHARDS):
        with pytest.raises(ValueError, match="is not in page 12 of shard 7"):
            page(ENTRY).find(board)
        with pytest.raises(ValueError, match="is not in page 12 of shard 7"):
            page(replace(ENTRY, board=board))


def test_bytes_that_are_not_the_page_or_whose_entry_is_damaged_are_refused():
    whole, deep = page(ENTRY).encode(), b"\x91" * 100_000
    for data, why in (
        (b"", "damaged"),
        (whole[:-1], "damaged"),
        (replace(page(ENTRY), version=2).encode(), "has version 2, and this program reads 1"),
        (replace(page(ENTRY), number=13).encode(), "calls itself page 13 of shard 7"),
        (replace(page(ENTRY), shards=16).encode(), "calls itself page 12 of shard 7 of 16"),
        (b"\x96" + whole[1:] + deep, "is damaged"),
        # after the other fields of the entry, which has nine
        (whole.replace(b"\x99\xcd\x60\x2f", b"\x9a\xcd\x60\x2f") + deep, "is damaged"),
    ):
        with pytest.raises(directory_pages.PageError, match=why):
            decoded(data)
    moved = replace(page(ENTRY), entries=(page(ENTRY).entries[-1],))
    with pytest.raises(directory_pages.PageError, match=f"is of match {BOARD}"):
        moved.find(256 * 12 * SHARDS + SHARD)
    cut = decoded(whole.replace(b"pow2/1", b"\xff\xffw2/1"))
    with pytest.raises(directory_pages.PageError, match="damaged"):
        cut.find(BOARD)


def test_a_full_page_of_long_matches_stays_below_the_size_of_an_object_that_is_read_whole():
    # 42 leaves far into a log, 40 moves by each of whose commands
    places = locators.encode([20_000_000 + 1_000 * leaf for leaf in range(42)])
    long = replace(ENTRY, locator=places, digests=bytes(8 * 41), refusals=(), seq=42)
    boards = [(256 * 12 + place) * SHARDS + SHARD for place in range(directory_pages.BOARDS)]
    size = len(page(*(replace(long, board=board) for board in boards)).encode())
    assert size == 157_448, "615 bytes a match"


# read as before


def test_redis_has_nothing_of_a_retired_match_but_its_bit(played):
    archiving, over, *_ = played
    client = archiving.plain._client
    names = {name.decode().split(":m:")[1].split(":")[0] for name in client.scan_iter("{s*:m:*")}
    assert names.isdisjoint(map(str, over))
    assert all(client.getbit(*keys.archive_mark(board, 4)) for board in over)
    assert sum(client.bitcount(keys.archived(shard)) for shard in range(4)) == len(over)
    assert [archiving.plain.ended_boards(shard, 1 << 50, 9) for shard in range(4)] == [[]] * 4


def test_all_reads_are_as_before_those_of_matches_that_go_on_and_of_none_as_well(played):
    archiving, over, before, *_ = played
    assert reads_of(archiving.store, list(before)) == before
    assert archiving.plain.events(over[0]) == []


def test_an_event_loop_reads_the_same(played, own_valkey):
    archiving, _, before, *_ = played

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
    archiving, over, before, *_ = played
    for board in over:
        outcomes = before[board]["outcomes"]
        same = [repeated(board, id_, stored[:8]) for id_, stored in outcomes.items()]
        assert submit(same) == [port.AlreadyDecided(stored) for stored in outcomes.values()]
    assert archiving.plain.inbox_size(range(4)) == 0


def test_a_new_command_is_refused_and_a_used_id_too(played, submit):
    _, over, before, *_ = played
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
    archiving, over, before, *_ = played
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


def test_a_page_that_is_missing_or_a_store_that_is_away_makes_the_match_unavailable(
    failing, tmp_path, caplog
):
    _, archiving, objects = failing
    store = archiving.store

    def is_unavailable(read: Callable[[int], object]) -> bool:
        with pytest.raises(Refusal) as caught:
            read(1)
        return caught.value.code == Code.UNAVAILABLE

    objects.fails = True
    assert all(map(is_unavailable, (store.events, store.outcomes, store.leaf_indexes)))
    assert len(store.events(2)) == 3
    objects.fails = False
    page = tmp_path / "log" / "s01" / "boards" / "000"
    page.rename(page.with_name("other"))
    assert is_unavailable(store.events)
    assert "there is no directory page 0 of shard 1" in caplog.text
    page.with_name("other").rename(page)
    assert len(store.events(1)) == 3


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (
            lambda page: page.write_bytes(directory_pages.DirectoryPage.empty(4, 1, 0).encode()),
            "page 0 of shard 1 has no entry of match 1",
        ),
        (lambda page: page.write_bytes(page.read_bytes()[:-3]), "is damaged"),
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
    same = {"shard": shard, "board": 5, "head": bytes(32), "digest": b"digest..", "tail": b""}
    same |= {"leaves": (b"leaf",), "snapshot": None}
    writes = [
        port.Write(entry=entry.decode(), id=order.id, **same)
        for order, entry in zip((known, new), entries, strict=True)
    ]
    first, second = archiving.store.commit(writes)
    assert stored is not None
    assert first == port.CommitArchived(stored)
    assert isinstance(second, port.CommitArchived)
    assert parse(second.stored).code == Code.MATCH_OVER
    assert archiving.plain.inbox_size([shard]) == 0
