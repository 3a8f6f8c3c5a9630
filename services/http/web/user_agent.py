"""Short names of browsers, from their User-Agent headers."""

from collections.abc import Sequence
from typing import Final

_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("Firefox", "Firefox"),
    ("Chrom", "Chrome"),  # also in the headers of Chromium, Edge and Opera
    ("Safari", "Safari"),  # in nearly all headers
)
_SYSTEMS: Final = (
    ("Android", "Android"),  # its header has Linux, too
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)


def browser_name(agent: str) -> str:
    """Return a short name that is the same in every language, such as `Firefox, Linux`; empty for an unknown one."""
    return ", ".join(filter(None, (_first(_BROWSERS, agent), _first(_SYSTEMS, agent))))


def _first(known: Sequence[tuple[str, str]], agent: str) -> str:
    return next((name for mark, name in known if mark in agent), "")
