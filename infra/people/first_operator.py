"""The link that makes the first operator of a server.

| key | what |
|---|---|
| `{site}:first` | SHA-256 of the link's text, until it is used or there is an operator |

`matchpost serve` makes a new one at each start at which nobody is an operator, and prints it, because a reader of
its terminal may run the server. The text is 192 random bits, and stored nowhere.
"""

import hmac
import secrets
from hashlib import sha256
from typing import Any, Final

import redis

from infra.people.accounts import AccountRole, Accounts
from infra.redis import keys

_SECRET_BYTES: Final = 24
_LONGEST: Final = 100


class FirstOperatorLink:
    """The link on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def renew(self) -> str:
        """Return the text of a new link, which ends the last one; empty if there is an operator."""
        if Accounts(self._client).holders(AccountRole.OPERATOR):
            self._client.delete(keys.FIRST_OPERATOR)
            return ""
        text = secrets.token_urlsafe(_SECRET_BYTES)
        self._client.set(keys.FIRST_OPERATOR, _digest(text))
        return text

    def is_valid(self, text: str) -> bool:
        """Return whether this is the text of the link."""
        if not text.isascii() or len(text) > _LONGEST:
            return False
        stored: Any = self._client.get(keys.FIRST_OPERATOR)
        return stored is not None and hmac.compare_digest(stored, _digest(text))

    def use(self, text: str) -> bool:
        """End the link, and return whether this was its text; of two that use it at once one gets True."""
        return self.is_valid(text) and bool(self._client.delete(keys.FIRST_OPERATOR))


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()
