"""Which matches retirement removes from Redis, when, what stops it, and what a kill between any two steps leaves."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from domain.match.commands import (
    CommandEnvelope,
    GiveRuling,
    MakeAppeal,
    MakeClaim,
    PlayMove,
    ResignMatch,
    StartMatch,
)
from infra.archive.archive import ArchiveError
from infra.archive.directory_pages import DirectoryEntry
from infra.archive.objects import PageStore, PublishedLeaves
from infra.durability.durability import Mode
from infra.objects.files import FileObjects
from infra.objects.port import ObjectStore
from infra.people.messages import MessageStore
from infra.redis import keys
from infra.store.gateway import submission_of
from infra.store.port import AlreadyDecided, Store
from infra.store.redis_store import RedisStore
from tests.fakes.dying import DyingClient, Killed
from tests.helpers.archiving import Archiving, publish
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from tests.helpers.doctor import damaged_matches
from tests.helpers.given import ALICE, BOB
from workers.archived_rows import ArchivedRows
from workers.retire import Retirement

SHARD = 1


OVER, ACTIVE, LATER_OVER = 1, 5, 9
"""Boards of shard 1; the second goes on."""


def entry_of(archiving: Archiving, board: int) -> DirectoryEntry | None:
    return PageStore(archiving.objects).read(4, SHARD, 0)[0].find(board)


def listed(bench: Bench) -> list[int]:
    return bench.store.ended_boards(SHARD, 1 << 50, 10)


def reads(store: Store, board: int) -> Mapping[str, Any]:
    return {
        "events": store.events(board),
        "outcomes": dict(store.outcomes(board)),
        "indexes": store.leaf_indexes(board),
        "head": [snapshot and snapshot.state[:32] for snapshot in store.snapshots([board])],
    }


@pytest.fixture
def bench(bench: Bench) -> Bench:
    """Two matches that are over, with a refusal each, and one that goes on."""
    made = bench
    made.start(OVER, ACTIVE, LATER_OVER)
    for board in (OVER, ACTIVE, LATER_OVER):
        made.send(ALICE, PlayMove(text="m13-j7"), board)
        made.send(ALICE, PlayMove(text="a1-a2"), board)
        made.drain()
    for board in (OVER, LATER_OVER):
        made.send(BOB, ResignMatch(), board)
        made.drain()
    return made


@pytest.fixture
def archiving(bench: Bench, tmp_path: Path) -> Archiving:
    return Archiving(bench.client, bench.store, tmp_path / "log")


EXTRA = b"digest..99:\x92\x01\x03"
"""An outcome of no command."""


def test_matches_that_are_over_leave_and_others_stay(bench, archiving):
    before = {board: reads(bench.store, board) for board in (OVER, ACTIVE, LATER_OVER)}
    messages = MessageStore(bench.client, lambda: bench.store.layout().shards)
    for board in (OVER, ACTIVE):
        messages.chat(board, ALICE, "well played", bytes(16))
    assert archiving.retire() == 2
    messages.chat(LATER_OVER, ALICE, "well played", bytes(16))
    year = 365 * 24 * 3_600
    for board, seconds in ((OVER, year), (ACTIVE, -1), (LATER_OVER, year)):
        name = keys.chat(bench.store.layout().shard_of(board), board)
        assert seconds - 60 < bench.client.ttl(name) <= seconds, board
    assert [one.text for one in messages.chat_of(OVER, 9)] == ["well played"]
    assert listed(bench) == []
    assert bench.store.events(OVER) == bench.store.events(LATER_OVER) == []
    assert reads(bench.store, ACTIVE) == before[ACTIVE]
    assert entry_of(archiving, ACTIVE) is None
    for board in (OVER, LATER_OVER):
        assert reads(archiving.store, board) == before[board]


def test_a_match_that_is_not_published_stays(bench, archiving, caplog):
    publish(bench.store, archiving.objects)
    for board in (OVER, LATER_OVER):
        bench.send(ALICE, PlayMove(text="a1-a2"), board)
    bench.drain()
    work = archiving.retirement(SHARD, limit=1 << 40)
    assert work.step() == 2
    assert listed(bench) == [OVER, LATER_OVER]
    assert f"ALARM: match {OVER} stays in Redis: leaf" in caplog.text
    assert "is not published" in caplog.text


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda client, names: client.rpush(names["ev"], client.lindex(names["ev"], -1)), "events"),
        (lambda client, names: client.hset(names["out"], bytes(16), EXTRA), "refusals"),
        (lambda client, names: client.append(names["at"], b"\x02"), "belongs to match"),
        (lambda client, names: client.setrange(names["state"], 40, b"\xc1\xc1"), "stays"),
    ],
    ids=["event", "outcome", "locator", "snapshot"],
)
def test_what_redis_has_otherwise_than_the_log_stays_for_an_operator(
    bench, archiving, caplog, damage, why
):
    names = {
        "ev": keys.events(SHARD, OVER),
        "out": keys.outcomes(SHARD, OVER),
        "at": keys.locator(SHARD, OVER),
        "state": keys.snapshot(SHARD, OVER),
    }
    damage(bench.client, names)
    assert archiving.retire(SHARD) == 1
    assert listed(bench) == [OVER]
    assert bench.client.exists(*names.values()) == 4
    alarm = next(one for one in caplog.messages if one.startswith(f"ALARM: match {OVER} stays"))
    assert why in alarm


def test_a_refusal_between_the_page_and_the_removal_keeps_the_match(bench, archiving):
    """The page has the match as it was, Redis wins, and the next run writes the page again."""
    publish(bench.store, archiving.objects)

    class Meanwhile(FileObjects):
        """A folder after whose first write a player tries to move."""

        def replace(self, name: str, data: bytes, before: bytes | None) -> None:
            super().replace(name, data, before)
            if not listed_before:
                listed_before.append(bench.send(ALICE, PlayMove(text="m13-j7"), OVER))
                bench.drain()

    listed_before: list[CommandEnvelope] = []
    work = work_on(archiving, Meanwhile(archiving.objects._root))
    assert work.step() == 2
    assert listed(bench) == [OVER]
    (late,) = listed_before
    stored = bench.store.outcome(OVER, late.id)
    before = reads(bench.store, OVER)
    assert stored in before["outcomes"].values()
    assert archiving.retire(SHARD) == 1
    assert reads(archiving.store, OVER) == before


def test_a_damaged_bundle_keeps_only_its_matches(bench, archiving, caplog):
    """Leaves of one page are read together; one that can't be read holds up no other match."""
    publish(bench.store, archiving.objects)
    damaged = set(bench.store.leaf_indexes(OVER))

    class Damaged(PublishedLeaves):
        def leaves_at(self, shard: int, indexes: Sequence[int]) -> list[bytes]:
            if damaged & set(indexes):
                raise ArchiveError("its bundle is damaged")
            return super().leaves_at(shard, indexes)

    work = work_on(archiving, leaves=Damaged(archiving.log_of, parallel=False))
    assert work.step() == 2
    assert (work.retired, listed(bench)) == (1, [OVER])
    assert f"ALARM: match {OVER} stays in Redis: its bundle is damaged" in caplog.text


