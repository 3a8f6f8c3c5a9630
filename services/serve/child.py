"""Child processes of a supervisor: started, watched and ended."""

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from infra.process.liveness import VARIABLE, LivenessPipe
from infra.valkey.process import spawn


class Child(Protocol):
    """A process that a supervisor runs; `infra.valkey.server.EmbeddedServer` is one, too."""

    @property
    def name(self) -> str:
        """Its name in the log."""

    def start(self) -> None:
        """Start it; do nothing if it runs. Raise an exception with a sentence if it can't start."""

    def poll(self) -> int | None:
        """Return None while it runs, otherwise its return code (negative for a signal)."""

    @property
    def is_silent(self) -> bool:
        """Whether it runs and has sent no sign of life for too long."""

    @property
    def is_awaited(self) -> bool:
        """Whether the start of the whole waits until it reports that it serves."""

    def terminate(self) -> None:
        """Ask it to end, without waiting; harmless if it has ended."""

    def kill(self) -> None:
        """Kill it, without waiting; harmless if it has ended."""


class Launched(Protocol):
    """A process, as far as `subprocess.Popen` is needed here."""

    pid: int

    def poll(self) -> int | None:
        """Return None while it runs, otherwise its return code (negative for a signal)."""

    def terminate(self) -> None:
        """Send SIGTERM; harmless if it has ended."""


class Launch(Protocol):
    """Starts a process that ends with this one: `infra.valkey.process.spawn`, or one that does so in another way."""

    def __call__(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None, pass_fds: Sequence[int]
    ) -> Launched:
        """Start it, with the environment, the open files and in a process group of its own."""


class ProcessChild:
    """A child that is a program of its own.

    The kernel kills it when the supervisor ends, however the supervisor ends. It is SIGKILL because
    a worker that handles a milder signal might outlive its supervisor and work beside its own
    replacement. Processes that the child starts are not covered: the child has to start them in the
    same way (`infra.valkey.process.spawn`).
    """

    launch: Launch = staticmethod(spawn)
    """How its process is started."""

    _process: Launched | None = None  # of the latest start
    _pulse: LivenessPipe | None = None  # of the latest start, while it runs
    _has_failed = False  # whether a start of it ended

    def __init__(
        self,
        name: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
        prepare: Callable[[], None] | None = None,
        watched: bool = False,
        needed: bool = True,
    ) -> None:
        """`env` replaces the environment; `prepare` runs in the parent before each start.

        A `watched` child sends signs of life (`infra.process.liveness`). One that is not `needed` is not waited for
        once it has failed to start.
        """
        self.name = name
        self._argv = tuple(argv)
        self._env = env
        self._pass_fds = tuple(pass_fds)
        self._prepare = prepare
        self._watched = watched
        self._needed = needed

    @property
    def pid(self) -> int | None:
        """The process id of the latest start; None before the first."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the program; do nothing if it runs. Raise OSError if it can't be started."""
        if self._process is not None and self._process.poll() is None:
            return
        if self._prepare is not None:
            self._prepare()
        self._process = self._spawn_watched() if self._watched else self._spawn(self._env)

    def _spawn_watched(self) -> Launched:
        self._forget_pulse()
        pulse = self._pulse = LivenessPipe()
        env = os.environ if self._env is None else self._env
        try:
            return self._spawn({**env, VARIABLE: str(pulse.descriptor)}, pulse.descriptor)
        finally:
            pulse.child_started()

    def _spawn(self, env: Mapping[str, str] | None, *more: int) -> Launched:
        return self.launch(self._argv, env=env, pass_fds=[*self._pass_fds, *more])

    def poll(self) -> int | None:
        """Return None while it runs, otherwise its return code; 0 before the first start."""
        code = 0 if self._process is None else self._process.poll()
        if code is not None:
            self._has_failed |= self._process is not None
            self._forget_pulse()
        return code

    def _forget_pulse(self) -> None:
        if self._pulse is not None:
            self._pulse.close()
            self._pulse = None

    @property
    def is_silent(self) -> bool:
        """Whether it is watched, runs, and has sent no sign of life for too long."""
        return self._pulse is not None and self.pid is not None and self._pulse.is_silent(self.pid)

    @property
    def is_awaited(self) -> bool:
        """Whether it is watched, and does not serve yet."""
        if not self._watched or (self._has_failed and not self._needed):
            return False
        return self._pulse is None or not self._pulse.is_serving

    def terminate(self) -> None:
        """Send SIGTERM."""
        if self._process is not None:
            self._process.terminate()

    def kill(self) -> None:
        """Send SIGKILL to the program and all of its process group."""
        self._forget_pulse()  # a killed process sends nothing
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
