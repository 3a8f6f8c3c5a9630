"""How `serve` starts its workers: the console script in a role of its own."""

import os
import sys
from pathlib import Path

from infra.settings import Settings
from services.serve.child import ProcessChild


def console_script() -> Path:
    """Give the `matchpost` of this installation.

    Never `python -m`: that would run a folder named `services` in the current directory.
    """
    script = Path(sys.executable).with_name("matchpost")
    return script if script.exists() else Path(sys.argv[0]).absolute()


def worker_child(number: int, settings: Settings, redis_url: str) -> ProcessChild:
    """Give a command worker for the server at `redis_url`."""
    env = {**os.environ, **settings.environment(), "MATCHPOST_REDIS_URL": redis_url}
    name = f"worker-{number}"
    return ProcessChild(name, [str(console_script()), "worker", "--name", name], env=env)
