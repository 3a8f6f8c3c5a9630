"""Batches of matches that organisers have paired with tools of their own: labels and board numbers.

| key | what |
|---|---|
| `{a:<hex>}:paired` | hash: idempotency key of a batch -> packed `PairingBatch` |

A batch is stored before its matches start, with the commands that start them, so that a start that was interrupted goes
on as it was checked. It is of its organiser's account, and is erased with it; the matches stay. A batch that was
dropped and is sent again starts no match twice, because the ids of the starts follow from its key.
"""

from typing import Any, Final

import msgspec
import redis

from domain.match.commands import StartMatch
from domain.records import AccountId
from infra.people.account_index import index_under_account
from infra.redis import keys

MOST_BATCHES: Final = 50
"""Batches of an account: a year of weekly rounds; the oldest are dropped."""

KEPT_SECONDS: Final = 400 * 24 * 3600
"""How long the batches of an account are kept after its newest: a season, and the days until its last match is over."""


class BatchedPairing(msgspec.Struct, frozen=True, array_like=True):
    """A match of a batch."""

    board: int
    label: str
    """The organiser's own, such as `Round 3, board 1`; may be empty."""
    start: StartMatch


class PairingBatch(msgspec.Struct, frozen=True, array_like=True):
    """A batch of matches. A new field comes last, with a default."""

    at: int
    """When it was checked, ms since 1970."""
    digest: bytes
    """SHA-256 of the request."""
    source: str
    """The club or the tournament whose players it pairs, such as `club rook-and-pawn` or `tournament 12`."""
    pairings: tuple[BatchedPairing, ...]


_ENCODE: Final = msgspec.msgpack.Encoder().encode
_DECODE: Final = msgspec.msgpack.Decoder(PairingBatch).decode


class PairingBatches:
    """The batches on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def add(self, account: AccountId, key: str, batch: PairingBatch) -> PairingBatch:
        """Store a batch, in place of the oldest where there are too many, and return the one that is stored.

        That is another if a request with the same key came first. `unknown-user` for a deleted account.
        """
        name, data = keys.paired(account), _ENCODE(batch)
        while not index_under_account(
            self._client, account, name, key, data, MOST_BATCHES, stays=True
        ):
            found = self.of(account)
            self._client.hdel(name, min(found, key=lambda one: found[one].at))
        self._client.expire(name, KEPT_SECONDS)
        return self.get(account, key) or batch

    def get(self, account: AccountId, key: str) -> PairingBatch | None:
        """Return the batch of a key; None if there is none."""
        found: Any = self._client.hget(keys.paired(account), key)
        return _DECODE(found) if found else None

    def of(self, account: AccountId) -> dict[str, PairingBatch]:
        """Return all batches of an account by key."""
        found: Any = self._client.hgetall(keys.paired(account))
        return {key.decode(): _DECODE(data) for key, data in found.items()}

    def forget(self, account: AccountId) -> None:
        """Erase the batches of an account; safe to repeat, see `Accounts.delete`."""
        self._client.delete(keys.paired(account))
