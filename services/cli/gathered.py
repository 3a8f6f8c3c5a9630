"""`matchpost gathered`: one process for several roles that rest most of the time, each in a thread.

What they have imported is then in memory once. A thread that ends is started again, as `serve` does with a process, and
the others go on meanwhile. One that hangs keeps the process from its sign of life: `serve` kills it and starts it again.
"""

import os
import signal
from functools import partial
from typing import Final

from infra.process.liveness import LIVENESS, ThreadLiveness
from infra.process.role_thread import RoleThread
from infra.settings.settings import Settings
from services.app.error_codes import EXIT_OK
from services.cli.roles import RoleProcess, do_work
from services.serve.liveness import alive_listeners, report_liveness
from services.serve.logging import log_to_stderr
from services.serve.processes import BESIDE, gathered_roles
from services.serve.supervisor import STOP_DEADLINE, Supervisor

NAME: Final = "gathered"
"""The name of the process in the log, where a line is of none of its roles."""

_STOP_SECONDS: Final = 0.9 * STOP_DEADLINE
"""How long the threads have to end, so that this process ends in the time that it has."""

_CUT_OFF: Final = -9
"""The code of a thread that was left behind."""

_REST_SECONDS: Final = 3600.0


def run(settings: Settings) -> int:
    """Do the work of these roles until a stop signal, and return the exit code."""
    log_to_stderr(NAME, settings)
    report_liveness(settings, NAME)
    Supervisor(
        [_RoleChild(RoleProcess(settings, role, role)) for role in gathered_roles(settings)],
        tick=lambda: None,
        tick_interval=_REST_SECONDS,
        stop_deadline=_STOP_SECONDS,
        watches=False,
    ).run(started=LIVENESS.serving)
    return EXIT_OK


class _RoleChild:
    """A role as a child of the supervisor of this process."""

    is_silent = False  # the process as a whole is, and is killed

    def __init__(self, process: RoleProcess) -> None:
        self.name = process.name
        self._process = process
        self._needed = process.role not in BESIDE
        # one file for all threads of the role, because its lock is this process's
        self._listeners = alive_listeners(process.settings, process.role)
        self._thread: RoleThread | None = None
        self._liveness = ThreadLiveness()
        self._is_cut_off = False
        self._has_failed = False

    def start(self) -> None:
        """Start a thread; do nothing if it runs."""
        if self._thread is not None and self._thread.code is None:
            return
        self._liveness = ThreadLiveness(*self._listeners)
        work = partial(do_work, self._process)
        self._thread = RoleThread(self.name, work, self._liveness, _wake_supervisor)
        self._thread.start()

    def poll(self) -> int | None:
        """Return None while it runs, otherwise its code."""
        if self._thread is None or self._is_cut_off:
            return _CUT_OFF if self._is_cut_off else EXIT_OK
        self._has_failed |= self._thread.code is not None
        return self._thread.code

    @property
    def is_awaited(self) -> bool:
        """Whether it does not serve yet."""
        return not (self._liveness.is_serving or (self._has_failed and not self._needed))

    def terminate(self) -> None:
        """Ask it to end, without waiting."""
        if self._thread is not None:
            self._thread.stop()

    def kill(self) -> None:
        """Wait for it no longer: it ends with the process."""
        self._is_cut_off = True


def _wake_supervisor() -> None:
    """Have the supervisor look at its children now, as the kernel does when a process ends."""
    os.kill(os.getpid(), signal.SIGCHLD)
