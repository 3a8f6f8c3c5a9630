"""How this server names itself to push services: RFC 8292 (VAPID).

The key is derived from the key of the accounts' MACs, which all processes of a server share and which is backed up
with it. Browsers are subscribed to that key: with another one all players must allow notifications again.
"""

import json
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from infra.mail.push_encryption import CURVE, public_bytes
from infra.people.account_macs import read_mac_key
from infra.settings.push_services import origin_of

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
