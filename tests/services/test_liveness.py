"""A child that hangs is replaced, and none that waits, works or starts is."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from infra.process import liveness
from infra.process.liveness import BEAT, SERVING, LivenessMonitor, service_manager
from infra.redis import keys
from infra.valkey.server import EmbeddedServer
from services.cli.main import main
from services.serve.child import ProcessChild
from services.serve.supervisor import Supervisor
from tests.helpers.served import Player, Served, matches, until

BEGIN = (
    "import sys, time; from infra.process import liveness; from infra.process.liveness import LIVENESS; "
    "liveness.BEAT_SECONDS = 0.02; LIVENESS.watch(); "
)
QUIET = BEGIN + "exec('while True: LIVENESS.step(); time.sleep(0.01)')"
LOOPING = BEGIN + "open(sys.argv[1], 'a').write('x'); exec('while True: pass')"
STUCK = BEGIN + "open(sys.argv[1], 'a').write('x'); time.sleep(600)"
STARVED = "import os; os.sched_setaffinity(0, {int(sys.argv[1])}); os.nice(19); "
"""It gets some thousandths of a processor on which others compute."""
LABOURING = (
    "exec('while True:\\n LIVENESS.step(); end = time.thread_time() + 0.2\\n"
    " while time.thread_time() < end: pass')"
)
"""It computes for a fifth of a second from step to step."""
SUPERVISING = """
import os, sys, time
from infra.process import liveness
from services.serve.child import ProcessChild
from services.serve.supervisor import Supervisor
liveness.SILENCE_SECONDS, liveness._COUNTED_SECONDS = 0.5, 0.1
child = ProcessChild("worker-1", [sys.executable, "-c", sys.argv[1]], watched=True)
at = []
def tick():
    if child._pulse._seen:
        at.append(time.monotonic())
        if len(at) < 2 or at[-1] - at[-2] > 1:
            print(child.pid, flush=True)
Supervisor([child], tick, 0.02).run()
"""
FORKING = (
    "from rq import Queue; from rq.serializers import JSONSerializer; "
    "from infra.redis.clients import make_client; from workers.rq_worker import ForkingWorker; "
    "client = make_client(sys.argv[1], blocking_timeout=9); "
    "Queue('long', connection=client, serializer=JSONSerializer).enqueue_call('job'); "
    "job = lambda: (client.set('working', 1), time.sleep(2.5)); "
    "ForkingWorker(client, 'long', {'job': job}).work(logging_level='WARNING')"
)
WAITING = BEGIN + (
    "from infra.redis.clients import make_client; client = make_client(sys.argv[1]); "
    "exec('while True: client.ping(); time.sleep(0.01)')"
)
STARTING = BEGIN + (
    "from pathlib import Path; from infra.process.liveness import alive_file; folder = Path(sys.argv[1]); "
    "LIVENESS.watch(alive_file(folder, 'worker')); "
    "exec('while True:\\n time.sleep(0.01)\\n if (folder / \"go\").exists(): LIVENESS.serving()')"
)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A silence of half a second is too long."""
    monkeypatch.setattr(liveness, "SILENCE_SECONDS", 0.5)


def watched(code: str, *arguments: str) -> ProcessChild:
    argv = [sys.executable, "-c", code, *arguments]
    return ProcessChild("worker-1", argv, watched=True)


def begun(child: ProcessChild) -> bool:
    """Whether a child has given a sign of life."""
    return child._pulse is not None and child._pulse._seen


class Since:
    """The time since a condition held for the first time."""

    began = 0.0

    def seconds(self, holds: object) -> float:
        self.began = self.began or (time.monotonic() if holds else 0.0)
        return time.monotonic() - self.began if self.began else 0.0


def supervise(child: ProcessChild, seconds: float, condition: object = None) -> None:
    """Look after a child until a condition holds, or for so many seconds."""
    end = time.monotonic() + seconds

    def tick() -> None:
        if time.monotonic() > end or (callable(condition) and condition()):
            os.kill(os.getpid(), signal.SIGTERM)

    Supervisor([child], tick, 0.02).run()


