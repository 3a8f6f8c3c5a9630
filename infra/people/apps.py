"""Apps: programs that players have registered here, for others to let them act in their name.

| key | what |
|---|---|
| `{a:<hex>}:apps` | hash: id of an app that the account has registered -> its record |
| `{a:<hex>}:app:<id>` | set: accounts that have let that app act for them |

A client id is the owner's account and the app's id in hex, so an app is found by it without another key, is in the slot of
its owner's record, and leaves with that. It is public, and no app has a secret: a program that is handed out can keep none.

Durable as `infra.people.messages` is.
"""

import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
import redis

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.account_index import index_under_account
from infra.people.sessions import new_id
from infra.people.tokens import Scope
from infra.redis import keys
from infra.redis.clients import time_ms
from infra.sentences import SAY

MOST_APPS: Final = 10
"""Apps of one account."""

MOST_REDIRECTS: Final = 5
NAME_LENGTHS: Final = range(1, 41)
LONGEST_ADDRESS: Final = 300

APP_SCOPES: Final = (Scope.READ, Scope.PLAY, Scope.ORGANISE)
"""The scopes that an app may ask for. With `account` or `admin` it could take over the account or the server."""

_ID_BYTES: Final = 8
_CLIENT_ID: Final = re.compile(r"[0-9a-f]{32}")
_ADDRESS: Final = re.compile(r"[A-Za-z0-9._~:/?@!$&()*+,;=%\[\]-]+")
_OWN_SCHEME: Final = re.compile(r"[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+")
_LOOPBACK: Final = re.compile(r"(http://(?:127\.0\.0\.1|\[::1\]|localhost))(?::[0-9]{1,5})?(/.*)?")


class RegisteredApp(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An app. Stored as a map without its client id: a new field needs a default, and a default never changes."""

    name: str
    site: str
    """The address of its own page; empty for none."""
    redirects: tuple[str, ...]
    """Where a browser is sent back to; on this machine itself at any port."""
    created: int
    """Milliseconds."""
    client_id: str = ""

    @property
    def owner(self) -> AccountId:
        """The account that has registered it; empty for the one that is a part of this program."""
        return bytes.fromhex(self.client_id)[:_ID_BYTES] if self != TERMINAL_APP else b""

    def has_redirect(self, address: str) -> bool:
        """Return whether a browser may be sent back to an address: one of its own, on loopback at any port."""
        return _without_port(address) in map(_without_port, self.redirects)


TERMINAL_APP: Final = RegisteredApp(
    name="matchpost login --device",
    site="",
    redirects=(),
    created=0,
    client_id="matchpost-terminal",
)
"""The one that every server knows, and that is not renewed."""


def _without_port(address: str) -> str:
    """Return an address without its port, if it is one of the machine itself (RFC 8252, 7.3)."""
    found = _LOOPBACK.fullmatch(address)
    return f"{found[1]}{found[2] or ''}" if found else address


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(RegisteredApp).decode


class Apps:
    """The apps on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        # redis-py types no answer precisely
        self._client: Any = client

    def register(
        self, owner: AccountId, name: str, site: str, redirects: tuple[str, ...]
    ) -> RegisteredApp:
        """Register an app; `bad-option` for a bad argument, `too-many`, `unknown-user` for a deleted account."""
        app = RegisteredApp(
            name=_checked_name(name),
            site=_checked_site(site),
            redirects=_checked_redirects(redirects),
            created=time_ms(self._client),
        )
        id_ = new_id()
        name = keys.apps(owner)
        if not index_under_account(self._client, owner, name, id_, _encode(app), MOST_APPS):
            raise Refusal(Code.TOO_MANY, SAY("apps", most=MOST_APPS))
        return msgspec.structs.replace(app, client_id=owner.hex() + id_)

    def get(self, client_id: str) -> RegisteredApp | None:
        """Return an app; None if there is none of this id."""
        if client_id == TERMINAL_APP.client_id:
            return TERMINAL_APP
        if not _CLIENT_ID.fullmatch(client_id):
            return None
        owner, id_ = _parts(client_id)
        found = self._client.hget(keys.apps(owner), id_)
        return msgspec.structs.replace(_decode(found), client_id=client_id) if found else None

    def of(self, owner: AccountId) -> list[RegisteredApp]:
        """Return the apps that an account has registered, the newest first."""
        found = self._client.hgetall(keys.apps(owner)).items()
        apps = [
            msgspec.structs.replace(_decode(data), client_id=owner.hex() + id_.decode())
            for id_, data in found
        ]
        return sorted(apps, key=lambda one: (one.created, one.client_id), reverse=True)

    def remove(self, client_id: str) -> bool:
        """Remove an app, so that nothing is opened for it any longer; False if there is none."""
        owner, id_ = _parts(client_id)
        return bool(self._client.hdel(keys.apps(owner), id_))

    # the accounts that have let an app act for them

    def add_user(self, client_id: str, account: AccountId) -> None:
        """Note that an account has let an app act for it."""
        if _CLIENT_ID.fullmatch(client_id):
            self._client.sadd(keys.app_users(*_parts(client_id)), account)

    def remove_user(self, client_id: str, account: AccountId) -> None:
        """Forget that an account has let an app act for it."""
        if _CLIENT_ID.fullmatch(client_id):
            self._client.srem(keys.app_users(*_parts(client_id)), account)

    def users(self, client_id: str) -> Iterator[AccountId]:
        """Yield the accounts that have let an app act for them."""
        yield from self._client.sscan_iter(keys.app_users(*_parts(client_id)))


def _parts(client_id: str) -> tuple[AccountId, str]:
    return bytes.fromhex(client_id[: 2 * _ID_BYTES]), client_id[2 * _ID_BYTES :]


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if len(name) not in NAME_LENGTHS or not name.isprintable():
        raise Refusal(Code.BAD_OPTION, SAY("app-name", most=NAME_LENGTHS[-1]))
    return name


def _is_address(text: str) -> bool:
    return len(text) <= LONGEST_ADDRESS and _ADDRESS.fullmatch(text) is not None


def _checked_site(site: str) -> str:
    site = site.strip()
    if site and not (_is_address(site) and _is_https(site)):
        raise Refusal(Code.BAD_OPTION, SAY("app-site"))
    return site


def _is_https(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme == "https" and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        return False


def _checked_redirects(redirects: tuple[str, ...]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(filter(None, map(str.strip, redirects))))
    if len(found) > MOST_REDIRECTS:
        raise Refusal(Code.BAD_OPTION, SAY("app-redirects", most=MOST_REDIRECTS))
    for one in found:
        own = _OWN_SCHEME.fullmatch(one.partition(":")[0]) and one.partition(":")[2].startswith("/")
        if not _is_address(one) or not (_is_https(one) or _LOOPBACK.fullmatch(one) or own):
            raise Refusal(Code.BAD_OPTION, SAY("app-redirect", address=one[:60]))
    return found
