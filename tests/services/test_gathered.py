"""Roles that share a process: each is known and started again by itself, and what hangs is found."""

import asyncio
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from redis import Redis
from rq import Queue
from rq.serializers import JSONSerializer

from infra.durability.durability import Mode
from infra.health.heartbeats import Role
from infra.process import liveness
from infra.process.liveness import LivenessMonitor, ThreadLiveness
from infra.process.role_thread import RoleThread, shown_role
from infra.redis.clients import make_client
from infra.settings.settings import Settings
from infra.store.layout import Layout
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from services.cli import gathered
from services.cli.web import answers_page
from services.serve.child import ProcessChild
from services.serve.logging import TextLines
from services.serve.on_demand import ChildOnDemand
from services.serve.processes import all_children, gathered_roles
from services.serve.supervisor import Supervisor
from tests.helpers.served import until
from workers.projections import job as projections_job
from workers.projections import log_reader
from workers.projections import worker as projections_worker
from workers.projections.worker import ProjectionWorker
from workers.rq_worker import CallingWorker, ForkingWorker, ListedWorker

GATHERED = {Role.PROJECTIONS, Role.SCHEDULER, Role.PUBLISHER, Role.MAINTENANCE, Role.ROBOTS}


def role_thread(work: Callable[[], int], role: str = "side") -> RoleThread:
    return RoleThread(role, work, ThreadLiveness())


def test_a_process_gives_no_sign_while_one_of_its_threads_makes_no_progress():
    heart, signs, own = LivenessMonitor(), list[bytes](), list[bytes]()
    step, rest = threading.Event(), threading.Event()

    def work() -> None:
        with heart.also_watching(ThreadLiveness(own.append)):
            step.wait(60)
            heart.step()
            rest.wait(60)

    thread = threading.Thread(target=work)
    heart._main.listen(signs.append)
    heart.step()
    thread.start()
    until(lambda: len(heart._threads) == 1)
    heart.beat()
    assert (len(signs), len(own)) == (1, 1)
    heart.step()
    heart.beat()
    assert (len(signs), len(own)) == (1, 1), "the thread stands still"
    step.set()
    until(lambda: next(iter(heart._threads.values())).steps == 2)
    heart.step()
    heart.beat()
    assert (len(signs), len(own)) == (2, 2)
    rest.set()
    thread.join()
    heart.step()
    heart.beat()
    assert len(signs) == 3, "one that has ended is not waited for"


def test_a_process_gives_a_sign_though_its_threads_never_go_on_at_the_same_time():
    heart, signs, thread = LivenessMonitor(), list[bytes](), ThreadLiveness()
    heart._main.listen(signs.append)
    heart._threads[0] = thread
    for _ in range(3):
        heart.step()
        heart.beat()
        thread.steps += 1
        heart.beat()
    assert len(signs) == 3


@pytest.fixture
def roles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[gathered._RoleChild]:
    """Two roles: `side` fails when it is first started, and the scheduler works."""
    starts = []

    def work(process: gathered.RoleProcess) -> int:
        starts.append(process.name)
        if starts.count("side") == 1 and process.name == "side":
            raise RuntimeError("a fault of the first run")
        logging.getLogger("infra.test").info("at work")
        process.stopping().wait(60)
        return 0

    monkeypatch.setattr(gathered, "do_work", work)
    settings = Settings(data=tmp_path)
    return [
        gathered._RoleChild(gathered.RoleProcess(settings, role, role))
        for role in (Role.PROJECTIONS, Role.SCHEDULER)
    ]


def test_a_role_that_ends_is_started_again_and_the_others_go_on(roles, caplog):
    caplog.set_level(logging.INFO)
    side, scheduler = roles
    threads = []

    def tick() -> None:
        threads.append(scheduler._thread)
        if "side was started again" in caplog.text:
            os.kill(os.getpid(), signal.SIGTERM)

    Supervisor(roles, tick, 0.01).run()
    assert "side exited with 1" in caplog.text
    assert "a fault of the first run" in caplog.text
    assert len(set(threads)) == 1
    assert [side.poll(), scheduler.poll()] == [0, 0]


def test_a_line_of_the_log_has_the_role_of_its_thread():
    line = TextLines("gathered")
    shown = []

    def work() -> int:
        record = logging.LogRecord("infra.x", logging.INFO, "", 0, "at work", None, None)
        shown.extend([line.format(record).split()[1], shown_role("gathered")])
        return 0

    thread = role_thread(work)
    thread.start()
    thread.join()
    assert shown == ["side", "side"]
    assert shown_role("gathered") == "gathered"


@pytest.fixture(scope="module")
def queue_server(tmp_path_factory):
    with EmbeddedServer(tmp_path_factory.mktemp("queue"), durable=False) as server:
        yield server


@pytest.mark.parametrize("kind", [ForkingWorker, ListedWorker])
def test_a_worker_in_a_thread_does_its_jobs_and_ends_at_once_when_it_is_told(queue_server, kind):
    client = make_client(queue_server.url, blocking_timeout=60)
    name = kind.__name__

    def job() -> None:
        client.set(f"{name}:done", f"{os.getpid()}")

    def work() -> int:
        kind(client, name, {"job": job}).work(logging_level="WARNING")
        return 0

    thread = role_thread(work)
    thread.start()
    Queue(name, connection=client, serializer=JSONSerializer).enqueue_call("job", timeout=60)
    until(lambda: client.get(f"{name}:done"))
    is_here = int(client.get(f"{name}:done")) == os.getpid()
    assert is_here is (kind is ListedWorker)
    until(lambda: any(one["cmd"] == "blmove" for one in client.client_list()))
    thread.stop()
    thread.join(30)
    assert thread.code == 0
    client.close()


