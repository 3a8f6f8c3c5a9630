"""The objects of another server's published log, read over HTTP."""

import weakref
from typing import Final, NoReturn

import httpx

from infra.objects.bounded_http import MOST_BUNDLE, MOST_NOTE, read_answer
from infra.objects.port import ObjectNotFoundError, ObjectStoreError, check_name

_SECONDS: Final = 20.0
_NOT_FOUND: Final = 404
_BUNDLES: Final = "/tile/entries/"


class HttpObjects:
    """See `infra.objects.port.ObjectStore`: `get` reads below a URL such as https://example.org/log.

    Nothing can be written, and no names are listed.
    """

    def __init__(self, url: str, http: httpx.Client | None = None) -> None:
        self._url = url.rstrip("/")
        self._http = http or httpx.Client(timeout=_SECONDS)
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
