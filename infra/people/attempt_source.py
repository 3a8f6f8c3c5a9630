"""The source of password attempts: every front end sets it while it handles a request or a mail."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

import msgspec

LOCAL: Final = "local"
"""The network of a terminal with direct access to the data."""


def _never_gone() -> bool:
    return False


class AttemptSource(msgspec.Struct, frozen=True):
    """The source of attempts."""

    network: str = LOCAL
    strangers: str = ""
    """The network that is counted instead until the account has logged in from `network`, if the
    client could claim any `network`; empty if it can't."""
    means: str = ""
    """The proof of the account in place of a password, for the security log; empty for none."""
    is_abandoned: Callable[[], bool] = _never_gone
    """Returns whether the client has gone."""


_ATTEMPT_SOURCE: Final[ContextVar[AttemptSource]] = ContextVar("source", default=AttemptSource())  # noqa: B039 - frozen


def attempt_source() -> AttemptSource:
    """Return the source of attempts of this task or thread."""
    return _ATTEMPT_SOURCE.get()


@contextmanager
def attempts_from(place: AttemptSource) -> Iterator[None]:
    """Set the source of the attempts inside."""
    before = _ATTEMPT_SOURCE.set(place)
    try:
        yield
    finally:
        _ATTEMPT_SOURCE.reset(before)
