"""The objects of another server's published log, read over HTTP.

Answers of servers that nobody vouches for: read as they come, and never more than is expected.
"""

import time
import weakref
from typing import Final, NoReturn

import httpx

from infra.objects.port import ObjectNotFoundError, ObjectStoreError, check_name

MOST_NOTE: Final = 1 << 20
"""Bytes of the largest note, list of keys or tile of hashes that is read."""

MOST_BUNDLE: Final = 256 * 64 * 1024
"""Bytes of the largest tile of entries."""

_MOST_REDIRECTS: Final = 5
_MOST_SECONDS: Final = 60.0
_SECONDS: Final = 20.0


def open_client(token: str = "") -> httpx.Client:
    """Return a client for `read_answer`, which sends a token along if there is one, and to no other origin."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(timeout=_SECONDS, headers=headers)


def read_answer(
    http: httpx.Client, url: str, most: int = MOST_NOTE, *, posted: bytes | None = None
) -> tuple[int, bytes]:
    """Return status and body of an answer to GET, or to POST with the bytes `posted`.

    `httpx.HTTPError` if the body has more than `most` bytes, is compressed, takes a minute, or is on another host.
    """
    request = http.build_request(
        *("GET" if posted is None else "POST", url),
        content=posted,
        headers={"Accept-Encoding": "identity"},
    )
    for _ in range(_MOST_REDIRECTS):
        answer = http.send(request, stream=True, follow_redirects=False)
        try:
            after = answer.next_request
            if posted is not None or after is None:
                return answer.status_code, _body(answer, most)
        finally:
            answer.close()
        if after.url.host != request.url.host:
            raise httpx.HTTPError(f"it leads to another host, {after.url.host}")
        request = after
    raise httpx.HTTPError("it leads on and on")


def _body(answer: httpx.Response, most: int) -> bytes:
    if answer.headers.get("Content-Encoding", "identity") != "identity":
        raise httpx.HTTPError("the answer is compressed, which was not asked for")
    end, found = time.monotonic() + _MOST_SECONDS, bytearray()
    for chunk in answer.iter_raw():
        found += chunk
        if len(found) > most:
            raise httpx.HTTPError(f"the answer has more than {most} bytes")
        if time.monotonic() > end:
            raise httpx.HTTPError(f"the answer takes longer than {_MOST_SECONDS:g} s")
    return bytes(found)


_NOT_FOUND: Final = 404
_BUNDLES: Final = "/tile/entries/"


class HttpObjects:
    """See `infra.objects.port.ObjectStore`: `get` reads below a URL such as https://example.org/log.

    Nothing can be written, and no names are listed. A `token` is sent along, which a server for members alone wants.
    """

    def __init__(self, url: str, http: httpx.Client | None = None, *, token: str = "") -> None:
        self._url = url.rstrip("/")
        self._http = http or open_client(token)
        weakref.finalize(self, self._http.close)

    def __repr__(self) -> str:
        return self._url

    def get(self, name: str) -> bytes:
        """Return an object; `ObjectStoreError` for one that is larger than any of its kind."""
        check_name(name)
        address = f"{self._url}/{name}"
        try:
            most = MOST_BUNDLE if _BUNDLES in name else MOST_NOTE
            status, body = read_answer(self._http, address, most)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            said = str(error) or type(error).__name__
            raise ObjectStoreError(f"{address} can't be read: {said}") from error
        if status == _NOT_FOUND:
            raise ObjectNotFoundError(f"{address} does not exist")
        if not httpx.codes.is_success(status):
            raise ObjectStoreError(f"{address} can't be read: the answer is {status}")
        return body

    def get_range(self, name: str, start: int, length: int) -> bytes:
        """Return a part of an object, of which the whole is read."""
        return self.get(name)[start : start + length]

    def create(self, name: str, data: bytes) -> None:
        """Refuse to write."""
        self._refuse(name, data)

    def replace(self, name: str, data: bytes, before: bytes | None) -> None:
        """Refuse to write."""
        self._refuse(name, data, before)

    def delete(self, name: str) -> None:
        """Refuse to delete."""
        self._refuse(name)

    def names(self, folder: str) -> list[str]:
        """Refuse to list, because a server lists nothing."""
        self._refuse(folder)

    def _refuse(self, name: str, *_: object) -> NoReturn:
        raise ObjectStoreError(f"{self._url}/{name}: another server's log can only be read")
