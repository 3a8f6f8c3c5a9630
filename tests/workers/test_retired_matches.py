"""Which matches retirement removes from Redis, when, what stops it, and what a kill between any two steps leaves."""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from rq import Queue
from rq.job import JobStatus
from rq.serializers import JSONSerializer

from domain.clocks.time_control import DAY
from domain.errors import Refusal
from domain.match.commands import (
    CommandEnvelope,
    GiveRuling,
    MakeAppeal,
    MakeClaim,
    PlayMove,
    ResignMatch,
    StartMatch,
)
from infra.archive.archive import Archive, ArchiveError
from infra.archive.directory_pages import DirectoryEntry
from infra.archive.objects import PageStore, PublishedLeaves, open_archive
from infra.archive.store import StoreWithArchive
from infra.durability.durability import Mode
from infra.health.retirement_limits import retirement_limits
from infra.log.key_files import generate_keys
from infra.mail.progress import MailerProgress
from infra.objects.files import FileObjects
from infra.objects.port import ObjectStore
from infra.people.messages import MessageStore
from infra.projections.buckets import HISTORY, TOURNAMENTS
from infra.projections.finished_matches import ROWS
from infra.projections.generations import Generation
from infra.redis import keys
from infra.redis.rq_jobs import MAINTENANCE, RETIRE, queue_key
from infra.settings.settings import Settings
from infra.store.gateway import submission_of
from infra.store.job_notes import last_retire_run
from infra.store.port import AlreadyDecided, Store
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from services.cli import verify
from services.cli.worker import _retire
from tests.fakes.dying import DyingClient, Killed
from tests.helpers.archiving import Archiving, publish
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from tests.helpers.doctor import damaged_matches
from tests.helpers.given import ALICE, BOB
from tests.helpers.side import catch_up
from workers import retire
from workers.archived_rows import ArchivedRows
from workers.log.job import make_publisher
from workers.retire import Retirement, RetireWakeup
from workers.rq_worker import ForkingWorker

SHARD = 1
OVER, ACTIVE, LATER_OVER = 1, 5, 9
"""Boards of shard 1; the second goes on."""

BOARDS = (OVER, ACTIVE, LATER_OVER)
START = StartMatch(rules="pow2/1", options=(), seats=(ALICE, BOB))


def play(bench: Bench, *boards: int, over: Sequence[int] | None = None) -> None:
    """Play matches with a refusal each, all of which end unless it says which."""
    bench.start(*boards)
    for board in boards:
        bench.send(ALICE, PlayMove(text="m13-j7"), board)
        bench.send(ALICE, PlayMove(text="a1-a2"), board)
        bench.drain()
    for board in boards if over is None else over:
        bench.send(BOB, ResignMatch(), board)
        bench.drain()


@pytest.fixture
def bench(bench: Bench) -> Bench:
    """Two matches that are over, with a refusal each, and one that goes on."""
    play(bench, *BOARDS, over=(OVER, LATER_OVER))
    return bench


@pytest.fixture
def archiving(bench: Bench, tmp_path: Path) -> Archiving:
    return Archiving(bench.client, bench.store, tmp_path / "log")


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


def test_matches_that_are_over_leave_and_others_stay(bench, archiving):
    before = {board: reads(bench.store, board) for board in BOARDS}
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


# what stays for an operator


def one_event_twice(bench: Bench) -> None:
    name = keys.events(SHARD, OVER)
    bench.client.rpush(name, bench.client.lindex(name, -1))


def an_outcome_of_no_command(bench: Bench) -> None:
    bench.client.hset(keys.outcomes(SHARD, OVER), bytes(16), b"digest..99:\x92\x01\x03")


def a_longer_locator(bench: Bench) -> None:
    bench.client.append(keys.locator(SHARD, OVER), b"\x02")


def an_unreadable_snapshot(bench: Bench) -> None:
    bench.client.setrange(keys.snapshot(SHARD, OVER), 40, b"\xc1\xc1")