def test_a_child_that_was_stopped_is_replaced(caplog: pytest.LogCaptureFixture) -> None:
    child = watched(QUIET)
    stopped: list[int] = []

    def replaced() -> bool:
        if not stopped and child.pid is not None and begun(child):
            os.kill(child.pid, signal.SIGSTOP)
            stopped.append(child.pid)
        return bool(stopped) and child.pid != stopped[0]

    caplog.set_level("INFO")
    supervise(child, 20, replaced)
    assert child.pid != stopped[0]
    assert "ALARM: worker-1 gives no sign of life, and is killed" in caplog.text
    assert "worker-1 was killed by SIGKILL" in caplog.text


@pytest.mark.parametrize("code", [LOOPING, STUCK])
def test_a_child_that_does_not_get_on_is_replaced(code: str, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    starts.write_text("")
    supervise(watched(code, str(starts)), 20, lambda: len(starts.read_text()) > 1)
    assert len(starts.read_text()) == 2


def test_a_child_that_gets_on_is_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    supervise(watched(QUIET), 2)
    assert "no sign of life" not in caplog.text


@pytest.fixture
def busy() -> Iterator[str]:
    """A processor that others compute on all the time, as its number."""
    processor = max(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, {{{processor}}}); exec('while True: pass')"
    with ExitStack() as stack:
        for _ in range(4):
            others = stack.enter_context(subprocess.Popen([sys.executable, "-c", code]))
            stack.callback(others.kill)
        yield str(processor)


def test_a_child_that_gets_no_processor_is_left_alone_and_one_that_hangs_there_is_not(
    busy: str, caplog: pytest.LogCaptureFixture
) -> None:
    child, labours = watched(BEGIN + STARVED + LABOURING, busy), Since()
    supervise(child, 60, lambda: labours.seconds(begun(child)) > 2)
    assert labours.began
    assert "no sign of life" not in caplog.text
    hangs = watched(BEGIN + STARVED + "time.sleep(600)", busy)
    supervise(hangs, 60, lambda: "was killed by SIGKILL" in caplog.text)
    assert "no sign of life" in caplog.text


def test_a_supervisor_that_stood_still_with_its_child_does_not_kill_it() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SUPERVISING, QUIET], stdout=-1, stderr=-1, text=True
    ) as supervisor:
        assert supervisor.stdout
        pids = [supervisor.pid, int(supervisor.stdout.readline())]
        with stopped(*pids):  # as on a machine that is suspended; the child goes on last
            time.sleep(1.5)
            os.kill(supervisor.pid, signal.SIGCONT)
            assert int(supervisor.stdout.readline()) == pids[1]  # a tick that comes late
        supervisor.terminate()
        _, log = supervisor.communicate()
    assert "no sign of life" not in log


def test_a_worker_whose_job_takes_long_is_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with EmbeddedServer(tmp_path, durable=False) as server, server.client() as client:
        child, works = watched(BEGIN + FORKING, server.url), Since()
        supervise(child, 60, lambda: works.seconds(bool(client.exists("working"))) > 2)
    assert works.began
    assert "no sign of life" not in caplog.text


def test_a_child_that_never_listened_for_it_has_longer(caplog: pytest.LogCaptureFixture) -> None:
    supervise(watched("import time; time.sleep(600)"), 1.5)
    assert "no sign of life" not in caplog.text


def test_who_waits_for_a_server_that_hangs_is_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with EmbeddedServer(tmp_path, durable=False) as server:
        child = watched(WAITING, server.url)
        pid = server.pid
        assert pid is not None

        def stop() -> bool:
            if begun(child):
                os.kill(pid, signal.SIGSTOP)
            return False

        supervise(child, 4, stop)
        os.kill(pid, signal.SIGCONT)
    assert "no sign of life" not in caplog.text


def test_a_decision_is_a_step_and_a_wait_of_another_thread_is_none() -> None:
    heart = LivenessMonitor()
    assert not heart.goes_on()
    with heart.waiting():
        assert not heart.goes_on()
    heart.step()
    assert heart.goes_on()
    assert not heart.goes_on()