def follow(url: str) -> int:
    """Follow the logs, run after run."""
    with make_client(url, blocking_timeout=60) as client:
        store = RedisStore(client, Mode.NONE)
        projections_job.run(ProjectionWorker(store, client), client)
    return 0


@pytest.mark.parametrize("alone", [False, True], ids=["thread", "process"])
def test_what_waits_for_news_of_the_logs_ends_at_once_when_it_is_told(
    queue_server, alone, monkeypatch
):
    monkeypatch.setattr(projections_worker, "LOOK_SECONDS", 50.0)
    monkeypatch.setattr(log_reader, "LOST_SECONDS", 50.0)
    thread = role_thread(partial(follow, queue_server.url))
    process = multiprocessing.get_context("fork").Process(
        target=lambda: sys.exit(follow(queue_server.url))
    )
    one = process if alone else thread
    with make_client(queue_server.url) as client:
        RedisStore(client, Mode.NONE).create(Layout(2, 1))
        one.start()
        until(lambda: client.pubsub_numsub("logs")[0][1] == 1)
        began = time.monotonic()
        process.terminate() if alone else thread.stop()
        one.join(40)
        assert time.monotonic() - began < 20
        assert (process.exitcode if alone else thread.code) == 0
        until(lambda: client.pubsub_numsub("logs")[0][1] == 0)


def finished_calls(client: Redis, command: str) -> int:
    """How often a server has carried out a command; one that still waits is not counted."""
    return int(client.info("commandstats").get(f"cmdstat_{command}", {"calls": 0})["calls"])


def test_a_worker_that_calls_another_process_takes_no_job_and_calls_it_again_while_one_waits(
    queue_server,
):
    client = make_client(queue_server.url, blocking_timeout=60)
    begun, at_work = list[bytes | None](), threading.Event()
    queues = {
        name: Queue(name, connection=client, serializer=JSONSerializer) for name in ("a", "b")
    }

    def begin() -> None:
        at_work.set()
        begun.append(client.lpop("rq:queue:a") or client.lpop("rq:queue:b"))

    def work() -> int:
        CallingWorker(client, begin, at_work.is_set, "a", "b").work(logging_level="WARNING")
        return 0

    thread = role_thread(work, "robots")
    thread.start()
    until(lambda: client.info("clients")["blocked_clients"] == 2)
    asked = finished_calls(client, "blmove")
    time.sleep(2.5)
    assert finished_calls(client, "blmove") == asked, "it rests"
    for number, name in enumerate("ba", 1):
        job = queues[name].enqueue_call("job", timeout=60)
        until(lambda number=number: len(begun) == number)
        assert begun[-1] == job.id.encode()
        later = queues[name].enqueue_call("job", timeout=60)
        time.sleep(0.2)
        assert len(begun) == number, "the process that is at work takes the next one, too"
        queues[name].remove(later)
        at_work.clear()
    thread.stop()
    thread.join(30)
    assert (thread.code, len(begun)) == (0, 2)
    client.close()


def on_demand(code: str) -> ProcessChild:
    return ProcessChild("robots", [sys.executable, "-c", code], watched=True)


def test_a_child_on_demand_runs_until_it_ends_and_is_started_again_later_if_it_failed(
    caplog,
):
    with ChildOnDemand(on_demand("import time; time.sleep(1)")) as child:
        assert not child.goes_on()
        child.start()
        assert child.goes_on()
        until(lambda: not child.goes_on())
    assert not caplog.records
    with ChildOnDemand(on_demand("raise SystemExit(3)")) as child:
        child.start()
        until(
            lambda: "robots exited with 3; next start in 2 s" in caplog.text or not child.goes_on()
        )
        assert child.goes_on(), "it would fail again at once"
        until(lambda: not child.goes_on())


def test_a_child_on_demand_that_hangs_is_killed_and_none_outlives_its_thread(caplog, monkeypatch):
    monkeypatch.setattr(liveness, "SILENCE_SECONDS", 0.5)
    monkeypatch.setattr(liveness, "START_SECONDS", 0.5)
    process = on_demand("import time; time.sleep(60)")
    with ChildOnDemand(process) as child:
        child.start()
        until(lambda: not child.goes_on())
        assert "ALARM: robots gives no sign of life" in caplog.text
        assert "was killed by SIGKILL" in caplog.text
        child.start()
        assert process.poll() is None
    assert process.poll() == -signal.SIGTERM


@pytest.mark.parametrize(("status", "answers"), [(200, True), (303, True), (503, False)])
def test_ready_waits_for_a_page_that_is_really_answered(status, answers):
    async def app(scope, receive, send) -> None:
        assert (scope["method"], scope["path"]) == ("GET", "/")
        await receive()
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    assert asyncio.run(answers_page(app)) is answers


def test_roles_with_metrics_are_not_gathered_because_metrics_are_those_of_a_process(tmp_path):
    for more, gathers in (({}, True), ({"gather": "off"}, False), ({"metrics": "127.0.0.1:9100"}, False)):  # fmt: skip
        assert Settings(data=tmp_path, **more).gathers is gathers
    assert set(gathered_roles(Settings(data=tmp_path))) == GATHERED
    for robots in (0, 2):
        some = Settings(data=tmp_path, robots=robots)
        assert set(gathered_roles(some)) == GATHERED - {Role.ROBOTS}
        names = [child.name for child in all_children(some, "unix:///x", None, {})]
        assert names == ["worker-1", "gathered", "robots-1", "robots-2"][: 2 + robots]
    alone = all_children(Settings(data=tmp_path, gather="off"), "unix:///x", None, {})
    assert {child.name for child in alone} == {
        *("worker-1", "side", "scheduler", "maintenance", "publisher", "robots-1")
    }