def unpublished_refusals(bench: Bench) -> None:
    for board in (OVER, LATER_OVER):
        bench.send(ALICE, PlayMove(text="a1-a2"), board)
    bench.drain()


def changed(what: str) -> Callable[[Bench], None]:
    """Change the only file of the bundles, or of the tiles of hashes."""

    def change(bench: Bench) -> None:
        folder = bench.folder.parent / "log" / "s01" / "tile" / what
        (file,) = folder.rglob("[0-9]*[0-9]")
        file.chmod(0o600)
        data = file.read_bytes()
        other = data.replace(b"m13-j7", b"m13-j8") if what == "entries" else bytes(len(data))
        file.write_bytes(other)

    return change


@pytest.mark.parametrize(
    ("harm", "why", "stay"),
    [
        (one_event_twice, "events", [OVER]),
        (an_outcome_of_no_command, "refusals", [OVER]),
        (a_longer_locator, "belongs to match", [OVER]),
        (an_unreadable_snapshot, "stays", [OVER]),
        (unpublished_refusals, "is not published", [OVER, LATER_OVER]),
        (changed("entries"), "stays", [OVER, LATER_OVER]),
        (changed("0"), "stays", [OVER, LATER_OVER]),
    ],
)
def test_what_redis_has_otherwise_than_the_log_stays_for_an_operator(
    bench, archiving, caplog, harm, why, stay
):
    publish(bench.store, archiving.objects)
    harm(bench)
    assert work_on(archiving).step() == 2
    assert listed(bench) == stay
    of = (keys.events, keys.outcomes, keys.locator, keys.snapshot)
    assert bench.client.exists(*(name(SHARD, OVER) for name in of)) == len(of)
    alarm = next(one for one in caplog.messages if one.startswith(f"ALARM: match {OVER} stays"))
    assert why in alarm


def test_a_bundle_that_can_not_be_read_keeps_only_its_matches(bench, archiving, caplog):
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


def test_a_refusal_between_the_page_and_the_removal_keeps_the_match(bench, archiving):
    """The page has the match as it was, Redis wins, and the next run writes the page again."""
    publish(bench.store, archiving.objects)

    class Meanwhile(FileObjects):
        """A folder after whose first write a player tries to move."""

        def replace(self, name: str, data: bytes, before: bytes | None) -> None:
            super().replace(name, data, before)
            if not sent:
                sent.append(bench.send(ALICE, PlayMove(text="m13-j7"), OVER))
                bench.drain()

    sent: list[CommandEnvelope] = []
    work = work_on(archiving, Meanwhile(archiving.objects._root))
    assert work.step() == 2
    assert listed(bench) == [OVER]
    before = reads(bench.store, OVER)
    assert bench.store.outcome(OVER, sent[0].id) in before["outcomes"].values()
    assert archiving.retire(SHARD) == 1
    assert reads(archiving.store, OVER) == before


# disputes

ARBITER, OTHER_ARBITER, TEXT = b"arbiter1", b"arbiter2", bytes(32)


def rule(bench: Bench, arbiter: bytes, claim: int | None, **changes: Any) -> None:
    ruling = GiveRuling(claim=claim, upheld=bool(changes), text=TEXT, **changes)
    order = bench.send(arbiter, ruling, OVER)
    bench.drain()
    assert bench.outcome(order).code == ""


def test_a_match_with_a_claim_stays_until_the_last_ruling_is_final(bench, archiving, caplog):
    bench.send(BOB, MakeClaim(ply=1, text=TEXT), OVER)
    bench.drain()
    claim = bench.state(OVER).seq
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


# kills, and other commands meanwhile


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
    """Runs that are killed before one more step each time: of the store, of the objects, and between two removals."""
    for trips in range(40):
        client: Any = DyingClient(bench.client, trips)
        store = RedisStore(client, Mode.NONE)
        yield work_on(archiving, store=store, rows=ArchivedRows(client, 4))
    for calls in range(20):
        yield work_on(archiving, DyingObjects(archiving.objects, calls))


