"""Logging of `matchpost` processes: lines on standard error, and the security log.

`MATCHPOST_LOG_FORMAT` decides the form of all lines: those of our modules, of libraries, of Python's warnings and of
errors that end the process. The security log (`infra.people.rate_limits`) goes to the file of `MATCHPOST_SECURITY_LOG`, as
JSON lines; without that setting its lines are among the others.

Lines of the log: their text, without what is personal.

Modules log no personal data themselves. But an error that they report may quote some: redis-py names the whole command
that failed, and a library the value that it could not read. So the form of the lines leaves it out.
"""

import logging
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from pathlib import Path
from traceback import format_tb
from typing import Any, Final

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from domain.errors import Refusal
from infra.people.account_macs import KEYS_FOLDER
from infra.people.rate_limits import LOGGER as SECURITY_LOGGER
from infra.people.rate_limits import NETWORKS
from infra.process.role_thread import shown_role
from infra.settings.settings import Settings, SettingsError

_REDACTED: Final = (
    # redis-py quotes the command, and Redis the words of one that it does not know
    (re.compile(r"(Command # \d+) \(.*\)( of pipeline caused error: )", re.DOTALL), r"\1\2"),
    (re.compile(r"(, with args beginning with: ).*"), r"\1[left out]"),
    (re.compile(r"\bmp_[A-Za-z0-9_-]{20,}"), "[token]"),
    (re.compile(r"""[^\s<>"'(),;:=@/*]+@[\w.-]+"""), "[address]"),
)

_OWN: Final = ("domain.", "infra.", "workers.", "services.")
_LEFT_OUT: Final = "[text left out]"


_TRACEBACK: Final = "Traceback (most recent call last)"

_QUOTING: Final = re.compile(
    r"^(?!redis[.]|infra[.]|workers[.]|services[.]|OSError|ConnectionError|TimeoutError)([A-Za-z_][\w.]*): .*"
)
"""The last line of a traceback, of an error whose sentence may quote somebody."""


_SERVER_AWAY: Final = re.compile(
    r"Traceback \(most recent call last\).*\n(redis[.]exceptions[.]"
    r"(?:ConnectionError:|TimeoutError:|\w+: NOREPLICAS).*?)\s*$",
    re.DOTALL,
)
"""The traceback of an error of `_is_away`, and what remains of it."""


def redact(text: str) -> str:
    """Return a text without e-mail addresses, tokens, commands to Redis and sentences of tracebacks."""
    if _TRACEBACK in text:  # RQ has them in its messages
        text = _SERVER_AWAY.sub(r"\1", text)
        lines = (_QUOTING.sub(rf"\1: {_LEFT_OUT}", line) for line in text.split("\n"))
        text = "\n".join(lines)
    for pattern, instead in _REDACTED:
        text = pattern.sub(instead, text)
    return text


def error_text(error: BaseException) -> str:
    """Return the tracebacks of an error and of those that led to it, as Python shows them.

    The sentence of an error is left out unless this program, Redis or the system made it, because others may
    quote what a player wrote. A server that is away or full fails everything, so such an error is one line.
    """
    if _is_away(error):
        return f"{type(error).__qualname__}: {redact(str(error))}"
    return "\n".join(_parts(error, set())).rstrip()


def _parts(error: BaseException, seen: set[int]) -> Iterator[str]:
    seen.add(id(error))
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None and id(before) not in seen:
        yield from _parts(before, seen)
        how = "caused" if error.__cause__ else "was being handled before"
        yield f"\nThe error above {how} this one:\n"
    if error.__traceback__:
        yield "Traceback (most recent call last):"
        yield "".join(format_tb(error.__traceback__)).rstrip("\n")
    yield f"{type(error).__qualname__}: {redact(str(error)) if _is_safe(error) else _LEFT_OUT}"
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _parts(one, seen)


def _is_away(error: BaseException) -> bool:
    """Return whether a server is away or takes no writes, which is no fault of this program."""
    away = isinstance(error, RedisConnectionError | RedisTimeoutError)
    return away or (isinstance(error, RedisError) and "NOREPLICAS" in str(error))


def _is_safe(error: BaseException) -> bool:
    if isinstance(error, Refusal):  # its sentence quotes the player
        return False
    return isinstance(error, RedisError | OSError) or type(error).__module__.startswith(_OWN)


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """Return the fields of a record of the security log; none for others."""
    found: dict[str, Any] = getattr(record, "fields", {})
    return found


