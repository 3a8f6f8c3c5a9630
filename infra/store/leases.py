"""Leases: one run of a kind at a time, and requests that wake its holder or enqueue the next run.

The lease is in RQ's Redis and the work is in that of the data, which may be another server or slot, so
no script reads both. The order of steps closes the gap: a sender adds work and *then* reads the lease; a
run releases the lease and *then* looks for work. The second of the two sees the other. The scheduler's
sweep covers a process that is killed in between.

A lease ends by the server's wall clock. If that is set back, a lease may seem to last for hours, so
every reader treats one with more time left than it can have as expired.
"""

from asyncio import to_thread
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

import redis

from infra.process.failpoints import failpoint
from infra.redis import keys, scripts
from infra.redis.autopipeline import CommandPipeline
from infra.redis.keys import Lane
from infra.redis.rq_jobs import COMMANDS, SUSPENDED, queue_key

LEASE_MS: Final = 3_000
"""How long a lane's lease lasts unless renewed: a killed drain is replaced after this."""

REQUEST_MS: Final = 2_000
"""How long a request may take before another is sent."""

REQUESTED: Final = "wanted"
"""Value of a lease while a run is requested and has not begun."""

What = TypeVar("What", bound=Lane | str)
"""The subject of a lease: a lane, or the name of something of which there is one."""


class LeaseResult(StrEnum):
    """Result of an attempt to acquire a lease."""

    BUSY = "busy"
    """Another run has it."""
    ACQUIRED = "acquired"
    """Acquired from nobody: the last holder released it."""
    EXPIRED = "expired"
    """Acquired, and the last holder never released it, as if its work had killed it, or left a mark."""


class QueueSigns(NamedTuple):
    """Signs on the queue server for the holder of a lease."""

    suspended: bool
    """Whether the workers are suspended."""
    others_wait: bool
    """Whether another job waits for a worker of the queue."""


class Leases(Generic[What]):
    """Leases of one kind, whose runs are jobs of `queue`; `wake` enqueues the job."""

    def __init__(
        self,
        client: redis.Redis,
        wake: Callable[[What], None],
        *,
        queue: str = COMMANDS,
        lease_ms: int = LEASE_MS,
    ) -> None:
        self._client = client
        self._wake = wake
        self._queue = queue_key(queue)
        self.lease_ms = lease_ms
        """How long a lease lasts unless renewed."""

    def request(self, what: What) -> bool:
        """Wake the holder of a lease, or request a run; return whether this enqueued it."""
        return self._enqueue(what, scripts.call(self._client, *_request_call(what, self.lease_ms)))

    def _enqueue(self, what: What, reply: Any) -> bool:
        """Enqueue a run where the reply to a request says so; return whether it does."""
        if not reply:
            return False
        failpoint("wake.wanted")
        self._wake(what)
        return True

    def acquire(self, what: What, token: str) -> LeaseResult:
        """Acquire a lease if nobody has it."""
        return self.acquire_and_look(what, token)[0]

    def acquire_and_look(self, what: What, token: str) -> tuple[LeaseResult, QueueSigns]:
        """Acquire a lease if nobody has it; return the signs as well, in the same round trip."""
        names = [keys.lease(what), keys.lease_mark(what)]
        reply, suspended, waiting = scripts.call_all(
            self._client, [(scripts.LEASE_ACQUIRE, names, [token, self.lease_ms])], self._add_signs
        )
        return LeaseResult(reply.decode()), QueueSigns(bool(suspended), bool(waiting))

    def renew(self, what: What, token: str) -> QueueSigns | None:
        """Renew a lease; None if another run has it."""
        names = [keys.lease(what), keys.lease_mark(what)]
        renewed, suspended, waiting = scripts.call_all(
            self._client, [(scripts.LEASE_RENEW, names, [token, self.lease_ms])], self._add_signs
        )
        return QueueSigns(bool(suspended), bool(waiting)) if renewed else None

    def _add_signs(self, pipe: Any) -> None:
        pipe.exists(SUSPENDED)
        pipe.llen(self._queue)

    def release(self, what: What, token: str, mark: bytes = b"") -> bool:
        """Release a lease; False if another run has it. A mark that is not empty stays for the next."""
        return bool(self._call(scripts.LEASE_RELEASE, what, token, mark))

    def write_mark(self, what: What, mark: bytes) -> None:
        """Set the value of the mark that stays if this run is killed."""
        self._client.set(keys.lease_mark(what), mark)

    def read_mark(self, what: What) -> bytes:
        """Return the value of the mark that the last holder left."""
        found: Any = self._client.get(keys.lease_mark(what))
        return found or b""

    def others_wait(self) -> bool:
        """Return whether another job waits for a worker of the queue."""
        return bool(self._client.llen(self._queue))

    @contextmanager
    def waiting(self, what: What, seconds: float) -> Iterator[Callable[[float], bool]]:
        """Wait for a wake-up for about so long, while entered.

        What is yielded waits so many seconds of that time, and returns whether one came. A wake-up that comes at the
        very end may be lost, so release the lease and look for work after it.
        """
        # the server's own timeouts wait for a turn of it, which are rare, so the end is seen here
        connection: Any = self._client.connection_pool.get_connection()
        try:
            connection.send_command("BLPOP", keys.wakeups(what), seconds)
            answered = False

            def is_woken(part: float) -> bool:
                nonlocal answered
                if answered or not connection.can_read(part):
                    return False
                answered = True
                return connection.read_response() is not None

            yield is_woken
            if not answered:
                connection.disconnect()
        except BaseException:
            connection.disconnect()
            raise
        finally:
            self._client.connection_pool.release(connection)

    def _call(self, script: scripts.Script, what: What, *args: scripts.Arg) -> Any:
        return scripts.call(self._client, script, [keys.lease(what), keys.lease_mark(what)], args)


def request_all(client: redis.Redis, wanted: Sequence[tuple[Leases[What], What]]) -> None:
    """Request runs under leases that are all on the server of `client`, in one round trip."""
    calls = [_request_call(what, leases.lease_ms) for leases, what in wanted]
    for (leases, what), reply in zip(wanted, scripts.call_all(client, calls), strict=True):
        leases._enqueue(what, reply)  # noqa: SLF001 - the reply to its request


LaneLeases: TypeAlias = Leases[Lane]
"""The leases of the drains."""


class AsyncLaneLeases:
    """Requests drains from an event loop; `wake` may block, and is called in a thread."""

    def __init__(self, pipe: CommandPipeline, wake: Callable[[Lane], None]) -> None:
        self._pipe = pipe
        self._wake = wake

    async def request(self, lane: Lane) -> None:
        """Wake the drain of a lane, or request one."""
        if (await scripts.call_all_async(self._pipe, [_request_call(lane, LEASE_MS)]))[0]:
            failpoint("wake.wanted")
            await to_thread(self._wake, lane)


def _request_call(what: Lane | str, lease_ms: int) -> scripts.Call:
    """Return the script call of a request."""
    return scripts.LEASE_REQUEST, [keys.lease(what), keys.wakeups(what)], [REQUEST_MS, lease_ms]
