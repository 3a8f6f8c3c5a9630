"""Starts the matches of full challenges that nobody has started.

The process in which the last seat is taken starts the match at once, unless it is killed before, or
there is no outcome in time. Both send the same command, so there is one match.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

from redis.exceptions import RedisError

from domain.errors import Code, Refusal
from infra.people.challenges import Challenge, ChallengeStore
from infra.people.challenges.record import challenge_start
from infra.process.intervals import every
from infra.store.draw_texts import DrawTexts
from infra.store.gateway import check_digest, outcome_of, submission_of
from infra.store.leases import LaneLeases
from infra.store.outcomes import CommandOutcome, parse
from infra.store.port import Store, Submission
from workers.scheduler import RETRY_SECONDS, SENDER

logger = logging.getLogger(__name__)

SWEEP_SECONDS: Final = 5.0
"""Between two sweeps for full challenges."""


class ChallengeStarter:
    """Call `tick` once a second; several of them do no harm.

    `timer` returns seconds that only run forwards.
    """

    def __init__(
        self,
        store: Store,
        lanes: LaneLeases,
        challenges: ChallengeStore,
        words: DrawTexts,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._lanes = lanes
        self._challenges = challenges
        self._words = words
        self._timer = timer
        self.tick = every(SWEEP_SECONDS, self._sweep, timer)
        self._next_submit: dict[str, float] = {}
        """When a start that was submitted may be submitted again, by challenge."""
        self._failed: set[str] = set()
        """Challenges whose failure is in the log."""

    def _sweep(self) -> None:
        """Start the matches of full challenges."""
        full = {one.id: one for one in self._challenges.full()}
        self._next_submit = {id_: at for id_, at in self._next_submit.items() if id_ in full}
        self._failed &= full.keys()
        for challenge in full.values():
            try:
                self._start(challenge)
            except RedisError:
                raise
            except Exception as error:  # noqa: BLE001 - logged, and the other challenges are started
                self._log_failure(challenge, error)

    def _start(self, challenge: Challenge) -> None:
        sent = challenge_start(challenge, self._store, self._words)
        outcome = self._outcome(challenge.id, submission_of(sent, 0, SENDER))
        if outcome is None:
            return
        if not outcome.accepted:
            raise Refusal(Code(outcome.code), outcome.text)
        # crash window: the match has started and the challenge does not know its board
        self._challenges.mark_started(challenge.id, sent.match)

    def _outcome(self, id_: str, start: Submission) -> CommandOutcome | None:
        """Return the outcome of a start; submit it again, unless that was done recently."""
        stored = self._store.outcome(start.board, start.id)
        if stored is not None:
            return check_digest(parse(stored), start.digest)
        if self._timer() < self._next_submit.get(id_, 0.0):
            return None
        (answer,) = self._store.submit([start])
        outcome = outcome_of(answer, start.digest)
        if outcome is None:
            self._next_submit[id_] = self._timer() + RETRY_SECONDS
            shape = self._store.layout()
            self._lanes.request(shape.lane_of(start.board))
        return outcome

    def _log_failure(self, challenge: Challenge, error: Exception) -> None:
        """Log once that a challenge can't be started."""
        if challenge.id in self._failed:
            return
        self._failed.add(challenge.id)
        if isinstance(error, Refusal):
            logger.warning("challenge %s could not be started (%s)", challenge.id, error)
        else:
            logger.error("ALARM: challenge %s can't be started", challenge.id, exc_info=error)
