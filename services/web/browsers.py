"""What a browser calls itself, shortened to what its owner would know it by."""

from collections.abc import Sequence
from typing import Final

_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("Firefox", "Firefox"),
    ("Chrom", "Chrome"),  # Chromium too; Edge and Opera say it beside their own name
    ("Safari", "Safari"),  # said by nearly all
)
_SYSTEMS: Final = (
    ("Android", "Android"),  # says Linux, too
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)


def name_of_browser(agent: str) -> str:
    """Return a short name such as `Firefox on Linux`; `a browser` for what is not known."""
    browser = _first(_BROWSERS, agent) or "a browser"
    system = _first(_SYSTEMS, agent)
    return f"{browser} on {system}" if system else browser


def _first(known: Sequence[tuple[str, str]], agent: str) -> str:
    return next((name for mark, name in known if mark in agent), "")
