"""The values of strings, as the document lists them.

A set that will never grow is an enumeration. One that may grow, such as that of the error codes, has
its present values in `x-extensible-enum`, which every client reads as a plain string: a generated client
would fail at the first value that is newer than itself.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Final, TypeAlias, get_args

import msgspec

from domain.errors import Code
from domain.game.engine import RobotLevel
from domain.match.events import Event
from domain.match.offers import OFFER_KINDS
from domain.match.state import Reason
from infra.projections.notices import NoticeKind
from services.app.matches import MatchPhase

EXTENSIBLE: Final = "x-extensible-enum"


def one_of(values: Iterable[str]) -> Any:
    """Return the mark of a string with these values alone, which the use case reads and checks."""
    return msgspec.Meta(extra_json_schema={"enum": [*map(str, values)]})


def _known(values: Iterable[str]) -> Any:
    """Return the mark of a string with these values today."""
    return msgspec.Meta(extra_json_schema={EXTENSIBLE: [*map(str, values)]})


PhaseName: TypeAlias = Annotated[str, one_of(get_args(MatchPhase))]
LevelName: TypeAlias = Annotated[str, one_of(RobotLevel)]
ErrorCode: TypeAlias = Annotated[str, _known(Code)]
EndReason: TypeAlias = Annotated[str, _known(Reason)]
"""The reasons that all games have; each has others by its rules."""
OfferKind: TypeAlias = Annotated[str, _known((*OFFER_KINDS, "deal"))]
"""The offers of every match; a game may have `offers` of its own."""
NoticeName: TypeAlias = Annotated[str, _known(NoticeKind)]
EventType: TypeAlias = Annotated[
    str, _known(sorted(str(kind.__struct_config__.tag) for kind in get_args(Event)))
]
