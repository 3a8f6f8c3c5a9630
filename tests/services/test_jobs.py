"""RQ's own tools on our queues, and `matchpost queue`, which shows them."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from redis import Redis
from rq import Queue
from rq.job import JobStatus
from rq.serializers import JSONSerializer
from rq.utils import import_attribute

from domain.clocks.time_control import DAY
from domain.match.commands import ResignMatch
from infra.durability.durability import Mode
from infra.health.heartbeats import Role
from infra.health.queue_status import OURS, LaneStatus
from infra.redis import keys, rq_jobs
from infra.redis.rq_jobs import COMMANDS
from infra.settings.settings import Settings
from infra.store.closed_shards import ClosedShards, rolled_back
from infra.store.job_notes import note_retire_run
from infra.store.layout import Layout
from infra.store.leases import REQUESTED
from infra.store.redis_store import RedisStore
from infra.store.watermarks import PublishedSizes
from infra.valkey.server import EmbeddedServer, queue_server
from services import jobs
from services.app.context import App
from services.cli import queue as queue_command
from services.metrics.collector import server_figures
from tests.helpers.bench import Bench
from tests.helpers.given import BOB
from tests.helpers.writes import submission
from workers.rq_worker import ListedWorker

RQ = Path(sys.executable).with_name("rq")
DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_for_operators_names_all_roles_queues_and_jobs():
    page = (DOCS / "operating.md").read_text()
    intro = page[: page.index("## ")]
    assert set(re.findall(r"^\| `(\w+)` \|", intro, re.MULTILINE)) == set(Role)
    names = {name for name in vars(rq_jobs).values() if isinstance(name, str)}
    queues = {name for name in names if name.startswith("matchpost-")}
    rows = dict(re.findall(r"^\| `(matchpost-\w+)` \| (.*?) \|", page, re.MULTILINE))
    assert set(rows) == queues
    listed = {name for row in rows.values() for name in re.findall("`([^`]+)`", row)}
    assert listed == {name for name in names if name.startswith("services.")} | {rq_jobs.ROBOT_MOVE}
    for name in sorted(listed - {rq_jobs.ROBOT_MOVE}):
        assert callable(import_attribute(name)), "RQ has to import it"
    monitoring = (DOCS / "monitoring.md").read_text()
    shown = re.findall(r"^(matchpost-\w+) +\d+ waiting", monitoring, re.MULTILINE)
    assert shown == [*OURS]


def test_a_locked_worker_runs_no_function_that_is_not_listed(redis_client, capfd):
    queue = Queue(COMMANDS, connection=redis_client, serializer=JSONSerializer)
    done: list[int] = []
    strange = queue.enqueue("builtins.print", "a stranger's words")
    queue.enqueue(rq_jobs.DRAIN, 3, 8)
    worker = ListedWorker(
        redis_client, COMMANDS, {rq_jobs.DRAIN: lambda *lane: done.append(*lane[:1])}
    )
    worker.work(burst=True, logging_level="CRITICAL")
    assert done == [3]
    assert strange.get_status() == JobStatus.FAILED
    assert "a stranger's words" not in capfd.readouterr().out


def test_a_worker_that_loses_the_queues_server_in_a_job_goes_on_once_it_is_back(
    tmp_path, monkeypatch, caplog
):
    done: list[str] = []
    waited: list[float] = []

    def enqueue(name: str) -> None:
        Queue("first", connection=client, serializer=JSONSerializer).enqueue_call(
            "services.jobs.work", args=(name,), result_ttl=0
        )

    def work(name: str) -> None:
        if name == "before":
            server.kill()
        done.append(name)

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 3:
            server.start()  # and it has forgotten everything
            enqueue("after")

    monkeypatch.setattr("workers.rq_worker.time", SimpleNamespace(sleep=sleep))
    # in a folder with a blank in its name
    with queue_server(tmp_path / "my data") as server, server.client(blocking_timeout=5) as client:
        enqueue("before")
        worker = ListedWorker(client, "first", {"services.jobs.work": work})
        worker.work(max_jobs=2, logging_level="CRITICAL")
        assert done == ["before", "after"]
        assert client.hget(worker.key, "birth") is not None  # it has said its name again
        assert "my data/queue/valkey.sock" in str(worker.ip_address)
    assert "the server of the queue was lost in a job" in caplog.text


SHAPE = Layout(shards=4, lanes=2)


@pytest.fixture
def parts(valkey: EmbeddedServer, redis_client: Redis, tmp_path) -> Iterator[App]:
    settings = Settings(data=tmp_path, redis_url=valkey.url, queue_url=f"{valkey.url}?db=1")
    RedisStore(redis_client, Mode.FSYNC).create(SHAPE)
    with App(settings) as app:
        app.queue.flushdb()
        yield app


def lanes_of(parts: App) -> dict[str, LaneStatus]:
    return {lane.lane: lane for lane in parts.status().queue.lanes}


def test_lanes_show_what_waits_and_since_when_and_who_has_the_lease(parts):
    now = parts.store.now()
    past = RedisStore(parts.data, Mode.FSYNC, clock=lambda: now - 60_000)
    past.submit([submission(1, 1), submission(2, 1)])
    busy = SHAPE.lane_of(1)
    (idle,) = set(SHAPE.all_lanes) - {busy}
    parts.queue.set(keys.lease(busy), "token")
    parts.queue.set(keys.lease(idle), REQUESTED)
    found = lanes_of(parts)
    assert (found[str(busy)].waiting, found[str(busy)].lease) == (2, "held")
    assert found[str(busy)].oldest_ms >= 60_000
    free = found[str(idle)]
    assert (free.waiting, free.oldest_ms, free.lease, free.last) == (0, 0, "requested", None)


def bench_of(parts: App, tmp_path: Path) -> Bench:
    """Two matches of one shard, one of which ended 50 days ago, and a third that goes on."""
    made = Bench(parts.data, tmp_path / "seeds")
    now = made.store.now()
    made.store = RedisStore(parts.data, Mode.FSYNC, clock=lambda: now - 50 * DAY)
    made.start(1)
    made.send(BOB, ResignMatch(), 1)
    made.drain()
    made.store = RedisStore(parts.data, Mode.FSYNC, clock=lambda: now - 60_000)
    made.start(5, 2)
    made.send(BOB, ResignMatch(), 5)
    made.drain()
    return made


def test_the_logs_show_what_is_published_and_how_long_the_rest_has_waited(parts, tmp_path):
    bench_of(parts, tmp_path)
    ends = [parts.data.xlen(keys.log(shard)) for shard in range(4)]
    assert min(ends[1:3]) > 0
    sizes = PublishedSizes(parts.data, parts.queue)
    sizes.record(1, ends[1] - 1, bytes(32))
    sizes.record(2, ends[2], bytes(32))
    log = parts.status().log
    assert (log.leaves, log.size, log.unpublished) == (sum(ends), sum(ends) - 1, 1)
    assert 60_000 <= log.waited_ms(parts.store.now()) < DAY
    assert (parts.status().log_faults, parts.status().closed) == ([], {})
    sizes.record_fault(2, "its key is missing")
    ClosedShards(parts.data).close(1, rolled_back(1, 9, 5))
    status = parts.status()
    assert (status.log_faults, [*status.closed]) == (["its key is missing"], [1])
    sizes.record(1, ends[1], bytes(32))
    log = parts.status().log
    assert (log.unpublished, log.waited_ms(parts.store.now())) == (0, 0)


def test_metrics_and_the_command_have_the_logs_and_the_archive(parts, tmp_path, capsys):
    bench_of(parts, tmp_path)
    with server_figures(parts, CollectorRegistry()) as registry:
        text = generate_latest(registry).decode()
        assert "matchpost_last_retirement" not in text
        note_retire_run(parts.queue, 1, retired=1, kept=2, seconds=0.25)
        text = generate_latest(registry).decode()
    leaves = sum(parts.data.xlen(keys.log(shard)) for shard in range(4))
    found = dict(re.findall(r"^matchpost_(\w+) (\S+)$", text, re.MULTILINE))
    assert found.pop("log_unpublished_seconds").startswith("4.3"), "50 days"
    assert float(found.pop("last_retirement_timestamp_seconds")) > 0
    assert found.items() >= {
        "log_leaves": f"{leaves}.0", "log_published_leaves": "0.0", "log_unpublished_leaves": f"{leaves}.0",
        "log_faulty_shards": "0.0", "closed_shards": "0.0", "archived_matches": "0.0", "ended_matches": "2.0",
        "archive_due_matches": "1.0", "last_retirement_seconds": "0.25", "last_retirement_matches": "1.0",
        "last_retirement_kept": "2.0",
    }.items()  # fmt: skip
    queue_command.run(parts.settings, as_json=False, interval=None)
    *_, log, archive, scrub = capsys.readouterr().out.splitlines()
    assert log.startswith(f"log      {leaves} leaves, 0 published, {leaves} not yet, for 43")
    assert archive.startswith("archive  no matches, 2 over and not in it, 1 of them due, last run ")
    assert archive.endswith(" in shard 1: 1 retired, 2 kept, 250 ms")
    assert scrub == "scrub    no matches checked in the present round"


def test_a_job_outside_of_the_main_thread_says_why_it_can_not_decide(monkeypatch):
    monkeypatch.setattr("services.jobs.App", pytest.fail)
    raised: list[BaseException] = []

    def run() -> None:
        try:
            jobs.drain(0, 1)
        except RuntimeError as error:
            raised.append(error)

    thread = Thread(target=run)
    thread.start()
    thread.join()
    assert "only the main thread of a process can set" in str(raised[0])


def test_it_is_printed_again_each_interval(parts, capsys, monkeypatch):
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(queue_command.time, "sleep", pause)
    with pytest.raises(KeyboardInterrupt):
        queue_command.run(parts.settings, as_json=True, interval=5.0)
    lines = capsys.readouterr().out.splitlines()
    assert pauses == [5.0, 5.0]
    assert [len(json.loads(line)["lanes"]) for line in lines] == [2, 2]
