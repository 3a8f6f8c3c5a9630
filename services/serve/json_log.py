"""Log lines as JSON objects, of our own modules and of all libraries alike.

| field | what |
|---|---|
| `time` | when it was logged, UTC |
| `level` | `debug`, `info`, `warning`, `error` or `critical` |
| `logger` | the module that logged it |
| `message` | the sentence |
| `role`, `host`, `pid` | the process |
| `request_id`, `board`, `command_id`, `account` | what it worked on, where that is known |
| `exception` | the tracebacks of an error |

A line of the security log has the fields of its event besides. structlog takes long to import, so this module is
imported only by processes that write such lines.
"""

import logging
import socket
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from structlog.stdlib import ProcessorFormatter
from structlog.types import EventDict

from infra.process.log_context import log_fields
from infra.process.role_thread import shown_role
from services.serve.logging import error_text, fields_of, redact

_encode: Final = msgspec.json.Encoder().encode


def json_lines(role: str) -> logging.Formatter:
    """Return the formatter of a process."""
    host = socket.gethostname()

    def complete(_logger: Any, level: str, event: EventDict) -> EventDict:
        record: logging.LogRecord = event["_record"]
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {
            "time": at.replace("+00:00", "Z"),
            "level": level,
            "logger": record.name,
            "message": redact(event["event"]),
            "role": shown_role(role),
            "host": host,
            "pid": record.process,
        }
        for name, value in log_fields().items():
            line[name] = value.hex() if isinstance(value, bytes) else value
        line |= fields_of(record)
        if exc_info := event.get("exc_info"):
            line["exception"] = error_text(exc_info[1])
        if stack := event.get("stack_info"):
            line["stack"] = stack
        return line

    def render(_logger: Any, _level: str, event: EventDict) -> str:
        return _encode(event).decode()

    return ProcessorFormatter(foreign_pre_chain=[complete], processors=[render])
