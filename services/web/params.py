"""Parameter types of the page handlers: parts of addresses, and dependencies."""

from typing import Annotated, Final, TypeAlias

from litestar.di import NamedDependency
from litestar.params import PathParameter, QueryParameter

from services.api.context import ApiContext
from services.web.lines import LONGEST, Line
from services.web.visitors import Form, Visitor

_MOST_PLIES: Final = 1_000_000

TheContext: TypeAlias = NamedDependency[ApiContext]
TheVisitor: TypeAlias = NamedDependency[Visitor]
TheForm: TypeAlias = NamedDependency[Form]
TheLine: TypeAlias = NamedDependency[Line]

BoardNumber = Annotated[int, PathParameter(ge=1, le=10**15)]
Ply = Annotated[int, PathParameter(ge=0, le=_MOST_PLIES)]
GameKey = Annotated[str, PathParameter(max_length=24)]
Userid = Annotated[str, PathParameter(max_length=24)]
Id = Annotated[str, PathParameter(max_length=24)]

MoveText = Annotated[str, QueryParameter(max_length=512)]
LineText = Annotated[str, QueryParameter(max_length=LONGEST)]
Options = Annotated[str, QueryParameter(max_length=512)]
SeedText = Annotated[str, QueryParameter(pattern="^[0-9a-f]{0,64}$")]
Players = Annotated[int, QueryParameter(ge=0, le=8)]
Start = Annotated[int, QueryParameter(name="from", ge=0, le=10**9)]
Next = Annotated[str, QueryParameter(name="next", max_length=2_000)]
Over = Annotated[str, QueryParameter(name="over", max_length=8)]
OnePly = Annotated[int, QueryParameter(name="a", ge=0, le=_MOST_PLIES)]
OtherPly = Annotated[int | None, QueryParameter(name="b", ge=0, le=_MOST_PLIES)]
Wanted = Annotated[str, QueryParameter(name="game", max_length=24)]
Opponent = Annotated[str, QueryParameter(max_length=24)]
