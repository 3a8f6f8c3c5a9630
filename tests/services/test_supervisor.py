"""A supervisor: children that end or hang are replaced, and none that waits, works or starts is."""

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from infra.process import liveness
from infra.process.liveness import BEAT, SERVING, service_manager
from infra.redis import keys
from infra.valkey.server import EmbeddedServer
from services.cli.main import main
from services.http import connections
from services.mail import smtp_server
from services.serve import supervisor as supervisor_module
from services.serve.child import ProcessChild
from services.serve.signals import Signals
from services.serve.supervisor import Supervisor
from tests.helpers.served import Player, Served, matches, until

FOREVER = "import time; time.sleep(600)"

STUBBORN = (
    "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "open(sys.argv[1], 'w').close(); time.sleep(600)"
)


# supervises two children, one of which ignores SIGTERM, and prints their ids


PROGRAM = f"""
import signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # `nohup make test` would have it ignored
from services.serve.child import ProcessChild
from services.serve.logging import log_to_stderr
from services.serve.supervisor import Supervisor
log_to_stderr("serve")
children = [
    ProcessChild("worker-1", [sys.executable, "-c", {FOREVER!r}]),
    ProcessChild("worker-2", [sys.executable, "-c", {STUBBORN!r}, sys.argv[1]]),
]
supervisor = Supervisor(children, lambda: None, stop_deadline=float(sys.argv[2]))
supervisor.run(lambda: print(*(child.pid for child in children), flush=True))
print("done", flush=True)
"""


def python(name: str, code: str, *arguments: str, **options) -> ProcessChild:
    """A child that runs a line of Python."""
    return ProcessChild(name, [sys.executable, "-c", code, *arguments], **options)


def watched(code: str, *arguments: str, name: str = "worker-1", **options) -> ProcessChild:
    return python(name, code, *arguments, watched=True, **options)


def stop() -> None:
    """Tell the supervisor of this process to stop."""
    os.kill(os.getpid(), signal.SIGTERM)


def stop_when(condition: Callable[[], object], seconds: float = 60) -> Callable[[], None]:
    """A tick that stops the supervisor when a condition holds, or after so many seconds."""
    deadline = time.monotonic() + seconds

    def tick() -> None:
        if condition() or time.monotonic() > deadline:
            stop()

    return tick


def supervise(
    child: ProcessChild, seconds: float, condition: Callable[[], object] = lambda: False
) -> None:
    """Look after a child until a condition holds, or for so many seconds."""
    Supervisor([child], stop_when(condition, seconds), 0.02).run()


def has_ended(pid: int) -> bool:
    """Whether the process is gone; one that nobody has waited for yet counts as gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def starts(caplog: pytest.LogCaptureFixture, name: str) -> int:
    """How often the log says that a child was started again."""
    return caplog.text.count(f"{name} was started again")


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """A silence of half a second is too long, and is looked for often."""
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(liveness, "SILENCE_SECONDS", 0.5)
    monkeypatch.setattr(supervisor_module, "_WATCH_SECONDS", 0.02)


def test_a_killed_child_is_started_again_and_its_end_logged(caplog):
    child = python("worker-1", FOREVER)
    tick = stop_when(lambda: starts(caplog, "worker-1") == 1)
    Supervisor([child], tick, 0.01).run(started=lambda: os.kill(child.pid, signal.SIGKILL))
    assert "worker-1 was killed by SIGKILL after 0.0 s; next start in 0.1 s" in caplog.text
    assert starts(caplog, "worker-1") == 1


def test_the_delay_ends_doubling_and_a_good_life_resets_it(monkeypatch, caplog):
    slot = supervisor_module._ChildSlot(python("worker-1", "raise SystemExit(0)"))
    for _ in range(10):
        slot.note_failure(OSError("no"))
    assert caplog.records[-1].args[2] == supervisor_module.MAX_DELAY
    monkeypatch.setattr(supervisor_module, "STABLE_SECONDS", 0.0)
    slot.start()
    while not slot.is_down:
        slot.reap()
    assert caplog.records[-1].args[2] == supervisor_module.MIN_DELAY


def test_the_foundation_is_started_first_and_ended_last():
    events = []

    class Named(ProcessChild):
        def start(self) -> None:
            events.append(f"start {self.name}")
            super().start()

        def terminate(self) -> None:
            events.append(f"end {self.name}")
            assert self.name != "base" or upper.poll() is not None
            super().terminate()

    upper, base = (Named(name, [sys.executable, "-c", FOREVER]) for name in ("upper", "base"))
    Supervisor([upper], lambda: None, depends_on=[base]).run(started=stop)
    assert events == ["start base", "start upper", "end upper", "end base"]


def run_program(tmp_path: Path, deadline: float) -> tuple[subprocess.Popen[bytes], list[int]]:
    """Start a supervisor as a program; give it and its children's ids when all is under way."""
    ready = tmp_path / "ready"
    argv = [sys.executable, "-c", PROGRAM, str(ready), str(deadline)]
    program = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    children = [int(word) for word in program.stdout.readline().split()]
    while not ready.exists():
        time.sleep(0.005)
    return program, children


