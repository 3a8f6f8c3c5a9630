"""The job that freezes the evidence of cases, and its request by the scheduler.

It needs no lease: two runs at a time write the same objects, of which the first stays.
"""

import logging
import time
from collections.abc import Callable
from itertools import count
from typing import Final

import redis
from redis.exceptions import RedisError

from domain.errors import Refusal
from infra.audit.stored_match import FrozenEvidence
from infra.process.intervals import every
from infra.projections.cases import OpenCase, OpenCases
from infra.redis.rq_jobs import FREEZE, MAINTENANCE
from infra.store.rq_wakeup import WakeupJob, enqueue_wakeup
from workers.job_report import report

_EVERY_SECONDS: Final = 0.5


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
