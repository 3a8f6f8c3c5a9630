"""An object store at S3, Google Cloud Storage or Azure, by obstore (the optional group `cloud`).

Credentials and endpoints come from the environment, under the names that the clouds' own tools use:
`AWS_ACCESS_KEY_ID`, `AWS_REGION`, `AWS_ENDPOINT_URL`, `GOOGLE_APPLICATION_CREDENTIALS`,
`AZURE_STORAGE_ACCOUNT_NAME` and so on.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Final

from infra.objects.port import (
    ObjectChangedError,
    ObjectDiffersError,
    ObjectNotFoundError,
    ObjectStoreError,
    check_name,
)
from infra.process.liveness import LIVENESS

ANSWER_SECONDS: Final = 10.0
"""How long an answer may take."""

RETRY_SECONDS: Final = 20.0
"""How long a request that may be repeated is repeated."""


class CloudObjects:
    """See `infra.objects.port.ObjectStore`. `url` is `s3://bucket/prefix`, `gs://` or `az://` likewise.

    Raises `ObjectStoreError` if the URL or the environment can't be used.
    """

    def __init__(
        self, url: str, answer_seconds: float = ANSWER_SECONDS, retry_seconds: float = RETRY_SECONDS
    ) -> None:
        try:
            import obstore  # noqa: PLC0415 - of an optional group
            from obstore.store import from_url  # noqa: PLC0415
        except ImportError as error:
            raise ObjectStoreError(
                f"{url} needs the package obstore; install matchpost with its group `cloud`: "
                "pip install 'matchpost[cloud]'"
            ) from error
        self._obstore = obstore
        self._errors = obstore.exceptions
        self._url = url.rstrip("/")
        try:
            self._store: Any = from_url(
                self._url,
                client_options={
                    # no endpoint is without TLS but one that the operator names
                    "allow_http": True,
                    "timeout": timedelta(seconds=answer_seconds),
                    "connect_timeout": timedelta(seconds=answer_seconds),
                },
                retry_config={
                    "max_retries": 5,
                    "retry_timeout": timedelta(seconds=retry_seconds),
                },
            )
        except (ValueError, TypeError, self._errors.BaseError) as error:
            raise ObjectStoreError(f"{url} can't be used: {_first_line(error)}") from error

    def __repr__(self) -> str:
        return self._url

    def get(self, name: str) -> bytes:
        """Return an object."""
        return self._read(name)[0]

    def get_range(self, name: str, start: int, length: int) -> bytes:
        """Return a part of an object."""
        check_name(name)
        with self._failures(name):
            try:
                return bytes(self._obstore.get_range(self._store, name, start=start, length=length))
            except self._errors.BaseError:
                # of a range behind the end the services answer with an error
                return self._read(name)[0][start : start + length]

    def create(self, name: str, data: bytes) -> None:
        """Write an object that never changes."""
        check_name(name)
        with self._failures(name):
            try:
                self._obstore.put(self._store, name, data, mode="create", use_multipart=False)
            except self._errors.AlreadyExistsError:
                if self.get(name) != data:
                    raise ObjectDiffersError(
                        f"{self._url}/{name} exists with other bytes than those that belong there"
                    ) from None

    def replace(self, name: str, data: bytes, before: bytes | None) -> None:
        """Write an object that was `before`, by its ETag."""
        try:
            found, version = self._read(name)
        except ObjectNotFoundError:
            found, version = None, "create"
        if found == data:
            return
        if found != before:
            raise ObjectChangedError(f"{self._url}/{name} has been changed by another writer")
        with self._failures(name):
            try:
                self._obstore.put(self._store, name, data, mode=version, use_multipart=False)
            except (self._errors.AlreadyExistsError, self._errors.PreconditionError):
                # this may have been the other writer: obstore repeats requests
                if self.get(name) != data:
                    raise ObjectChangedError(
                        f"{self._url}/{name} has been changed by another writer"
                    ) from None

    def delete(self, name: str) -> None:
        """Delete an object."""
        check_name(name)
        try:
            with self._failures(name):
                self._obstore.delete(self._store, name)
        except ObjectNotFoundError:
            return

    def names(self, folder: str) -> list[str]:
        """Return the names of the objects in a folder."""
        check_name(folder)
        with self._failures(folder):
            found = self._obstore.list_with_delimiter(self._store, folder)
            return sorted(one["path"] for one in found["objects"])

    def _read(self, name: str) -> tuple[bytes, Any]:
        """Return an object, and what `put` compares to replace exactly this one."""
        check_name(name)
        with self._failures(name):
            found = self._obstore.get(self._store, name)
            version = {"e_tag": found.meta["e_tag"], "version": found.meta["version"]}
            return bytes(found.bytes()), {key: one for key, one in version.items() if one}

    @contextmanager
    def _failures(self, name: str) -> Iterator[None]:
        """Raise obstore's errors as errors of the store."""
        try:
            with LIVENESS.waiting():
                yield
        except FileNotFoundError:
            raise ObjectNotFoundError(f"{self._url}/{name} does not exist") from None
        except self._errors.BaseError as error:
            raise ObjectStoreError(f"{self._url}/{name}: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