@pytest.mark.parametrize(("watches", "seconds"), [(True, 4.0), (False, 3_600.0)])
def test_children_without_signs_of_life_are_not_looked_at(monkeypatch, watches, seconds):
    monkeypatch.setattr(supervisor_module, "_WATCH_SECONDS", liveness.BEAT_SECONDS)
    waits = list[float]()

    def wait(signals: Signals, seconds: float) -> None:
        waits.append(seconds)
        signals.stops += 1

    monkeypatch.setattr(Signals, "wait", wait)
    child = python("worker-1", FOREVER)
    Supervisor([child], lambda: None, 3_600.0, watches=watches, stop_deadline=0.0).run()
    assert seconds - 1 < waits[0] <= seconds


def test_no_child_outlives_a_killed_supervisor(tmp_path, wait_until):
    program, children = run_program(tmp_path, 10)
    with program:
        assert not any(has_ended(pid) for pid in children)
        program.kill()
    wait_until(lambda: all(has_ended(pid) for pid in children))


@pytest.mark.parametrize("request_to_stop", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_the_program_in_good_order(tmp_path, request_to_stop):
    program, children = run_program(tmp_path, 0.2)
    with program:
        program.send_signal(request_to_stop)
        out, log = program.communicate(timeout=60)
    assert (out, program.returncode) == (b"done\n", 0)
    assert all(has_ended(pid) for pid in children)
    assert b"INFO worker-2 was still at work and is cut off" in log
    assert b"worker-1" not in log


def test_signals_that_come_together_are_one_request_and_a_later_one_hurries(tmp_path, wait_until):
    program, children = run_program(tmp_path, 600)
    with program:
        program.send_signal(signal.SIGTERM)
        program.send_signal(signal.SIGINT)
        wait_until(lambda: has_ended(children[0]))
        assert not has_ended(children[1])
        wait_until(lambda: program.send_signal(signal.SIGTERM) or has_ended(children[1]))
        # the last of many signals may meet a program that is already past its handlers
        assert program.wait(60) in (0, -signal.SIGTERM)


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
from services.serve import supervisor
from services.serve.supervisor import Supervisor
liveness.SILENCE_SECONDS, liveness._COUNTED_SECONDS = 0.5, 0.1
supervisor._WATCH_SECONDS = 0.02
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


def begun(child: ProcessChild) -> bool:
    """Whether a child has given a sign of life."""
    return child._pulse is not None and child._pulse._seen


class Since:
    """The time since a condition held for the first time."""

    began = 0.0

    def seconds(self, holds: object) -> float:
        self.began = self.began or (time.monotonic() if holds else 0.0)
        return time.monotonic() - self.began if self.began else 0.0


@pytest.mark.parametrize("code", [LOOPING, STUCK])
def test_a_child_that_does_not_get_on_is_replaced(code, tmp_path):
    starts = tmp_path / "starts"
    starts.write_text("")
    supervise(watched(code, str(starts)), 60, lambda: len(starts.read_text()) > 1)
    assert len(starts.read_text()) == 2


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


def test_a_child_that_gets_no_processor_is_left_alone_and_one_that_hangs_there_is_not(busy, caplog):
    child, labours = watched(BEGIN + STARVED + LABOURING, busy), Since()
    supervise(child, 60, lambda: labours.seconds(begun(child)) > 2)
    assert labours.began
    assert "no sign of life" not in caplog.text
    hangs = watched(BEGIN + STARVED + "time.sleep(600)", busy)
    supervise(hangs, 60, lambda: "was killed by SIGKILL" in caplog.text)
    assert "no sign of life" in caplog.text


def test_a_supervisor_that_stood_still_with_its_child_does_not_kill_it():
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


def test_a_worker_whose_job_takes_long_is_left_alone(tmp_path, caplog):
    with EmbeddedServer(tmp_path, durable=False) as server, server.client() as client:
        child, works = watched(BEGIN + FORKING, server.url), Since()
        supervise(child, 60, lambda: works.seconds(bool(client.exists("working"))) > 2)
    assert works.began
    assert "no sign of life" not in caplog.text


def test_who_waits_for_a_server_that_hangs_is_left_alone(tmp_path, caplog):
    with EmbeddedServer(tmp_path, durable=False) as server:
        child = watched(WAITING, server.url)
        pid = server.pid
        assert pid is not None

        supervise(child, 4, lambda: begun(child) and os.kill(pid, signal.SIGSTOP))
        os.kill(pid, signal.SIGCONT)
    assert "no sign of life" not in caplog.text


@pytest.mark.parametrize("name", ["", "@"])
def test_a_service_manager_hears_that_a_process_serves_and_is_alive(name, tmp_path):
    place = name + str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(place.replace("@", "\0"))
        manager.settimeout(60)
        for watchdog, wanted in ((os.getpid(), {b"READY=1", b"WATCHDOG=1"}), (1, {b"READY=1"})):
            environ = {
                "NOTIFY_SOCKET": place, "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(watchdog),
            }  # fmt: skip
            report = service_manager(environ)
            assert environ == {}, "children must not report in its place"
            report(SERVING)
            report(BEAT)
            report(SERVING)
            heard = [manager.recv(100)]
            while heard.count(b"READY=1") < 2:
                heard.append(manager.recv(100))
            assert set(heard) == wanted


def test_alive_knows_what_starts_serves_hangs_and_has_ended(tmp_path, capsys):
    def said(*flags: str) -> tuple[int, str]:
        code = main(["alive", "worker", *flags, "--data", str(tmp_path)])
        return code, capsys.readouterr().out

    assert said() == (1, f"no worker runs here with the data directory {tmp_path}\n")
    child = python("worker-1", STARTING, str(tmp_path))
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
            stack.enter_context(suppress(ProcessLookupError))
            stack.callback(os.kill, pid, signal.SIGCONT)
        yield


ROLES = ("worker", "gathered", "web")


def are_at_work(served: Served) -> bool:
    """Whether the side worker has made its lists, and pages are answered."""
    with served.client() as client, suppress(httpx.TransportError):
        answer = httpx.get(f"{served.url}/healthz", trust_env=False, timeout=60)
        return bool(answer.is_success and client.exists(keys.projection("ratings", "live")))
    return False


@pytest.mark.long
@pytest.mark.slow
def test_workers_and_pages_that_hang_are_replaced(tmp_path):
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


def test_a_child_that_ignores_the_request_is_killed_at_the_deadline(tmp_path, caplog):
    ready = tmp_path / "ready"
    child = python("stubborn", STUBBORN, str(ready))
    Supervisor([child], stop_when(ready.exists), 0.01, stop_deadline=0.2).run()
    assert child.poll() == -signal.SIGKILL
    # which is usual for a job that takes minutes
    assert "stubborn was still at work and is cut off" in caplog.text
    assert not [record for record in caplog.records if record.levelno > logging.INFO]


def test_a_killed_server_is_back_before_the_workers(tmp_path, caplog):
    server = EmbeddedServer(tmp_path)
    worker = python("worker-1", FOREVER)
    signals = []

    def kill_both() -> None:
        os.kill(server.pid, signal.SIGKILL)
        os.kill(worker.pid, signal.SIGKILL)
        server._process.wait()

    def tick() -> None:
        with server.client() as client:
            signals.append(client.ping())
        if starts(caplog, "worker-1"):
            stop()

    with server:
        Supervisor([worker], tick, 0.01, depends_on=[server]).run(started=kill_both)
    lines = caplog.text
    assert "the tick failed" not in lines
    assert lines.index("valkey was started again") < lines.index("worker-1 was started again")
    assert signals


def test_a_request_to_stop_ends_a_server_that_is_loading(tmp_path):
    slowly = {"key-load-delay": "500"}  # microseconds a key; signals are seen each 1,024 keys
    with (
        EmbeddedServer(tmp_path, durable=False) as server,
        server.client() as client,
        client.pipeline(transaction=False) as pipeline,
    ):
        for number in range(20_000):
            pipeline.set(f"key{number}", "x")
        pipeline.execute()
    loading = EmbeddedServer(tmp_path, options=slowly)
    worker = ProcessChild("worker-1", ["/bin/false"])
    alarm = signal.signal(signal.SIGALRM, lambda *_: stop())
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        Supervisor([worker], lambda: None, depends_on=[loading]).run()
    finally:
        signal.signal(signal.SIGALRM, alarm)
        loading.stop()
    assert (loading.load_seconds, worker.pid) == (0, None)


def test_a_stop_takes_three_seconds_at_most():
    # and servers end within the last of them
    assert supervisor_module.STOP_DEADLINE <= 2
    assert (
        max(connections._GRACE_SECONDS, smtp_server.GRACE_SECONDS) < supervisor_module.STOP_DEADLINE
    )


def test_the_start_is_reported_when_all_serve_but_those_that_can_not_start():
    late = watched(BEGIN + "time.sleep(0.5); LIVENESS.serving(); time.sleep(600)")
    failing = watched("raise SystemExit(2)", name="publisher", needed=False)
    awaited: list[bool] = []
    supervisor = Supervisor([late, failing], lambda: None)
    supervisor.run(lambda: (awaited.append(late.is_awaited), stop()))
    assert awaited == [False]


def test_a_sign_that_is_late_by_one_look_makes_the_parent_look_at_no_process(monkeypatch):
    looks = []
    monkeypatch.setattr(liveness, "_processor_use", lambda pid: looks.append(pid) or (False, 0.0))
    pipe = liveness.LivenessPipe()
    assert not pipe.is_silent(1)
    assert looks == [1], "it has given none yet"
    for _ in range(2):
        os.write(pipe.descriptor, BEAT)
        for _ in range(3):
            assert not pipe.is_silent(1)
    assert looks == [1, 1, 1]
    pipe.child_started()
    pipe.close()
