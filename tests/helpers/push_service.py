"""A push service on loopback, and browsers that read what it is given: RFC 8030, 8188, 8291 and 8292 from their side."""

import json
import threading
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from infra.mail.push import encode


def decode(text: str) -> bytes:
    """Return the bytes of base64 for URLs, without padding."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Browser:
    """A browser's keys and its address at a service."""

    def __init__(self, service: "PushService", name: str) -> None:
        self.endpoint = f"{service.url}/{name}"
        self.name = name
        self._private = ec.generate_private_key(ec.SECP256R1())
        self._public = self._private.public_key().public_bytes(
            Encoding.X962, PublicFormat.UncompressedPoint
        )
        self._auth = bytes(range(16))
        self._service = service

    @property
    def json(self) -> dict[str, Any]:
        """Return what `PushSubscription.toJSON()` gives."""
        keys = {"p256dh": encode(self._public), "auth": encode(self._auth)}
        return {"endpoint": self.endpoint, "keys": keys}

    def messages(self) -> list[dict[str, str]]:
        """Return what the service was given for this browser, decrypted."""
        found = self._service.received
        return [json.loads(self.read(one.body)) for one in found if one.path == f"/{self.name}"]

    def read(self, body: bytes) -> bytes:
        """Decrypt a message as a browser does."""
        salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        sender, sealed = body[21 : 21 + length], body[21 + length :]
        assert len(sealed) <= size == 4_096
        point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender)
        shared = self._private.exchange(ec.ECDH(), point)
        info = b"WebPush: info\0" + self._public + sender
        secret = HKDF(SHA256(), 32, self._auth, info).derive(shared)
        key = HKDF(SHA256(), 16, salt, b"Content-Encoding: aes128gcm\0").derive(secret)
        nonce = HKDF(SHA256(), 12, salt, b"Content-Encoding: nonce\0").derive(secret)
        text = AESGCM(key).decrypt(nonce, sealed, None).rstrip(b"\0")
        assert text.endswith(b"\x02"), "the mark of a last record"
        return text[:-1]


class Received(NamedTuple):
    """A request to a service."""

    path: str
    headers: Mapping[str, str]
    body: bytes


class PushService:
    """A service that keeps what it is given; it answers 201, or what `answers` has for a path, with what `texts` has."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.answers: dict[str, int] = {}
        self.texts: dict[str, bytes] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # its name is http.server's
                body = self.rfile.read(int(self.headers["Content-Length"]))
                service.received.append(Received(self.path, dict(self.headers), body))
                code = service.answers.get(self.path, 201)
                self.send_response(code)
                if code == 302:
                    self.send_header("Location", f"{service.url}/elsewhere")
                text = service.texts.get(self.path, b"")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def claims_of(authorization: str) -> dict[str, Any]:
    """Check a header by its own key, and return the claims of its token."""
    scheme, _, rest = authorization.partition(" ")
    fields = dict(one.strip().split("=", 1) for one in rest.split(","))
    assert scheme == "vapid"
    head, claims, signature = fields["t"].split(".")
    raw = decode(signature)
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode(fields["k"]))
    pair = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    point.verify(pair, f"{head}.{claims}".encode(), ec.ECDSA(SHA256()))
    assert json.loads(decode(head)) == {"typ": "JWT", "alg": "ES256"}
    return dict(json.loads(decode(claims)), k=fields["k"])
