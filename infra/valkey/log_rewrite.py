"""The daily rewrite of an embedded server's append-only file, after which nothing that was erased is in it."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from redis import Redis
from redis.exceptions import RedisError

from infra.process.intervals import every

REWRITE_SECONDS: Final = 24 * 3600
"""How long what was erased may stay in the file."""

_LOOK_SECONDS: Final = 600
"""Between two looks, and after a rewrite that failed."""


class DailyRewrite:
    """Asks a server, whose files are in `folder`, to rewrite its log a day after the last time; call `tick` often.

    The server itself rewrites a log that has doubled, which may take months.
    """

    def __init__(self, data: Redis, folder: Path, now: Callable[[], float] = time.time) -> None:
        self._data = data
        self._folder = folder
        self._now = now
        self.tick = every(_LOOK_SECONDS, self._look, now)

    def _look(self) -> None:
        """Ask if it is time; a server that does not answer is asked later."""
        now = self._now()
        # a rewrite makes another file of this name, and nothing writes to it after that
        bases = [one.stat().st_mtime for one in self._folder.glob("appendonlydir/*.base.*")]
        if bases and now - max(bases) >= REWRITE_SECONDS:
            with suppress(RedisError):
                self._data.bgrewriteaof()
