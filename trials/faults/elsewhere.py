"""I10 in another process, with another hash seed: the same commands give the same bytes.

Run as a program it reads {board: events} as MessagePack and answers {board: what broke, or ""}.
"""

import os
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from domain.match.audit import verify
from domain.match.history import BrokenHistory
from trials.faults.checker import Violation

Histories = dict[int, list[bytes]]


def elsewhere(histories: Mapping[int, Sequence[bytes]]) -> list[Violation]:
    """Decide all commands again in a new process; give what comes out otherwise."""
    root = Path(__file__).parents[2]
    env = {
        **os.environ,
        "PYTHONHASHSEED": str(random.randrange(1, 1 << 32)),
        "PYTHONPATH": str(root),
    }
    done = subprocess.run(
        [sys.executable, __file__],
        input=msgspec.msgpack.encode(histories),
        env=env,
        capture_output=True,
        check=True,
    )
    said = msgspec.msgpack.decode(done.stdout, type=dict[int, str])
    return [Violation("I10", f"match {n} elsewhere: {text}") for n, text in said.items() if text]


def _again(board: int, events: Sequence[bytes]) -> str:
    try:
        verify(board, events)
    except BrokenHistory as broken:
        return str(broken)
    return ""


if __name__ == "__main__":
    given = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Histories)
    answers = {board: _again(board, events) for board, events in given.items()}
    sys.stdout.buffer.write(msgspec.msgpack.encode(answers))
