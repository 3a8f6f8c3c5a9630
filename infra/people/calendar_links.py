"""The secret addresses of players' calendars, one for each account that wants one.

| key | what |
|---|---|
| `{a:<hex>}:calendar` | hash with one field, `digest`: when the address was made, ms, and SHA-256 of its text |

The text has the account's id and 192 random bits, and is stored nowhere. It is written only while the account's record
exists, and ends with all access to the account (`infra.people.accounts.writing`).
"""

import hmac
import os
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from typing import Any, Final

import redis

from domain.records import AccountId
from infra.people.account_index import index_under_account
from infra.redis import keys
from infra.redis.clients import time_ms

_ID_BYTES: Final = 8
_RANDOM_BYTES: Final = 25
_TEXT: Final = re.compile(r"[A-Za-z0-9_-]{44}")
_FIELD: Final = "digest"


class CalendarLinks:
    """The addresses on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        # redis-py types no answer precisely
        self._client: Any = client

    def make(self, account: AccountId) -> str:
        """Return the text of a new address, which replaces the one before; `unknown-user` for a deleted account."""
        text = urlsafe_b64encode(account + os.urandom(_RANDOM_BYTES)).decode()
        stored = b"%d %b" % (time_ms(self._client), _digest(text))
        index_under_account(self._client, account, keys.calendar(account), _FIELD, stored, 1)
        return text

    def account_of(self, text: str) -> AccountId | None:
        """Return the account of an address that is valid; None for any other."""
        if not _TEXT.fullmatch(text):
            return None
        account = urlsafe_b64decode(text)[:_ID_BYTES]
        _, stored = self._stored(account)
        return account if hmac.compare_digest(stored, _digest(text)) else None

    def since(self, account: AccountId) -> int | None:
        """Return when the account's address was made, ms; None without one."""
        return self._stored(account)[0]

    def forget(self, account: AccountId) -> None:
        """End the address of an account; safe to repeat."""
        self._client.delete(keys.calendar(account))

    def _stored(self, account: AccountId) -> tuple[int | None, bytes]:
        found: bytes | None = self._client.hget(keys.calendar(account), _FIELD)
        if found is None:
            return None, b""
        since, _, digest = found.partition(b" ")
        return int(since), digest


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()
