"""The daily backup of `serve`: a process of its own, which is started when one is due or asked for."""

import logging
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from infra.backup.notes import BackupPlace
from infra.settings.settings import Settings
from infra.valkey.process import describe_exit, spawn
from services.serve.processes import console_script

if TYPE_CHECKING:
    from subprocess import Popen

logger = logging.getLogger(__name__)

DAY_MS: Final = 86_400_000
AGAIN_MS: Final = 3_600_000
"""After one that failed the next is made so much later."""


class BackupSchedule:
    """Starts `matchpost backup` where the settings name a place for backups; call `tick` often, in the main thread."""

    def __init__(self, settings: Settings, now: Callable[[], float] = time.time) -> None:
        self._place = BackupPlace(settings.data)
        self._environment = {**os.environ, **settings.environment()}
        self._now = now
        self._process: Popen[bytes] | None = None

    def tick(self) -> None:
        """Start a backup if it is due, and log how one has ended."""
        if self._process is not None:
            code = self._process.poll()
            if code is None:
                return
            self._process = None
            if code:
                why = self._place.read().fault or describe_exit(code)
                logger.error("ALARM: the backup was not made, or does not hold: %s", why)
            else:
                logger.info("a backup was made and tried")
        if self._place.is_asked or self._is_due():
            self._place.forget_asked()
            self._process = spawn([str(console_script()), "backup"], env=self._environment)

    def _is_due(self) -> bool:
        notes = self._place.read()
        wait = AGAIN_MS if notes.fault or notes.tried != notes.made else DAY_MS
        return int(self._now() * 1000) - notes.begun >= wait
