"""Reads what the mail server in front has found out about the sender of a mail (RFC 8601)."""

import re
from collections.abc import Iterable
from typing import Final

_SIDE_TEXT: Final = re.compile(r'"[^"]*"|\([^"()]*\)')
"""A quoted text or a comment: both may have words of the sender's choice in them."""

_DEEPEST: Final = 3
"""Comments within each other, at most."""

_PASSED: Final = re.compile(
    r"\s*(?:spf\s*=\s*pass\b.*\bsmtp\.mailfrom|dkim\s*=\s*pass\b.*\bheader\.d|"
    r"dmarc\s*=\s*pass\b.*\bheader\.from)\s*=\s*(?:[^\s@;=]*@)?([a-z0-9.-]+)\s*(?:\s.*)?"
)
"""A method that passed, and the domain for which it did."""


def vouches(results: Iterable[str], authserv: str, sender: str) -> bool:
    """Return whether one of the headers, of the server of this name, shows that a mail is its sender's.

    It does if SPF, DKIM or DMARC passed for the domain of `sender`, or one above it.
    """
    domain = f".{sender.rpartition('@')[2].lower()}"
    return any(domain.endswith(f".{one}") for value in results for one in _domains(value, authserv))


def _domains(value: str, authserv: str) -> list[str]:
    if "\\" in value:  # with it the end of a quoted text is not what it seems
        return []
    for _ in range(_DEEPEST):
        value = _SIDE_TEXT.sub(" ", value)
    server, *methods = value.lower().split(";")
    if server.split()[:1] != [authserv.lower()] or any(sign in value for sign in '"()'):
        return []
    return [found[1] for found in map(_PASSED.fullmatch, methods) if found]
