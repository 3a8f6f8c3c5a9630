"""The projections. Raising a version makes the projection worker rebuild that projection."""

from typing import Final

import msgspec


class Spec(msgspec.Struct, frozen=True):
    """A projection's name and the version of its data."""

    name: str
    version: int
    """Raised whenever the same log would lead to other data."""


LISTS: Final = Spec("lists", 7)
NOTICES: Final = Spec("notifications", 4)
SCORES: Final = Spec("scores", 3)
HISTORY: Final = Spec("history", 4)
STANDINGS: Final = Spec("standings", 4)
HEAD_TO_HEAD: Final = Spec("head-to-head", 3)
RATINGS: Final = Spec("ratings", 4)
CASES: Final = Spec("cases", 1)
ROBOTS: Final = Spec("robots", 2)

SPECS: Final = (
    LISTS, NOTICES, SCORES, HISTORY, STANDINGS, HEAD_TO_HEAD, RATINGS, CASES, ROBOTS,
)  # fmt: skip
