"""A child process that runs only while there is work for it."""

import logging
import subprocess
import time
from typing import Final, Self

from infra.process.liveness import BEAT_SECONDS
from infra.valkey.process import describe_exit
from services.serve.child import ProcessChild

logger = logging.getLogger(__name__)

_STOP_SECONDS: Final = 1.5
"""How long it has to end by itself, in the time that the process has which started it."""

_FAILED_SECONDS: Final = 2.0
"""How long nothing is started after it has failed."""

_WATCH_SECONDS: Final = BEAT_SECONDS
"""Between two looks for its signs of life."""

_STEP_SECONDS: Final = 0.02


class ChildOnDemand:
    """Starts a child when it is asked to, and watches it; while entered. It is used in one thread, with which the child ends."""

    def __init__(self, child: ProcessChild) -> None:
        self._child = child
        self._runs = False
        self._rests_until = 0.0
        self._look_due = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.terminate()
        end = time.monotonic() + _STOP_SECONDS
        while self._child.poll() is None and time.monotonic() < end:
            time.sleep(_STEP_SECONDS)
        self._child.kill()

    def start(self) -> None:
        """Start it; do nothing if it runs."""
        try:
            self._child.start()
            self._runs = True
        except (OSError, subprocess.SubprocessError) as error:
            self._note_failure(f"could not start: {error}")

    def goes_on(self) -> bool:
        """Return whether it runs, or failed a moment ago; one that gives no sign of life is killed."""
        if not self._runs:
            return time.monotonic() < self._rests_until
        if (code := self._child.poll()) is not None:
            self._runs = False
            if code:
                self._note_failure(describe_exit(code))
            return bool(code)
        self._look()
        return True

    def _look(self) -> None:
        if (now := time.monotonic()) < self._look_due:
            return
        self._look_due = now + _WATCH_SECONDS
        if self._child.is_silent:
            logger.error("ALARM: %s gives no sign of life, and is killed", self._child.name)
            self._child.kill()

    def _note_failure(self, how: str) -> None:
        logger.warning("%s %s; next start in %g s", self._child.name, how, _FAILED_SECONDS)
        self._rests_until = time.monotonic() + _FAILED_SECONDS
