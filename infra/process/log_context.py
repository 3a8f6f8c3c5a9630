"""The fields of log lines that say what this task or thread works on.

The form of JSON lines adds them to each line (`services.serve.json_log`). So a line about a failure names the
request, the match and the command, although the code that logs it knows none of them.
"""

from collections.abc import Mapping
from contextvars import ContextVar, Token
from typing import Final

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