def _shown(value: object) -> str:
    return ",".join(value) if isinstance(value, list) else str(value)


class TextLines(logging.Formatter):
    """Lines as UTC time, role, level and message."""

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def __init__(self, role: str) -> None:
        super().__init__("%(asctime)s %(role)s %(levelname)s %(message)s")
        self._role = role

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the library's name
        """Return the line, with the fields of a line of the security log."""
        record.role = shown_role(self._role)
        fields = "".join(f" {name}={_shown(value)}" for name, value in fields_of(record).items())
        return redact(super().formatMessage(record)) + fields

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the library's name
        """Return the tracebacks."""
        return error_text(ei[1])


logger = logging.getLogger(__name__)

_OWN_PACKAGES: Final = ("domain", "infra", "services", "workers")


def log_to_stderr(role: str, settings: Settings | None = None) -> None:
    """Log this process to standard error, in the form of the settings, and open its security log.

    `role` distinguishes the processes of one machine (`serve`, `worker-1`). Handlers that were set
    before are replaced. Raises `SettingsError` if the file of the security log can't be written.
    """
    as_json = settings is not None and settings.log_format == "json"
    level = (settings.log_level if settings else "info").upper()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_json_lines(role) if as_json else TextLines(role))
    # libraries log at `debug` what they receive, and that is personal
    least = max(logging.INFO, logging.getLevelName(level))
    logging.basicConfig(level=least, handlers=[handler], force=True)
    for name in _OWN_PACKAGES:
        logging.getLogger(name).setLevel(level)
    # it logs each request
    logging.getLogger("httpx").setLevel(logging.WARNING)
    if as_json:
        logging.captureWarnings(capture=True)
        _log_errors_that_end()
    if settings is not None:
        open_security_log(role, settings)


def log_end(sentence: str) -> None:
    """Report on standard error why this process ends; as a log line if those are JSON."""
    handlers = logging.getLogger().handlers
    if any(
        handler.formatter and not isinstance(handler.formatter, TextLines) for handler in handlers
    ):
        logger.error(sentence)
    else:
        print(f"matchpost: {sentence}", file=sys.stderr)  # noqa: T201 - for a person at a terminal


def open_security_log(role: str, settings: Settings) -> None:
    """Open the file of the security log, if the settings name one; `SettingsError` if it can't be written."""
    NETWORKS.use_folder(settings.keys or settings.data / KEYS_FOLDER)
    close_security_log()
    security = logging.getLogger(SECURITY_LOGGER)
    security.propagate = (file := settings.security_log) is None
    if file is not None:
        try:
            security.addHandler(_SecurityFile(role, file))
        except OSError as error:
            raise SettingsError(
                f"the security log can't be written: {file}: {error.strerror}"
            ) from error


def close_security_log() -> None:
    """Close the file of the security log, if it is open."""
    security = logging.getLogger(SECURITY_LOGGER)
    for handler in security.handlers[:]:
        if isinstance(handler, _SecurityFile):
            security.removeHandler(handler)
            handler.close()


class _SecurityFile(WatchedFileHandler):
    """A file that several processes append to, and that another program may move away."""

    def __init__(self, role: str, file: Path) -> None:
        self._role = role
        super().__init__(file, encoding="utf-8")

    def _open(self) -> TextIOWrapper:
        # only for the user that runs matchpost
        return open(self.baseFilename, "a", encoding="utf-8", opener=_open_private)

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; the form is made for the first one, because most commands write none."""
        if self.formatter is None:
            self.formatter = _json_lines(self._role)
        return super().format(record)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _json_lines(role: str) -> logging.Formatter:
    from services.serve.json_log import json_lines  # noqa: PLC0415 - structlog takes long to import

    return json_lines(role)


def _log_errors_that_end() -> None:
    """Log errors that nothing has handled, which Python would print as they are."""

    def log_error(_kind: Any, error: BaseException, _trace: Any) -> None:
        if not isinstance(error, KeyboardInterrupt):
            logger.critical("this process ends by an error", exc_info=error)

    def log_thread_error(args: threading.ExceptHookArgs) -> None:
        if not isinstance(args.exc_value, SystemExit | None):
            logger.critical("a thread ends by an error", exc_info=args.exc_value)

    sys.excepthook = log_error
    threading.excepthook = log_thread_error
