"""The jobs that analyse matches: enqueued once for each state of a match, and followed by their meta.

A job is an account's that asked for it, because each account has few at a time.
"""

from collections.abc import Container
from contextlib import suppress
from typing import Any, Final, NamedTuple

import redis
from rq import Queue, Retry, Worker, get_current_job
from rq.exceptions import DuplicateJobError
from rq.job import Job, JobStatus
from rq.registry import StartedJobRegistry
from rq.serializers import JSONSerializer

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.redis.clients import to_ms
from infra.rq_jobs import ANALYSE, ANALYSIS, ROBOTS, SUSPENDED, queue_key
from infra.sentences import SAY

MOST_OF_ACCOUNT: Final = 3
"""Jobs of an account that wait or run, at most."""

MOST_JOBS: Final = 100
"""Jobs of all accounts that wait or run, at most."""

JOB_SECONDS: Final = 600
"""A job that takes longer is stuck, and ended by RQ."""

FAILURE_SECONDS: Final = 3600
"""How long a job that failed can be looked at."""

SILENT_MS: Final = 60_000
"""A job that runs and has not reported for so long was killed: a position takes seconds at most."""

_MOST_TURNS: Final = 10_000
"""How often a job may be interrupted by robots."""

_OVER: Final = frozenset(
    {JobStatus.FINISHED, JobStatus.FAILED, JobStatus.STOPPED, JobStatus.CANCELED}
)


class AnalysisProgress(NamedTuple):
    """How far a job is."""

    done: int
    """Positions that are analysed."""
    total: int


class AnalysisJobs:
    """The jobs on the server of the queue. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        # redis-py types no answer precisely
        self._client: Any = client
        self._queue = Queue(ANALYSIS, connection=client, serializer=JSONSerializer)

    def progress(self, board: int, seq: int) -> AnalysisProgress | None:
        """Return how far the job is that analyses a match after an event; None if there is none."""
        job = self._queue.fetch_job(_job_id(board, seq))
        if job is None or not self._is_alive(job, self._waiting()):
            return None
        return AnalysisProgress(job.meta.get("done", 0), job.meta.get("total", 0))

    def request(self, board: int, seq: int, total: int, account: AccountId) -> AnalysisProgress:
        """Enqueue the job for an account, unless the same one waits or runs; return how far it is.

        One that failed or was killed is replaced. Refused as `unavailable` if no process takes such jobs, as
        `busy` if too many wait, and as `too-many` if too many of them are the account's.
        """
        known = self.progress(board, seq)
        if known is not None:
            return known
        self._check_room(account)
        old = self._queue.fetch_job(_job_id(board, seq))
        if old is not None:
            old.delete()
        with suppress(DuplicateJobError):  # another request came first
            self._queue.enqueue_call(
                ANALYSE,
                args=(board,),
                job_id=_job_id(board, seq),
                timeout=JOB_SECONDS,
                result_ttl=0,
                failure_ttl=FAILURE_SECONDS,
                description=f"analyse match {board}",
                meta={"done": 0, "total": total, "at": self._now(), "account": account.hex()},
                unique=True,
            )
        return AnalysisProgress(0, total)

    def _check_room(self, account: AccountId) -> None:
        if self._client.exists(SUSPENDED) or not Worker.all(
            queue=self._queue, serializer=JSONSerializer
        ):
            raise Refusal(
                Code.UNAVAILABLE,
                SAY("no-analyses"),
            )
        waiting = self._waiting()
        names = waiting | set(StartedJobRegistry(queue=self._queue).get_job_ids(cleanup=False))
        found = Job.fetch_many(names, connection=self._client, serializer=JSONSerializer)
        jobs = [job for job in found if job is not None and self._is_alive(job, waiting)]
        if len(jobs) >= MOST_JOBS:
            raise Refusal(Code.BUSY, SAY("analyses-wait", most=MOST_JOBS))
        if sum(job.meta.get("account") == account.hex() for job in jobs) >= MOST_OF_ACCOUNT:
            raise Refusal(
                Code.TOO_MANY,
                SAY("analyses-own", most=MOST_OF_ACCOUNT),
            )

    def _waiting(self) -> set[str]:
        return {name.decode() for name in self._client.lrange(queue_key(ANALYSIS), 0, -1)}

    def _is_alive(self, job: Job, waiting: Container[str]) -> bool:
        """Return whether a job waits, or runs and has reported lately."""
        status = job.get_status(refresh=False)
        if status in _OVER:
            return False
        if job.id in waiting:
            return True
        return bool(self._now() - job.meta.get("at", 0) < SILENT_MS)

    def _now(self) -> int:
        return to_ms(self._client.time())

    # in the job

    def robots_wait(self) -> bool:
        """Return whether robots have to move, for whom an analysis is interrupted."""
        return bool(self._client.llen(queue_key(ROBOTS)))

    def report(self, done: int, total: int) -> None:
        """Write how far the job is that runs in this process; outside of a job do nothing."""
        job = get_current_job()
        if job is not None:
            job.meta.update(done=done, total=total, at=self._now())
            job.save_meta()  # type: ignore[no-untyped-call]


def another_turn() -> Retry:
    """Return what a job returns that was interrupted, and goes on when its turn comes again."""
    return Retry(max=_MOST_TURNS)


def _job_id(board: int, seq: int) -> str:
    return f"analysis-{board}-{seq}"
