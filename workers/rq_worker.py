"""RQ's worker and job, locked down: they run only listed functions, whatever is in Redis."""

import logging
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Final

import redis
from rq import Queue, SimpleWorker, Worker
from rq.exceptions import DequeueTimeout, StopRequested
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.timeouts import (
    BaseDeathPenalty,
    HorseMonitorTimeoutException,
    TimerDeathPenalty,
    UnixSignalDeathPenalty,
)
from rq.worker import BaseWorker, WorkerStatus

from infra.process.liveness import LIVENESS
from infra.process.role_thread import this_role_thread
from infra.redis.clients import ANSWER_TIMEOUT
from infra.store.rq_wakeup import LeasedJob

logger = logging.getLogger(__name__)

IDLE_SECONDS: Final = 60
"""How long a worker's registration outlives its last sign of life."""

_LOOK_SECONDS: Final = 1
"""How often a worker of several queues looks at all of them, and at most a second more: when its server turns."""

_WATCH_SECONDS: Final = 10
"""How long a worker that takes no job waits for one, before it does what is due between jobs."""

_AWAY_SECONDS: Final = 0.2
"""How often a lost server is tried again."""

_HORSE_SECONDS: Final = 0.25
"""How often a thread looks whether the process of its job has ended."""

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


class _OrderedQueue(Queue):
    """A queue of a worker that serves several, the first one first.

    RQ takes a job with a safety copy from one queue only, so each is asked alone.
    """

    is_worker_ending: ClassVar[Callable[[], bool]] = staticmethod(lambda: False)

    @classmethod
    def dequeue_any(
        cls, queues: Iterable[Queue], timeout: int | None, *args: Any, **kw: Any
    ) -> Any:
        """Return the next job and its queue, as RQ does; wait for the first queue only, and not long."""
        if cls.is_worker_ending():
            raise StopRequested
        first, *others = queues
        for queue in (first, *others) if others else ():
            if found := super().dequeue_any([queue], None, *args, **kw):
                return found
        if timeout is not None and others:
            timeout = min(timeout, _LOOK_SECONDS)
        return super().dequeue_any([first], timeout, *args, **kw)


def _death_penalty(*args: Any, **options: Any) -> BaseDeathPenalty:
    """Return RQ's limit of time for a job: by a signal, which only a main thread gets, or by a timer."""
    is_main = threading.current_thread() is threading.main_thread()
    return (UnixSignalDeathPenalty if is_main else TimerDeathPenalty)(*args, **options)


