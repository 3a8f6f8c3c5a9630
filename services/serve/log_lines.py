"""Lines of the log: their text, without what is personal.

Modules log no personal data themselves. But an error that they report may quote some: redis-py names the whole command
that failed, and a library the value that it could not read. So the form of the lines leaves it out.
"""

import logging
import re
import time
from collections.abc import Iterator
from traceback import format_tb
from typing import Any, Final

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from domain.errors import Refusal

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
        super().__init__(f"%(asctime)s {role} %(levelname)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the library's name
        """Return the line, with the fields of a line of the security log."""
        fields = "".join(f" {name}={_shown(value)}" for name, value in fields_of(record).items())
        return redact(super().formatMessage(record)) + fields

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the library's name
        """Return the tracebacks."""
        return error_text(ei[1])
