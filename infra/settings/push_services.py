"""The push services that this server sends to: the guard against requests to anywhere else.

A browser names the address to which its notifications go, so a stranger could name any. Imports nothing slow,
because the settings import it.
"""

import re
from typing import Final
from urllib.parse import urlsplit

KNOWN: Final = "fcm.googleapis.com push.services.mozilla.com push.apple.com notify.windows.com"
"""The services of Chrome, Firefox, Safari and Edge."""

LONGEST_ENDPOINT: Final = 1_000

_LABEL: Final = "(?!xn--)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_HOST: Final = re.compile(rf"{_LABEL}(\.{_LABEL})*")
"""Hosts that every program reads in the same way, so none of them fails at one."""
_ORIGIN: Final = re.compile(rf"https?://{_HOST.pattern}(:[0-9]{{1,5}})?")


def read_push_services(text: str) -> tuple[str, ...]:
    """Return the hosts and origins in a setting; `ValueError` for anything else."""
    services = tuple(text.split())
    for one in services:
        if not (_HOST.fullmatch(one) or _ORIGIN.fullmatch(one)):
            raise ValueError(
                "push services are hosts in small letters, or origins such as https://push.example.org"
            )
    return services


def is_allowed(endpoint: str, services: tuple[str, ...]) -> bool:
    """Return whether an endpoint belongs to one of the services.

    A host takes in its subdomains, by https on the usual port. An origin takes in itself alone.
    """
    try:
        parts = urlsplit(endpoint)
        port = parts.port
    except ValueError:
        return False
    if len(endpoint) > LONGEST_ENDPOINT or not endpoint.isascii() or not parts.hostname:
        return False
    if any(not letter.isprintable() or letter in " \\" for letter in endpoint):
        return False  # programs read them in different ways
    if "@" in parts.netloc:
        return False
    origin = f"{parts.scheme}://{parts.netloc}"
    if origin in services:
        return True
    host = parts.hostname
    known = any(host == one or host.endswith(f".{one}") for one in services if "://" not in one)
    return known and _HOST.fullmatch(host) is not None and parts.scheme == "https" and port is None


def origin_of(endpoint: str) -> str:
    """Return the scheme, host and port of an endpoint."""
    parts = urlsplit(endpoint)
    return f"{parts.scheme}://{parts.netloc}"
