"""Values of settings: converted to the types of their fields, strictly or also from text."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import msgspec


def absolute(path: Path) -> Path:
    """Return the absolute path, without resolving links."""
    return Path(os.path.abspath(path.expanduser()))  # noqa: PTH100 - Path.absolute keeps `..`


def converter(kind: object) -> Callable[[object, bool], object]:
    """Return a function that converts to `kind`, strictly or also from text.

    It raises `msgspec.ValidationError` for a value of another type or out of bounds. Paths become
    absolute.
    """

    def convert(value: object, strict: bool) -> object:  # noqa: FBT001 - called in one place
        return msgspec.convert(value, cast("Any", kind), strict=strict, dec_hook=_decode_path)

    return convert


def _decode_path(kind: type, value: object) -> object:
    """Convert text to a path, for msgspec."""
    if kind is Path and isinstance(value, str | Path) and str(value):
        return absolute(Path(value))
    raise ValueError("not a path")
