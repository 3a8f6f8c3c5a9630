"""A thread that has a role of the server, as a process of its own has otherwise.

A signal asks a process to end, which only the main thread can handle; `stop` asks the thread. Its lines in
the log have the name of its role (`shown_role`), and its signs of life are its own (`infra.process.liveness`).
"""

import logging
import threading
from collections.abc import Callable
from typing import Final

from infra.process.liveness import LIVENESS, ThreadLiveness

logger = logging.getLogger(__name__)

_FAILED: Final = 1
"""The code of a thread that an error has ended."""


class RoleThread(threading.Thread):
    """Does `work`, which returns an exit code; `liveness` is watched meanwhile, and `ended` is called at the end."""

    def __init__(
        self,
        role: str,
        work: Callable[[], int],
        liveness: ThreadLiveness,
        ended: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(name=role, daemon=True)
        self.role = role
        self.stopping = threading.Event()
        """Set when the thread is to end."""
        self.code: int | None = None
        """The exit code; None until the thread has ended."""
        self._work = work
        self._liveness = liveness
        self._ended = ended
        self._at_stop: Callable[[], None] = lambda: None

    def run(self) -> None:
        """Do the work, and note how it ended."""
        code: object = _FAILED
        try:
            with LIVENESS.also_watching(self._liveness):
                code = self._work()
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            logger.exception("%s ends by an error", self.role)
        finally:
            self.code = code if isinstance(code, int) else _FAILED
            self._ended()

    def call_at_stop(self, call: Callable[[], None]) -> None:
        """Have `call` called, in the thread of `stop`, if the work does not look at `stopping` by itself."""
        self._at_stop = call

    def stop(self) -> None:
        """Ask the work to end, without waiting."""
        self.stopping.set()
        self._at_stop()


def this_role_thread() -> RoleThread | None:
    """Return the thread that runs now, if it has a role; None in the main thread of a process.

    That is also the one thread of a process that was forked from such a thread.
    """
    thread = threading.current_thread()
    is_main = thread is threading.main_thread()
    return thread if isinstance(thread, RoleThread) and not is_main else None


def shown_role(of_process: str) -> str:
    """Return the role whose thread runs now, otherwise that of the process."""
    thread = threading.current_thread()
    return thread.role if isinstance(thread, RoleThread) else of_process
