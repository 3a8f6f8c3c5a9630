"""Encrypts a notification for one browser: RFC 8291, with the content encoding aes128gcm of RFC 8188."""

import secrets
from typing import Final

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

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
