"""Types of arguments on the command line: each reads a word, or raises an error that argparse reports.

Only the standard library is imported, because `matchpost --help` must be quick.
"""

from argparse import ArgumentTypeError
from typing import Final

PROJECTIONS: Final = (
    "lists", "notifications", "scores", "history", "standings", "head-to-head", "ratings",
    "cases", "robots",
)  # fmt: skip
"""Names for `rebuild`; a test keeps them equal to `infra.projections.specs`, which is slow to import."""

SECRETS: Final = ("seeds", "mail-key", "log-key", "receipts-key", "accounts-key", "store")
"""Names for `secrets --accept`; a test keeps them equal to `infra.health.secret_record`."""

ROLES: Final = (
    "worker", "side", "scheduler", "publisher", "maintenance", "robots", "web", "mail", "mailer",
)  # fmt: skip
"""Names for `alive`; a test keeps them equal to `infra.health.heartbeats.Role`."""

_MOST_BUCKETS: Final = 1_024


def seconds(text: str) -> float:
    """Read a time to wait; argparse turns `ValueError` into a sentence."""
    seconds = float(text)
    if not 0 <= seconds <= 24 * 3600:
        raise ValueError
    return seconds


seconds.__name__ = "number of seconds"  # argparse puts it into "invalid ... value"


def whole_number(text: str) -> int:
    """Read a whole number; argparse turns `ValueError` into a sentence."""
    return int(text)


whole_number.__name__ = "whole number"


def projection(name: str) -> str:
    """Read a projection's name."""
    if name not in PROJECTIONS:
        raise ArgumentTypeError(f"there is no {name!r}; there are {', '.join(PROJECTIONS)}")
    return name


def bucket_count(text: str) -> int:
    """Read a number of buckets; argparse turns `ValueError` into a sentence."""
    count = int(text)
    if not 1 <= count <= _MOST_BUCKETS:
        raise ValueError
    return count


bucket_count.__name__ = "number of buckets"  # argparse puts it into "invalid ... value"
