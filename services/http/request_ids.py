"""Ids of requests: sent by the client or its proxy, or made here, and returned with the answer.

A log line that was written for a request has its id, so that an operator finds all of them by the id that a player
reports.
"""

import itertools
import os
import re
from typing import Any, Final

HEADER: Final = b"x-request-id"

_FORM: Final = re.compile(rb"[A-Za-z0-9_-]{1,64}")
"""The form of an id that is accepted: no address fits it, and no line break."""

_KEY: Final = "request id"
"""The key in a scope of the request's id, once it is known."""

_numbers: Final = itertools.count(1)
_prefix: Final = os.urandom(5).hex()  # no process is forked from one that serves requests


def request_id_of(scope: Any) -> str:
    """Return the id of an ASGI scope: that of its header, if it has a usable one, or a new one."""
    known: str | None = scope.get(_KEY)
    if known is not None:
        return known
    sent = next((value for name, value in scope["headers"] if name == HEADER), b"")
    id_ = sent.decode() if _FORM.fullmatch(sent) else f"{_prefix}-{next(_numbers):x}"
    scope[_KEY] = id_
    return id_
