"""The job that freezes the evidence of cases, and its request by the scheduler.

It needs no lease: two runs at a time write the same objects, of which the first stays.

Reports of a job about its work, in RQ's `meta`, for `Job.fetch` and other tools of RQ.
"""

import logging
import time
from collections.abc import Callable
from itertools import count
from typing import Final

import redis
from redis.exceptions import RedisError
from rq import get_current_job

from domain.errors import Refusal
from infra.audit.stored_match import FrozenEvidence
from infra.process.intervals import every
from infra.projections.cases import OpenCase, OpenCases
from infra.redis.rq_jobs import FREEZE, MAINTENANCE, RESULT_SECONDS
from infra.store.rq_wakeup import WakeupJob, enqueue_wakeup

_EVERY_SECONDS: Final = 0.5


def report(**facts: str | float) -> None:
    """Write facts into the job that runs, and keep it for a while; outside of a job do nothing."""
    job = get_current_job()
    if job is None:
        return
    job.meta.update(facts)
    job.save_meta()  # type: ignore[no-untyped-call]
    job.result_ttl = max(job.result_ttl or 0, RESULT_SECONDS)


class JobProgress:
    """Writes the progress of long work into the job that runs, twice a second, and its results."""

    def __init__(self) -> None:
        self._job = get_current_job()
        self._save_at_times = every(_EVERY_SECONDS, self._save)
        if self._job is not None:  # one that is repeated begins again
            self._job.meta.update(about="", done=0, total=0, lines=[])

    def progress(self, about: str, done: int, total: int) -> None:
        """Write how far the work is."""
        self._update(about=about, done=done, total=total)
        self._save_at_times()

    def line(self, text: str) -> None:
        """Write a result."""
        if self._job is not None:
            self._job.meta["lines"].append(text)
        self._save()

    def error(self, text: str) -> None:
        """Write why the work can't be done."""
        self._update(error=text)
        self._save()

    def _update(self, **facts: str | int) -> None:
        if self._job is not None:
            self._job.meta.update(facts)

    def _save(self) -> None:
        if self._job is not None:
            self._job.save_meta()  # type: ignore[no-untyped-call]


logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 5.0
"""Between two looks at the cases that wait."""

AGAIN_SECONDS: Final = 300.0
"""Between two requests while no case comes, because a run may have been killed, or the object store away."""

RUN_SECONDS: Final = 30.0
"""How long a run waits for the published log."""

_WAIT_SECONDS: Final = 0.5

_NEWEST: Final = 200
"""Cases that the scheduler remembers; a run looks at all."""

_PAGE: Final = 500

JOB: Final = WakeupJob(MAINTENANCE, FREEZE, 600, "freeze the evidence of cases")
"""A run that takes so long is stuck."""


class EvidenceWakeup:
    """Requests a run where cases wait whose evidence may not be frozen; call `tick` once a second."""

    def __init__(self, cases: OpenCases, queue: redis.Redis) -> None:
        self._cases = cases
        self._queue = queue
        self.tick = every(LOOK_SECONDS, self._look)
        self._again = 0.0
        self._known: frozenset[OpenCase] = frozenset()

    def _look(self) -> None:
        """Request a run for new cases, and every five minutes for all."""
        now = time.monotonic()
        try:
            waiting = self._cases.count()
            start = max(0, waiting - _NEWEST)
            newest = frozenset(self._cases.of(start, _NEWEST) if waiting else ())
        except LookupError:
            return  # the projection is being rebuilt
        if newest - self._known or (newest and now >= self._again):
            self._again = now + AGAIN_SECONDS
            enqueue_wakeup(self._queue, JOB)
        self._known = newest


def run(
    cases: OpenCases,
    evidence: FrozenEvidence,
    sleep: Callable[[float], None] = time.sleep,
    seconds: float = RUN_SECONDS,
) -> int:
    """Freeze the evidence of all cases that wait; return the number that is frozen.

    A case is tried again until the published log has it, for `seconds` at most. One that can't be
    read keeps no other from being frozen.
    """
    end = time.monotonic() + seconds
    frozen = 0
    waiting = _all(cases)
    while waiting:
        left = [one for one in waiting if not _freeze(evidence, one)]
        frozen += len(waiting) - len(left)
        waiting = left
        if not waiting or time.monotonic() >= end:
            break
        sleep(_WAIT_SECONDS)
    report(frozen=frozen, waiting=len(waiting))
    return frozen


def _all(cases: OpenCases) -> list[OpenCase]:
    found: list[OpenCase] = []
    for start in count(0, _PAGE):
        page = cases.of(start, _PAGE)
        found += page
        if len(page) < _PAGE:
            return found
    raise AssertionError


def _freeze(evidence: FrozenEvidence, one: OpenCase) -> bool:
    """Freeze the evidence of a case; True also for one that can't be read, which is logged."""
    try:
        return evidence.freeze(one.board, one.claim)
    except RedisError:
        raise
    except (Refusal, LookupError, ValueError) as error:
        logger.error(  # noqa: TRY400 - a sentence for the operator
            "ALARM: the evidence of case %d of match %d can't be frozen: %s",
            *(one.claim, one.board, error),
        )
        return True
