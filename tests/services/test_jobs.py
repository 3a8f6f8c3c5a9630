"""RQ's own tools on our queues, and `matchpost queue`, which shows them."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread, Timer
from types import SimpleNamespace

import msgspec
import pytest
import redis
from prometheus_client import CollectorRegistry, generate_latest
from redis import Redis
from rq import Queue
from rq.exceptions import DequeueTimeout
from rq.job import Job, JobStatus
from rq.registry import FailedJobRegistry, FinishedJobRegistry
from rq.serializers import JSONSerializer
from rq.suspension import resume, suspend
from rq.utils import import_attribute

from domain.clocks.time_control import DAY
from domain.match.commands import PlayMove, ResignMatch, StartMatch
from infra.durability.durability import Mode
from infra.health.heartbeats import Role
from infra.health.queue_status import OURS, JobQueueStatus, LaneStatus
from infra.redis import keys, rq_jobs
from infra.redis.keys import DURABILITY, HEARTBEATS, Lane
from infra.redis.rq_jobs import COMMANDS, MAIL
from infra.settings.settings import Settings
from infra.store.closed_shards import ClosedShards, rolled_back
from infra.store.jobs import LaneTurn, last_turns, note_retire_run, note_turn
from infra.store.layout import Layout
from infra.store.leases import REQUESTED, LaneLeases
from infra.store.outcomes import decode
from infra.store.redis_store import RedisStore
from infra.store.rq_wakeup import enqueue_drain
from infra.store.watermarks import PublishedSizes
from infra.valkey.server import EmbeddedServer, queue_server
from services import jobs
from services.app.context import App
from services.cli import queue as queue_command
from services.metrics.collector import server_figures
from tests.helpers.bench import Bench
from tests.helpers.gateways import StoreGateway
from tests.helpers.given import ALICE, BOB, sent
from tests.helpers.lanes import LANE
from tests.helpers.served import Served, gateway, until
from tests.helpers.writes import submission
from workers.commands.drain import Drain
from workers.rq_worker import ListedWorker, _OrderedQueue

RQ = Path(sys.executable).with_name("rq")
DOCS = Path(__file__).parents[2] / "docs"
JSON = ("-S", "rq.serializers.JSONSerializer")
START = sent(ALICE, StartMatch(rules="pow2/1", options=(), seats=(ALICE, BOB)), 1)
MOVE = sent(ALICE, PlayMove(text="m13-m9"), 2)


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
    monitoring = (DOCS / "monitoring.md").read_text()
    shown = re.findall(r"^(matchpost-\w+) +\d+ waiting", monitoring, re.MULTILINE)
    assert shown == [*OURS]


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> Bench:
    """A lane that is drained by hand."""
    return Bench(redis_client, tmp_path / "seeds")


@pytest.fixture
def environment(valkey: EmbeddedServer, tmp_path: Path) -> dict[str, str]:
    """The environment of a process that works on the server."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("MATCHPOST_")}
    return {**clean, "MATCHPOST_REDIS_URL": valkey.url, "MATCHPOST_DATA": str(tmp_path)}


@pytest.fixture
def store(redis_client: Redis) -> RedisStore:
    """A store with one lane."""
    store = RedisStore(redis_client, Mode.FSYNC)
    store.create(Layout(shards=4, lanes=1))
    return store


@pytest.fixture
def stock_worker(
    valkey: EmbeddedServer, tmp_path: Path, environment: dict[str, str], store: RedisStore
) -> Iterator[None]:
    """A worker of RQ's own on the queue of the commands."""
    del store
    words = [str(RQ), "worker", "-u", valkey.url, *JSON, COMMANDS]
    with (tmp_path / "worker.log").open("w") as log:
        process = subprocess.Popen(words, env=environment, cwd=tmp_path, stdout=log, stderr=log)
        yield
        process.terminate()
        process.wait(60)


@pytest.mark.parametrize(
    "name",
    [
        rq_jobs.DRAIN, rq_jobs.SEND_MAIL, rq_jobs.PROJECT, rq_jobs.REBUILD, rq_jobs.CHECK, rq_jobs.ANALYSE,
    ],
)  # fmt: skip
def test_every_job_is_a_function_that_rq_can_import(name):
    assert callable(import_attribute(name))


