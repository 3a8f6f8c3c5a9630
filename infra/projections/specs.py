"""The projections there are. Raising a version has the side worker make that projection anew."""

from typing import Final

import msgspec


class Spec(msgspec.Struct, frozen=True):
    """A projection's name and the version of what it keeps."""

    name: str
    version: int
    """Raised whenever other leaves or another form would be kept of the same log."""


LISTS: Final = Spec("lists", 2)
NOTICES: Final = Spec("notifications", 1)
SCORES: Final = Spec("scores", 1)
HISTORY: Final = Spec("history", 1)
STANDINGS: Final = Spec("standings", 3)
HEAD_TO_HEAD: Final = Spec("head-to-head", 2)
RATINGS: Final = Spec("ratings", 2)

SPECS: Final = (LISTS, NOTICES, SCORES, HISTORY, STANDINGS, HEAD_TO_HEAD, RATINGS)