ARBITER, OTHER_ARBITER = b"arbiter1", b"arbiter2"


TEXT = bytes(32)


def claim_of(bench: Bench, board: int = OVER) -> int:
    """Make a claim in a match that is over; return its number."""
    bench.send(BOB, MakeClaim(ply=1, text=TEXT), board)
    bench.drain()
    return bench.state(board).seq


def rule(
    bench: Bench, arbiter: bytes, claim: int | None, board: int = OVER, **changes: Any
) -> None:
    order = bench.send(
        arbiter, GiveRuling(claim=claim, upheld=bool(changes), text=TEXT, **changes), board
    )
    bench.drain()
    assert bench.outcome(order).code == ""


def test_a_match_with_a_claim_stays_until_the_last_ruling_is_final(bench, archiving, caplog):
    claim = claim_of(bench)
    assert archiving.retire(SHARD) == 1
    assert listed(bench) == [OVER]
    rule(bench, ARBITER, claim)
    assert archiving.retire(SHARD) == 0, "an appeal is possible"
    bench.send(ALICE, MakeAppeal(claim=claim, text=TEXT), OVER)
    bench.drain()
    assert archiving.retire(SHARD) == 0, "the appeal waits"
    rule(bench, OTHER_ARBITER, claim, winners=(1,))
    before = reads(bench.store, OVER)
    assert archiving.retire(SHARD) == 1
    assert (listed(bench), bench.store.events(OVER)) == ([], [])
    assert reads(archiving.store, OVER) == before
    found = entry_of(archiving, OVER)
    assert (found.summary.winners, found.summary.reason) == ((1,), "ruling")
    assert "ALARM" not in caplog.text
    assert list(damaged_matches(archiving.store, [OVER])) == []


