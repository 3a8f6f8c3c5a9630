"""`matchpost` as a process that is forked from one which has imported what commands import.

A command takes over half a second of the processor and a server over two, nearly all of it for imports. Each process
of the tests starts one parent and forks from it: every command is still a process as a user's is, with its own
streams, folder, environment and exit code. Run as a program, this module is that parent.
"""

import atexit
import functools
import gc
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Final

from infra.process.failpoints import VARIABLE

SCRIPT: Final = Path(sys.executable).with_name("matchpost")

_SEEN_AT_START: Final = ("PYTHON", "LANG", "LC_", "TZ", "LD_", "MALLOC_", VARIABLE)
"""How the names of variables begin that a process reads when it starts, or when it imports."""
_IMPORTED: Final = ("services.cli", "services.app", "services.client", "services.language")
"""Packages whose modules the commands need."""
_SIZE: Final = 4
"""Bytes of the number before a request, and of the process id that answers it."""


def run_command(
    words: Sequence[str | Path],
    env: Mapping[str, str],
    typed: str | None = None,
    seconds: float = 60,
) -> subprocess.CompletedProcess[str]:
    """Run `matchpost` to its end, and return its exit code and what it wrote; `typed` is its input.

    Raises TimeoutExpired after so many seconds, when the command is killed.
    """
    listed = [str(word) for word in words]
    if not can_be_forked(env):
        return subprocess.run(
            [SCRIPT, *listed], env=env, capture_output=True, text=True, check=False,
            timeout=seconds, input=typed,
        )  # fmt: skip
    with _file() as given, _file() as out, _file() as errors:
        given.write((typed or "").encode())
        given.seek(0)
        command = Forked(listed, env, [given, out, errors])
        try:
            code = command.wait(seconds)
        except subprocess.TimeoutExpired:
            command.send_signal(signal.SIGKILL)
            command.wait()
            raise
        return subprocess.CompletedProcess(listed, code, _text(out), _text(errors))


def can_be_forked(env: Mapping[str, str]) -> bool:
    """Whether a process with these variables may have the imports of another one."""
    return _seen_at_start(env) == _seen_at_start(os.environ)


def _seen_at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(_SEEN_AT_START)}


def _file() -> IO[bytes]:
    return tempfile.TemporaryFile()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


class Forked:
    """A command that has been started, used as a `subprocess.Popen` is; its streams are open in it, too."""

    def __init__(
        self, words: Sequence[str], env: Mapping[str, str], streams: Sequence[IO[bytes]]
    ) -> None:
        self.args = words
        self._code: int | None = None
        request = {"words": words, "env": dict(env), "folder": str(Path.cwd())}
        data = json.dumps(request).encode()
        self._parent = socket.socket(socket.AF_UNIX)
        self._parent.connect(_start_parent())
        sent = len(data).to_bytes(_SIZE, "big")
        socket.send_fds(self._parent, [sent], [stream.fileno() for stream in streams])
        self._parent.sendall(data)
        self.pid = int.from_bytes(_receive(self._parent, _SIZE), "big")

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code; raise TimeoutExpired if it runs after so many seconds."""
        if self._code is None:
            self._parent.settimeout(timeout)
            try:
                self._code = int(self._parent.recv(_SIZE))
            except TimeoutError:
                raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
            self._parent.close()
        return self._code

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


def _receive(connection: socket.socket, count: int) -> bytes:
    return connection.recv(count, socket.MSG_WAITALL)


@functools.cache
def _start_parent() -> str:
    """Start the parent, and return its address; it ends when its input does, with this process at the latest."""
    address = f"\0matchpost-tests-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        parent = subprocess.Popen(
            [sys.executable, "-P", __file__, str(listening.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,  # nothing is written there, but a stream to a file would want to seek in a pipe
            pass_fds=[listening.fileno()],
        )
    atexit.register(parent.communicate)
    return address


class Parent:
    """Answers each request by a forked process, and tells its exit code when that ends."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._running: dict[int, socket.socket] = {}
        self._woken, self._wakes = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(self._wakes, False)

    def next_command(self) -> list[str] | None:
        """Return the words of a command in each process that is to run one; None when all is over."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wakes)
        while True:
            ready, _, _ = select.select([self._listening.fileno(), self._woken, 0], [], [])
            if 0 in ready:
                return None
            if self._woken in ready:
                os.read(self._woken, 512)
                self._reap()
            if self._listening.fileno() in ready:
                words = self._answer()
                if words is not None:
                    return words

    def _reap(self) -> None:
        while self._running:
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                return
            # who asked may have waited long enough, and has killed it
            with self._running.pop(process) as asking, suppress(BrokenPipeError):
                asking.send(str(os.waitstatus_to_exitcode(status)).encode())

    def _answer(self) -> list[str] | None:
        asking, _ = self._listening.accept()
        size, streams, _, _ = socket.recv_fds(asking, _SIZE, 3)
        request = json.loads(_receive(asking, int.from_bytes(size, "big")))
        if request["words"][:1] == ["serve"]:
            _import_server()
        process = os.fork()
        if process:
            for stream in streams:
                os.close(stream)
            asking.sendall(process.to_bytes(_SIZE, "big"))
            self._running[process] = asking
            return None
        asking.close()
        self._become(request, streams)
        words: list[str] = request["words"]
        return words

    def _become(self, request: dict[str, object], streams: list[int]) -> None:
        """Take over what the process of a command has from its caller."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for other in self._running.values():
            other.close()
        self._listening.close()
        os.close(self._woken)
        os.close(self._wakes)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(str(request["folder"]))
        os.environ.clear()
        os.environ.update(request["env"])  # type: ignore[call-overload]


@functools.cache
def _import_server() -> None:
    """Import what the processes of a server share, and compress their files once for all of them."""
    settings = import_module("infra.settings.settings").Settings(data=Path(), web=2, robots=2)
    shared = import_module("services.serve.processes").shared_modules(settings)
    for name in (*shared, "services.cli.mail", "services.cli.mailer"):
        import_module(name)
    import_module("services.http.web.assets").pack_assets()
    gc.freeze()


def main() -> int:
    """Be the parent; return the exit code of a command in each process that runs one."""
    for name in _IMPORTED:
        package = import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            import_module(module.name)
    gc.freeze()
    words = Parent(socket.socket(fileno=int(sys.argv[1]))).next_command()
    if words is None:
        return 0
    sys.argv = [str(SCRIPT), *words]
    code: int = import_module("services.cli.main").main()
    return code


if __name__ == "__main__":
    sys.exit(main())
