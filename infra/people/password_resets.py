"""Forgotten passwords: requests for a link, and the links, which open a form for a new password.

| key | what |
|---|---|
| `{mail}:resets` | list: names and addresses for which a link was asked for, until the mailer has read them |
| `{a:<hex>}:reset` | SHA-256 of the one link of an account that is valid, for an hour |

A request is only noted, whatever name it has: the mailer looks for the account later. So the answer to a request,
and the time that it takes, tell nobody whether there is such an account. The text of a link has the account's id and
256 random bits; it is stored nowhere, but for the mail while it waits in the outbox.
"""

import hmac
import os
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from typing import Any, Final

import msgspec
import redis

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.rate_limits import (
    LOCAL,
    LoginRateLimit,
    SecurityEvent,
    attempt_source,
    note_security,
)
from infra.redis import keys
from infra.redis.clients import time_ms
from infra.redis.mail_keys import RESET_REQUESTS
from infra.sentences import SAY

LINK_SECONDS: Final = 3600
"""How long a link is valid."""

LINKS_AN_HOUR: Final = 3
"""Links that are mailed to an account in an hour."""

REQUESTS_AN_HOUR: Final = 10
"""Requests of a network in an hour."""

MOST_REQUESTS: Final = 1_000
"""Most requests that wait, the newest."""

_HOUR_MINUTES: Final = 60
_ID_BYTES: Final = 8
_RANDOM_BYTES: Final = 32
_TEXT: Final = re.compile(r"[A-Za-z0-9_-]{54}")
_LONGEST: Final = 254


class ResetRequest(msgspec.Struct, frozen=True, array_like=True):
    """A request for a link."""

    text: str
    """A userid, or an address."""
    at: int
    """Milliseconds."""
    network: str = ""


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(ResetRequest).decode


class PasswordResets:
    """The requests and links on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._by_network = LoginRateLimit(client, REQUESTS_AN_HOUR, _HOUR_MINUTES, "resets")
        self._by_account = LoginRateLimit(client, LINKS_AN_HOUR, _HOUR_MINUTES, "resets")

    # requests

    def request(self, text: str) -> None:
        """Note a request; `too-fast` if too many came from the network of this task."""
        network = attempt_source().network
        if network != LOCAL:
            self._count_network(network)
        note_security(SecurityEvent.RESET_ASKED)
        entry = _encode(ResetRequest(text[:_LONGEST], time_ms(self._client), network))
        with self._client.pipeline(transaction=True) as pipe:
            pipe.rpush(RESET_REQUESTS, entry)
            pipe.ltrim(RESET_REQUESTS, -MOST_REQUESTS, -1)
            pipe.execute()

    def _count_network(self, network: str) -> None:
        try:
            self._by_network.count(network)
        except Refusal:
            note_security(SecurityEvent.LIMIT, limit="resets")
            raise Refusal(Code.TOO_FAST, SAY("resets-fast"), 60 * _HOUR_MINUTES) from None

    def oldest(self, count: int) -> list[ResetRequest]:
        """Return the oldest requests that are not older than a link may be."""
        found: Any = self._client.lrange(RESET_REQUESTS, 0, count - 1)
        return [_decode(data) for data in found]

    def is_timely(self, request: ResetRequest) -> bool:
        """Return whether a link may still be expected."""
        return time_ms(self._client) - request.at < 1000 * LINK_SECONDS

    def done(self, request: ResetRequest) -> None:
        """Remove a request."""
        # redis-py types elements as text only
        element: Any = _encode(request)
        self._client.lrem(RESET_REQUESTS, 1, element)

    # links

    def issue(self, account: AccountId) -> str | None:
        """Return a new link's text, which replaces the account's last; None after too many."""
        try:
            self._by_account.count(account.hex())
        except Refusal:
            note_security(SecurityEvent.LIMIT, account, limit="resets")
            return None
        text = urlsafe_b64encode(account + os.urandom(_RANDOM_BYTES)).decode().rstrip("=")
        self._client.set(keys.password_reset(account), _digest(text), ex=LINK_SECONDS)
        return text

    def account_of(self, text: str) -> AccountId | None:
        """Return the account of a link that is valid; None for any other."""
        if not _TEXT.fullmatch(text):
            return None
        account = urlsafe_b64decode(f"{text}==")[:_ID_BYTES]
        stored: Any = self._client.get(keys.password_reset(account))
        valid = stored is not None and hmac.compare_digest(stored, _digest(text))
        return account if valid else None

    def use(self, text: str) -> AccountId | None:
        """Return the account of a link, and end the link; None if it was used or has expired."""
        account = self.account_of(text)
        # of two that use it at once one deletes it
        return account if account is not None and self.forget(account) else None

    def forget(self, account: AccountId) -> bool:
        """End the link of an account; False if there is none."""
        return bool(self._client.delete(keys.password_reset(account)))


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()
