import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from infra.valkey.server import EmbeddedServer
from services.http import connections
from services.mail import smtp_server
from services.serve import supervisor as supervisor_module
from services.serve.child import Child, ProcessChild
from services.serve.supervisor import Supervisor

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


def stop() -> None:
    """Tell the supervisor of this process to stop."""
    os.kill(os.getpid(), signal.SIGTERM)


def stop_when(condition: Callable[[], object]) -> Callable[[], None]:
    """A tick that stops the supervisor when a condition holds, or after a minute."""
    deadline = time.monotonic() + 60

    def tick() -> None:
        if condition() or time.monotonic() > deadline:
            stop()

    return tick


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
def logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)


def test_both_kinds_of_children_are_children(tmp_path: Path):
    children: list[Child] = [python("a", FOREVER), EmbeddedServer(tmp_path)]
    assert [child.name for child in children] == ["a", "valkey"]
    assert [child.poll() for child in children] == [0, 0]


def test_it_runs_until_told_to_stop_and_leaves_nothing():
    children = [python("a", FOREVER), python("b", FOREVER)]
    Supervisor(children, lambda: None).run(started=stop)
    assert [child.poll() for child in children] == [-signal.SIGTERM] * 2


def test_the_handlers_of_signals_are_put_back():
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGCHLD)
    Supervisor([], lambda: None).run(started=stop)
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGCHLD)) == before


def test_a_killed_child_is_started_again_and_its_end_logged(caplog: pytest.LogCaptureFixture):
    child = python("worker-1", FOREVER)
    tick = stop_when(lambda: starts(caplog, "worker-1") == 1)
    Supervisor([child], tick, 0.01).run(started=lambda: os.kill(child.pid, signal.SIGKILL))
    assert "worker-1 was killed by SIGKILL after 0.0 s; next start in 0.1 s" in caplog.text
    assert starts(caplog, "worker-1") == 1


def test_the_delay_doubles_while_a_child_keeps_ending(caplog: pytest.LogCaptureFixture):
    child = python("worker-1", "raise SystemExit(3)")
    Supervisor([child], stop_when(lambda: starts(caplog, "worker-1") == 3), 0.01).run()
    delays = [record.args[2] for record in caplog.records if "next start" in record.msg]
    assert delays[:3] == [0.1, 0.2, 0.4]
    assert "worker-1 exited with 3" in caplog.text


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


def test_a_child_that_can_t_be_started_at_first_ends_the_others_and_is_reported():
    first, second = python("a", FOREVER), ProcessChild("b", ["/nowhere/program"])
    with pytest.raises(FileNotFoundError):
        Supervisor([first, second], lambda: None).run()
    assert first.poll() == -signal.SIGTERM


def test_a_child_that_can_t_be_started_again_is_tried_again(tmp_path: Path, caplog):
    program = tmp_path / "program"
    program.symlink_to("/bin/false")
    child = ProcessChild("worker-1", [str(program)])
    supervisor = Supervisor(
        [child], stop_when(lambda: "could not start: FileNotFoundError" in caplog.text), 0.01
    )
    supervisor.run(started=program.unlink)
    assert "worker-1 could not start: FileNotFoundError" in caplog.text


def test_a_child_gets_its_environment_and_preparation_and_files():
    calls = []
    reader, writer = os.pipe()
    code = f"import os; os.write({writer}, os.environ['WORD'].encode())"
    child = python(
        "a", code, env={"WORD": "hello"}, pass_fds=[writer], prepare=lambda: calls.append("made")
    )
    child.start()
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        assert pipe.read() == b"hello"
    while child.poll() is None:
        pass
    assert calls == ["made"]


def test_a_child_that_ignores_the_request_is_killed_at_the_deadline(tmp_path: Path, caplog):
    ready = tmp_path / "ready"
    child = python("stubborn", STUBBORN, str(ready))
    Supervisor([child], stop_when(ready.exists), 0.01, stop_deadline=0.2).run()
    assert child.poll() == -signal.SIGKILL
    # which is usual for a job that takes minutes
    assert "stubborn was still at work and is cut off" in caplog.text
    assert not [record for record in caplog.records if record.levelno > logging.INFO]


def test_a_stop_takes_three_seconds_at_most():
    # and servers end within the last of them
    assert supervisor_module.STOP_DEADLINE <= 2
    assert (
        max(connections._GRACE_SECONDS, smtp_server.GRACE_SECONDS) < supervisor_module.STOP_DEADLINE
    )


