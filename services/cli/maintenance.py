"""`matchpost maintenance`: a worker for rebuilds and checks, which then outlive the terminal."""

import logging

from infra.rq_jobs import CHECK, MAINTENANCE, REBUILD
from infra.settings import Settings
from services import jobs
from services.app.context import App
from services.app.error_codes import EXIT_OK
from services.serve.logging import log_to_stderr
from workers.rq_worker import IDLE_SECONDS, ForkingWorker

logger = logging.getLogger(__name__)


def run(settings: Settings) -> int:
    """Run maintenance jobs until a stop signal, which the job at work outlasts; return the exit code."""
    log_to_stderr("maintenance")
    with App(settings, listening=IDLE_SECONDS) as parts:
        parts.store.layout()
        listed = {REBUILD: jobs.rebuild, CHECK: jobs.check}
        ForkingWorker(parts.queue, MAINTENANCE, listed).work(logging_level="WARNING")
    return EXIT_OK
