"""The settings of the log, which all processes of a server share."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from infra.settings.setting_values import about


class LogSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of the log; a part of `infra.settings.settings.Settings`."""

    log_format: Annotated[
        Literal["text", "json"],
        about(
            "text or json",
            "The form of the log lines: `text` for people, or `json` with one object a line, in which a "
            "line names the process, the request, the match and the command that it is about.",
            "`text`",
        ),
    ] = "text"
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        about(
            "debug, info, warning or error",
            "The least level of the lines that are logged. With `debug` each request and each command has "
            "lines of its own.",
            "`info`",
        ),
    ] = "info"
    security_log: Annotated[
        Path | None,
        about(
            "the path of a file",
            "Where the security log is written, as JSON lines: logins, failures, limits that were hit, and "
            "changes of accounts. Several processes of a machine can share the file, and it may be moved "
            "away at any time. Without it these lines are in the log.",
            "none",
        ),
    ] = None
