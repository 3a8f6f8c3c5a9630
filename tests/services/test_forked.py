"""A command that is forked begins as one that is executed, and ends with the process that it was forked from."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from infra.settings.settings import Settings
from services.serve.processes import shared_modules
from tests.helpers.served import until

# a parent with files, signal handlers and a child, which writes what it finds into a file

PROGRAM = """
import json, os, signal, socket, sys, time
from pathlib import Path
import services.cli.main
from services.serve.child import ProcessChild
from services.serve.forked import SharedImports, fork_command

def main(words):
    shown = Path("/proc/self/cmdline").read_text().rstrip(chr(0)).split(chr(0))
    found = {
        "words": words,
        "shown": shown,
        "pid": os.getpid(),
        "group": os.getpgid(0),
        "files": [one for one in sorted(map(int, os.listdir("/proc/self/fd"))) if Path(f"/proc/self/fd/{one}").exists()],
        "handlers": [signal.getsignal(n) is signal.SIG_DFL for n in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)],
        "ignored": signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN,
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "variables": [os.environ.get("ONLY_HERE"), os.environ.get("ONLY_THERE")],
        "typed": sys.stdin.read(),
        "imported": "html.entities" in sys.modules,
    }
    place = Path(words[-1])
    place.with_suffix(".new").write_text(json.dumps(found))
    place.with_suffix(".new").rename(place)
    {"sleeps": lambda: time.sleep(600), "ends": lambda: sys.exit(3), "fails": lambda: 1 / 0, "returns": int}[words[0]]()
    return 5

services.cli.main.main = main
imports = SharedImports(["html.entities"])
imports.start()
imports.wait()
signal.signal(signal.SIGTERM, lambda *_: None)
signal.signal(signal.SIGHUP, lambda *_: None)
signal.signal(signal.SIGCHLD, lambda *_: None)
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
os.environ["ONLY_THERE"] = "1"
ours, given = socket.socket(), socket.socket()
child = ProcessChild(
    "worker-1", ["/a/folder/matchpost", *sys.argv[1:]], env={"ONLY_HERE": "1"}, pass_fds=[given.fileno()]
)
child.launch = fork_command
child.start()
print(child.pid, given.fileno(), flush=True)
if sys.stdin.readline() == "end\\n":
    child.terminate()
while child.poll() is None:
    time.sleep(0.01)
print(child.poll(), flush=True)
"""


class Parent:
    """The program above, and the child that it has forked."""

    def __init__(self, folder: Path, how: str) -> None:
        self.place = folder / "found"
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, how, str(self.place)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.pid, self.given = map(int, self.process.stdout.readline().split())

    def found(self) -> dict:
        until(self.place.exists)
        return json.loads(self.place.read_text())

    def end(self, typed: str) -> tuple[int, str]:
        """Let the parent end the child, or wait for it; return the child's code, and what was written as errors."""
        said, errors = self.process.communicate(typed, 60)
        return int(said), errors


def test_a_forked_command_finds_what_an_executed_one_would(tmp_path):
    parent = Parent(tmp_path, "sleeps")
    found = parent.found()
    assert found.pop("pid") == parent.pid
    assert found == {
        "words": ["sleeps", str(parent.place)],
        "shown": ["matchpost", "sleeps", str(parent.place)],
        "group": parent.pid,
        "files": [0, 1, 2, parent.given],
        "handlers": [True, True, True],
        "ignored": True,
        "blocked": [],
        "variables": ["1", None],
        "typed": "",
        "imported": True,
    }
    assert parent.end("end\n") == (-signal.SIGTERM, "")


@pytest.mark.parametrize(
    ("how", "code", "error"),
    [("returns", 5, ""), ("ends", 3, ""), ("fails", 1, "ZeroDivisionError: division by zero\n")],
)
def test_a_forked_command_ends_with_its_own_code(tmp_path, how, code, error):
    parent = Parent(tmp_path, how)
    ended, errors = parent.end("wait\n")
    assert ended == code
    assert errors.endswith(error)
    assert bool(errors) == bool(error)


def test_a_forked_command_ends_with_its_parent(tmp_path):
    parent = Parent(tmp_path, "sleeps")
    parent.found()
    parent.process.kill()
    parent.process.communicate()
    until(lambda: not is_running(parent.pid))


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_what_one_process_alone_needs_is_not_imported_for_all(tmp_path):
    alone = shared_modules(Settings(data=tmp_path))
    assert "services.cli.web" not in alone
    assert "services.cli.mail" not in alone
    several = shared_modules(Settings(data=tmp_path, web=2, robots=2, smtp="127.0.0.1:0"))
    assert {"services.cli.web", "services.cli.robots", *alone} <= set(several)
    script = (
        "import sys\nfrom importlib import import_module\n"
        f"for one in {alone}: import_module(one)\n"
        "from infra.people.rate_limits import CountStorage\nfrom redis import Redis\n"
        "CountStorage(Redis(), 'counts')\nprint(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    # `limits` would import the other client of the server, too
    assert not {"litestar", "jinja2", "services.http.app", "valkey"} & set(loaded.stdout.split())
