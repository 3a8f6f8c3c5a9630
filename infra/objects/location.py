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


def store_url(place: str) -> str:
    """Return the URL of an object store that is named by a URL or by the path of a folder; ValueError as above."""
    url = place if "://" in place else Path(place).expanduser().absolute().as_uri()
    check_store_url(url)
    return url


def open_objects(url: str | None, data: Path) -> ObjectStore:
    """Return the object store of a checked URL, by default files in the data directory.

    Raises `ObjectStoreError` if a store at a cloud can't be used.
    """
    # here because the settings, which check URLs, import nothing slow
    from infra.objects.cloud import CloudObjects  # noqa: PLC0415
    from infra.objects.files import FileObjects  # noqa: PLC0415

    folder = local_folder(url, data)
    return CloudObjects(str(url)) if folder is None else FileObjects(folder)


def local_folder(url: str | None, data: Path) -> Path | None:
    """Return the folder of an object store in files; None for one at a cloud."""
    if url is None:
        return data / FOLDER_NAME
    return Path(unquote(urlsplit(url).path)) if url.startswith("file:") else None


def is_local(url: str | None) -> bool:
    """Return whether a store is in files, where a write costs little."""
    return url is None or url.startswith("file:")