def nothing_is_lost(store: Store, before: Mapping[int, Mapping[str, Any]]) -> None:
    """All matches are read as before, and a start that is repeated gets its outcome and begins nothing."""
    for number, (board, was) in enumerate(before.items(), 1):
        assert reads(store, board) == was
        order = CommandEnvelope(board, number.to_bytes(16, "big"), ALICE, START)
        (answer,) = store.submit([submission_of(order, 0, "reply:1")])
        assert answer == AlreadyDecided(was["outcomes"][order.id])
    assert store.inbox_size(range(4)) == 0


def test_wherever_it_is_killed_nothing_is_lost_and_nothing_begins_twice(bench, archiving):
    publish(bench.store, archiving.objects)
    before = {board: reads(bench.store, board) for board in BOARDS}
    kills = whole = 0
    for work in killed_runs(bench, archiving):
        try:
            while work.step() is not None:
                pass
            whole += 1
        except Killed:
            kills += 1
        # a process that has read nothing yet
        fresh = Archiving(bench.client, bench.store, archiving.objects._root)  # type: ignore[attr-defined]
        nothing_is_lost(fresh.store, before)
    assert kills > 5
    assert whole
    assert listed(bench) == []


def test_matches_that_are_retired_while_others_are_played_hold(redis_client, tmp_path):
    """Partial bundles become full meanwhile, pages get further entries, and all is read as it was before."""
    bench = Bench(redis_client, tmp_path / "seeds")
    archiving = Archiving(redis_client, bench.store, tmp_path / "log")
    bench.store = archiving.store
    chance, corpus = random.Random(0), Corpus(bench, seed=0, matches=40)
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


# the job


@pytest.fixture
def settings(valkey: EmbeddedServer, tmp_path: Path) -> Settings:
    return Settings(data=tmp_path, redis_url=valkey.url, queue_url=valkey.url)


@pytest.fixture
def aged(redis_client: Redis, tmp_path: Path) -> Bench:
    """Two matches of a shard that ended 41 days ago, and one that ended today."""
    made = Bench(redis_client, tmp_path / "seeds")
    now = made.store
    made.store = RedisStore(redis_client, Mode.FSYNC, clock=lambda: now.now() - 41 * DAY)
    play(made, OVER, ACTIVE)
    made.store = now
    play(made, LATER_OVER)
    return made


def publish_log(settings: Settings, client: Redis) -> None:
    generate_keys(settings.data / "keys", "example.org")
    publisher = make_publisher(settings, client, client)
    publisher.begin()
    while publisher.round(0):
        pass


def run(settings: Settings, bench: Bench) -> int:
    return retire.run(settings, bench.store, bench.client, bench.client, SHARD)


def read_back(settings: Settings, bench: Bench) -> StoreWithArchive:
    """A store that has read nothing yet."""
    archive = Archive(lambda: open_archive(settings), lambda: 4)
    return StoreWithArchive(bench.client, Mode.FSYNC, archive)


