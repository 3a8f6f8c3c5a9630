"""Reports of a job about its work, in RQ's `meta`, for `Job.fetch` and other tools of RQ."""

from typing import Final

from rq import get_current_job

from infra.process.intervals import every
from infra.redis.rq_jobs import RESULT_SECONDS

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
