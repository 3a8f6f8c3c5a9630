"""Leases of lanes: one drain at a time works a lane, and wake-ups request a drain.

The lease is in RQ's Redis and the inboxes are in that of the data, which may be another server or slot,
so no script reads both. The order of steps closes the gap: a sender adds to the inbox and *then* reads
the lease; a drain releases the lease and *then* reads the inboxes. The second of the two sees the
other. The scheduler's sweep covers a process that is killed in between.

A lease ends by the server's wall clock. If that is set back, a lease may seem to last for hours, so
every reader treats one with more time left than it can have as expired.
"""

from asyncio import to_thread
from collections.abc import Callable
from enum import StrEnum
from typing import Final

import redis

from infra.failpoints import failpoint
from infra.redis import keys, scripts
from infra.redis.autopipeline import AutoPipeline
from infra.redis.keys import Lane
from infra.store.turn_notes import note_turn

LEASE_MS: Final = 3_000
"""How long a lease lasts unless renewed: a killed drain is replaced after this."""

DRAIN_REQUEST_MS: Final = 2_000
"""How long a wake-up may take before another is sent."""


DRAIN_REQUESTED: Final = "wanted"
"""Value of a lease while a drain is requested and has not begun."""


class LeaseResult(StrEnum):
    """Result of an attempt to acquire a lease."""

    BUSY = "busy"
    """Another drain has it."""
    FREE = "taken"
    """Acquired."""
    EXPIRED = "expired"
    """Acquired, and the last holder never released it: its work may have killed it."""


class LaneLeases:
    """The leases; `wake` sends a lane to a worker."""

    def __init__(self, client: redis.Redis, wake: Callable[[Lane], None]) -> None:
        self._client = client
        self._wake = wake

    def request_drain(self, lane: Lane) -> bool:
        """Request a drain unless one runs or was requested; return whether this did."""
        if not scripts.call(self._client, *_request_call(lane)):
            return False
        failpoint("wake.wanted")
        self._wake(lane)
        return True

    def acquire(self, lane: Lane, token: str) -> LeaseResult:
        """Acquire the lease if no drain has it."""
        return LeaseResult(self._call(scripts.LEASE_ACQUIRE, lane, token, LEASE_MS).decode())

    def renew(self, lane: Lane, token: str) -> bool:
        """Renew the lease; False if another drain has it."""
        return bool(self._call(scripts.LEASE_RENEW, lane, token, LEASE_MS))

    def release(self, lane: Lane, token: str) -> bool:
        """Release the lease; False if another drain has it."""
        return bool(self._call(scripts.LEASE_RELEASE, lane, token))

    def note_turn(self, lane: Lane, *, outcomes: int, batches: int, seconds: float) -> None:
        """Note a turn that has just ended, for operators."""
        note_turn(self._client, lane, outcomes=outcomes, batches=batches, seconds=seconds)

    def _call(self, script: scripts.Script, lane: Lane, *args: scripts.Arg) -> bytes:
        names = [keys.lease(lane), keys.lease_mark(lane)]
        reply: bytes = scripts.call(self._client, script, names, args)
        return reply


class AsyncLaneLeases:
    """Requests drains from an event loop; `wake` may block, and is called in a thread."""

    def __init__(self, pipe: AutoPipeline, wake: Callable[[Lane], None]) -> None:
        self._pipe = pipe
        self._wake = wake

    async def request_drain(self, lane: Lane) -> None:
        """Request a drain unless one runs or was requested."""
        if (await scripts.call_all_async(self._pipe, [_request_call(lane)]))[0]:
            failpoint("wake.wanted")
            await to_thread(self._wake, lane)


def _request_call(lane: Lane) -> scripts.Call:
    """Return the script call that marks a drain as requested, unless one runs or was requested."""
    return scripts.CLAIM, [keys.lease(lane)], [DRAIN_REQUESTED, DRAIN_REQUEST_MS, LEASE_MS]
