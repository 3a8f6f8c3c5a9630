"""What a supervisor looks after: a child that can be started, watched and ended."""

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from infra.process import spawn


class Child(Protocol):
    """A process as its supervisor sees it; `infra.embedded.EmbeddedServer` is one too."""

    @property
    def name(self) -> str:
        """What the log calls it."""

    def start(self) -> None:
        """Start it; do nothing if it runs. Raises an exception with a sentence if it can't."""

    def poll(self) -> int | None:
        """None while it runs, otherwise its return code (negative for a signal)."""

    def terminate(self) -> None:
        """Ask it to end in good order, at once; harmless when it has ended."""

    def kill(self) -> None:
        """End it for certain, at once; harmless when it has ended."""


class ProcessChild:
    """A child that is a program of its own.

    It gets SIGKILL when the supervisor ends, however that ends: a signal it could handle might
    leave a worker that outlives its supervisor and works beside its own replacement. What the
    child starts itself is not covered; it has to do the same (`infra.process.spawn`).
    """

    _process: subprocess.Popen[bytes] | None = None  # the last one started

    def __init__(
        self,
        name: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
        prepare: Callable[[], None] | None = None,
    ) -> None:
        """`env` replaces the environment; `prepare` runs in the parent before each start."""
        self.name = name
        self._argv = tuple(argv)
        self._env = env
        self._pass_fds = tuple(pass_fds)
        self._prepare = prepare

    @property
    def pid(self) -> int | None:
        """The process id of the last start; None before the first."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the program; do nothing if it runs. Raises OSError if it can't be started."""
        if self._process is not None and self._process.poll() is None:
            return
        if self._prepare is not None:
            self._prepare()
        self._process = spawn(self._argv, env=self._env, pass_fds=self._pass_fds)

    def poll(self) -> int | None:
        """None while it runs, otherwise its return code; 0 before the first start."""
        return 0 if self._process is None else self._process.poll()

    def terminate(self) -> None:
        """Send SIGTERM."""
        if self._process is not None:
            self._process.terminate()

    def kill(self) -> None:
        """Send SIGKILL to the program and all of its process group."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
