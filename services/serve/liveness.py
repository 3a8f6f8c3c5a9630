"""The liveness of processes: reported by each, and shown by `matchpost alive` to probes and health checks.

No server is asked, so a Valkey that is away makes no process look hung.
"""

import logging
from collections.abc import Sequence

from infra.process.liveness import (
    HANGS_SECONDS,
    LIVENESS,
    Listener,
    alive_file,
    living_processes,
    service_manager,
)
from infra.settings.settings import Settings
from services.app.error_codes import EXIT_OK, EXIT_REFUSED

logger = logging.getLogger(__name__)


def report_liveness(settings: Settings, role: str) -> None:
    """Report from now on that this process is alive: to `serve`, to systemd and for `matchpost alive`."""
    LIVENESS.watch(service_manager(), *alive_listeners(settings, role))


def alive_listeners(settings: Settings, role: str) -> Sequence[Listener]:
    """Return what shows `matchpost alive` that a role is alive here; nothing, with a warning, where that fails."""
    try:
        return [alive_file(settings.data, role)]
    except OSError as error:
        logger.warning("`matchpost alive` can't see this process: %s", error)
        return []


def run(settings: Settings, role: str, *, is_ready: bool) -> int:
    """Print a line for each process of a role; return 0 if there is one, and none hangs or has yet to begin."""
    processes = living_processes(settings.data, role)
    code = EXIT_OK if processes else EXIT_REFUSED
    for one in processes:
        if one.silence > HANGS_SECONDS:
            state, code = f"hangs: it has made no progress for {one.silence:.0f} s", EXIT_REFUSED
        elif one.is_serving:
            state = "is alive, and serves"
        else:
            state, code = "is alive, and starts", EXIT_REFUSED if is_ready else code
        print(f"{one.name} {state}")
    if not processes:
        print(f"no {role} runs here with the data directory {settings.data}")
    return code
