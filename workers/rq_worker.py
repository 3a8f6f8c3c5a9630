"""RQ's worker and job, locked down: they run only listed functions, whatever is in Redis."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

import redis
from rq import SimpleWorker, Worker
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.worker import BaseWorker

from infra.liveness import LIVENESS

IDLE_SECONDS: Final = 60
"""How long a worker's registration outlives its last sign of life."""

_JOB_FIELDS: Final = frozenset(
    b"data origin description status timeout ttl result_ttl failure_ttl created_at enqueued_at meta "
    b"retries_left".split()
)

Jobs = Mapping[str, Callable[..., object]]


class _ListedJob(Job):
    """A job whose function comes from a list, because RQ would import any name found in Redis."""

    jobs: ClassVar[Jobs] = {}

    @property
    def func(self) -> Callable[..., object]:
        """Return the function listed under the job's name; `LookupError` for any other."""
        job = self.jobs.get(self.func_name or "")
        if job is None:
            raise LookupError(f"job {self.id} asks for {self.func_name!r}, which is not listed")
        return job

    def restore(self, raw_data: Any) -> Any:
        """Read the job as RQ does, but without callbacks, webhooks and repetitions."""
        return super().restore({k: v for k, v in raw_data.items() if k in _JOB_FIELDS})


class _LockedWorker(BaseWorker):
    """A worker that runs the functions listed in `jobs`.

    It serves one queue, because only then RQ takes a job with a safety copy.
    """

    max_connection_wait_time = 4.0  # seconds between two tries to reach Redis; RQ's own are 60

    def __init__(self, client: redis.Redis, queue: str, jobs: Jobs) -> None:
        job_class = type("ListedJob", (_ListedJob,), {"jobs": jobs})
        super().__init__(
            [queue],
            connection=client,
            worker_ttl=IDLE_SECONDS,
            job_class=job_class,
            serializer=JSONSerializer,
            log_job_description=False,
        )

    def heartbeat(self, *args: Any, **options: Any) -> Any:
        """Report to RQ, and to the supervisor of the process, that the worker is alive."""
        LIVENESS.step()  # while RQ retries because it can't reach Redis, the process does not hang
        if options.get("pipeline"):
            return super().heartbeat(*args, **options)
        # one round trip, because RQ does this before each job
        with self.connection.pipeline(transaction=False) as pipe:
            pipe.hexists(self.key, "birth")
            super().heartbeat(*args, **{**options, "pipeline": pipe})
            registered, *_ = pipe.execute()
        # a server of the queue that was started again is empty, and RQ registers a worker only once
        if not registered:
            self.connection.delete(self.key)
            self.register_birth()  # type: ignore[no-untyped-call]
            super().heartbeat(*args, **options)
        return None


class ListedWorker(_LockedWorker, SimpleWorker):
    """A worker that runs its jobs in its own process."""

    @property
    def stopping(self) -> bool:
        """Whether the process has been asked to end after the current job."""
        return bool(self._stop_requested)


class ForkingWorker(_LockedWorker, Worker):
    """A worker that runs each job in a process of its own, and reports to RQ while a long one runs."""
