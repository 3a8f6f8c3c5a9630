"""Failures of a server elsewhere, as one line on standard error and an exit code."""

import sys
from collections.abc import Callable

from httpx import InvalidURL, TransportError

from domain.errors import Code, Refusal
from services.app.error_codes import CODE_INFO
from services.client import ProblemError


def failure(url: str, error: Exception) -> Refusal:
    """Return the refusal that describes an error of a request to the server at `url`."""
    if isinstance(error, ProblemError):
        known = {str(code): code for code in Code}
        # a newer server may have a code that this version does not know
        code = known.get(error.code, Code.UNAVAILABLE)
        hint = "; `matchpost login URL` makes another" if code is Code.UNKNOWN_TOKEN else ""
        return Refusal(code, f"{error.detail}{hint}")
    return Refusal(
        Code.UNAVAILABLE,
        f"{url} does not answer ({error}); check the URL and that the server runs",
    )


def run_remotely(url: str, task: Callable[[], int]) -> int:
    """Return the exit code of a task that talks to the server at `url`; print why if it fails."""
    try:
        return task()
    except (ProblemError, TransportError, InvalidURL) as error:
        reason = failure(url, error)
        print(reason, file=sys.stderr)
        return CODE_INFO[reason.code].exit
