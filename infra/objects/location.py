"""The object store of a setting's URL."""

import re
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from infra.objects.port import ObjectStore

FOLDER_NAME: Final = "log"
"""The folder in the data directory that is used without a URL."""

SCHEMES: Final = ("file", "s3", "gs", "az")

_CLOUD: Final = re.compile(r"(s3|gs|az)://[A-Za-z0-9._-]+(/[A-Za-z0-9._/-]*)?")


def check_store_url(url: str) -> None:
    """Raise ValueError, with a sentence, for a URL that names no object store."""
    if urlsplit(url).scheme == "file":
        parts = urlsplit(url)
        if parts.netloc or not parts.path.startswith("/") or parts.query or parts.fragment:
            raise ValueError("a file:// URL has an absolute path, after three slashes")
    elif not _CLOUD.fullmatch(url):
        raise ValueError("an object store is file:///path, s3://bucket/prefix, gs:// or az://")


def open_objects(url: str | None, data: Path) -> ObjectStore:
    """Return the object store of a checked URL, by default files in the data directory.

    Raises `ObjectStoreError` if a store at a cloud can't be used.
    """
    # here because the settings, which check URLs, import nothing slow
    from infra.objects.cloud import CloudObjects  # noqa: PLC0415
    from infra.objects.files import FileObjects  # noqa: PLC0415

    if url is None:
        return FileObjects(data / FOLDER_NAME)
    if url.startswith("file:"):
        return FileObjects(Path(unquote(urlsplit(url).path)))
    return CloudObjects(url)


def is_local(url: str | None) -> bool:
    """Return whether a store is in files, where a write costs little."""
    return url is None or url.startswith("file:")
