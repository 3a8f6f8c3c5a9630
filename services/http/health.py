"""The health of this process, and whether a move can be kept now."""

import asyncio
import time
from typing import Any, Final

import redis

from infra.durability.durability_watch import DurabilityWatch
from infra.health.heartbeats import Role, lost_by_all, parse_heartbeats
from infra.redis import keys
from infra.redis.autopipeline import CommandPipeline, raise_errors
from infra.redis.clients import to_ms
from infra.settings.settings import Settings
from infra.store.async_store import AsyncStore
from infra.store.lost_leaves import recent_losses
from services.app.error_codes import server_failure

ANSWER_SECONDS: Final = 2.0
"""How long a check waits for the server, which may hang."""

_KEPT_SECONDS: Final = 1.0
"""How long an answer is given again, because anybody may ask."""

_UNREACHABLE: Final = (redis.RedisError, OSError, TimeoutError)


class HealthCheck:
    """Answers for `/healthz` and `/readyz`; `pipe` is to the matches' server, `queue` to RQ's."""

    def __init__(
        self,
        settings: Settings,
        store: AsyncStore,
        pipe: CommandPipeline,
        queue: CommandPipeline,
        watch: DurabilityWatch,
    ) -> None:
        self._mode = settings.durability
        self._store = store
        self._pipe = pipe
        self._queue = queue
        self._watch = watch
        self._waiting = 0
        self._fault = ""
        self._checked = -_KEPT_SECONDS
        self._checking = asyncio.Lock()
        self._looking: asyncio.Task[list[str]] | None = None

    async def waiting(self) -> int:
        """Return the number of commands in all inboxes; the last known if the server is away."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                self._waiting = await self._store.inbox_size()
        except _UNREACHABLE:
            pass  # `fault` says it; this process answers all the same
        return self._waiting

    async def notes(self) -> list[str]:
        """Return sentences about faults that keep no move from being kept; none if that is not known."""
        shards = range(self._store.shards)
        words = [("HMGET", keys.published(n), "fault", "lost") for n in shards]
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                now, *found = raise_errors(await self._pipe.send([("TIME",), *words]))
        except _UNREACHABLE:
            return []
        faults = dict.fromkeys(fault.decode() for fault, _ in found if fault)
        rows = ((shard, lost) for shard, (_, lost) in zip(shards, found, strict=True))
        return [
            *(f"the log is not published: {fault}" for fault in faults),
            *(one.sentence for one in recent_losses(rows, to_ms(now))),
        ]

    async def fault(self) -> str:
        """Return why no move can be kept now, in a sentence; empty if one can."""
        async with self._checking:
            if time.monotonic() - self._checked >= _KEPT_SECONDS:
                self._fault = await self._check()
                self._checked = time.monotonic()
        return self._fault

    async def _check(self) -> str:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return (
                    await self._server_fault()
                    or await self._verified_fault()
                    or " ".join(await self._store.closed_reasons())
                )
        except TimeoutError:
            return f"the server does not answer within {ANSWER_SECONDS:g} s; look whether it hangs"
        except redis.RedisError as error:
            return server_failure(error)
        except OSError as error:
            return f"the server does not answer ({error}); look whether it is running"

    async def _server_fault(self) -> str:
        """Return what is wrong with the state of servers, their settings and the workers' seeds."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(asyncio.to_thread(self._watch.look))
        # a look that hangs goes on, and the next check waits for the same
        faults = await asyncio.shield(self._looking)
        (now,) = raise_errors(await self._pipe.send([("TIME",)]))
        (beats,) = raise_errors(await self._queue.send([("HVALS", keys.HEARTBEATS)]))
        return " ".join(faults) or _seeds_fault(beats, to_ms(now))

    async def _verified_fault(self) -> str:
        """Return what the last verification has found; verify if there was none."""
        note = await self._note()
        return await asyncio.to_thread(self._watch.fault) if note is None else note.decode()

    async def _note(self) -> bytes | None:
        if not self._mode.durable:
            return b""
        (note,) = raise_errors(await self._queue.send([("GET", keys.DURABILITY)]))
        return None if note is None else bytes(note)


def _seeds_fault(beats: Any, now: int) -> str:
    workers = [beat for beat in parse_heartbeats(beats) if beat.role is Role.WORKER]
    lost = lost_by_all([beat for beat in workers if not beat.is_silent(now)])
    if not lost:
        return ""
    return (
        f"no command worker has the seeds of shards {', '.join(map(str, lost))}, so matches that need "
        "a draw wait there; restore the folder of seeds from a backup"
    )
