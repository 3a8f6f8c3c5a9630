"""The composition of a command worker, one of the processes that `matchpost serve` starts."""

from infra.settings import Settings
from services.compose import Composition
from services.problems import FINE
from services.serve.logs import log_to_stderr
from workers import command


def run(settings: Settings, name: str) -> int:
    """Decide commands until told to stop; gives the exit code."""
    log_to_stderr(name)
    with Composition(settings, listening=command.IDLE_SECONDS) as parts:
        command.run(parts.store, parts.lanes, parts.data, parts.queue)
    return FINE
