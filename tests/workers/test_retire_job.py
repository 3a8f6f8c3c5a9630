"""The retire job: requested by the hour where matches are due, and killed at each of its fault points."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from rq import Queue
from rq.job import JobStatus
from rq.serializers import JSONSerializer

from domain.clocks.time_control import DAY
from domain.errors import Refusal
from domain.match.commands import CommandEnvelope, PlayMove, ResignMatch, StartMatch
from infra.archive.archive import Archive
from infra.archive.objects import open_archive
from infra.archive.store import StoreWithArchive
from infra.durability.durability import Mode
from infra.health.retirement_limits import retirement_limits
from infra.log.key_files import generate_keys
from infra.mail.progress import MailerProgress
from infra.process.failpoints import FAILPOINTS
from infra.projections.buckets import HISTORY, TOURNAMENTS
from infra.projections.finished_matches import ROWS
from infra.projections.generations import Generation
from infra.redis import keys
from infra.redis.rq_jobs import MAINTENANCE, RETIRE, queue_key
from infra.settings.settings import Settings
from infra.store.gateway import submission_of
from infra.store.jobs import last_retire_run
from infra.store.port import AlreadyDecided, Store
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from services.cli import verify
from services.cli.worker import _retire
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB
from tests.helpers.side import catch_up
from workers import retire
from workers.log.job import make_publisher
from workers.retire import RetireWakeup
from workers.rq_worker import ForkingWorker

SHARD, BOARDS = 1, (1, 5)
POINTS = [point for point in FAILPOINTS if point.startswith("retire.")]
QUICK_POINTS = ("retire.written", "retire.removed")
"""The points at which most is half done: a bundle that nothing names, and leaves that are gone."""


@pytest.fixture
def settings(valkey: EmbeddedServer, tmp_path: Path) -> Settings:
    return Settings(data=tmp_path, redis_url=valkey.url, queue_url=valkey.url)


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> Bench:
    """Two matches of a shard that ended 41 days ago, and one that ended today."""
    made = Bench(redis_client, tmp_path / "seeds")
    now = made.store
    made.store = RedisStore(redis_client, Mode.FSYNC, clock=lambda: now.now() - 41 * DAY)
    play(made, *BOARDS)
    made.store = now
    play(made, 9)
    return made


def play(bench: Bench, *boards: int) -> None:
    bench.start(*boards)
    for board in boards:
        bench.send(ALICE, PlayMove(text="m13-j7"), board)
        bench.send(ALICE, PlayMove(text="a1-a2"), board)
        bench.send(BOB, ResignMatch(), board)
    bench.drain()


def publish(settings: Settings, client: Redis) -> None:
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


def reads(store: Store, board: int) -> Mapping[str, Any]:
    return {"events": store.events(board), "outcomes": dict(store.outcomes(board))}


def test_a_run_retires_what_is_published_read_and_old(settings, bench):
    before = [reads(bench.store, board) for board in BOARDS]
    publish(settings, bench.client)
    assert run(settings, bench) == 0, "the projections have read nothing"
    catch_up(bench.store, bench.client)
    assert run(settings, bench) == 2
    assert bench.store.ended_boards(SHARD, 1 << 50, 9) == [9]
    assert [reads(read_back(settings, bench), board) for board in BOARDS] == before
    assert run(settings, bench) == 0, "the next run has nothing to look at, and is not noted"
    noted = last_retire_run(bench.client, 4)
    assert (noted.shard, noted.retired, noted.kept) == (SHARD, 2, 0)
    assert run(settings, bench) == 0


def test_the_limit_is_the_least_of_the_published_size_and_all_readers(settings, bench):
    client = bench.client
    ends = list(bench.store.watermark().ends)
    assert retirement_limits(client, 4, mail=False) == [0] * 4
    catch_up(bench.store, client)
    assert retirement_limits(client, 4, mail=False) == [0] * 4
    publish(settings, client)
    assert retirement_limits(client, 4, mail=False) == ends
    assert retirement_limits(client, 4, mail=True) == [0] * 4
    MailerProgress(client).begin([0, 2, 0, 0])
    assert retirement_limits(client, 4, mail=True) == [0, 2, 0, 0]
    play(bench, 13)
    assert retirement_limits(client, 4, mail=False) == ends


def waiting(client: Redis) -> list[tuple[str, Any]]:
    queue = Queue(MAINTENANCE, connection=client, serializer=JSONSerializer)
    return [(job.func_name, job.args) for job in queue.get_jobs()]


def test_shards_with_matches_that_are_due_and_published_are_requested_each_hour(
    settings, bench, monkeypatch
):
    client, now = bench.client, [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    RetireWakeup(bench.store, client, client, 40).tick()
    assert waiting(client) == [], "nothing is published"
    publish(settings, client)
    RetireWakeup(bench.store, client, client, 42).tick()
    assert waiting(client) == [], "nothing is old enough"
    wakeup = RetireWakeup(bench.store, client, client, 40)
    wakeup.tick()
    assert waiting(client) == [(RETIRE, [SHARD])]
    client.delete(queue_key(MAINTENANCE), "{lease:retire/1}")
    wakeup.tick()
    assert waiting(client) == []
    now[0] += retire.HOUR_SECONDS
    wakeup.tick()
    assert waiting(client) == [(RETIRE, [SHARD])]


def test_a_run_is_requested_while_rows_of_matches_in_the_archive_are_left(bench):
    client = bench.client
    client.set("{p:history}:live", f"{HISTORY.version}:1:1")
    ended = sum(client.zcard(keys.ended(shard)) for shard in range(4))
    rows = Generation("history", 1, 1).bucket(0).key(ROWS)
    client.hset(rows, mapping={str(board): b"row" for board in range(ended)})
    # a tournament that is over has no row there
    client.set("{p:tournaments}:live", f"{TOURNAMENTS.version}:1:1")
    client.zadd(Generation("tournaments", 1, 1).bucket(0).key("ended"), {"7": 7})
    client.zadd(keys.ended(3), {"7": 1 << 50})
    RetireWakeup(bench.store, client, client, 50).tick()
    assert waiting(client) == []
    client.hset(rows, "999", b"row")
    RetireWakeup(bench.store, client, client, 50).tick()
    assert waiting(client) == [(RETIRE, [0])]


def test_verify_proves_a_retired_match_by_the_signed_checkpoint(settings, bench, capsys, caplog):
    publish(settings, bench.client)
    catch_up(bench.store, bench.client)
    assert verify.run("1", settings) == 0
    assert "in the archive" not in capsys.readouterr().out
    assert run(settings, bench) == 2
    assert verify.run("1", settings) == 0
    assert "a signed checkpoint of the log covers it" in capsys.readouterr().out
    (tile,) = (settings.data / "log" / "s01" / "tile" / "0").rglob("[0-9]*[0-9]")
    tile.chmod(0o600)
    tile.write_bytes(bytes(len(tile.read_bytes())))
    with pytest.raises(Refusal, match="can't be read from the archive"):
        verify.run("1", settings)
    assert "does not fit" in caplog.text or "do not fit" in caplog.text


def test_a_maintenance_worker_does_what_the_scheduler_requested(settings, bench, monkeypatch):
    client = bench.client
    publish(settings, client)
    catch_up(bench.store, client)
    for name, value in settings.environment().items():
        monkeypatch.setenv(name, value)
    RetireWakeup(bench.store, client, client, 40).tick()
    (job,) = Queue(MAINTENANCE, connection=client, serializer=JSONSerializer).get_jobs()
    worker = ForkingWorker(client, MAINTENANCE, {RETIRE: _retire})
    worker.work(burst=True, logging_level="CRITICAL")
    job.refresh()
    assert job.get_status(refresh=False) == JobStatus.FINISHED
    assert job.meta == {"shard": SHARD, "retired": 2, "kept": 0}
    assert bench.store.ended_boards(SHARD, 1 << 50, 9) == [9]
    assert waiting(client) == []


# kills


def job(settings: Settings, fault: str = "") -> int:
    """Run the job in a process of its own; return its exit code."""
    environment = {**os.environ, **settings.environment(), "MATCHPOST_FAULT": fault}
    program = f"from services.jobs import retire; retire({SHARD})"
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, timeout=120, check=False
    ).returncode


@pytest.mark.parametrize(
    "point",
    [
        pytest.param(point, marks=() if point in QUICK_POINTS else pytest.mark.long)
        for point in POINTS
    ],
)
def test_a_job_killed_at_a_point_loses_and_doubles_nothing(settings, bench, point):
    before = {board: reads(bench.store, board) for board in (*BOARDS, 9)}
    publish(settings, bench.client)
    catch_up(bench.store, bench.client)
    assert job(settings, f"{point}:1") == -signal.SIGKILL
    check(settings, bench, before)
    bench.client.delete("{lease:retire/1}")  # it expires after a minute
    assert job(settings) == 0
    check(settings, bench, before)
    assert bench.store.ended_boards(SHARD, 1 << 50, 9) == [9]
    assert [bench.store.events(board) for board in BOARDS] == [[], []]


def check(settings: Settings, bench: Bench, before: Mapping[int, Mapping[str, Any]]) -> None:
    """Nothing is lost, and a start that is repeated gets its outcome and begins nothing."""
    store = read_back(settings, bench)
    for board, was in before.items():
        assert reads(store, board) == was
    start = StartMatch(rules="pow2/1", options=(), seats=(ALICE, BOB))
    for number, board in enumerate(BOARDS, 1):
        order = CommandEnvelope(board, number.to_bytes(16, "big"), ALICE, start)
        (answer,) = store.submit([submission_of(order, 0, "reply:1")])
        assert answer == AlreadyDecided(before[board]["outcomes"][order.id])
    assert bench.store.inbox_size(range(4)) == 0
