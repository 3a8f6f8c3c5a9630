"""The health of this process, and whether a move can be kept now."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

import msgspec
import redis

from infra.durability.durability_watch import DurabilityWatch
from infra.health.status import Status
from infra.store.async_gateway import AsyncStore
from services.app.error_codes import server_failure

ANSWER_SECONDS: Final = 2.0
"""How long a check waits for the server, which may hang."""

_KEPT_SECONDS: Final = 1.0
"""How long an answer is given again, because anybody may ask."""

_UNREACHABLE: Final = (redis.RedisError, OSError, TimeoutError)


class MoveReadiness(msgspec.Struct, frozen=True):
    """Whether moves can be kept at one moment."""

    fault: str
    """Why no move can be kept, in a sentence; empty if one can."""
    notes: tuple[str, ...] = ()
    """Sentences about faults that keep no move from being kept."""


class HealthCheck:
    """Answers for `/healthz` and `/readyz`; `status` returns a status of which nothing is read yet."""

    def __init__(
        self, store: AsyncStore, status: Callable[[], Status], watch: DurabilityWatch
    ) -> None:
        self._store = store
        self._status = status
        self._watch = watch
        self._waiting = 0
        self._readiness = MoveReadiness("")
        self._checked = -_KEPT_SECONDS
        self._checking = asyncio.Lock()
        self._looking: asyncio.Task[MoveReadiness] | None = None

    async def waiting(self) -> int:
        """Return the number of commands in all inboxes; the last known if the server is away."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                self._waiting = await self._store.inbox_size()
        except _UNREACHABLE:
            pass  # `readiness` says it; this process answers all the same
        return self._waiting

    async def readiness(self) -> MoveReadiness:
        """Return whether moves can be kept now."""
        async with self._checking:
            if time.monotonic() - self._checked >= _KEPT_SECONDS:
                self._readiness = await self._check()
                self._checked = time.monotonic()
        return self._readiness

    async def _check(self) -> MoveReadiness:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                if self._looking is None or self._looking.done():
                    self._looking = asyncio.create_task(asyncio.to_thread(self._look))
                # a look that hangs goes on, and the next check waits for the same
                return await asyncio.shield(self._looking)
        except TimeoutError:
            return MoveReadiness(
                f"the server does not answer within {ANSWER_SECONDS:g} s; look whether it hangs"
            )
        except redis.RedisError as error:
            return MoveReadiness(server_failure(error))
        except OSError as error:
            return MoveReadiness(
                f"the server does not answer ({error}); look whether it is running"
            )

    def _look(self) -> MoveReadiness:
        """Ask the servers, from a thread of its own; their errors pass through."""
        faults, status = self._watch.look(), self._status()
        fault = " ".join(faults) or status.seeds_fault
        if not fault:
            # what the last verification has found; verify if there was none
            fault = self._watch.fault() if status.move_fault is None else status.move_fault
        if fault := fault or " ".join(one.reason for one in status.closed.values()):
            return MoveReadiness(fault)
        unpublished = (
            f"the log is not published: {one}" for one in dict.fromkeys(status.log_faults)
        )
        return MoveReadiness("", (*unpublished, *(one.sentence for one in status.lost)))
