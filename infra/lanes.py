"""Who drains a lane: one lease each, and the wake-ups that ask for a drain.

The lease lives in RQ's Redis and the inboxes in the data's, which need not be the same server or
slot; so no script looks at both. The order of steps closes the gap: a sender adds to the inbox
and *then* looks at the lease; a drain releases the lease and *then* looks at the inboxes. Whoever
comes second sees the other. The sweeper covers whoever is killed in between.

A lease ends by the server's wall clock. Where that has been set back, a lease may seem to last for
hours; so one with more time left than it can have counts as expired, for all who look at it.
"""

from asyncio import to_thread
from collections.abc import Callable
from enum import StrEnum
from typing import Final

import redis

from infra import keys, scripts
from infra.faults import point
from infra.pipe import Pipe

LEASE_MS: Final = 3_000
"""How long a lease lasts unless renewed: a killed drain is replaced after this."""

WANTED_MS: Final = 2_000
"""How long a wake-up may take before another is sent."""


WANTED: Final = "wanted"
"""Who holds a lease while a drain has been asked for and has not begun."""


class Taken(StrEnum):
    """What became of an attempt to take a lease."""

    BUSY = "busy"
    """Another drain holds it."""
    FREE = "taken"
    """Ours."""
    EXPIRED = "expired"
    """Ours, and the holder before never released it: it may have been killed by what it did."""


class Lanes:
    """The leases; `wake` sends a lane's number to a worker."""

    def __init__(self, client: redis.Redis, wake: Callable[[int], None]) -> None:
        self._client = client
        self._wake = wake

    def want(self, lane: int) -> bool:
        """Ask for a drain unless one runs or has been asked for; tell whether it was asked."""
        if not scripts.call(self._client, *_want(lane)):
            return False
        point("wake.wanted")
        self._wake(lane)
        return True

    def take(self, lane: int, token: str) -> Taken:
        """Take the lease if it is free or wanted."""
        return Taken(self._call(scripts.LEASE_ACQUIRE, lane, token, LEASE_MS).decode())

    def renew(self, lane: int, token: str) -> bool:
        """Keep the lease; False when another drain has it."""
        return bool(self._call(scripts.LEASE_RENEW, lane, token, LEASE_MS))

    def leave(self, lane: int, token: str) -> bool:
        """Release the lease; False when it was not ours any more."""
        return bool(self._call(scripts.LEASE_RELEASE, lane, token))

    def _call(self, script: scripts.Script, lane: int, *args: scripts.Arg) -> bytes:
        names = [keys.lease(lane), keys.held(lane)]
        reply: bytes = scripts.call(self._client, script, names, args)
        return reply


class AsyncLanes:
    """Asks for drains from an event loop; `wake` may block, and is called in a thread."""

    def __init__(self, pipe: Pipe, wake: Callable[[int], None]) -> None:
        self._pipe = pipe
        self._wake = wake

    async def want(self, lane: int) -> None:
        """Ask for a drain unless one runs or has been asked for."""
        if (await scripts.call_all_async(self._pipe, [_want(lane)]))[0]:
            point("wake.wanted")
            await to_thread(self._wake, lane)


def _want(lane: int) -> scripts.Call:
    """Return the call that notes that a drain is asked for, unless one runs or has been."""
    return scripts.CLAIM, [keys.lease(lane)], [WANTED, WANTED_MS, LEASE_MS]
