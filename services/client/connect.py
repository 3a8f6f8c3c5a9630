"""Which server a command talks to, and with which token: one rule for `do`, `watch` and `play`.

A URL in the command line goes above MATCHPOST_URL, which goes above the login. The first two come
with MATCHPOST_TOKEN and never with the token of the login, because that one is for its own server.
"""

import os
from enum import StrEnum

import msgspec

from domain.errors import Code, Refusal
from services.client.login_file import read_login


class ChosenBy(StrEnum):
    """The place where the server was named."""

    FLAG = "--url"
    ENVIRONMENT = "MATCHPOST_URL"
    LOGIN = "login"


class Connection(msgspec.Struct, frozen=True):
    """A server, and the token for it."""

    url: str
    token: str | None
    chosen_by: ChosenBy
    userid: str = ""
    """Known for a login only."""

    def __repr__(self) -> str:
        """Return the server without the token, because it may appear in a log."""
        return f"{type(self).__name__}({self.url!r} by {self.chosen_by})"

    def __str__(self) -> str:
        """Return who plays where, for people."""
        return f"{self.userid} at {self.url}" if self.userid else self.url


def log_token() -> str:
    """Return the token for the published log of another server; empty without one.

    It is not the token for playing, because the server whose log is watched may be hostile.
    """
    return os.environ.get("MATCHPOST_LOG_TOKEN", "")


def find_connection(url: str = "", *, with_login: bool = True) -> Connection | None:
    """Return the server to talk to; `url` is that of the command line. None if nothing names one.

    Without `with_login` the login is not looked at. Refuses a login that can't be used: `unauthorized`.
    """
    named = url or os.environ.get("MATCHPOST_URL", "")
    if named:
        token = os.environ.get("MATCHPOST_TOKEN") or None
        return Connection(named, token, ChosenBy.FLAG if url else ChosenBy.ENVIRONMENT)
    login = read_login() if with_login else None
    if login is None:
        return None
    return Connection(login.url, login.token, ChosenBy.LOGIN, login.userid)


def require_connection(url: str = "") -> Connection:
    """Return the server to talk to; `unauthorized` if nothing names one."""
    found = find_connection(url)
    if found is None:
        raise Refusal(
            Code.UNAUTHORIZED,
            "nothing names a server: log in by `matchpost login URL`, or put --url URL first",
        )
    return found