def test_a_run_retires_what_is_published_read_by_all_and_old(settings, aged, capsys, caplog):
    client, ends = aged.client, list(aged.store.watermark().ends)
    before = {board: reads(aged.store, board) for board in (OVER, ACTIVE)}
    assert retirement_limits(client, 4, mail=False) == [0] * 4
    publish_log(settings, client)
    assert retirement_limits(client, 4, mail=False) == [0] * 4
    assert run(settings, aged) == 0, "the projections have read nothing"
    catch_up(aged.store, client)
    assert retirement_limits(client, 4, mail=False) == ends
    assert retirement_limits(client, 4, mail=True) == [0] * 4
    MailerProgress(client).begin([0, 2, 0, 0])
    assert retirement_limits(client, 4, mail=True) == [0, 2, 0, 0]
    MailerProgress(client).advance([0, 2, 0, 0], ends)
    assert verify.run("1", settings) == 0
    assert "in the archive" not in capsys.readouterr().out
    assert run(settings, aged) == 2
    assert listed(aged) == [LATER_OVER]
    nothing_is_lost(read_back(settings, aged), before)
    assert run(settings, aged) == 0, "the next run has nothing to look at, and is not noted"
    noted = last_retire_run(client, 4)
    assert (noted.shard, noted.retired, noted.kept) == (SHARD, 2, 0)
    # the command line proves a retired match by the signed checkpoint
    assert verify.run("1", settings) == 0
    assert "a signed checkpoint of the log covers it" in capsys.readouterr().out
    (tile,) = (settings.data / "log" / "s01" / "tile" / "0").rglob("[0-9]*[0-9]")
    tile.chmod(0o600)
    tile.write_bytes(bytes(len(tile.read_bytes())))
    with pytest.raises(Refusal, match="can't be read from the archive"):
        verify.run("1", settings)
    assert "does not fit" in caplog.text or "do not fit" in caplog.text


def requested(client: Redis) -> list[tuple[str, Any]]:
    queue = Queue(MAINTENANCE, connection=client, serializer=JSONSerializer)
    return [(job.func_name, job.args) for job in queue.get_jobs()]


def test_shards_with_matches_that_are_due_and_published_are_requested_each_hour(
    settings, aged, monkeypatch
):
    client, now = aged.client, [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    RetireWakeup(aged.store, client, client, 40).tick()
    assert requested(client) == [], "nothing is published"
    publish_log(settings, client)
    RetireWakeup(aged.store, client, client, 42).tick()
    assert requested(client) == [], "nothing is old enough"
    wakeup = RetireWakeup(aged.store, client, client, 40)
    wakeup.tick()
    assert requested(client) == [(RETIRE, [SHARD])]
    client.delete(queue_key(MAINTENANCE), "{lease:retire/1}")
    wakeup.tick()
    assert requested(client) == []
    now[0] += retire.HOUR_SECONDS
    wakeup.tick()
    assert requested(client) == [(RETIRE, [SHARD])]


def test_a_run_is_requested_while_rows_of_matches_in_the_archive_are_left(aged):
    client = aged.client
    client.set("{p:history}:live", f"{HISTORY.version}:1:1")
    ended = sum(client.zcard(keys.ended(shard)) for shard in range(4))
    rows = Generation("history", 1, 1).bucket(0).key(ROWS)
    client.hset(rows, mapping={str(board): b"row" for board in range(ended)})
    # a tournament that is over has no row there
    client.set("{p:tournaments}:live", f"{TOURNAMENTS.version}:1:1")
    client.zadd(Generation("tournaments", 1, 1).bucket(0).key("ended"), {"7": 7})
    client.zadd(keys.ended(3), {"7": 1 << 50})
    RetireWakeup(aged.store, client, client, 50).tick()
    assert requested(client) == []
    client.hset(rows, "999", b"row")
    RetireWakeup(aged.store, client, client, 50).tick()
    assert requested(client) == [(RETIRE, [0])]


def test_a_maintenance_worker_does_what_the_scheduler_requested(settings, aged, monkeypatch):
    client = aged.client
    publish_log(settings, client)
    catch_up(aged.store, client)
    for name, value in settings.environment().items():
        monkeypatch.setenv(name, value)
    RetireWakeup(aged.store, client, client, 40).tick()
    (job,) = Queue(MAINTENANCE, connection=client, serializer=JSONSerializer).get_jobs()
    worker = ForkingWorker(client, MAINTENANCE, {RETIRE: _retire})
    worker.work(burst=True, logging_level="CRITICAL")
    job.refresh()
    assert job.get_status(refresh=False) == JobStatus.FINISHED
    assert job.meta == {"shard": SHARD, "retired": 2, "kept": 0}
    assert listed(aged) == [LATER_OVER]
    assert requested(client) == []