def test_a_match_that_was_set_back_stays_and_is_listed_again_when_it_ends(bench, archiving):
    rule(bench, ARBITER, None, back_to=1)
    assert listed(bench) == [LATER_OVER]
    assert not bench.state(OVER).over
    assert archiving.retire(SHARD) == 1
    assert listed(bench) == []
    bench.send(ALICE, ResignMatch(), OVER)
    bench.drain()
    assert listed(bench) == [OVER]
    (end,) = (bench.state(OVER).at,)
    assert bench.store.ended_boards(SHARD, end - 1, 10) == []
    assert bench.store.ended_boards(SHARD, end, 10) == [OVER]


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


def test_wherever_it_is_killed_nothing_is_lost_and_nothing_begins_twice(bench, archiving):
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


def start_of(bench: Bench, board: int) -> CommandEnvelope:
    """The command that began a match, as its sender repeats it."""
    number = (OVER, ACTIVE, LATER_OVER).index(board) + 1
    start = StartMatch(rules="pow2/1", options=(), seats=(ALICE, BOB))
    order = CommandEnvelope(board, number.to_bytes(16, "big"), ALICE, start)
    assert bench.store.outcome(board, order.id) is not None
    return order


def work_on(
    archiving: Archiving,
    objects: Any = None,
    leaves: Any = None,
    store: Any = None,
    rows: Any = None,
) -> Retirement:
    """A retirement of the shard with something else than the archive's own."""
    pages = PageStore(objects or archiving.objects)
    return Retirement(
        store or archiving.plain, pages, leaves or archiving.leaves(), SHARD,
        limit=lambda: 1 << 40, after_ms=0, rows=rows or archiving.rows,
    )  # fmt: skip


@pytest.mark.parametrize("what", ["entries", "0"])
def test_a_bundle_or_a_tile_that_was_changed_keeps_its_matches_in_redis(
    bench, archiving, tmp_path, caplog, what
):
    publish(bench.store, archiving.objects)
    (file,) = (tmp_path / "log" / "s01" / "tile" / what).rglob("[0-9]*[0-9]")
    file.chmod(0o600)
    data = file.read_bytes()
    file.write_bytes(data.replace(b"m13-j7", b"m13-j8") if what == "entries" else bytes(len(data)))
    assert archiving.retirement(SHARD, limit=1 << 40).step() == 2
    assert listed(bench) == [OVER, LATER_OVER]
    assert f"ALARM: match {OVER} stays in Redis" in caplog.text


@pytest.mark.parametrize("seed", range(1))
def test_matches_that_are_retired_while_others_are_played_hold(redis_client, tmp_path, seed):
    """Partial bundles become full meanwhile, pages get further entries, and all is read as it was before."""
    bench = Bench(redis_client, tmp_path / "seeds")
    archiving = Archiving(redis_client, bench.store, tmp_path / "log")
    bench.store = archiving.store
    chance, corpus = random.Random(seed), Corpus(bench, seed=seed, matches=40)
    retired = 0
    while corpus.leaves() < 500:
        corpus.step()
        over = [
            board
            for shard in range(4)
            for board in archiving.plain.ended_boards(shard, 1 << 50, 99)
        ]
        before = {board: reads(archiving.plain, board) for board in over}
        shards = chance.sample(range(4), chance.randrange(5))
        retired += archiving.retire(*shards) if shards else 0
        for board, found in before.items():
            assert reads(archiving.store, board) == found
            gone = not archiving.plain.events(board)
            assert not gone or board % 4 in shards
            assert gone == (board not in archiving.plain.ended_boards(board % 4, 1 << 50, 99))
    assert retired > 8
    boards = range(1, 200)
    assert list(damaged_matches(archiving.store, boards)) == []
    in_redis = sum(map(bool, archiving.plain.snapshots(boards)))
    assert in_redis == sum(map(bool, archiving.store.snapshots(boards))) - retired


def killed_runs(bench: Bench, archiving: Archiving) -> Iterator[Retirement]:
    """Runs that are killed before one more step each time: of the store, of the objects, and between two removals."""
    for trips in range(40):
        client: Any = DyingClient(bench.client, trips)
        store = RedisStore(client, Mode.NONE)
        yield work_on(archiving, store=store, rows=ArchivedRows(client, 4))
    for calls in range(20):
        yield work_on(archiving, DyingObjects(archiving.objects, calls))
