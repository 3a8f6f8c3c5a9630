"""The objects of another server's published log, read over HTTP."""

import weakref
from typing import Final, NoReturn

import httpx

from infra.objects.port import ObjectNotFoundError, ObjectStoreError, check_name

_SECONDS: Final = 20.0
_NOT_FOUND: Final = 404


class HttpObjects:
    """See `infra.objects.port.ObjectStore`: `get` reads below a URL such as https://example.org/log.

    Nothing can be written, and no names are listed.
    """

    def __init__(self, url: str, http: httpx.Client | None = None) -> None:
        self._url = url.rstrip("/")
        self._http = http or httpx.Client(timeout=_SECONDS, follow_redirects=True)
        weakref.finalize(self, self._http.close)

    def __repr__(self) -> str:
        return self._url

    def get(self, name: str) -> bytes:
        """Return an object."""
        check_name(name)
        address = f"{self._url}/{name}"
        try:
            answer = self._http.get(address)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            said = str(error) or type(error).__name__
            raise ObjectStoreError(f"{address} can't be read: {said}") from error
        if answer.status_code == _NOT_FOUND:
            raise ObjectNotFoundError(f"{address} does not exist")
        if not answer.is_success:
            raise ObjectStoreError(f"{address} can't be read: the answer is {answer.status_code}")
        return answer.content

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
