"""Requests to addresses that players have named: to public hosts only, for a limited time, and no more than was asked for.

The addresses of a name are looked up once, all are checked, and the connection is made to one of those that were
checked: a name that has another address a moment later leads nowhere else. The name stays what the certificate is
checked against. No redirect is followed, and nothing of the environment (proxies, `.netrc`) is used.

A module of its own, because an HTTP client takes long to import and one process sends.
"""

import logging
import socket
import time
from threading import Timer
from typing import Any, Final, Self

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from infra.mail.hooks import HookAnswer
from infra.settings.hook_hosts import AddressError, checked_address, is_named, is_public

# receivers would fill the log with their wrong answers
logging.getLogger("urllib3").setLevel(logging.ERROR)

CONNECT_SECONDS: Final = 5.0
READ_SECONDS: Final = 10.0
WHOLE_SECONDS: Final = 20.0
"""How long all requests of one delivery may take, whatever dribbles in meanwhile."""

MOST_BYTES: Final = 65_536
"""Bytes of an answer that are read."""

_SHOWN: Final = 300


class NotAllowedError(OSError):
    """A host has an address that is not of the public internet."""


class GuardedCall:
    """The requests of one delivery; `hosts` are those that the operator allows. A context manager."""

    def __init__(
        self, hosts: tuple[str, ...], *, seconds: float = WHOLE_SECONDS, trust: str | bool = True
    ) -> None:
        self.last = HookAnswer(0, "hook-address")
        """The last answer."""
        self._hosts = hosts
        self._trust = trust
        self._over = time.monotonic() + seconds
        self._timer = Timer(seconds, self._cut)
        self._timer.daemon = True
        self._open: list[socket.socket] = []
        self._session = _session(self)

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._session.close()
        for one in self._open:
            one.close()

    def request(self, method: str, address: str, **options: Any) -> requests.Response:
        """Send a request, and read the first bytes of its answer; errors are those of `requests`.

        Of the options those that say what is sent count, and none that says how.
        """
        sent = {
            name: value
            for name, value in options.items()
            if name in ("data", "json", "params", "auth", "files")
        }
        headers = {**(options.get("headers") or {}), "Accept-Encoding": "identity"}
        try:
            self._check(address)
            timeout = CONNECT_SECONDS, READ_SECONDS
            answer = self._session.request(
                *(method, address), **sent, headers=headers, timeout=timeout, verify=self._trust,
                allow_redirects=False, stream=True,
            )  # fmt: skip
            with answer:
                data = answer.raw.read(MOST_BYTES, decode_content=False)
            if time.monotonic() >= self._over:  # it was cut off, maybe within its head
                raise TimeoutError
        except (requests.RequestException, AddressError, OSError, ValueError) as error:
            self.last = HookAnswer(0, self._reason(error))
            raise requests.ConnectionError(self.last.text) from error
        # as `requests` has it once all was read; there is no public way
        vars(answer).update(_content=data, _content_consumed=True)
        shown = data[: 4 * _SHOWN].decode(errors="replace")[:_SHOWN]
        text = "".join(one if one.isprintable() else " " for one in shown)
        self.last = HookAnswer(
            answer.status_code, text, _seconds(answer.headers.get("Retry-After"))
        )
        return answer

    def connect(self, host: str, port: int) -> socket.socket:
        """Return a connection to a host all of whose addresses may be asked."""
        host = host.strip("[]")
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        public = all(is_public(str(address[0])) for *_, address in found)
        if not public and not is_named(host, port, self._hosts):
            raise NotAllowedError("hook-private")
        error: OSError = OSError("no address")
        for family, kind, protocol, _, address in found:
            made = socket.socket(family, kind, protocol)
            try:
                made.settimeout(max(0.01, min(CONNECT_SECONDS, self._over - time.monotonic())))
                made.connect(address)
            except OSError as failed:
                made.close()
                error = failed
                continue
            self._open.append(made.dup())
            return made
        raise error

    def _check(self, address: str) -> None:
        if time.monotonic() >= self._over:
            raise TimeoutError
        checked_address(address, self._hosts)

    def _cut(self) -> None:
        """End what is still open, because reading may go on for hours, a byte at a time."""
        for one in self._open:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def _reason(self, error: BaseException) -> str:
        """Return why there is no answer: the key of a sentence where there is one, and nothing of this server."""
        if time.monotonic() >= self._over:
            return "hook-late"
        causes, cause = [error], error.__cause__ or error.__context__
        while cause is not None and cause not in causes:
            causes.append(cause)
            cause = cause.__cause__ or cause.__context__
        for one in causes:
            if isinstance(one, NotAllowedError | AddressError):
                return str(one)
            if isinstance(one, socket.gaierror):
                return "hook-no-host"
        if isinstance(error, requests.exceptions.SSLError):
            return "hook-certificate"
        return "hook-late" if isinstance(error, requests.Timeout) else "hook-no-answer"


def _seconds(text: str | None) -> int:
    return min(int(text), 3_600) if text and text.isascii() and text.isdigit() else 0


def _session(call: GuardedCall) -> requests.Session:
    """Return a session all of whose connections the call makes."""

    class PlainConnection(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return call.connect(self.host, self.port)

    class SecureConnection(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return call.connect(self.host, self.port or 443)

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = PlainConnection

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = SecureConnection

    session = requests.Session()
    session.trust_env = False
    adapter = HTTPAdapter(max_retries=0)
    adapter.poolmanager.pool_classes_by_scheme = {"http": PlainPool, "https": SecurePool}
    for scheme in ("http://", "https://"):
        session.mount(scheme, adapter)
    return session
