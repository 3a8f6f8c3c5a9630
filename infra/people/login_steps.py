"""Steps of a log-in that is under way: what one request has proven or asked, for the next one to go on.

| key | what |
|---|---|
| `{step:<hex>}` | a step's record; half the SHA-256 of its text |

The text is 256 random bits in a form or an address, stored nowhere. A step is taken once, lasts ten minutes, and belongs to
the browser that began it, so that nobody is logged in by an address that somebody else has sent.
"""

import hmac
import os
from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Any, Final

import msgspec
import redis

from domain.records import AccountId
from infra.people.sessions import body_of

STEP_SECONDS: Final = 600
"""How long a step lasts."""

_RANDOM_BYTES: Final = 32
_LONGEST: Final = 64


class LoginStep(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A step. Stored as a map: a new field needs a default, and a default never changes."""

    kind: str
    """The purpose; no other request takes it."""
    browser: bytes
    """SHA-256 of what proves the forms of the browser."""
    account: AccountId = b""
    """The account that has been proven by now, or that asks; empty for none."""
    seal: bytes = b""
    """A digest of the parts of the account that may not change meanwhile; see `services.app.second_factors`."""
    state: dict[str, str] = {}
    """The data of the kind of step, such as a challenge."""


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(LoginStep).decode


def step_key(digest: bytes) -> str:
    """Return the key of the step whose text has this SHA-256."""
    return f"{{step:{digest[:16].hex()}}}"


class LoginSteps:
    """The steps on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def add(self, step: LoginStep) -> str:
        """Store a step, and return its text."""
        text = urlsafe_b64encode(os.urandom(_RANDOM_BYTES)).decode().rstrip("=")
        self.put_back(text, step)
        return text

    def put_back(self, text: str, step: LoginStep) -> None:
        """Store a step under its text again, because what it was taken for was refused."""
        digest = _digest(text)
        self._client.set(step_key(digest), digest + _encode(step), ex=STEP_SECONDS)

    def read(self, text: str, kind: str, browser: bytes) -> LoginStep | None:
        """Return a step of this kind and browser, which stays; None if there is none."""
        if len(text) > _LONGEST:
            return None
        digest = _digest(text)
        stored: Any = self._client.get(step_key(digest))
        body = body_of(digest, stored)
        step = _decode(body) if body is not None else None
        is_right = step and step.kind == kind and hmac.compare_digest(step.browser, browser)
        return step if is_right else None

    def take(self, text: str, kind: str, browser: bytes) -> LoginStep | None:
        """Return a step of this kind and browser, and end it; None if there is none, or it was taken."""
        found = self.read(text, kind, browser)
        # of two that take it at once one deletes it
        return found if found and self._client.delete(step_key(_digest(text))) else None


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()
