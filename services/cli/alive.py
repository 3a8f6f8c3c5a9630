"""`matchpost alive`: whether a process of this machine is alive, for probes and health checks.

It asks no server, so a Valkey that is away makes no process look hung.
"""

from infra.alive_files import living_processes
from infra.settings import Settings
from services.app.error_codes import EXIT_OK, EXIT_REFUSED


def run(settings: Settings, role: str, *, is_ready: bool) -> int:
    """Print a line for each process of a role; return 0 if there is one, and none hangs or has yet to begin."""
    processes = living_processes(settings.data, role)
    code = EXIT_OK if processes else EXIT_REFUSED
    for one in processes:
        if one.hangs:
            state, code = f"hangs: it has made no progress for {one.silence:.0f} s", EXIT_REFUSED
        elif one.is_serving:
            state = "is alive, and serves"
        else:
            state, code = "is alive, and starts", EXIT_REFUSED if is_ready else code
        print(f"{one.name} {state}")
    if not processes:
        print(f"no {role} runs here with the data directory {settings.data}")
    return code
