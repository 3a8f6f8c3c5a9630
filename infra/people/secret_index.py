"""The common part of sessions and tokens: secrets of an account, of which only the SHA-256 is stored.

A secret is two keys in different slots of a cluster: a record, found by the SHA-256 of the text, and a
field of a hash under the account, id -> SHA-256. A record is written before its field and deleted before
it, so a field without a record means a secret that has ended, and every reader may remove it.
"""

import hmac
import os
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

import redis

from domain.match.events import AccountId
from infra.people.account_index import index_under_account

_ID_BYTES: Final = 8
_ID: Final = re.compile(r"[0-9a-f]{16}")
_DIGEST_BYTES: Final = 32


def new_id() -> str:
    """Return 64 random bits in hex."""
    return os.urandom(_ID_BYTES).hex()


def body_of(digest: bytes, data: bytes | None) -> bytes | None:
    """Return a record without its digest; None for no record, and for that of another text."""
    # the key has half the digest; compared in constant time, because the other half is secret
    if data is None or not hmac.compare_digest(data[:_DIGEST_BYTES], digest):
        return None
    return data[_DIGEST_BYTES:]


class SecretIndex:
    """The secrets of one kind; `record` and `index` name the two keys."""

    def __init__(
        self,
        client: redis.Redis,
        record: Callable[[bytes], str],
        index: Callable[[AccountId], str],
    ) -> None:
        self._client = client
        self._record = record
        self._index = index

    def add(self, account: AccountId, id_: str, digest: bytes, most: int) -> bool:
        """Add a secret; False when the account has `most`, `unknown-user` when it was deleted."""
        return index_under_account(self._client, account, self._index(account), id_, digest, most)

    def of(self, account: AccountId) -> dict[str, bytes]:
        """Return the SHA-256 of an account's secrets by their ids."""
        found: Any = self._client.hgetall(self._index(account))
        return {id_.decode(): digest for id_, digest in found.items()}

    def remove(self, account: AccountId, ids: Iterable[str]) -> None:
        """Remove secrets that have ended; others may have been added since they were read."""
        if removed := list(ids):
            self._client.hdel(self._index(account), *removed)

    def end(self, account: AccountId, id_: str) -> bool:
        """End a secret at once and everywhere; False when the account has none of this id."""
        valid = _ID.fullmatch(id_)
        digest: Any = self._client.hget(self._index(account), id_) if valid else None
        if digest is None:
            return False
        ended = self._client.delete(self._record(digest))
        # crash window: its record is deleted and its field is not
        self.remove(account, [id_])
        return bool(ended)

    def forget(self, account: AccountId) -> None:
        """Erase all secrets of an account; safe to repeat."""
        found = self.of(account)
        with self._client.pipeline(transaction=False) as pipe:
            for digest in found.values():
                pipe.delete(self._record(digest))
            pipe.execute()
        # crash window: until here every record can still be found
        self.remove(account, found)