class _LockedWorker(BaseWorker):
    """A worker that runs the functions listed in `jobs`, from the first of its queues that has any."""

    max_connection_wait_time = 4.0  # seconds between two tries to reach Redis; RQ's own are 60
    death_penalty_class = staticmethod(_death_penalty)  # type: ignore[assignment]

    def __init__(self, client: redis.Redis, queue: str, jobs: Jobs, *others: str) -> None:
        job_class = type("ListedJob", (_ListedJob,), {"jobs": jobs})
        ending = {"is_worker_ending": staticmethod(lambda: self.is_asked_to_end)}
        super().__init__(
            [queue, *others],
            connection=client,
            worker_ttl=IDLE_SECONDS,
            job_class=job_class,
            queue_class=type("OrderedQueue", (_OrderedQueue,), ending),
            serializer=JSONSerializer,
            log_job_description=False,
        )
        self._waits_on: int | None = None
        """The server's number of the connection on which a thread waits for jobs."""
        self.between_jobs: Callable[[], None] = lambda: None
        """Called before a job and after it, and at intervals without one."""
        self.at_stop: Callable[[], None] = lambda: None
        """Called when the worker is asked to end, to end what its job waits for."""

    def _set_ip_address(self, connection: redis.Redis) -> None:
        """Look the address up in the list of clients, as RQ 2 did.

        redis-py can't read CLIENT INFO, which RQ 3 asks for, if the path of a socket has a blank in it.
        """
        connection.client_setname(self.name)
        self.ip_address = self._ip_address_from_client_list(connection)

    def _install_signal_handlers(self) -> None:
        """End at a signal as RQ does, or in a thread when that is asked to end."""
        if (thread := this_role_thread()) is None:
            super()._install_signal_handlers()  # type: ignore[no-untyped-call]
        else:
            thread.call_at_stop(self._end_thread)

    def handle_warm_shutdown_request(self) -> None:
        """End what the job waits for, in the handler of a signal."""
        super().handle_warm_shutdown_request()  # type: ignore[no-untyped-call]
        self.at_stop()

    @property
    def is_asked_to_end(self) -> bool:
        """Whether the thread of this worker is to end; in a process of its own RQ's signal handler ends it."""
        return (thread := this_role_thread()) is not None and thread.stopping.is_set()

    def _end_thread(self) -> None:
        """End after the current job; called in another thread, while this one may wait for the next job."""
        self._stop_requested = True
        self.at_stop()
        # a thread that can't be woken is left behind by the process that ends
        with suppress(redis.RedisError):
            if self._waits_on is not None:
                self.connection.client_unblock(self._waits_on)

    def register_birth(self) -> None:
        """Register the worker as RQ does; from now on it takes jobs."""
        super().register_birth()  # type: ignore[no-untyped-call]
        LIVENESS.serving()

    def unsubscribe(self) -> None:
        """End the subscription to RQ's commands; one whose connection is lost has ended."""
        try:
            super().unsubscribe()  # type: ignore[no-untyped-call]
        except redis.ConnectionError:
            self.pubsub_thread.stop()  # type: ignore[attr-defined]  # RQ has made it by now

    def heartbeat(self, *args: Any, **options: Any) -> Any:
        """Report to RQ, and to the supervisor of the process, that the worker is alive."""
        self.between_jobs()
        LIVENESS.step()  # while RQ retries because it can't reach Redis, the process does not hang
        if options.get("pipeline"):
            return super().heartbeat(*args, **options)
        # one round trip, because RQ does this before each job
        with self.connection.pipeline(transaction=False) as pipe:
            pipe.hexists(self.key, "birth")
            super().heartbeat(*args, **{**options, "pipeline": pipe})
            if this_role_thread() is not None:
                pipe.client_id()
            registered, *others = pipe.execute()
        if this_role_thread() is not None:
            # the next command, which waits for a job, gets the same connection
            self._waits_on = others[-1]
        # a server of the queue that was started again is empty, and RQ registers a worker only once
        if not registered:
            self.connection.delete(self.key)
            self.register_birth()
            super().heartbeat(*args, **options)
        return None


class ListedWorker(_LockedWorker, SimpleWorker):
    """A worker that runs its jobs in its own process.

    RQ waits for a server that it loses between two jobs, and ends the worker where it loses it in
    a job. This worker waits in both cases, so that nobody has to start it again.
    """

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Run a job as RQ does; return once the server of the queue answers."""
        try:
            super().execute_job(job, queue)
        except (redis.ConnectionError, redis.TimeoutError) as error:
            logger.warning("the server of the queue was lost in a job (%s); waiting for it", error)
            while not self._is_answered():
                time.sleep(_AWAY_SECONDS)

    def _is_answered(self) -> bool:
        """Return whether the server takes the worker's state; let a worker that is to end try no longer."""
        LIVENESS.step()
        try:
            self.set_state(WorkerStatus.IDLE)
        except (redis.ConnectionError, redis.TimeoutError):
            if self.stopping:
                raise
            return False
        return True

    @property
    def stopping(self) -> bool:
        """Whether the process has been asked to end after the current job."""
        return bool(self._stop_requested)


def run_endless(
    queue: redis.Redis,
    job: LeasedJob,
    run: Callable[[Callable[[], bool]], object],
    stop: Callable[[], None],
) -> None:
    """Request a job and run it, again and again until SIGTERM or SIGINT, or until Redis goes away.

    `run` is called with a function that returns whether it should end, and `stop` when that begins to return
    True, to end what `run` waits for: in another thread, or by the handler of a signal.
    """
    worker = ListedWorker(queue, job.wakeup.queue, {job.wakeup.function: lambda: run(stopping)})
    worker.at_stop = stop

    def stopping() -> bool:
        return worker.stopping

    job.request(queue)
    worker.work(logging_level="WARNING")


