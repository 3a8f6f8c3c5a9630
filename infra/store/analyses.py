"""Analyses of matches, which are cached: each can be made again from its match.

| key | what |
|---|---|
| `{analysis:<board>}` | a `StoredAnalysis` as MessagePack, for 30 days |

It is stored while it is made, too, so that a job that was interrupted goes on where it was.

The jobs that analyse matches: enqueued once for each state of a match, and followed by their meta.

A job is an account's that asked for it, because each account has few at a time. One whose process was killed is
enqueued again by another process, or by the one that replaces it, and goes on where it was.
"""

import logging
import socket
import time
from collections.abc import Container
from contextlib import suppress
from typing import Any, Final, NamedTuple, Self

import msgspec
import redis
from msgspec.structs import replace
from rq import Queue, Retry, Worker, get_current_job
from rq.exceptions import DuplicateJobError
from rq.job import Job, JobStatus
from rq.registry import StartedJobRegistry
from rq.serializers import JSONSerializer

from domain.engine.match_analysis import ANALYSIS_VERSION
from domain.engine.turning_points import AnalysedPosition, with_position
from domain.errors import Code, Refusal
from domain.match.state import MatchState
from domain.records import AccountId
from infra.redis import keys
from infra.redis.clients import to_ms
from infra.redis.rq_jobs import ANALYSE, ANALYSIS, ROBOTS, SUSPENDED, queue_key
from infra.sentences import SAY
from infra.valkey.process import is_alive

LIFE_SECONDS: Final = 30 * 24 * 3600
"""How long an analysis is kept after it was made."""


class StoredAnalysis(msgspec.Struct, frozen=True, array_like=True):
    """An analysis, whole or as far as it is made."""

    version: int
    """`ANALYSIS_VERSION` of the program that made it."""
    seq: int
    """The number of the match's last event at that time."""
    moves: int
    """The number of moves of the match."""
    positions: tuple[AnalysedPosition, ...]
    """The positions from the start on."""

    @property
    def whole(self) -> bool:
        """Whether all positions are there."""
        return len(self.positions) > self.moves

    def with_position(self, position: AnalysedPosition) -> Self:
        """Return it with one more position."""
        return replace(self, positions=with_position(self.positions, position))

    def fits(self, state: MatchState) -> bool:
        """Return whether it is one of this match, as it stands and as this program makes it."""
        if (self.version, self.seq, self.moves) != (ANALYSIS_VERSION, state.seq, state.ply):
            return False
        # a number may be another match's after logs were restored
        played = [position.move for position in self.positions if position.move]
        return played == state.first_moves(len(self.positions))


_DECODER: Final = msgspec.msgpack.Decoder(StoredAnalysis)
_ENCODER: Final = msgspec.msgpack.Encoder()


class Analyses:
    """The analyses on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def get(self, board: int, state: MatchState) -> StoredAnalysis | None:
        """Return the analysis of a match as it stands; None if there is none, or only another's."""
        data = self._client.get(keys.analysis(board))
        try:
            found = _DECODER.decode(data) if isinstance(data, bytes) else None
        except msgspec.MsgspecError:  # another version wrote it
            return None
        return found if found is not None and found.fits(state) else None

    def put(self, board: int, analysis: StoredAnalysis) -> None:
        """Store an analysis in place of the one before."""
        self._client.set(keys.analysis(board), _ENCODER.encode(analysis), ex=LIFE_SECONDS)


logger = logging.getLogger(__name__)

MOST_OF_ACCOUNT: Final = 3
"""Jobs of an account that wait or run, at most."""

MOST_JOBS: Final = 100
"""Jobs of all accounts that wait or run, at most."""

JOB_SECONDS: Final = 600
"""A job that takes longer is stuck, and ended by RQ."""

FAILURE_SECONDS: Final = 3600
"""How long a job that failed can be looked at."""

SILENT_MS: Final = 600_000
"""A job that runs and has not reported for so long was killed: a position takes seconds of a processor at most."""

LOOK_SECONDS: Final = 10.0
"""How often a process looks for jobs whose process was killed."""

MOST_KILLS: Final = 3
"""A job whose process was killed so often at the same position is not tried again."""

_MOST_TURNS: Final = 10_000
"""How often a job may be interrupted by robots."""

_OVER: Final = frozenset(
    {JobStatus.FINISHED, JobStatus.FAILED, JobStatus.STOPPED, JobStatus.CANCELED}
)


class AnalysisProgress(NamedTuple):
    """How far a job is. What few know of is last, with a default."""

    done: int
    """Positions that are analysed."""
    total: int
    interrupted: bool = False
    """Whether its process was killed, and it waits for another turn."""
    ms_left: int | None = None
    """How long it takes at the rate seen so far, not counting the wait for its turns; None before a position is done."""


