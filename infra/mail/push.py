"""How this server names itself to push services: RFC 8292 (VAPID).

The key is derived from the key of the accounts' MACs, which all processes of a server share and which is backed up
with it. Browsers are subscribed to that key: with another one all players must allow notifications again.

Encrypts a notification for one browser: RFC 8291, with the content encoding aes128gcm of RFC 8188.

The notifications that wait for push services, and how far the logs were read for them.

An entry has the notice and no text: what a browser shows is written when it is sent, and says what is true then.
"""

import json
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
import redis
from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from domain.records import AccountId
from infra.mail.progress import LogCursor
from infra.people.account_macs import read_mac_key
from infra.projections.notices import NoticeKind, PlayerNotice, read_detail
from infra.redis import mail_keys as keys
from infra.settings.push_services import origin_of

CURVE: Final = ec.SECP256R1()
KEY_BYTES: Final = 65
"""A public key of a browser: an uncompressed point."""
AUTH_BYTES: Final = 16
LONGEST: Final = 3_900
"""Bytes of a notification, so that its record fits into the 4,096 that each push service takes."""

_SALT_BYTES: Final = 16
_RECORD_BYTES: Final = 4_096
_LAST_RECORD: Final = b"\x02"


def read_public_key(data: bytes) -> ec.EllipticCurvePublicKey:
    """Return the key of a browser; `ValueError` if it is no point of the curve."""
    if len(data) != KEY_BYTES:
        raise ValueError("a browser's key has 65 bytes")
    try:
        return ec.EllipticCurvePublicKey.from_encoded_point(CURVE, data)
    except InvalidKey as error:  # pragma: no cover - some backends raise it
        raise ValueError("no point of the curve") from error


def public_bytes(key: ec.EllipticCurvePublicKey) -> bytes:
    """Return a public key as an uncompressed point."""
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def encrypt(
    text: bytes,
    browser: bytes,
    auth: bytes,
    sender: ec.EllipticCurvePrivateKey | None = None,
    salt: bytes = b"",
) -> bytes:
    """Return the body of a push message; `browser` and `auth` are the keys of its subscription.

    The key of the `sender` and the `salt` are new for each message; tests give those of the standard.
    """
    if len(text) > LONGEST:
        raise ValueError(f"a notification has at most {LONGEST} bytes")
    sender = sender or ec.generate_private_key(CURVE)
    salt = salt or secrets.token_bytes(_SALT_BYTES)
    key = read_public_key(browser)
    own = public_bytes(sender.public_key())
    shared = sender.exchange(ec.ECDH(), key)
    secret = _derive(shared, auth, b"WebPush: info\x00" + browser + own, 32)
    content_key = _derive(secret, salt, b"Content-Encoding: aes128gcm\x00", 16)
    nonce = _derive(secret, salt, b"Content-Encoding: nonce\x00", 12)
    sealed = AESGCM(content_key).encrypt(nonce, text + _LAST_RECORD, None)
    return salt + _RECORD_BYTES.to_bytes(4, "big") + bytes([len(own)]) + own + sealed


def _derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(secret)


_LIFE_SECONDS: Final = 12 * 3_600
"""How long a token is valid; services take up to a day."""

_ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""The order of P-256."""


class VapidKey:
    """The key that signs what this server sends; `site` is its own address, for the service's operators."""

    def __init__(self, secret: bytes, site: str) -> None:
        wide = HKDF(SHA256(), 48, b"", b"matchpost web push 1").derive(secret)
        # 128 bits more than the order has, so that each key is equally likely
        number = int.from_bytes(wide, "big") % (_ORDER - 1) + 1
        self._key = ec.derive_private_key(number, CURVE)
        self._site = site
        self.public: Final = encode(public_bytes(self._key.public_key()))
        """The public key as browsers and services want it."""

    @classmethod
    def in_folder(cls, folder: Path, site: str) -> "VapidKey":
        """Return the key of a folder of keys; `MacKeyError` if that of the MACs is missing or damaged."""
        return cls(read_mac_key(folder).secret, site)

    def authorization(self, endpoint: str, now: float) -> str:
        """Return the header `Authorization` for a message; `now` is in seconds."""
        claims = {
            "aud": origin_of(endpoint),
            "exp": int(now) + _LIFE_SECONDS,
            "sub": self._site,
        }
        signed = f"{_encode_json({'typ': 'JWT', 'alg': 'ES256'})}.{_encode_json(claims)}"
        r, s = decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(SHA256())))
        signature = r.to_bytes(32, "big") + s.to_bytes(32, "big")
        return f"vapid t={signed}.{encode(signature)}, k={self.public}"


