"""Browsers that show notifications of an account: their subscriptions at push services.

| key | what |
|---|---|
| `{a:<hex>}:push` | hash: id of a subscription -> packed subscription |

An endpoint is personal data: it is stored beside the account's record, is written only while that exists, and
leaves with it (`infra.people.account_index`).
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec
import redis

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.account_index import index_under_account
from infra.people.sessions import Sessions
from infra.people.tokens import Tokens
from infra.redis import keys
from infra.sentences import SAY

MOST_SUBSCRIPTIONS: Final = 10
"""Browsers of one account."""

_ID_LENGTH: Final = 16


class PushSubscription(msgspec.Struct, frozen=True, array_like=True):
    """A browser that shows notifications."""

    endpoint: str
    """The address at its push service."""
    key: bytes
    """Its public key, an uncompressed point of P-256."""
    auth: bytes
    """Its secret of 16 bytes, which authenticates messages."""
    label: str
    """The browser's description of itself."""
    since: int
    """Milliseconds."""
    login: str = ""
    """Id of the session or the token by which it was made, and with which it ends.

    Empty for one that was made before tokens were noted here: it ends with all access.
    """

    @property
    def id(self) -> str:
        """The id, which follows from the endpoint."""
        return sha256(self.endpoint.encode()).hexdigest()[:_ID_LENGTH]


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(PushSubscription)


class PushSubscriptions:
    """The subscriptions on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        # redis-py types no answer precisely
        self._client: Any = client

    def add(self, account: AccountId, one: PushSubscription) -> None:
        """Add a subscription, or replace that of the same endpoint.

        `too-many`, and `unknown-user` for a deleted account.
        """
        name, value = _key(account), _ENCODER.encode(one)
        if not index_under_account(self._client, account, name, one.id, value, MOST_SUBSCRIPTIONS):
            raise Refusal(Code.TOO_MANY, SAY("push-devices", most=MOST_SUBSCRIPTIONS))

    def of(self, account: AccountId) -> list[PushSubscription]:
        """Return the stored subscriptions of an account, the newest first."""
        found = map(_DECODER.decode, self._client.hvals(_key(account)))
        return sorted(found, key=lambda one: -one.since)

    def remove(self, account: AccountId, id_: str) -> bool:
        """Remove a subscription; return whether it was there."""
        return bool(self._client.hdel(_key(account), id_))

    def lasting(self, account: AccountId, *, unnamed: bool = True) -> list[PushSubscription]:
        """Return the subscriptions whose session or token lasts, and remove the others.

        Those that name none of either stay if `unnamed`.
        """
        found = self.of(account)
        logins = {session.id for session in Sessions(self._client).list_of(account)}
        logins |= {token.id for token in Tokens(self._client).list_of(account)}
        logins |= {""} if unnamed else set()
        for one in found:
            if one.login not in logins:
                self.remove(account, one.id)
        return [one for one in found if one.login in logins]

    def those_with(self, accounts: Iterable[AccountId]) -> set[AccountId]:
        """Return those of the accounts that have a subscription, by one round trip."""
        asked: Sequence[AccountId] = list(accounts)
        with self._client.pipeline(transaction=False) as pipe:
            for account in asked:
                pipe.exists(_key(account))
            return {one for one, there in zip(asked, pipe.execute(), strict=True) if there}

    def forget(self, account: AccountId) -> None:
        """Erase all subscriptions of an account; safe to repeat."""
        self._client.delete(_key(account))


def _key(account: AccountId) -> str:
    return f"{keys.account(account)}:push"
