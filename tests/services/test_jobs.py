"""RQ's own tools on our queues: a stock worker, a job that is looked at, workers that are suspended."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread, Timer
from types import SimpleNamespace

import pytest
import redis
from redis import Redis
from rq import Queue
from rq.exceptions import DequeueTimeout
from rq.job import Job, JobStatus
from rq.registry import FailedJobRegistry, FinishedJobRegistry
from rq.serializers import JSONSerializer
from rq.suspension import resume, suspend
from rq.utils import import_attribute

from domain.match.commands import PlayMove, StartMatch
from infra.durability.durability import Mode
from infra.health.heartbeats import Role
from infra.health.queue_status import OURS
from infra.redis import keys, rq_jobs
from infra.redis.keys import Lane
from infra.redis.rq_jobs import COMMANDS
from infra.store.layout import Layout
from infra.store.leases import LaneLeases
from infra.store.outcomes import decode
from infra.store.redis_store import RedisStore
from infra.store.rq_wakeup import enqueue_drain
from infra.valkey.server import EmbeddedServer, queue_server
from services import jobs
from tests.helpers.bench import Bench
from tests.helpers.gateways import StoreGateway
from tests.helpers.given import ALICE, BOB, sent
from tests.helpers.lanes import LANE
from tests.helpers.served import gateway
from workers.commands.drain import Drain
from workers.rq_worker import ListedWorker, _OrderedQueue

RQ = Path(sys.executable).with_name("rq")
DOCS = Path(__file__).parents[2] / "docs"
JSON = ("-S", "rq.serializers.JSONSerializer")

START = sent(ALICE, StartMatch(rules="pow2/1", options=(), seats=(ALICE, BOB)), 1)
MOVE = sent(ALICE, PlayMove(text="m13-m9"), 2)


def test_the_page_for_operators_names_all_roles_queues_and_jobs() -> None:
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
        rq_jobs.DRAIN,
        rq_jobs.SEND_MAIL,
        rq_jobs.PROJECT,
        rq_jobs.REBUILD,
        rq_jobs.CHECK,
        rq_jobs.ANALYSE,
    ],
)
def test_every_job_is_a_function_that_rq_can_import(name: str) -> None:
    assert callable(import_attribute(name))


@pytest.mark.slow
@pytest.mark.usefixtures("stock_worker")
def test_a_worker_of_rq_decides_a_move(
    redis_client: Redis, wait_until: Callable[[Callable[[], object]], None]
) -> None:
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


def test_a_job_outside_of_the_main_thread_says_why_it_can_not_decide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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


def test_while_the_workers_are_suspended_drains_stop_and_commands_wait(bench: Bench) -> None:
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    suspend(bench.client)
    assert bench.drain() == 0
    assert bench.outcome(order) is None
    assert bench.store.inbox_size(range(4)) == 1
    resume(bench.client)
    assert bench.drain() == 1


def test_a_drain_that_lingers_ends_when_the_workers_are_suspended(
    bench: Bench, valkey: EmbeddedServer, wait_until: Callable[[Callable[[], object]], None]
) -> None:
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


def test_a_locked_worker_runs_no_function_that_is_not_listed(
    redis_client: Redis, capfd: pytest.CaptureFixture[str]
) -> None:
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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
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


def test_a_worker_is_served_in_a_folder_with_a_blank_in_its_name(tmp_path: Path) -> None:
    done: list[str] = []
    with queue_server(tmp_path / "my data") as server, server.client(blocking_timeout=5) as client:
        Queue("first", connection=client, serializer=JSONSerializer).enqueue_call(
            "services.jobs.work", args=("a job",)
        )
        worker = ListedWorker(client, "first", {"services.jobs.work": done.append})
        worker.work(burst=True, logging_level="CRITICAL")
        assert "my data/queue/valkey.sock" in str(worker.ip_address)
    assert done == ["a job"]


def test_a_worker_that_waits_for_the_queues_server_can_be_stopped(tmp_path: Path) -> None:
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


def test_no_wake_up_is_enqueued_while_the_workers_are_suspended(redis_client: Redis) -> None:
    queue = Queue(COMMANDS, connection=redis_client, serializer=JSONSerializer)
    suspend(redis_client)
    enqueue_drain(redis_client, LANE)
    assert queue.count == 0
    resume(redis_client)
    enqueue_drain(redis_client, LANE)
    (job,) = queue.get_jobs()
    assert (job.func_name, job.args) == (rq_jobs.DRAIN, [0, 1])


def test_a_wake_up_that_waits_is_not_enqueued_again(redis_client: Redis) -> None:
    queue = Queue(COMMANDS, connection=redis_client, serializer=JSONSerializer)
    for lane in (Lane(0, 12), Lane(1, 12), Lane(11, 12), Lane(0, 12), Lane(1, 12)):
        enqueue_drain(redis_client, lane)
    assert [job.args for job in queue.get_jobs()] == [[0, 12], [1, 12], [11, 12]]


def test_the_queue_may_be_on_another_server(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory
) -> None:
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
    redis_client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_worker_of_two_queues_that_waits_sees_a_job_of_either(
    redis_client: Redis,
) -> None:
    queues = [_OrderedQueue(name, connection=redis_client) for name in ("first", "second")]
    with pytest.raises(DequeueTimeout):
        _OrderedQueue.dequeue_any(queues, 1, connection=redis_client)
    for queue in queues:
        queue.enqueue_call("services.jobs.work")
    found = [_OrderedQueue.dequeue_any(queues, 1, connection=redis_client) for _ in queues]
    assert [queue.name for _, queue in found] == ["first", "second"]