def test_the_start_is_reported_when_all_serve_but_those_that_can_not_start() -> None:
    late = watched(BEGIN + "time.sleep(0.5); LIVENESS.serving(); time.sleep(600)")
    argv = [sys.executable, "-c", "raise SystemExit(2)"]
    failing = ProcessChild("publisher", argv, watched=True, needed=False)
    awaited: list[bool] = []

    def started() -> None:
        awaited.append(late.is_awaited)
        os.kill(os.getpid(), signal.SIGTERM)

    Supervisor([late, failing], lambda: None).run(started)
    assert awaited == [False]


@pytest.mark.parametrize("name", ["", "@"])
def test_a_service_manager_hears_that_a_process_serves_and_is_alive(
    name: str, tmp_path: Path
) -> None:
    place = name + str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(place.replace("@", "\0"))
        manager.settimeout(60)
        for watchdog, heard in ((os.getpid(), [b"READY=1", b"WATCHDOG=1"]), (1, [b"READY=1"] * 2)):
            environ = {
                "NOTIFY_SOCKET": place, "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(watchdog),
            }  # fmt: skip
            report = service_manager(environ)
            assert environ == {}, "children must not report in its place"
            for _ in heard:
                report(SERVING)
                report(BEAT)
            assert [manager.recv(100) for _ in heard] == heard
            manager.setblocking(False)
            with suppress(BlockingIOError):
                while manager.recv(100):
                    continue
            manager.settimeout(60)


def test_alive_knows_what_starts_serves_hangs_and_has_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*flags: str) -> tuple[int, str]:
        code = main(["alive", "worker", *flags, "--data", str(tmp_path)])
        return code, capsys.readouterr().out

    assert said() == (1, f"no worker runs here with the data directory {tmp_path}\n")
    child = ProcessChild("worker-1", [sys.executable, "-c", STARTING, str(tmp_path)])
    child.start()
    name = f"worker-{socket.gethostname()}-{child.pid}"
    until(lambda: said()[0] == 0)
    assert said("--ready") == (1, f"{name} is alive, and starts\n")
    (tmp_path / "go").touch()
    until(lambda: said("--ready") == (0, f"{name} is alive, and serves\n"))
    assert child.pid is not None
    with stopped(child.pid):
        past = time.monotonic_ns() - 90 * 10**9
        os.utime(tmp_path / "alive" / name, ns=(past, past))
        code, line = said()
        assert (code, line[: len(name) + 6]) == (1, f"{name} hangs")
    child.kill()
    until(lambda: child.poll() is not None)
    assert said()[0] == 1


# the real thing


@contextmanager
def stopped(*pids: int) -> Iterator[None]:
    """Processes that stand still; what is left of them goes on afterwards."""
    with ExitStack() as stack:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
            stack.callback(go_on, pid)
        yield


ROLES = ("worker", "side", "web")


def are_at_work(served: Served) -> bool:
    """Whether the side worker has made its lists, and pages are answered."""
    with served.client() as client, suppress(httpx.TransportError):
        answer = httpx.get(f"{served.url}/healthz", trust_env=False, timeout=60)
        return bool(answer.is_success and client.exists(keys.projection("ratings", "live")))
    return False


def go_on(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return


@pytest.mark.long
@pytest.mark.slow
def test_workers_and_pages_that_hang_are_replaced(tmp_path: Path) -> None:
    with Served(tmp_path / "data", {"MATCHPOST_HTTP": "127.0.0.1:0"}) as served:
        ((start, first, *_),), player = matches(1, 2), Player(served)
        player.play([start])
        until(lambda: are_at_work(served))
        old = {pid for role in ROLES for pid in served.children(f" {role} ")}
        with stopped(*old):
            until(lambda: not old & set(served.children("matchpost")))
            player.play([first])
        until(lambda: all(served.children(f" {role} ") for role in ROLES))
    log = (tmp_path / "serve.log").read_text()
    # a busy machine may keep one that was not stopped from its sign of life
    assert log.count("gives no sign of life, and is killed") >= len(old)
