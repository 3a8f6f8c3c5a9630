"""Devices without a browser that ask for access: their user types a code on a page, wherever they have logged in.

| key | what |
|---|---|
| `{d:<hex>}` | a device's request; half the SHA-256 of the code that its user types |

The user's code has 34 random bits, which is enough for a quarter of an hour if guesses are limited. The device's own code
begins with it, so both find the one record; 256 random bits follow, of which only the SHA-256 is stored.
"""

import hmac
import os
import secrets
from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Any, Final

import msgspec
import redis

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.rate_limits import LoginRateLimit
from infra.people.tokens import Scope
from infra.redis import keys, scripts
from infra.redis.clients import time_ms
from infra.sentences import SAY

DEVICE_SECONDS: Final = 900
"""How long a request waits for its user."""

INTERVAL_SECONDS: Final = 5
"""Seconds between two questions of a device."""

_KEPT_SECONDS: Final = 2 * DEVICE_SECONDS
"""How long a request is kept, so that a device learns that it was too late."""

_LETTERS: Final = "BCDFGHJKLMNPQRSTVWXZ"
"""Without vowels, so that no code is a word."""

_HALF: Final = 4
_RANDOM_BYTES: Final = 32


class DeviceRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request. Stored as a map: a new field needs a default, and a default never changes."""

    app: str
    """Client id."""
    scopes: tuple[Scope, ...]
    until: int
    """Milliseconds."""
    device: bytes
    """SHA-256 of the device's code."""
    account: AccountId = b""
    """The account of the user who has allowed it; empty before."""
    grant: str = ""
    """The id of the grant that the user has given; empty before, and for a request that was refused."""
    refused: bool = False


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(DeviceRequest).decode


class DeviceCodes:
    """The requests on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        # redis-py types no answer precisely
        self._client: Any = client
        self._guesses = LoginRateLimit(client, namespace="devices")

    def ask(self, app: str, scopes: tuple[Scope, ...]) -> tuple[str, str]:
        """Store a request of a device, and return the device's code and its user's."""
        letters = "".join(secrets.choice(_LETTERS) for _ in range(2 * _HALF))
        user = f"{letters[:_HALF]}-{letters[_HALF:]}"
        device = f"{letters}.{urlsafe_b64encode(os.urandom(_RANDOM_BYTES)).decode().rstrip('=')}"
        until = time_ms(self._client) + 1000 * DEVICE_SECONDS
        digest = sha256(device.encode()).digest()
        asked = DeviceRequest(app=app, scopes=scopes, until=until, device=digest)
        if not self._client.set(_key(user), _encode(asked), nx=True, ex=_KEPT_SECONDS):
            return self.ask(app, scopes)  # the code of another device
        return device, user

    def of_device(self, code: str) -> DeviceRequest | None:
        """Return the request of a device's code; None if there is none."""
        found = self._read(code[: 2 * _HALF])
        return found if found and hmac.compare_digest(found.device, _digest(code)) else None

    def of_user(self, code: str, account: AccountId) -> DeviceRequest | None:
        """Return the request that waits for a user who types its code; None if there is none.

        `too-many-attempts` for an account that has guessed too often.
        """
        self._count(account)
        found = self._read(code)
        waits = found and not found.grant and not found.refused
        if found is None or not waits or time_ms(self._client) >= found.until:
            return None
        self._guesses.give_back(account.hex())
        return found

    def answer(self, code: str, before: DeviceRequest, after: DeviceRequest) -> None:
        """Note what the user has decided; `not-found` if it was decided meanwhile."""
        old, new = _encode(before), _encode(after)
        if not scripts.compare_and_set(self._client, _key(code), old, new, 1000 * _KEPT_SECONDS):
            raise Refusal(Code.NOT_FOUND, SAY("no-device"))

    def is_hasty(self, code: str) -> bool:
        """Return whether a device asks again too soon, and note that it asks."""
        name = f"{_key(code[: 2 * _HALF])}:asked"
        # half a second early, because answers take unequal times
        return not self._client.set(name, b"", nx=True, px=1000 * INTERVAL_SECONDS - 500)

    def _count(self, account: AccountId) -> None:
        # before the guess, so that simultaneous ones are stopped as well
        try:
            self._guesses.count(account.hex())
        except Refusal as reason:
            said = SAY("device-guesses", minutes=reason.retry_after // 60)
            raise Refusal(reason.code, said, reason.retry_after) from None

    def _read(self, user: str) -> DeviceRequest | None:
        found = self._client.get(_key(user))
        return _decode(found) if found else None


def _key(user: str) -> str:
    """Return the key of a user's code, however it is typed."""
    return keys.device(_digest("".join(filter(str.isalnum, user.upper()))))


def _digest(text: str) -> bytes:
    return sha256(text.encode(errors="surrogatepass")).digest()
