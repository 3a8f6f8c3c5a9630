"""The job that moves rows to pages: requested by the hour where lists may be long, and killed at its points."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from rq import Queue
from rq.job import JobStatus
from rq.serializers import JSONSerializer

from domain.clocks.calendar import DAY
from domain.match.commands import ResignMatch
from domain.match.events import AccountId
from infra.durability import Mode
from infra.failpoints import FAILPOINTS
from infra.projections.generations import Generations
from infra.projections.match_lists import MatchFilter, over_key
from infra.projections.paged_lists import OFFLOADED, pages_key
from infra.projections.paged_projections import PagedGenerations
from infra.projections.row_pages import MOST_ROWS, PAGE_ROWS
from infra.projections.specs import LISTS
from infra.redis import keys
from infra.rq_jobs import MAINTENANCE, OFFLOAD, queue_key
from infra.settings import Settings
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from services.app.context import App
from services.cli import rebuild
from services.cli.worker import _offload
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB
from tests.helpers.side import catch_up
from workers import offload_job
from workers.offload_job import OffloadWakeup
from workers.projections.offload import RowOffload
from workers.rq_worker import ForkingWorker

MATCHES = MOST_ROWS + 44
POINTS = [point for point in FAILPOINTS if point.startswith("offload.")]


@pytest.fixture
def settings(valkey: EmbeddedServer, tmp_path: Path) -> Settings:
    return Settings(data=tmp_path, redis_url=valkey.url, queue_url=valkey.url)


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> Bench:
    """Alice and bob have finished many matches, a day ago."""
    made = Bench(redis_client, tmp_path / "seeds")
    now = made.store
    made.store = RedisStore(redis_client, Mode.FSYNC, clock=lambda: now.now() - DAY)
    for first in range(1, MATCHES + 1, 200):
        boards = range(first, min(first + 200, MATCHES + 1))
        made.start(*boards)
        for board in boards:
            made.send(ALICE if board % 2 else BOB, ResignMatch(), board)
        made.drain()
    made.store = now
    for board in range(1, MATCHES + 1):
        # as if they were in the archive
        redis_client.setbit(*keys.archive_mark(board, 4), 1)
    catch_up(now, redis_client)
    return made


def sizes(client: Redis, account: AccountId) -> tuple[int, int]:
    """The rows of a player's finished matches in Redis, and the pages."""
    live = Generations(client, LISTS).live()
    assert live is not None
    bucket = live[1].of(account)
    name = over_key(account)
    return client.zcard(bucket.key(name)), client.llen(bucket.key(pages_key(name)))


def shown(settings: Settings) -> list[int]:
    with App(settings) as app:
        return [row.board for row in app.lists.of(ALICE, MatchFilter.INACTIVE, None, 0, MATCHES)]


def waiting(client: Redis) -> list[tuple[str, Any]]:
    queue = Queue(MAINTENANCE, connection=client, serializer=JSONSerializer)
    return [(job.func_name, job.args) for job in queue.get_jobs()]


def test_a_maintenance_worker_does_what_the_scheduler_requests_each_hour(
    settings, bench, monkeypatch, capsys
):
    client, now = bench.client, [1000.0]
    before = shown(settings)
    assert len(before) == MATCHES
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    wakeup = OffloadWakeup(client, client)
    wakeup.tick()
    assert waiting(client) == [(OFFLOAD, [])]
    client.delete(queue_key(MAINTENANCE), "{lease:offload}")
    wakeup.tick()
    assert waiting(client) == []
    now[0] += offload_job.HOUR_SECONDS
    wakeup.tick()
    monkeypatch.undo()
    for name, value in settings.environment().items():
        monkeypatch.setenv(name, value)
    (job,) = Queue(MAINTENANCE, connection=client, serializer=JSONSerializer).get_jobs()
    ForkingWorker(client, MAINTENANCE, {OFFLOAD: _offload}).work(
        burst=True, logging_level="CRITICAL"
    )
    job.refresh()
    assert job.get_status(refresh=False) == JobStatus.FINISHED
    # two players' lists of all games, and in the history two of this game, the game's and the pair's
    assert job.meta == {"rows": 6 * PAGE_ROWS}
    assert sizes(client, ALICE) == sizes(client, BOB) == (MATCHES - PAGE_ROWS, 1)
    assert shown(settings) == before
    assert rebuild.run(["lists", "history"], check=True, settings=settings) == 0
    assert capsys.readouterr().out.count("equal to a rebuild") == 2


def test_nothing_is_requested_where_no_list_can_be_too_long(redis_client, tmp_path):
    OffloadWakeup(redis_client, redis_client).tick()
    bench = Bench(redis_client, tmp_path / "seeds")
    bench.start(1)
    bench.send(ALICE, ResignMatch(), 1)
    bench.drain()
    catch_up(bench.store, redis_client)
    OffloadWakeup(redis_client, redis_client).tick()
    assert waiting(redis_client) == []


@pytest.mark.long
def test_a_job_that_is_killed_at_any_point_is_done_by_the_next(settings, bench):
    before = shown(settings)
    environment = {**os.environ, **settings.environment()}
    command = [sys.executable, "-c", "from services.jobs import offload; offload()"]
    for point in POINTS:
        killed = subprocess.run(
            command, env=environment | {"MATCHPOST_FAULT": f"{point}:1"}, check=False
        )
        assert killed.returncode == -signal.SIGKILL, point
        assert shown(settings) == before, point
        bench.client.delete("{lease:offload}")
    assert subprocess.run(command, env=environment, check=False).returncode == 0
    assert sizes(bench.client, ALICE) == (MATCHES - PAGE_ROWS, 1)
    assert shown(settings) == before
    live = Generations(bench.client, LISTS).live()
    assert live is not None
    assert bench.client.exists(live[1].bucket(0).key(OFFLOADED)) == 0
    assert rebuild.run(["lists", "history"], check=True, settings=settings) == 0


@pytest.mark.long
def test_rows_are_moved_when_the_server_has_no_memory_left(settings, bench):
    before = shown(settings)
    with App(settings) as app:
        for name in ("lists", "history"):
            live = app.data.get(f"{{p:{name}}}:live")
            PagedGenerations(app.data, name).add(int(live.split(b":")[1]))
        work = RowOffload(app.store, app.data, app.objects, set)
        bench.client.config_set("maxmemory", 1)
        try:
            while work.step() is not None:
                pass
        finally:
            bench.client.config_set("maxmemory", 0)
    assert work.rows == 6 * PAGE_ROWS
    assert shown(settings) == before