@pytest.mark.slow
@pytest.mark.usefixtures("stock_worker")
def test_a_worker_of_rq_decides_a_move(redis_client, wait_until):
    with gateway(redis_client) as door:
        assert door.send(START, 0, seconds=60).accepted
        assert door.send(MOVE, 0, seconds=60).accepted
    queue = Queue(COMMANDS, connection=redis_client, serializer=JSONSerializer)
    done = FinishedJobRegistry(queue=queue)
    wait_until(done.get_job_ids)
    metas = [
        Job.fetch(id_, connection=redis_client, serializer=JSONSerializer).meta
        for id_ in done.get_job_ids()
    ]
    assert sum(meta["outcomes"] for meta in metas) == 2
    assert {meta["lane"] for meta in metas} == {"0/1"}
    assert all(meta["batches"] >= 1 and meta["seconds"] > 0 for meta in metas)
    assert FailedJobRegistry(queue=queue).get_job_ids(cleanup=False) == []


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


def test_while_the_workers_are_suspended_drains_stop_and_commands_wait(bench):
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    suspend(bench.client)
    assert bench.drain() == 0
    assert bench.outcome(order) is None
    assert bench.store.inbox_size(range(4)) == 1
    resume(bench.client)
    assert bench.drain() == 1


def test_a_drain_that_lingers_ends_when_the_workers_are_suspended(bench, valkey, wait_until):
    ended: list[int] = []

    def drain() -> None:
        with valkey.client(blocking_timeout=5) as client:
            lanes = LaneLeases(client, bench.woken.append)
            store = RedisStore(client, Mode.FSYNC)
            ended.append(Drain(store, lanes, client, LANE, linger=3600).run())

    thread = Thread(target=drain)
    thread.start()
    wait_until(lambda: bench.client.info("clients")["blocked_clients"] == 1)
    suspend(bench.client)
    thread.join()
    assert ended == [0]
    assert not bench.client.exists(keys.lease(LANE))


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
    with queue_server(tmp_path / "data") as server, server.client(blocking_timeout=5) as client:
        enqueue("before")
        worker = ListedWorker(client, "first", {"services.jobs.work": work})
        worker.work(max_jobs=2, logging_level="CRITICAL")
        assert done == ["before", "after"]
        assert client.hget(worker.key, "birth") is not None  # it has said its name again
    assert "the server of the queue was lost in a job" in caplog.text


def test_a_worker_is_served_in_a_folder_with_a_blank_in_its_name(tmp_path):
    done: list[str] = []
    with queue_server(tmp_path / "my data") as server, server.client(blocking_timeout=5) as client:
        Queue("first", connection=client, serializer=JSONSerializer).enqueue_call(
            "services.jobs.work", args=("a job",)
        )
        worker = ListedWorker(client, "first", {"services.jobs.work": done.append})
        worker.work(burst=True, logging_level="CRITICAL")
        assert "my data/queue/valkey.sock" in str(worker.ip_address)
    assert done == ["a job"]


def test_a_worker_that_waits_for_the_queues_server_can_be_stopped(tmp_path):
    def work() -> None:
        server.kill()
        Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM)).start()

    handlers = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    with queue_server(tmp_path / "data") as server, server.client(blocking_timeout=5) as client:
        Queue("first", connection=client, serializer=JSONSerializer).enqueue_call(
            "services.jobs.work"
        )
        worker = ListedWorker(client, "first", {"services.jobs.work": work})
        try:
            with pytest.raises(
                redis.ConnectionError
            ):  # it can't take its name from the server's list
                worker.work(logging_level="CRITICAL")
        finally:
            worker.pubsub_thread.stop()
            for number, handler in handlers.items():
                signal.signal(number, handler)


def test_no_wake_up_is_enqueued_while_the_workers_are_suspended(redis_client):
    queue = Queue(COMMANDS, connection=redis_client, serializer=JSONSerializer)
    suspend(redis_client)
    enqueue_drain(redis_client, LANE)
    assert queue.count == 0
    resume(redis_client)
    enqueue_drain(redis_client, LANE)
    (job,) = queue.get_jobs()
    assert (job.func_name, job.args) == (rq_jobs.DRAIN, [0, 1])


def test_a_wake_up_that_waits_is_not_enqueued_again(redis_client):
    queue = Queue(COMMANDS, connection=redis_client, serializer=JSONSerializer)
    for lane in (Lane(0, 12), Lane(1, 12), Lane(11, 12), Lane(0, 12), Lane(1, 12)):
        enqueue_drain(redis_client, lane)
    assert [job.args for job in queue.get_jobs()] == [[0, 12], [1, 12], [11, 12]]


