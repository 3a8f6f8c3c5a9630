"""Logging of `matchpost` processes: lines on standard error, and the security log.

`MATCHPOST_LOG_FORMAT` decides the form of all lines: those of our modules, of libraries, of Python's warnings and of
errors that end the process. The security log (`infra.people.security_log`) goes to the file of `MATCHPOST_SECURITY_LOG`, as
JSON lines; without that setting its lines are among the others.
"""

import logging
import os
import sys
import threading
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any, Final

from infra.people.account_macs import KEYS_FOLDER
from infra.people.security_log import LOGGER as SECURITY_LOGGER
from infra.people.security_log import NETWORKS
from infra.settings.settings import Settings, SettingsError
from services.serve.log_lines import TextLines

logger = logging.getLogger(__name__)

_OWN: Final = ("domain", "infra", "services", "workers")


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
    for name in _OWN:
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
    security = logging.getLogger(SECURITY_LOGGER)
    for handler in security.handlers[:]:
        if isinstance(handler, _SecurityFile):
            security.removeHandler(handler)
            handler.close()
    security.propagate = (file := settings.security_log) is None
    if file is not None:
        try:
            security.addHandler(_SecurityFile(role, file))
        except OSError as error:
            raise SettingsError(
                f"the security log can't be written: {file}: {error.strerror}"
            ) from error


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
    from services.serve.json_log import json_lines  # noqa: PLC0415 - structlog is slow to import

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
