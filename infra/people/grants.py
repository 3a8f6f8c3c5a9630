"""Grants: what a player has let an app do, from the consent on, and the secrets by which the app gets tokens.

| key | what |
|---|---|
| `{a:<hex>}:grants` | hash: id of a grant -> its record |

A grant begins with a code, which is good for a minute and once. It gives a token of `infra.people.tokens`, and a text by
which the next token is got (a refresh token), which is good once as well: each gives the next. Code and text have the
account and the grant in them, so they are found without a key of their own, and the record has only their SHA-256.

A code or a refresh token that is used a second time was copied, and nobody can tell by whom, so the grant ends with all
its tokens. A made-up text ends nothing: all texts of a grant have one secret, by which they are known.

A grant is changed by comparing and setting its record, so of two that use a text at once one is the second. It is
beside the account's record, and leaves with it. A token is issued after the record has changed, and then the grant is
looked up again, because it may have ended meanwhile.

Durable as `infra.people.messages` is.
"""

import hmac
import os
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

import msgspec
import redis
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.account_index import index_under_account
from infra.people.apps import Apps
from infra.people.rate_limits import SecurityEvent, note_security
from infra.people.sessions import new_id
from infra.people.tokens import Scope, Tokens
from infra.redis import keys, scripts
from infra.redis.clients import time_ms
from infra.sentences import SAY

CODE_SECONDS: Final = 60
"""How long a code is good."""

UNUSED_DAYS: Final = 180
"""Days without a new token after which a grant ends."""

LASTS_DAYS: Final = 365
"""Days after which a player is asked again in any case."""

MOST_GRANTS: Final = 50
"""Grants of one account."""

MOST_OF_APP: Final = 5
"""Grants of one account to one app, such as for several machines; another one ends the oldest."""

_SWAP: Final = scripts.Script("swap_field")

_DAY: Final = 24 * 3_600_000
_ID_BYTES: Final = 8
_SECRET_BYTES: Final = 24
_CODE: Final = "mc_"
_REFRESH: Final = "mr_"
_TEXT: Final = re.compile(f"({_CODE}|{_REFRESH})([A-Za-z0-9_-]{{86}})")