class AnalysisJobs:
    """The jobs on the server of the queue. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        # redis-py types no answer precisely
        self._client: Any = client
        self._queue = Queue(ANALYSIS, connection=client, serializer=JSONSerializer)
        self._running = StartedJobRegistry(queue=self._queue)
        self._next_look = 0.0

    def progress(self, board: int, seq: int) -> AnalysisProgress | None:
        """Return how far the job is that analyses a match after an event; None if there is none.

        Refused as `unavailable` if its process was killed again and again.
        """
        job = self._queue.fetch_job(_job_id(board, seq))
        if job is None:
            return None
        meta, waiting = job.meta, self._waiting()
        if meta.get("kills", 0) >= MOST_KILLS and job.get_status(refresh=False) in _OVER:
            raise Refusal(
                Code.UNAVAILABLE,
                SAY("analysis-killed", board=board, kills=MOST_KILLS),
            )
        if not self._is_alive(job, waiting):
            return None
        done, total, made = (meta.get(name, 0) for name in ("done", "total", "made"))
        interrupted = meta.get("interrupted", False) or self._was_killed(job, waiting)
        left = (total - done) * meta["spent"] // made if made else None
        return AnalysisProgress(done, total, interrupted, left)

    def request(self, board: int, seq: int, total: int, account: AccountId) -> AnalysisProgress:
        """Enqueue the job for an account, unless the same one waits or runs; return how far it is.

        One that failed is replaced. Refused as `unavailable` if no process takes such jobs, or if they were killed in
        it again and again, as `busy` if too many wait, and as `too-many` if too many of them are the account's.
        """
        known = self.progress(board, seq)
        if known is not None:
            return known
        self._check_room(account)
        old = self._queue.fetch_job(_job_id(board, seq))
        if old is not None:
            old.delete()
        self._enqueue(_job_id(board, seq), board, {"total": total, "account": account.hex()})
        return AnalysisProgress(0, total)

    def _enqueue(self, job_id: str, board: int, meta: dict[str, Any]) -> None:
        with suppress(DuplicateJobError):  # another request came first
            self._queue.enqueue_call(
                ANALYSE,
                args=(board,),
                job_id=job_id,
                timeout=JOB_SECONDS,
                result_ttl=0,
                failure_ttl=FAILURE_SECONDS,
                description=f"analyse match {board}",
                meta={"done": 0, **meta, "at": self._now()},
                unique=True,
            )

    def requeue_killed(self) -> None:
        """Enqueue the jobs again whose processes were killed, at most every `LOOK_SECONDS`.

        One that was killed again and again where it was is ended.
        """
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + LOOK_SECONDS
        for entry in self._client.zrange(self._running.key, 0, -1):
            job = self._queue.fetch_job(self._running.parse_job_id(entry.decode()))
            # of several processes one removes the entry
            if (
                job is None
                or not self._was_killed(job)
                or not self._client.zrem(self._running.key, entry)
            ):
                continue
            done, before = job.meta.get("done", 0), job.meta.get("killed_at")
            kills = job.meta.get("kills", 0) + 1 if done == before else 1
            logger.warning("the process of %s was killed after %d positions", job.id, done)
            meta = {**job.meta, "kills": kills, "killed_at": done, "interrupted": True}
            if kills < MOST_KILLS:
                job.delete()
                self._enqueue(job.id, job.args[0], meta)
            else:
                job.meta = meta
                job.save_meta()  # type: ignore[no-untyped-call]
                job.set_status(JobStatus.FAILED)
                self._client.expire(job.key, FAILURE_SECONDS)

    def _was_killed(self, job: Job, waiting: Container[str] = ()) -> bool:
        """Return whether the process of a job that was begun has ended, or has been silent for too long."""
        if job.get_status(refresh=False) in _OVER or job.id in waiting or not job.worker_name:
            return False
        host, pid = self._client.hmget(f"rq:worker:{job.worker_name}", "hostname", "pid")
        if host is None or self._now() - job.meta.get("at", 0) >= SILENT_MS:
            return True
        return host.decode() == socket.gethostname() and not is_alive(int(pid))

    def _check_room(self, account: AccountId) -> None:
        if self._client.exists(SUSPENDED) or not Worker.all(
            queue=self._queue, serializer=JSONSerializer
        ):
            raise Refusal(
                Code.UNAVAILABLE,
                SAY("no-analyses"),
            )
        waiting = self._waiting()
        names = waiting | set(self._running.get_job_ids(cleanup=False))
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
        # one whose process was killed is enqueued again
        return bool(self._now() - job.meta.get("at", 0) < SILENT_MS + 60_000)

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
            now, meta = self._now(), job.meta
            if done > meta.get("done", 0) and not meta.get("interrupted"):
                made, spent = meta.get("made", 0) + 1, meta.get("spent", 0) + now - meta["at"]
                meta.update(made=made, spent=spent)
            meta.update(done=done, total=total, at=now, interrupted=False)
            job.save_meta()  # type: ignore[no-untyped-call]


def another_turn() -> Retry:
    """Return what a job returns that was interrupted, and goes on when its turn comes again."""
    return Retry(max=_MOST_TURNS)


def _job_id(board: int, seq: int) -> str:
    return f"analysis-{board}-{seq}"
