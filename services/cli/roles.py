"""The processes of a server: one for each role, all started, watched, measured and ended in the same way.

`_WORK` has where the work of a role is. It is imported when its process starts, because each pays for its imports alone.
"""

import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from importlib import import_module
from threading import Event
from typing import Any, Final, NamedTuple

import redis

from infra.health.heartbeats import Role
from infra.process.machine import few_collections
from infra.process.role_thread import this_role_thread
from infra.settings.settings import Settings
from infra.store.layout import read_layout
from services.app.error_codes import EXIT_UNKNOWN
from services.cli.errors import run_role
from services.heartbeating import heartbeating
from services.metrics.endpoint import serving_role_metrics
from services.secret_checks import check_secrets
from services.serve.liveness import report_liveness
from services.serve.logging import log_end, log_to_stderr

_WORK: Final[Mapping[Role, str]] = {
    Role.WORKER: "worker.decide",
    Role.PROJECTIONS: "worker.project",
    Role.SCHEDULER: "scheduler.tick",
    Role.PUBLISHER: "publisher.publish",
    Role.MAINTENANCE: "worker.maintain",
    Role.ROBOTS: "robots.play",
    Role.WEB: "web.answer",
    Role.MAIL: "mail.accept",
    Role.MAILER: "mailer.send",
}
"""The function of each role, by its module beside this one; it takes a `RoleProcess`, and its own flags by keyword."""


class CannotWorkError(Exception):
    """A process can't do its work as it is set up; the message is a sentence for the operator."""


class RoleProcess(NamedTuple):
    """The process of a role."""

    settings: Settings
    role: Role
    name: str
    """In the log and the metrics, such as `worker-1`."""

    def stopping(self) -> Event:
        """Return what is set when the process, or the thread that has the role, is to end."""
        if (thread := this_role_thread()) is not None:
            return thread.stopping
        stopping = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopping.set())
        return stopping

    def check(self, data: redis.Redis) -> None:
        """Check that there is a layout, and that this machine has the server's secrets; else an error of either."""
        read_layout(data)
        check_secrets(self.settings, data, self.role)

    def beating(
        self, *, mail_key: str = "", lost: Callable[[], Sequence[int]] = tuple
    ) -> AbstractContextManager[None]:
        """Return a context manager that writes the heartbeat."""
        return heartbeating(self.settings, self.role, mail_key=mail_key, lost=lost)

    def metrics(self) -> AbstractContextManager[str]:
        """Return a context manager that serves the metrics."""
        return serving_role_metrics(self.settings, self.role, self.name)


def run(settings: Settings, role: str, name: str = "", **flags: Any) -> int:
    """Do the work of a role until a stop signal, and return the exit code."""
    process = RoleProcess(settings, Role(role), name or role)
    log_to_stderr(process.name, settings)
    report_liveness(settings, role)
    with few_collections():
        _work_of(process)  # imports its modules
    return do_work(process, **flags)


def do_work(process: RoleProcess, **flags: Any) -> int:
    """Do the work of a role in this thread, and return the exit code."""
    try:
        return run_role(partial(_work_of(process), process, **flags), CannotWorkError)
    except CannotWorkError as error:
        log_end(str(error))
        return EXIT_UNKNOWN


def _work_of(process: RoleProcess) -> Callable[..., None]:
    """Return the function that does the work of a role; its module is imported by the first call."""
    module, _, function = _WORK[process.role].partition(".")
    work: Callable[..., None] = getattr(import_module(f"services.cli.{module}"), function)
    return work
