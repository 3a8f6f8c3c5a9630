"""boardgame.io's server in memory, with its own socket clients: what people use for such games today."""

import socket
import subprocess
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

import msgspec

_SECONDS: Final = 120


class NoPeerError(Exception):
    """boardgame.io was asked for and can't be run; the message is a sentence."""


class _Played(msgspec.Struct, frozen=True):
    rate: float
    moves: int


def rate(folder: Path, clients: int, moves: int) -> float:
    """Give its moves a second; `folder` has `node_modules` with boardgame.io."""
    with as_file(files("services.cli.bench").joinpath("boardgame_io.cjs")) as script:
        try:
            return _measured([str(script), str(folder)], clients, moves)
        except FileNotFoundError as error:
            raise NoPeerError("--boardgame-io needs Node on the path") from error


def _measured(words: list[str], clients: int, moves: int) -> float:
    port = str(_free_port())
    with subprocess.Popen(  # noqa: S603 - our own script
        ["node", *words, "serve", port],  # noqa: S607 - wherever it is installed
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        try:
            if not any(line == "serving\n" for line in server.stdout):
                raise NoPeerError("boardgame.io does not start; is it in node_modules?")
            done = subprocess.run(  # noqa: S603 - the same
                ["node", *words, "play", port, str(clients), str(moves)],  # noqa: S607
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=True,
            )
        finally:
            server.kill()
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=_Played).rate


def _free_port() -> int:
    """Give a port that is free now, and the one above it with some luck."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