def test_a_tick_that_fails_is_logged_and_called_again_later(caplog):
    times = []

    def tick() -> None:
        times.append(time.monotonic())
        if len(times) == 4:
            stop()
        raise ValueError("no luck")

    Supervisor([], tick, 0.02).run()
    assert caplog.text.count("ValueError: no luck") == 4
    assert times[1] - times[0] >= 0.04
    assert times[2] - times[1] >= 0.08
    assert "next try in 0.16 s" in caplog.text


def test_a_tick_is_called_at_its_interval():
    times = []

    def tick() -> None:
        times.append(time.monotonic())
        if len(times) == 5:
            stop()

    Supervisor([], tick, 0.02).run()
    assert times[-1] - times[0] >= 0.08


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

    argv = [sys.executable, "-c", FOREVER]
    upper = Named("upper", argv)
    Supervisor([upper], lambda: None, depends_on=[Named("base", argv)]).run(started=stop)
    assert events == ["start base", "start upper", "end upper", "end base"]


def test_a_killed_server_is_back_before_the_workers(tmp_path: Path, caplog):
    server = EmbeddedServer(tmp_path)
    worker = python("worker-1", FOREVER)
    ticks = []

    def kill_both() -> None:
        os.kill(server.pid, signal.SIGKILL)
        os.kill(worker.pid, signal.SIGKILL)
        server._process.wait()

    def tick() -> None:
        with server.client() as client:
            ticks.append(client.ping())
        if starts(caplog, "worker-1"):
            stop()

    with server:
        Supervisor([worker], tick, 0.01, depends_on=[server]).run(started=kill_both)
    lines = caplog.text
    assert "the tick failed" not in lines
    assert lines.index("valkey was started again") < lines.index("worker-1 was started again")
    assert ticks


def test_a_request_to_stop_ends_a_server_that_is_loading(tmp_path: Path):
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
    assert loading.load_seconds == 0
    assert worker.pid is None


def run_program(tmp_path: Path, deadline: float) -> tuple[subprocess.Popen[bytes], list[int]]:
    """Start a supervisor as a program; give it and its children's ids when all is under way."""
    ready = tmp_path / "ready"
    argv = [sys.executable, "-c", PROGRAM, str(ready), str(deadline)]
    program = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    children = [int(word) for word in program.stdout.readline().split()]
    while not ready.exists():
        time.sleep(0.005)
    return program, children


def test_no_child_outlives_a_killed_supervisor(tmp_path: Path, wait_until):
    program, children = run_program(tmp_path, 10)
    with program:
        assert not any(has_ended(pid) for pid in children)
        program.kill()
    wait_until(lambda: all(has_ended(pid) for pid in children))


@pytest.mark.parametrize("request_to_stop", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_the_program_in_good_order(tmp_path: Path, request_to_stop):
    program, children = run_program(tmp_path, 0.2)
    with program:
        program.send_signal(request_to_stop)
        out, log = program.communicate(timeout=60)
    assert out == b"done\n"
    assert program.returncode == 0
    assert all(has_ended(pid) for pid in children)
    assert b"INFO worker-2 was still at work and is cut off" in log
    assert b"worker-1" not in log


def test_signals_that_come_together_are_one_request_and_a_later_one_hurries(
    tmp_path: Path, wait_until
):
    program, children = run_program(tmp_path, 600)

    def hurried() -> bool:
        program.send_signal(signal.SIGTERM)
        return has_ended(children[1])

    with program:
        program.send_signal(signal.SIGTERM)
        program.send_signal(signal.SIGINT)
        wait_until(lambda: has_ended(children[0]))
        assert not has_ended(children[1])
        wait_until(hurried)
        # the last of many signals may meet a program that is already past its handlers
        assert program.wait(60) in (0, -signal.SIGTERM)


def test_the_log_is_lines_with_time_role_and_level():
    code = (
        "import logging; from services.serve.logging import log_to_stderr;"
        "log_to_stderr('worker-1'); logging.getLogger('any').info('hello %s', 'you')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    stamp, _, rest = done.stderr.partition(" ")
    assert rest == "worker-1 INFO hello you\n"
    assert len(stamp) == len("2026-01-01T00:00:00.000Z")
    assert stamp.endswith("Z")