def encode(data: bytes) -> str:
    """Return data as base64 for URLs, without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _encode_json(value: object) -> str:
    return encode(json.dumps(value, separators=(",", ":")).encode())


class PushMessage(msgspec.Struct, frozen=True):
    """A message, as the service worker of the pages reads it."""

    text: bytes
    topic: str
    """A newer message replaces one of the same topic that was not delivered; at most 32 letters."""
    seconds: int
    """How long the service keeps it for a browser that is away."""
    urgent: bool = False


class PushComposer(Protocol):
    """Writes notifications; `services.push.notification_texts` implements it."""

    def compose(self, account: AccountId, notices: Sequence[PlayerNotice]) -> PushMessage | None:
        """Write the notices of one command; None when none of them holds any longer."""
        ...


LIFE_MS: Final = 24 * 3_600_000
"""How long a notice is worth a notification."""


class QueuedPush(msgspec.Struct, frozen=True, array_like=True):
    """The notices of one command to one account."""

    account: AccountId
    at: int
    """Milliseconds."""
    board: int
    """0 for a message, the number of a tournament for notices of one."""
    seq: int
    notices: tuple[tuple[NoticeKind, str], ...]
    """The kind of each, and its detail as text."""
    tries: int = 0
    only: tuple[str, ...] = ()
    """Ids of the subscriptions that are tried again; none for all."""

    @property
    def player_notices(self) -> list[PlayerNotice]:
        """Return the notices."""
        return [
            PlayerNotice(self.at, self.board, self.seq, kind, read_detail(kind, text))
            for kind, text in self.notices
        ]


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(QueuedPush)


class PushQueue(LogCursor):
    """The queue. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(client, keys.PUSH_CURSOR)
        # redis-py types members as text only
        self._queue: Any = client

    def end(self) -> None:
        """Forget everything: this server sends no notifications any more."""
        self._queue.delete(keys.PUSH_CURSOR, keys.PUSH_DUE)

    def is_on(self) -> bool:
        """Return whether notifications are sent at all."""
        return bool(self._queue.exists(keys.PUSH_CURSOR))

    def add(self, entries: Iterable[QueuedPush]) -> None:
        """Add entries that are due at once; safe to repeat until they were sent."""
        found = {_ENCODER.encode(one): one.at for one in entries}
        if found:
            self._queue.zadd(keys.PUSH_DUE, found, nx=True)

    def due(self, now: int, count: int) -> list[QueuedPush]:
        """Return entries that are due, the oldest first."""
        found = keys.due_members(self._queue, keys.PUSH_DUE, now, LIFE_MS, count)
        return [_DECODER.decode(member) for member, _ in found]

    def is_due(self, now: int) -> bool:
        """Return whether an entry is due."""
        return bool(self.due(now, 1))

    def done(self, entry: QueuedPush, again: QueuedPush | None = None, due: int = 0) -> None:
        """Remove an entry, and put another in its place, which is due at that time."""
        with self._queue.pipeline(transaction=True) as pipe:
            pipe.zrem(keys.PUSH_DUE, _ENCODER.encode(entry))
            if again is not None:
                pipe.zadd(keys.PUSH_DUE, {_ENCODER.encode(again): due})
            pipe.execute()

    def forget(self, account: AccountId) -> None:
        """Erase what waits for an account; safe to repeat."""
        gone: Sequence[bytes] = [
            member
            for member, _ in self._queue.zscan_iter(keys.PUSH_DUE)
            if _DECODER.decode(member).account == account
        ]
        if gone:
            self._queue.zrem(keys.PUSH_DUE, *gone)
