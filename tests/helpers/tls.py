"""Servers behind TLS on loopback, with certificates made for a test: the embedded server's program speaks none."""

import asyncio
import datetime as dt
import ipaddress
import ssl
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_CHUNK = 1 << 16


def make_certificate(folder: Path, name: str, *hosts: str) -> tuple[Path, Path]:
    """Make a certificate for 127.0.0.1 and hosts that signs itself; return its file and that of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    names = [address, *map(x509.DNSName, hosts)]
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, secret = folder / f"{name}.pem", folder / f"{name}-key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return certificate, secret


class TlsProxy:
    """Takes TLS on a port, and passes what it reads on to a port without; `with` starts and stops it."""

    def __init__(self, port: int, certificate: Path, key: Path) -> None:
        self._there = port
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(certificate, key)
        self._loop = asyncio.new_event_loop()
        self.port = 0

    def __enter__(self) -> Self:
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        started = asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._context)
        self._server = asyncio.run_coroutine_threadsafe(started, self._loop).result(20)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(20)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(20)
        self._loop.close()

    async def _stop(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        # transports are closed in the next turns of the loop
        await asyncio.sleep(0.1)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, onward = await asyncio.open_connection("127.0.0.1", self._there)
        try:
            with suppress(asyncio.CancelledError, OSError):
                await asyncio.gather(_pass_on(reader, onward), _pass_on(there, writer))
        finally:
            for one in (writer, onward):
                one.transport.abort()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_CHUNK):
        writer.write(data)
        await writer.drain()
    # the other way ends, too
    raise ConnectionResetError
