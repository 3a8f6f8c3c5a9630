"""Requests of robots' moves, by the scheduler: a job for each match in which a robot is to act.

The projection says which matches those are, so whatever is lost (a job, RQ's whole server, a process that was
killed between deciding and submitting) is requested again until the match has gone on. The id of a job is made of
the board and the number of the last event: the same move does not wait twice.

Quick moves come before slow ones, of which few wait at a time, in turns of those who play. So the matches of one
player hold up none of another.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec
import redis

from infra.process.intervals import every
from infra.projections.robots import RobotTurn, RobotTurns
from infra.redis.rq_jobs import ROBOT_MOVE, ROBOTS, SUSPENDED, queue_key
from infra.store.failures import RobotFailures
from infra.store.rq_wakeup import FAILURE_SECONDS

MOST_JOBS: Final = 200
"""Jobs that wait at a time. A tick a second fills the queue again."""

MOST_SLOW_JOBS: Final = 32
"""Slow ones among them: some seconds of work, after which it is another player's turn."""

JOB_SECONDS: Final = 20
"""A job that takes this long is ended by RQ: the engine takes 5 s at most, and an outcome 10."""

AGAIN_SECONDS: Final = 10.0
"""Until a move is requested again whose job does not wait any longer. The time doubles with each request."""

MOST_AGAIN_SECONDS: Final = 1_800.0

LOST_SECONDS: Final = 1.5 * JOB_SECONDS
"""Age at which a job that neither waits nor can still be at work is replaced."""

_CLEAN_SECONDS: Final = 60.0
"""Between two looks at the notes of failures."""


class _RequestedMove(msgspec.Struct):
    """A move that was requested."""

    seen: float
    """When its job was last seen to wait, or was made, by our timer."""
    again: float
    """When it may be requested again."""
    times: int = 1


class RobotWakeup:
    """Requests the moves of robots; call `tick` once a second. Several schedulers do no harm.

    `now` returns the time of the matches' server in ms, `timer` seconds that only run forwards. A robot acts
    `seconds` after the last event of its match at the earliest.
    """

    def __init__(
        self,
        data: redis.Redis,
        queue: redis.Redis,
        now: Callable[[], int],
        seconds: int,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._turns = RobotTurns(data)
        self._failures = RobotFailures(data)
        # redis-py types no answer precisely
        self._queue: Any = queue
        self._now = now
        self._delay_ms = seconds * 1_000
        self._timer = timer
        self._requests: dict[RobotTurn, _RequestedMove] = {}
        self._held = 0
        """Slow moves that waited for their turn at the last tick."""
        self._clean = every(_CLEAN_SECONDS, self._forget_failures, timer)
        self.is_idle = False
        """Whether no robot was to act at the last look."""
        self._look_at = 0.0
        """Until then no move is due, because none waited at the last look."""

    def tick(self) -> None:
        """Request the moves that are due, those that have waited longest first."""
        timer = self._timer()
        if timer < self._look_at:
            return
        # those that were requested, or wait for their turn, must not hide the ones after them
        most = MOST_JOBS + len(self._requests) + self._held
        try:
            now = self._now()
            waiting = self._turns.due(now, most)
        except LookupError:
            return  # the projection is being rebuilt
        self.is_idle = not waiting
        if not waiting:
            self._look_at = timer + self._delay_ms / 1000
        due = [turn for turn in waiting if turn.since <= now - self._delay_ms]
        self._requests = {one: self._requests[one] for one in due if one in self._requests}
        if due:
            self._request(due)
        self._clean()

    def _request(self, due: Sequence[RobotTurn]) -> None:
        timer = self._timer()
        ready = [one for one in due if self._is_ready(one, timer)]
        if not ready:
            return
        with self._queue.pipeline(transaction=False) as pipe:
            pipe.exists(SUSPENDED)
            pipe.lrange(queue_key(ROBOTS), 0, -1)
            suspended, names = pipe.execute()
        if suspended:
            return
        waiting = {name.decode() for name in names}
        quick, turns = [], []
        slow = Counter(one.people for one in due if one.slow and job_id(one) in waiting)
        room = MOST_SLOW_JOBS - slow.total()
        for turn in ready:
            if job_id(turn) in waiting:
                self._note(turn, timer, repeated=False)
            elif turn.slow:
                turns.append((slow[turn.people], turn))
                slow[turn.people] += 1
            else:
                quick.append(turn)
        # each comes to the front, so the one that has waited longest is the last of them
        for turn in reversed(quick[: max(0, MOST_JOBS - len(waiting))]):
            self._enqueue(turn, timer)
        for _, turn in sorted(turns):
            if room > 0:
                room -= self._enqueue(turn, timer)
        self._held = len(turns)

    def _is_ready(self, turn: RobotTurn, timer: float) -> bool:
        request = self._requests.get(turn)
        return request is None or timer >= request.again

    def _note(self, turn: RobotTurn, timer: float, *, repeated: bool) -> None:
        """Note that a job waits, and when the move may be requested again."""
        before = self._requests.get(turn)
        times = before.times + repeated if before else 1
        pause = min(MOST_AGAIN_SECONDS, AGAIN_SECONDS * 2 ** (times - 1))
        self._requests[turn] = _RequestedMove(timer, timer + pause, times)

    def _enqueue(self, turn: RobotTurn, timer: float) -> bool:
        """Enqueue a job, unless there is one that may still be at work; return whether it was."""
        from rq.exceptions import DuplicateJobError  # noqa: PLC0415 - slow to import

        request = self._requests.get(turn)
        if request and timer - request.seen >= LOST_SECONDS:
            self._delete_job(turn)
        with suppress(DuplicateJobError):
            self._enqueue_unique(turn)
            self._note(turn, timer, repeated=True)
            return True
        # it is at work, or is what a killed process has left
        self._requests[turn] = request or _RequestedMove(timer, timer)
        self._requests[turn].again = timer + AGAIN_SECONDS
        return False

    def _enqueue_unique(self, turn: RobotTurn) -> None:
        from rq import Queue  # noqa: PLC0415 - as above
        from rq.serializers import JSONSerializer  # noqa: PLC0415

        Queue(ROBOTS, connection=self._queue, serializer=JSONSerializer).enqueue_call(
            ROBOT_MOVE,
            args=(turn.board, turn.seq),
            job_id=job_id(turn),
            timeout=JOB_SECONDS,
            result_ttl=0,
            failure_ttl=FAILURE_SECONDS,
            description=f"move in match {turn.board}",
            at_front=not turn.slow,
            unique=True,
        )

    def _delete_job(self, turn: RobotTurn) -> None:
        """Delete what is left of a job that failed or was killed."""
        from rq.exceptions import NoSuchJobError  # noqa: PLC0415 - as above
        from rq.job import Job  # noqa: PLC0415
        from rq.serializers import JSONSerializer  # noqa: PLC0415

        with suppress(NoSuchJobError):
            Job.fetch(job_id(turn), connection=self._queue, serializer=JSONSerializer).delete()

    def _forget_failures(self) -> None:
        """Remove the notes of matches that have gone on."""
        noted = self._failures.all()
        if not noted:
            return
        seqs = self._turns.waiting(noted)
        self._failures.forget(
            board for board, one in noted.items() if board not in seqs or 0 < one.seq < seqs[board]
        )


def job_id(turn: RobotTurn) -> str:
    """Return the id of the job of a move."""
    return f"robot-{turn.board}-{turn.seq}"
