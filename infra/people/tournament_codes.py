"""The codes of tournaments that only those enter who know one; they are in no log.

| key | what |
|---|---|
| `{tournaments}:codes` | hash: number -> a salt, and the SHA-256 of salt and code |

A code is 64 random bits, so nobody finds it by trying, and it is shown only once. Making one ends the one before.
"""

import hmac
import secrets
from hashlib import sha256
from typing import Any, Final

import redis

from infra.redis import keys

_SECRET_BYTES: Final = 8
_SALT_BYTES: Final = 16


class TournamentCodes:
    """The codes. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def make(self, number: int) -> str:
        """Return a new code of a tournament, in place of an earlier one."""
        code, salt = secrets.token_hex(_SECRET_BYTES), secrets.token_bytes(_SALT_BYTES)
        self._client.hset(keys.TOURNAMENT_CODES, str(number), salt + _digest(salt, code))
        return code

    def is_right(self, number: int, code: str) -> bool:
        """Return whether this is the code of a tournament; capitals and blanks around it don't matter."""
        stored: Any = self._client.hget(keys.TOURNAMENT_CODES, str(number))
        if stored is None:
            return False
        salt, digest = stored[:_SALT_BYTES], stored[_SALT_BYTES:]
        return hmac.compare_digest(digest, _digest(salt, code.strip().lower()))


def _digest(salt: bytes, code: str) -> bytes:
    return sha256(salt + code.encode(errors="surrogatepass")).digest()