def test_the_queue_may_be_on_another_server(bench, tmp_path_factory):
    with (
        EmbeddedServer(tmp_path_factory.mktemp("queue")) as server,
        server.client(blocking_timeout=5) as queue,
    ):
        bench.lanes = LaneLeases(queue, bench.woken.append)
        with StoreGateway(bench.store, bench.lanes, queue) as door, queue.pubsub() as heard:
            heard.psubscribe("reply:*")
            heard.get_message(timeout=5)
            door.submit_all([START, MOVE])
            bench.queue = queue
            assert bench.drain() == 2
            assert bench.outcome(MOVE) is not None
            published = decode(heard.get_message(timeout=5)["data"])
            assert [id_ for id_, _ in published] == [START.id, MOVE.id]


def test_a_worker_of_two_queues_serves_the_first_one_first_and_takes_each_job_with_a_copy(
    redis_client, monkeypatch
):
    done: list[str] = []
    monkeypatch.setattr(_OrderedQueue, "lpop", pytest.fail)  # RQ's way without a copy

    def work(name: str) -> None:
        done.append(name)
        if name == "slow":
            enqueue("first", "late")

    def enqueue(queue: str, name: str) -> None:
        Queue(queue, connection=redis_client, serializer=JSONSerializer).enqueue_call(
            "services.jobs.work", args=(name,), result_ttl=0
        )

    for queue, name in [("second", "slow"), ("second", "slower"), ("first", "quick")]:
        enqueue(queue, name)
    worker = ListedWorker(redis_client, "first", {"services.jobs.work": work}, "second")
    worker.work(burst=True, logging_level="WARNING")
    assert done == ["quick", "slow", "late", "slower"]


def test_a_worker_of_two_queues_that_waits_sees_a_job_of_either(redis_client):
    queues = [_OrderedQueue(name, connection=redis_client) for name in ("first", "second")]
    with pytest.raises(DequeueTimeout):
        _OrderedQueue.dequeue_any(queues, 1, connection=redis_client)
    for queue in queues:
        queue.enqueue_call("services.jobs.work")
    found = [_OrderedQueue.dequeue_any(queues, 1, connection=redis_client) for _ in queues]
    assert [queue.name for _, queue in found] == ["first", "second"]


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


