"""The security log: logins and failed ones, limits that were hit, and changes of accounts.

A line names an account by its id, never by its userid, and a network by a keyed hash. The same network has the same
hash in all processes that share the folder of keys, so that its attempts can be counted; without the key in that folder
nobody can tell which network it is. No line has an address, a password, or the text of a token or a session.

`services.serve.logging` decides where the lines go. Anybody can cause some kinds of lines without logging in: of
these a process writes at most `MOST_A_MINUTE`, and then how many it left out, so that nobody can fill the disk.
"""

import hmac
import logging
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Final

from domain.match.events import AccountId
from infra.people.account_macs import MacKeyError, read_mac_key
from infra.people.attempt_source import LOCAL, attempt_source
from infra.process.metrics import SECURITY_EVENTS

LOGGER: Final = "matchpost.security"

MOST_A_MINUTE: Final = 600
"""Lines of a process in a minute that anybody can cause."""

_MINUTE: Final = 60.0
_HASH_BYTES: Final = 8

logger = logging.getLogger(LOGGER)
logger.setLevel(logging.INFO)  # whatever the level of the other lines is
# without this Python would print warnings where no log is set up, as in `matchpost do`
logger.addHandler(logging.NullHandler())


class SecurityEvent(StrEnum):
    """The events of the security log."""

    LOGIN = "login"
    LOGIN_FAILED = "login-failed"
    LIMIT = "limit"
    ACCOUNT_MADE = "account-made"
    ACCOUNT_CHANGED = "account-changed"
    ACCOUNT_DELETED = "account-deleted"
    ACCOUNT_SUSPENDED = "account-suspended"
    ACCOUNT_REINSTATED = "account-reinstated"
    SESSION_MADE = "session-made"
    SESSION_ENDED = "session-ended"
    TOKEN_MADE = "token-made"  # noqa: S105 - no password
    TOKEN_ENDED = "token-ended"  # noqa: S105 - the same
    TOKENS_ENDED = "tokens-ended"
    ARBITER_MADE = "arbiter-made"
    ARBITER_DISMISSED = "arbiter-dismissed"
    RESET_ASKED = "reset-asked"
    PASSWORD_RESET = "password-reset"  # noqa: S105 - no password
    RULING = "ruling"
    BROADCAST = "broadcast"
    TEXT_ERASED = "text-erased"
    SEAT_MAIL = "seat-mail"
    LEFT_OUT = "left-out"


for _event in SecurityEvent:
    SECURITY_EVENTS.labels(_event)  # begins at 0

_BY_ANYBODY: Final = frozenset(
    {SecurityEvent.LOGIN_FAILED, SecurityEvent.LIMIT, SecurityEvent.RESET_ASKED}
)


class NetworkHashes:
    """Keyed hashes of networks, by the key of the accounts' MACs; without it by one of this process."""

    def __init__(self) -> None:
        self._own = secrets.token_bytes(32)
        self._shared = b""
        self._folder: Path | None = None

    def use_folder(self, folder: Path) -> None:
        """Use the key in a folder of keys, as soon as it is there."""
        self._shared, self._folder = b"", folder

    def of(self, network: str) -> str:
        """Return the hash of a network, in hex."""
        if self._folder is not None and not self._shared:
            # the doctor reports a key that is missing
            with suppress(MacKeyError):
                self._shared = read_mac_key(self._folder).secret
        text = b"network" + network.encode(errors="surrogatepass")
        return hmac.digest(self._shared or self._own, text, "sha256")[:_HASH_BYTES].hex()


class LineBudget:
    """How many lines may still be written in this minute. Thread-safe."""

    def __init__(
        self, most: int = MOST_A_MINUTE, timer: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._timer = timer
        self._lock = threading.Lock()
        self._end = 0.0
        self._count = 0

    def take(self) -> tuple[bool, int]:
        """Return whether a line may be written, and how many were left out in the minute before."""
        with self._lock:
            left_out = 0
            if (now := self._timer()) >= self._end:
                left_out = max(0, self._count - self._most)
                self._end, self._count = now + _MINUTE, 0
            self._count += 1
            return self._count <= self._most, left_out


NETWORKS: Final = NetworkHashes()
_BUDGET: Final = LineBudget()


def note_security(
    event: SecurityEvent,
    account: AccountId | None = None,
    network: str = "",
    budget: LineBudget | None = None,
    **fields: str | int | list[str],
) -> None:
    """Write a line about an event; `network` is that of the client, if it is not the source of attempts.

    `budget` is that of the lines that anybody can cause, without it the one of this process.
    """
    SECURITY_EVENTS.labels(event).inc()
    if event in _BY_ANYBODY:
        allowed, left_out = (budget or _BUDGET).take()
        if left_out:
            _write(SecurityEvent.LEFT_OUT, lines=left_out)
        if not allowed:
            return
    named: dict[str, str | int | list[str]] = {}
    if account is not None:
        named["account"] = account.hex()
    if (network := network or attempt_source().network) != LOCAL:
        named["network"] = NETWORKS.of(network)
    if means := attempt_source().means:
        named["means"] = means
    _write(event, **named, **fields)


def _write(event: SecurityEvent, **fields: str | int | list[str]) -> None:
    logger.info(event.value, extra={"fields": fields})
