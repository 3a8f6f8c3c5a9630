"""Userids that look alike: nobody can take one that a reader would mistake for another player's.

| key | what |
|---|---|
| `{l:<hex>}` | half the SHA-256 of a skeleton: empty while an account has such a userid, `left` for a year after it |

The skeleton of a userid is the same for all that look like it. A new userid claims the key of its skeleton for a
minute, and keeps it once its account exists, so a signup that was killed blocks nobody for long. Accounts that are
older than these keys get theirs from the scrubber; two of them may look alike, and both keep their names.
"""

import re
from hashlib import sha256
from typing import Any, Final

import redis

from infra.redis import keys

REST_SECONDS: Final = 365 * 24 * 3600
"""How long the userid of a deleted account can't be taken."""

_CLAIM_SECONDS: Final = 60
_LEFT: Final = b"left"
_ALIKE: Final = str.maketrans("01i_", "oll-")


def skeleton(name: str) -> str:
    """Return what all userids that look like this one have in common."""
    # between digits a mark stays, because team1-11 is not team11-1
    bare = re.sub(r"(?<!\d)[-_]+|[-_]+(?!\d)", "", name.lower())
    return bare.translate(_ALIKE).replace("rn", "m")


class Lookalikes:
    """The skeletons of the userids on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def claim(self, name: str) -> bool:
        """Claim what a userid looks like, for a minute; False if another one looks like it."""
        return bool(self._client.set(_key(name), b"", nx=True, ex=_CLAIM_SECONDS))

    def keep(self, name: str) -> None:
        """Keep a claim as long as the account exists."""
        self._client.persist(_key(name))

    def release(self, name: str) -> None:
        """End a claim."""
        self._client.delete(_key(name))

    def add(self, name: str) -> None:
        """Add the userid of an account that exists; safe to repeat."""
        self._client.set(_key(name), b"", nx=True)

    def rest(self, name: str) -> None:
        """Let the userid of a deleted account rest, and all that look like it."""
        self._client.set(_key(name), _LEFT, ex=REST_SECONDS)

    def rests(self, name: str) -> bool:
        """Return whether a userid rests."""
        found: Any = self._client.get(_key(name))
        return bool(found == _LEFT)


def _key(name: str) -> str:
    return keys.lookalike(sha256(skeleton(name).encode()).digest())
