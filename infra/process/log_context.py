"""The fields of log lines that say what this task or thread works on.

The form of JSON lines adds them to each line (`services.serve.logging`). So a line about a failure names the
request, the match and the command, although the code that logs it knows none of them.

Work at intervals, in a loop that turns more often.
"""

import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from typing import Final, TypeAlias

LogValue = str | int | bytes
"""The value of a field; bytes, such as an account id or a command id, are written in hex."""

LogFields = Mapping[str, LogValue]

_FIELDS: Final[ContextVar[LogFields]] = ContextVar("log fields", default={})  # noqa: B039 - never changed in place


def log_fields() -> LogFields:
    """Return the fields of this task or thread."""
    return _FIELDS.get()


def add_log_fields(**fields: LogValue) -> None:
    """Add fields until the surrounding `LoggedWith` ends."""
    _FIELDS.set({**_FIELDS.get(), **fields})


class LoggedWith:
    """A context manager that adds fields to the lines which are logged inside."""

    __slots__ = ("_before", "_fields")

    def __init__(self, **fields: LogValue) -> None:
        self._fields = fields

    def __enter__(self) -> None:
        self._before: Token[LogFields] = _FIELDS.set({**_FIELDS.get(), **self._fields})

    def __exit__(self, *_: object) -> None:
        _FIELDS.reset(self._before)


Tick: TypeAlias = Callable[[], None]
"""Does what is due; it is called about once a second."""


def every(
    seconds: float,
    work: Callable[[], object],
    timer: Callable[[], float] | None = None,
    *,
    first: float = 0.0,
) -> Tick:
    """Return a function that does the work after `first` seconds, and then at intervals.

    Work that returns a float chooses its next interval. `timer` returns seconds that only run forwards; by default
    it is that of the machine.
    """
    timer = timer or time.monotonic
    due = timer() + first

    def tick() -> None:
        nonlocal due
        if timer() >= due:
            # before the work, which may raise
            due = timer() + seconds
            chosen = work()
            if isinstance(chosen, float):
                due = timer() + chosen

    return tick
