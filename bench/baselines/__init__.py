"""The baselines: the programs and libraries that matchpost is measured beside."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

NOT_INSTALLED: Final = "not measured: install matchpost[bench]"


def optional_peer(name: str, library: str) -> Any:
    """Return the module of a baseline, or None without its library, which is in the optional group `bench`."""
    return None if find_spec(library) is None else import_module(f"bench.baselines.{name}")
