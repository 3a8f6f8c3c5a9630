"""The run of a job under a lease: acquire it, work, wait for more, release it, and look again.

All jobs that are started by wake-ups run like this: the drains, the mailer, the projection worker. What
a job does is its `LeasedWork`.
"""

import time
from collections.abc import Callable
from typing import Final, Generic, Protocol
from uuid import uuid4

from infra.process.failpoints import failpoint
from infra.store.leases import LeaseResult, Leases, QueueSigns, What

RUN_SECONDS: Final = 5.0
"""How long a run goes on while other jobs wait for a worker."""

MOST_SECONDS: Final = 30.0
"""How long it goes on at most, so that RQ can do its own business."""

ENDLESS_SECONDS: Final = 60.0
"""The same for a run that requests the next one, because the end of each costs RQ dozens of commands."""

REQUEST_SECONDS: Final = 5.0
"""Between two looks of the scheduler whether such a run goes on."""

CAUTIOUS_SECONDS: Final = 2.0
"""How long the run goes on that follows one which was cut off."""

RENEWALS: Final = 4
"""How often a lease is renewed in the time that it lasts."""

LINGER_SECONDS: Final = 1.5
"""How long a run waits for more work, if no other job waits for a worker."""

_SLICE_SECONDS: Final = 0.25
"""How often it looks meanwhile whether other jobs wait."""


class LeasedWork(Protocol):
    """The work of a run. Unless it says otherwise, its steps may be repeated, and it leaves no mark."""

    def recover(self, mark: bytes) -> None:  # noqa: ARG002 - for work that leaves one
        """Prepare to follow a run that was cut off, or that left a mark of this value."""
        return

    def step(self) -> int | None:
        """Do some work and return how much; None if nothing waits."""
        ...

    def finish(self) -> bytes:
        """Finish before the lease is released, and return a mark for the next run, or nothing."""
        return b""

    def has_more(self) -> bool:
        """Return whether work waits, after the lease was released."""
        ...


class LeasedRun(Generic[What]):
    """One run under the lease of `what`; `stopping` asks it to end early.

    `kind` is the first word of its fault points. `most` and `linger` are in seconds. `may_run` is asked with
    each renewal, and the run ends when it answers False.
    """

    def __init__(
        self,
        kind: str,
        leases: Leases[What],
        what: What,
        stopping: Callable[[], bool] = lambda: False,
        *,
        most: float = MOST_SECONDS,
        linger: float = 0.0,
        may_run: Callable[[], bool] = lambda: True,
    ) -> None:
        self._kind = kind
        self._leases = leases
        self._what = what
        self._stopping = stopping
        self._linger = linger
        self._may_run = may_run
        self._allowed = True
        self._least, self._most = min(RUN_SECONDS, most), most
        self._token = uuid4().hex
        self._began = time.monotonic()
        self._renewed = 0.0
        """When the lease was last renewed, by the monotonic clock."""
        self._signs: QueueSigns | None = None
        """The signs at the last renewal; None before, and if another run has the lease."""

    @property
    def seconds(self) -> float:
        """Return how long the run has gone on."""
        return time.monotonic() - self._began

    @property
    def is_over(self) -> bool:
        """Return whether the run should end although work may wait."""
        signs = self._signs
        if signs is None or signs.suspended or self._stopping():
            return True
        return self.seconds > (self._least if signs.others_wait else self._most)

    def run(self, work: LeasedWork) -> int:
        """Work until nothing waits, and return the sum of the steps.

        When the run should end before, the rest is left to the next run, which is requested.
        """
        self._pass("started")
        acquired, signs = self._leases.acquire_and_look(self._what, self._token)
        if acquired is LeaseResult.BUSY:
            return 0
        self._renewed, self._signs = time.monotonic(), signs
        self._pass("taken")
        if acquired is LeaseResult.EXPIRED:
            self._least = self._most = min(CAUTIOUS_SECONDS, self._most)
            work.recover(self._leases.read_mark(self._what))
        done = self._work(work) if self._is_allowed() else 0
        mark = work.finish()
        # release first, look afterwards: see infra.store.leases
        released = self._leases.release(self._what, self._token, mark)
        self._pass("released")
        # of a run that must not go on the scheduler requests the next, once a second
        if released and self._allowed and work.has_more():
            self._leases.request(self._what)
        self._pass("left")
        return done

    def renew(self, *, now: bool = False) -> bool:
        """Renew the lease if it is time, or now; return False if the run must not go on.

        Not each time, because it may be a write that is synced. In between, what a commit compares
        keeps a run that was overtaken from writing anything.
        """
        at = time.monotonic()
        if self._signs and not now and at - self._renewed < self._leases.lease_ms / 1000 / RENEWALS:
            return not self._signs.suspended
        self._renewed = at
        if not self._is_allowed():
            return False
        self._signs = self._leases.renew(self._what, self._token)
        return self._signs is not None and not self._signs.suspended

    def _is_allowed(self) -> bool:
        self._allowed = self._may_run()
        return self._allowed

    def write_mark(self, mark: bytes) -> None:
        """Set the mark that the next run finds if this one is killed."""
        self._leases.write_mark(self._what, mark)

    def _work(self, work: LeasedWork) -> int:
        done = 0
        while self.renew():
            step = work.step()
            if step is not None:
                done += step
            elif not self._wait():
                break
            if self.is_over:
                break
        return done

    def _wait(self) -> bool:
        """Wait for a wake-up; return False if none came, or if other jobs wait for a worker.

        If the wake-up is lost, the scheduler finds the work and sends another.
        """
        end = time.monotonic() + self._linger
        if self._signs is None or self._signs.others_wait or not self._linger:
            return False
        with self._leases.waiting(self._what, self._linger) as is_woken:
            while (left := end - time.monotonic()) > 0 and not self.is_over:
                if is_woken(min(left, _SLICE_SECONDS)):
                    return True
                if self._leases.others_wait() or not self.renew():
                    break
        return False

    def _pass(self, point: str) -> None:
        failpoint(f"{self._kind}.{point}")