class Grant(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A grant. Stored as a map: a new field needs a default, and a default never changes. Times are ms."""

    app: str
    """The app's client id."""
    scopes: tuple[Scope, ...]
    created: int
    code: bytes
    """SHA-256 of the code, which stays, so that its second use is noticed."""
    code_until: int
    family: bytes = b""
    """SHA-256 of the secret that all its texts have."""
    redirect: str = ""
    """Where the browser was sent with the code."""
    challenge: str = ""
    """The SHA-256 of the app's own secret, in base64url, which the app has to show with the code (PKCE)."""
    used: int = 0
    """When it has given a token last; 0 for never."""
    refresh: bytes = b""
    """SHA-256 of the refresh token; empty as long as there is none."""


class FoundGrant(NamedTuple):
    """A grant, as it was read."""

    account: AccountId
    id: str
    grant: Grant
    data: bytes
    """Its record."""
    secret: bytes = b""
    """The secret that all texts of the grant have, if it was found by one of them."""


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(Grant).decode


class Grants:
    """The grants on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        # redis-py types no answer precisely
        self._client: Any = client
        self._apps = Apps(client)
        self._tokens = Tokens(client)

    def begin(
        self,
        account: AccountId,
        app: str,
        scopes: Sequence[Scope],
        *,
        redirect: str = "",
        challenge: str = "",
        device: bytes = b"",
        seconds: int = CODE_SECONDS,
    ) -> tuple[str, str]:
        """Begin a grant, and return its id and its code; that of a device is the code with the SHA-256 `device`.

        `too-many`; `not-found` for an app that was removed meanwhile, `unknown-user` for a deleted account.
        """
        waiting = [one for one in self.of(account) if one.grant.app == app and not one.grant.used]
        for oldest in waiting[MOST_OF_APP - 1 :]:
            self.end(account, oldest.id)
        now, id_, secret = time_ms(self._client), new_id(), os.urandom(_SECRET_BYTES)
        code = _text(_CODE, account, id_, secret)
        grant = Grant(
            app=app,
            scopes=tuple(scopes),
            created=now,
            code=device or _digest(code.encode()),
            code_until=now + 1000 * seconds,
            family=_digest(secret),
            redirect=redirect,
            challenge=challenge,
        )
        name = keys.grants(account)
        self._apps.add_user(app, account)
        # crash window: the app has a user without a grant, who leaves its set with the next one
        if not index_under_account(self._client, account, name, id_, _encode(grant), MOST_GRANTS):
            raise Refusal(Code.TOO_MANY, SAY("grants", most=MOST_GRANTS))
        if self._apps.get(app) is None:
            self.end(account, id_)
            raise Refusal(Code.NOT_FOUND, SAY("no-app"))
        return id_, code

    def read(self, account: AccountId, id_: str) -> FoundGrant | None:
        """Return a grant; None if there is none of this id."""
        data = self._client.hget(keys.grants(account), id_)
        return FoundGrant(account, id_, _decode(data), data) if data else None

    def find(self, text: str) -> FoundGrant | None:
        """Return the grant of a code or a refresh token, whether it is good or was used; None for any other text."""
        if not _TEXT.fullmatch(text):
            return None
        parts = urlsafe_b64decode(f"{text[len(_CODE) :]}==")
        account, id_ = parts[:_ID_BYTES], parts[_ID_BYTES : 2 * _ID_BYTES].hex()
        secret = parts[2 * _ID_BYTES :][:_SECRET_BYTES]
        found = self.read(account, id_)
        if found is None or not hmac.compare_digest(found.grant.family, _digest(secret)):
            return None
        return found._replace(secret=secret)

    def of_code(self, text: str, app: str) -> FoundGrant | None:
        """Return the grant of an app that a code is good for; None for any other, one whose use ends the grant too."""
        found = self.find(text)
        if found is None or found.grant.app != app or not _is_of(found.grant.code, text):
            return None
        return self.unused(found)

    def unused(self, found: FoundGrant) -> FoundGrant | None:
        """Return a grant whose code is used in time and for the first time; None for another, which a second use ends."""
        if found.grant.used:
            self._end_copied(found)
            return None
        return found if time_ms(self._client) < found.grant.code_until else None

    def of_refresh_token(self, text: str, app: str) -> FoundGrant | None:
        """Return the grant of an app that a refresh token is good for; None for any other, as in `of_code`."""
        found = self.find(text)
        if found is None or found.grant.app != app or not text.startswith(_REFRESH):
            return None
        if not _is_of(found.grant.refresh, text):
            self._end_copied(found)
            return None
        return found if time_ms(self._client) < _end_of(found.grant) else None

    def use(self, found: FoundGrant, *, refreshes: bool) -> str | None:
        """Note that a grant gives a token; return the next refresh token, an empty text unless it `refreshes`.

        None if its text was used at the same moment, which ends it, or if it has ended.
        """
        secret = found.secret or os.urandom(_SECRET_BYTES)
        text = _text(_REFRESH, found.account, found.id, secret) if refreshes else ""
        used = replace(
            found.grant,
            used=time_ms(self._client),
            family=_digest(secret),
            refresh=_digest(text.encode()) if text else b"",
        )
        words: list[scripts.Arg] = [found.id, found.data, _encode(used)]
        if not scripts.call(self._client, _SWAP, [keys.grants(found.account)], words):
            self._end_copied(found)
            return None
        if not found.grant.used:
            self._make_room(found)
        return text

    def _make_room(self, new: FoundGrant) -> None:
        """End the oldest grants to the app of a new one, which is in use only now."""
        others = [
            one
            for one in self._all(new.account)
            if one.grant.app == new.grant.app and one.grant.used and one.id != new.id
        ]
        for oldest in _newest_first(others)[MOST_OF_APP - 1 :]:
            self.end(new.account, oldest.id)

    def end(self, account: AccountId, id_: str) -> bool:
        """End a grant with its tokens, at once and everywhere; False when the account has none of this id."""
        found = self.read(account, id_)
        if found is None:
            return False
        # first, so that no further token is issued by it
        self._client.hdel(keys.grants(account), id_)
        self.end_tokens(account, id_)
        if not any(one.grant.app == found.grant.app for one in self._all(account)):
            self._apps.remove_user(found.grant.app, account)
        return True

    def end_tokens(self, account: AccountId, id_: str) -> None:
        """End the tokens of a grant."""
        for token in self._tokens.list_of(account):
            if token.grant == id_:
                self._tokens.revoke(account, token.id)

    def end_app(self, account: AccountId, app: str) -> bool:
        """End all grants of an account to an app; False if there is none."""
        ended = [self.end(account, one.id) for one in self._all(account) if one.grant.app == app]
        self._apps.remove_user(app, account)
        return any(ended)

    def of(self, account: AccountId) -> list[FoundGrant]:
        """Return the grants of an account that last, the newest first, and end the others."""
        found, now = self._all(account), time_ms(self._client)
        # a grant that can't be renewed lasts as long as its token
        held = {one.grant for one in self._tokens.list_of(account)} if found else set()
        over = [one for one in found if now >= _end_of(one.grant)]
        over += [
            one for one in found if one.grant.used and not one.grant.refresh and one.id not in held
        ]
        for one in over:
            self.end(account, one.id)
        return _newest_first([one for one in found if one not in over])

    def end_all(self, account: AccountId) -> None:
        """End all grants of an account with their tokens; safe to repeat."""
        for app in {one.grant.app for one in self._all(account)}:
            self.end_app(account, app)

    def remove_app(self, client_id: str) -> bool:
        """Remove an app, with the grants and tokens that it has of any account; False if there is none."""
        # first, so that nothing is opened for it any longer
        removed = self._apps.remove(client_id)
        # crash window: it can't renew what it has, which ends within the hour
        for account in list(self._apps.users(client_id)):
            self.end_app(account, client_id)
        return removed

    def forget(self, account: AccountId) -> None:
        """Erase all grants of an account, and the apps that it has registered; safe to repeat."""
        self.end_all(account)
        for app in self._apps.of(account):
            self.remove_app(app.client_id)

    def _all(self, account: AccountId) -> list[FoundGrant]:
        found = self._client.hgetall(keys.grants(account)).items()
        return [FoundGrant(account, id_.decode(), _decode(data), data) for id_, data in found]

    def _end_copied(self, found: FoundGrant) -> None:
        if self.end(found.account, found.id):
            note_security(SecurityEvent.GRANT_COPIED, found.account, grant=found.id)


def _end_of(grant: Grant) -> int:
    """Return when a grant ends if nothing more is done with it."""
    if not grant.used:
        return grant.code_until
    most = grant.created + LASTS_DAYS * _DAY
    # one that is not renewed lasts as long as its token
    return min(most, grant.used + UNUSED_DAYS * _DAY) if grant.refresh else most


def _newest_first(found: Sequence[FoundGrant]) -> list[FoundGrant]:
    return sorted(found, key=lambda one: (one.grant.created, one.id), reverse=True)


def _text(prefix: str, account: AccountId, id_: str, secret: bytes) -> str:
    parts = account + bytes.fromhex(id_) + secret + os.urandom(_SECRET_BYTES)
    return prefix + urlsafe_b64encode(parts).decode().rstrip("=")


def _is_of(digest: bytes, text: str) -> bool:
    return hmac.compare_digest(digest, _digest(text.encode()))


def _digest(data: bytes) -> bytes:
    return sha256(data).digest()
