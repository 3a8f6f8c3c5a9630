"""Baseline: boardgame.io's server in memory with its own socket clients, in wide use today."""

import subprocess
from pathlib import Path
from typing import Final

import msgspec

from bench.free_ports import first_of_free_ports

_MOVES: Final = 40
"""Moves of each match. A client plays one match a run, and several runs warm the server up."""

_RUNS: Final = 8

_SECONDS: Final = 8
"""A run takes one second; sometimes a client stops getting messages, and the run never ends."""


class NoPeerError(Exception):
    """boardgame.io was requested and can't be run; the message is a sentence."""


class _RunResult(msgspec.Struct, frozen=True):
    rate: float
    moves: int


def rate(folder: Path, clients: int) -> float:
    """Return the moves a second in the best run; `folder` has it in `node_modules`."""
    script = Path(__file__).with_suffix(".cjs")
    try:
        return _measured([str(script), str(folder)], clients)
    except FileNotFoundError as error:
        raise NoPeerError("--boardgame-io needs the program `node`; install Node.js") from error


def _measured(words: list[str], clients: int) -> float:
    port = str(first_of_free_ports(2))
    with subprocess.Popen(  # noqa: S603 - our own script
        ["node", *words, "serve", port],  # noqa: S607 - found on the path
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        try:
            if not any(line == "serving\n" for line in server.stdout):
                raise NoPeerError("boardgame.io does not start; is it in node_modules?")
            rates = [_played(words, port, clients, run) for run in range(_RUNS)]
        finally:
            server.kill()
    if not any(rates):
        raise NoPeerError(f"none of {_RUNS} runs of boardgame.io's clients came to its end")
    return max(rates)


def _played(words: list[str], port: str, clients: int, run: int) -> float:
    """Return the moves a second of one run; 0 if it does not end."""
    moves = str(clients * _MOVES)
    try:
        done = subprocess.run(  # noqa: S603 - our own script
            ["node", *words, "play", port, str(clients), moves, str(run)],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return 0.0
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=_RunResult).rate