def test_a_turn_with_outcomes_is_noted_and_an_empty_one_is_not(parts):
    lane = Lane(0, 2)
    note_turn(parts.queue, lane, outcomes=412, batches=9, seconds=0.31)
    note_turn(parts.queue, lane, outcomes=0, batches=0, seconds=0.1)
    first, second = last_turns(parts.queue, SHAPE.all_lanes)
    assert isinstance(first, LaneTurn)
    assert (first.outcomes, first.batches, first.ms) == (412, 9, 310)
    assert abs(first.at - time.time_ns() // 1_000_000) < 60_000
    assert second is None
    assert 0 < parts.queue.ttl(keys.last_turn(lane)) <= 24 * 3600
    assert parts.data.exists(keys.last_turn(lane)) == 0


def test_queues_show_jobs_and_failures(parts):
    enqueue_drain(parts.queue, Lane(0, 2))
    parts.queue.zadd(f"rq:failed:{COMMANDS}", {"drain-0-x": time.time() + 3600})
    found = {one.name: one for one in parts.status().queue.queues}
    assert found[COMMANDS] == JobQueueStatus(COMMANDS, waiting=1, started=0, failed=1, workers=0)
    assert found[MAIL] == JobQueueStatus(MAIL, 0, 0, 0, 0)


def test_the_metrics_have_the_same_figures(parts):
    parts.store.submit([submission(1, 1)])
    note_turn(parts.queue, SHAPE.lane_of(1), outcomes=3, batches=1, seconds=0.5)
    with server_figures(parts, CollectorRegistry()) as registry:
        text = generate_latest(registry).decode()
    lane = f'lane="{SHAPE.lane_of(1)}"'
    assert f"matchpost_inbox_commands{{{lane}}} 1.0" in text
    assert f"matchpost_inbox_oldest_seconds{{{lane}}}" in text
    assert f"matchpost_last_turn_outcomes{{{lane}}} 3.0" in text
    assert f"matchpost_last_turn_seconds{{{lane}}} 0.5" in text
    assert f'matchpost_queue_jobs{{queue="{COMMANDS}",state="waiting"}} 0.0' in text
    assert f'matchpost_queue_workers{{queue="{COMMANDS}"}} 0.0' in text
    assert "matchpost_queue_up 1.0" in text


def test_the_metrics_say_when_the_queue_does_not_answer(parts, tmp_path):
    settings = Settings(
        data=tmp_path, redis_url=parts.settings.redis_url, queue_url="unix:///nowhere"
    )
    with App(settings) as lost, server_figures(lost, CollectorRegistry()) as registry:
        text = generate_latest(registry).decode()
    assert "matchpost_queue_up 0.0" in text
    assert "matchpost_inbox_commands{" not in text


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


def test_leaves_that_were_trimmed_count_as_leaves(parts, tmp_path):
    bench_of(parts, tmp_path)
    end = parts.data.xlen(keys.log(1))
    PublishedSizes(parts.data, parts.queue).record(1, end, bytes(32))
    before = parts.status().log
    parts.data.xtrim(keys.log(1), maxlen=1, approximate=False)
    log = parts.status().log
    assert (log.leaves, log.unpublished) == (before.leaves, before.unpublished)


def test_the_metrics_have_the_logs_and_the_archive(parts, tmp_path):
    bench_of(parts, tmp_path)
    with server_figures(parts, CollectorRegistry()) as registry:
        text = generate_latest(registry).decode()
        assert "matchpost_last_retirement" not in text
        note_retire_run(parts.queue, 1, retired=1, kept=2, seconds=0.25)
        text = generate_latest(registry).decode()
    leaves = sum(parts.data.xlen(keys.log(shard)) for shard in range(4))
    assert f"matchpost_log_leaves {leaves}.0" in text
    assert "matchpost_log_published_leaves 0.0" in text
    assert f"matchpost_log_unpublished_leaves {leaves}.0" in text
    assert "matchpost_log_unpublished_seconds 4.3" in text, "50 days"
    assert "matchpost_log_faulty_shards 0.0" in text
    assert "matchpost_closed_shards 0.0" in text
    assert "matchpost_archived_matches 0.0" in text
    assert "matchpost_ended_matches 2.0" in text
    assert "matchpost_archive_due_matches 1.0" in text
    assert "matchpost_last_retirement_timestamp_seconds" in text
    assert "matchpost_last_retirement_seconds 0.25" in text
    assert "matchpost_last_retirement_matches 1.0" in text
    assert "matchpost_last_retirement_kept 2.0" in text


def test_logs_and_archive_are_printed(parts, tmp_path, capsys):
    bench_of(parts, tmp_path)
    note_retire_run(parts.queue, 1, retired=1, kept=2, seconds=0.25)
    queue_command.run(parts.settings, as_json=False, interval=None)
    *_, log, archive, scrub = capsys.readouterr().out.splitlines()
    leaves = sum(parts.data.xlen(keys.log(shard)) for shard in range(4))
    assert log.startswith(f"log      {leaves} leaves, 0 published, {leaves} not yet, for 43")
    assert archive.startswith("archive  no matches, 2 over and not in it, 1 of them due, last run ")
    assert archive.endswith(" in shard 1: 1 retired, 2 kept, 250 ms")
    assert scrub == "scrub    no matches checked in the present round"


def test_with_durability_none_nothing_is_said_to_be_late(parts, tmp_path):
    bench_of(parts, tmp_path)
    with App(msgspec.structs.replace(parts.settings, durability=Mode.NONE)) as weak:
        assert '"log":null' in queue_command._as_json(weak.status())
        with server_figures(weak, CollectorRegistry()) as registry:
            text = generate_latest(registry).decode()
    assert "matchpost_log" not in text
    assert "matchpost_archived_matches 0.0" in text


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


@pytest.mark.slow
def test_jobs_and_leases_are_there_and_nothing_else_is(tmp_path):
    with Served(tmp_path / "data") as served, served.client() as data, served.queue() as queue:
        served.do("signup alice mad-hatter", "signup bob yes-we-can", "pow2 challenge alice bob")
        until(lambda: queue.exists("rq:workers"))
        assert not data.keys("rq:*")
        assert not data.keys("{lease:*")
        names = {name.decode() for name in queue.scan_iter()}
        signals = tuple(name for name in names if not name.endswith(":published"))
        known = ("rq:", "{lease:", DURABILITY, HEARTBEATS)
        assert not [name for name in signals if not name.startswith(known)]