class CallingWorker(_LockedWorker, SimpleWorker):
    """A worker that takes no job: where one waits, it has another process take it, and all that follow.

    `begin` starts that process, and is called again when `is_at_work` says that it has ended.
    """

    def __init__(
        self,
        client: redis.Redis,
        begin: Callable[[], object],
        is_at_work: Callable[[], bool],
        queue: str,
        *others: str,
    ) -> None:
        super().__init__(client, queue, {}, *others)
        self._begin = begin
        self._is_at_work = is_at_work
        self._watching: list[Any] = []
        """The connections on which it waits for jobs, one for each queue."""
        self.at_stop = self._stop_watching
        watched: Any = type("WatchedQueue", (Queue,), {"dequeue_any": self._watch})
        self.queue_class = watched

    def _watch(self, queues: Sequence[Queue], timeout: float, **_: Any) -> Any:
        """Watch the queues for so many seconds, or until the other process ends; RQ then comes again."""
        end, was_at_work = time.monotonic() + timeout, False
        while time.monotonic() < end:
            if self.is_asked_to_end:
                raise StopRequested
            LIVENESS.step()
            if self._is_at_work():
                was_at_work = True
                time.sleep(_HORSE_SECONDS)
            elif was_at_work:
                break
            else:
                self.between_jobs()
                if self._finds_job([queue.key for queue in queues]):
                    self._begin()
        raise DequeueTimeout(timeout, ", ".join(queue.name for queue in queues))

    def _finds_job(self, keys: Sequence[str]) -> bool:
        """Return whether a job waits in a queue; wait for one, but not long."""
        pool = self.connection.connection_pool
        waiting: dict[int, Any] = {}
        try:
            for key in keys:
                connection: Any = pool.get_connection()
                self._watching.append(connection)
                # a move from the head of a list to its head waits for a job, and leaves it there
                connection.send_command("BLMOVE", key, key, "LEFT", "LEFT", _WATCH_SECONDS)
                waiting[connection._sock.fileno()] = connection  # noqa: SLF001 - it has no other name
            # from now on `_stop_watching` ends the wait
            return not self.is_asked_to_end and self._is_answered_with_job(waiting)
        except redis.ConnectionError:
            if not self.is_asked_to_end:
                raise
            return False
        finally:
            for connection in self._watching:
                # one that is not answered yet
                if connection in waiting.values():
                    connection.disconnect()
                pool.release(connection)
            self._watching = []

    def _is_answered_with_job(self, waiting: dict[int, Any]) -> bool:
        """Return whether a connection is answered with a job; those that are answered leave `waiting`."""
        poll = select.poll()
        for file in waiting:
            poll.register(file, select.POLLIN)
        while waiting:
            with LIVENESS.waiting():
                ready = poll.poll(1_000 * (_WATCH_SECONDS + ANSWER_TIMEOUT))
            if not ready:
                raise redis.TimeoutError("the server of the queue does not answer")
            for file, _ in ready:
                poll.unregister(file)
                # it stays there while it fails
                job = waiting[file].read_response()
                del waiting[file]
                if job is not None:
                    return True
        return False

    def _stop_watching(self) -> None:
        for connection in self._watching:
            # one without a socket is not waited for
            with suppress(AttributeError, OSError):
                connection._sock.shutdown(socket.SHUT_RDWR)  # noqa: SLF001 - it has no other name


class ForkingWorker(_LockedWorker, Worker):
    """A worker that runs each job in a process of its own, and reports to RQ while a long one runs."""

    def wait_for_horse(self) -> Any:
        """Wait for the process of a job, which RQ ends if it takes too long: this one does not hang meanwhile."""
        with LIVENESS.waiting():
            if this_role_thread() is None:
                return super().wait_for_horse()
            return self._look_for_horse()

    def _look_for_horse(self) -> Any:
        """Wait as RQ does, in a thread: there no signal interrupts the wait when RQ has to look after the job."""
        end = time.monotonic() + self.job_monitoring_interval
        while time.monotonic() < end:
            with suppress(ChildProcessError):
                found = os.wait4(self.horse_pid, os.WNOHANG)
                if found[0]:
                    return found
                time.sleep(_HORSE_SECONDS)
                continue
            return None, None, None
        raise HorseMonitorTimeoutException
