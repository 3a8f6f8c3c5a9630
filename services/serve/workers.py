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
    return _child(f"worker-{number}", [], settings, redis_url)


def side_child(settings: Settings, redis_url: str) -> ProcessChild:
    """Give the side worker for the server at `redis_url`."""
    return _child("side", ["--role", "side"], settings, redis_url)


def _child(name: str, role: list[str], settings: Settings, redis_url: str) -> ProcessChild:
    env = {**os.environ, **settings.environment(), "MATCHPOST_REDIS_URL": redis_url}
    return ProcessChild(name, [str(console_script()), "worker", "--name", name, *role], env=env)
