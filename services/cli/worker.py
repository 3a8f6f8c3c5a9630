"""The composition of a command worker, one of the processes that `matchpost serve` starts."""

import logging
import os

from infra.settings import Settings
from services.cli import failures
from services.compose import Composition
from services.problems import FINE, UNKNOWN
from services.serve.logs import log_to_stderr
from workers import command

logger = logging.getLogger(__name__)


def run(settings: Settings, name: str) -> int:
    """Decide commands until told to stop; gives the exit code.

    What ends it otherwise, such as a server that went away, is a line in the log like all others.
    """
    log_to_stderr(name)
    try:
        with Composition(settings, listening=command.IDLE_SECONDS) as parts:
            command.run(parts.store, parts.lanes, parts.data, parts.queue, parts.seeds)
    except Exception as error:
        debug = bool(os.environ.get("MATCHPOST_DEBUG"))
        said = failures.line(error)
        logger.exception(said, exc_info=debug)
        return UNKNOWN
    return FINE
