"""Parameter types of the page handlers: parts of addresses, and dependencies."""

from typing import Annotated, Final, TypeAlias

from litestar.di import NamedDependency
from litestar.params import PathParameter, QueryParameter

from services.http.context import ApiContext
from services.http.web.forms import OwnForm, VisitorForm
from services.http.web.puzzles.view import PuzzleLine
from services.http.web.replay.variations import MAX_CHARACTERS, Variation
from services.http.web.session import BoardTheme, Visitor

MAX_PLY: Final = 1_000_000

ContextDependency: TypeAlias = NamedDependency[ApiContext]
VisitorDependency: TypeAlias = NamedDependency[Visitor]
FormDependency: TypeAlias = NamedDependency[VisitorForm]
Asked: TypeAlias = NamedDependency[VisitorForm]
Own: TypeAlias = NamedDependency[OwnForm]
OwnPage: TypeAlias = NamedDependency[OwnForm]
VariationDependency: TypeAlias = NamedDependency[Variation]
PuzzleDependency: TypeAlias = NamedDependency[PuzzleLine]

BoardNumber = Annotated[int, PathParameter(ge=1, le=10**15)]
Ply = Annotated[int, PathParameter(ge=0, le=MAX_PLY)]
GameKey = Annotated[str, PathParameter(max_length=24)]
Userid = Annotated[str, PathParameter(max_length=24)]
Id = Annotated[str, PathParameter(max_length=24)]
ClientId = Annotated[str, PathParameter(max_length=40)]

KeptTexts = Annotated[str, QueryParameter(pattern="^([0-9a-f]{16}([.][0-9a-f]{16}){0,99})?$")]
"""The first digits of the commitments to texts that a browser keeps."""
AfterBoard = Annotated[int | None, QueryParameter(ge=1, le=10**15)]
PlainPicture = Annotated[bool, QueryParameter()]
MoveText = Annotated[str, QueryParameter(max_length=512)]
LineText = Annotated[str, QueryParameter(max_length=MAX_CHARACTERS)]
Plan = Annotated[bool, QueryParameter()]
UndoneText = Annotated[str, QueryParameter(max_length=MAX_CHARACTERS)]
Options = Annotated[str, QueryParameter(max_length=512)]
SeedText = Annotated[str, QueryParameter(pattern="^[0-9a-f]{0,64}$")]
Against = Annotated[str, QueryParameter(pattern="^(robot)?$")]
"""The opponent on a board that somebody tries: a robot, or the visitor if it is empty."""
Live = Annotated[str, QueryParameter(pattern="^1?$")]
"""Whether the board that somebody tries is a part of another page."""
PictureVersion = Annotated[str, QueryParameter(name="v", max_length=24)]
Theme = Annotated[BoardTheme, QueryParameter()]
PictureName = Annotated[str, PathParameter(max_length=48)]
Players = Annotated[int, QueryParameter(ge=0, le=8)]
PageNumber = Annotated[int, QueryParameter(name="page", ge=1, le=10**7)]
ListState = Annotated[str, QueryParameter(name="state", max_length=12)]
SearchedName = Annotated[str, QueryParameter(max_length=24)]
NoteWords = Annotated[str, QueryParameter(name="note", max_length=100)]
WithPlayer = Annotated[str, QueryParameter(name="with", max_length=24)]
NextPath = Annotated[str, QueryParameter(name="next", max_length=2_000)]
SignupLinkText = Annotated[str, QueryParameter(name="link", max_length=100)]
SessionOver = Annotated[str, QueryParameter(name="over", max_length=8)]
ActId = Annotated[str, QueryParameter(name="before", pattern="^([0-9]{1,16}-[0-9]{1,9})?$")]
FirstLink = Annotated[str, QueryParameter(name="key", max_length=100)]
OnePly = Annotated[int, QueryParameter(name="a", ge=0, le=MAX_PLY)]
OtherPly = Annotated[int | None, QueryParameter(name="b", ge=0, le=MAX_PLY)]
ClaimPly = Annotated[int | None, QueryParameter(ge=0, le=MAX_PLY)]
CaseNumber = Annotated[int | None, QueryParameter(name="case", ge=1, le=10**9)]
ClubParameter = Annotated[str, QueryParameter(name="club", max_length=60)]
GameParameter = Annotated[str, QueryParameter(name="game", max_length=24)]
Opponent = Annotated[str, QueryParameter(max_length=24)]
NameStart = Annotated[str, QueryParameter(name="starts", max_length=24)]
SavedMark = Annotated[str, QueryParameter(name="saved", max_length=16)]
