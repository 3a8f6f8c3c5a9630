"""What clients saw: one line a call, with its times by the machine's monotonic clock."""

import time
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from threading import Lock

import msgspec


class Result(StrEnum):
    """What a client knows after a call."""

    OK = "ok"
    """It has an outcome (accepted or refused), or the events it asked for."""
    FAILED = "failed"
    """Definitely not taken: the connection could not be made, or the server turned it away."""
    UNKNOWN = "unknown"
    """It may have been taken."""


class Invocation(msgspec.Struct, frozen=True, kw_only=True):
    """One call of one client: a command handed in, or (without a command) a match read."""

    client: str
    match: int
    sent: int
    """When it was sent, in ns."""
    done: int
    """When the client knew `result`."""
    result: Result
    command: bytes = b""
    actor: bytes = b""
    code: str = ""
    """Of an outcome that is a refusal."""
    seq: int = 0
    """Of an outcome: as the server told it. Of a read: how many events there were."""
    index: int = 0
    """Of an outcome: the place in the shard's log."""
    head: bytes = b""
    """Of a read: the leaf hash of the last event it saw."""

    @property
    def answer(self) -> tuple[str, int, int]:
        """What an outcome says."""
        return self.code, self.seq, self.index


class Record:
    """The calls of all clients of a run; written to a file too, if one is named."""

    def __init__(self, path: Path | None = None) -> None:
        self._calls: list[Invocation] = []
        self._lock = Lock()
        self._file = path.open("ab") if path else None

    def add(self, call: Invocation) -> None:
        """Write a line."""
        with self._lock:
            self._calls.append(call)
            if self._file:
                self._file.write(msgspec.json.encode(call) + b"\n")

    def __iter__(self) -> Iterator[Invocation]:
        return iter(self._calls.copy())

    def __len__(self) -> int:
        return len(self._calls)

    def acknowledged(self) -> int:
        """How many commands have an outcome that a client knows."""
        return len({call.command for call in self if call.command and call.result is Result.OK})

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()


def now() -> int:
    """The machine's monotonic clock, in ns: the same in all its processes."""
    return time.monotonic_ns()
