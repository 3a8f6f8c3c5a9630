"""The rules of a game for programs: options, positions and moves as schemas, and the referee."""

from threading import BoundedSemaphore
from typing import Annotated, Any, Final

import msgspec
from litestar import Response
from litestar.params import JSONBody, QueryParameter
from msgspec import UNSET, UnsetType

from domain.drawing import illustrate
from domain.errors import Code, Refusal
from domain.rules import AnyRules, game_by_key
from infra.languages.wording import wording
from services.app.games import read_game
from services.app.referee import (
    Effort,
    JudgedMoves,
    MoveRefused,
    MovesToJudge,
    RefereeRequest,
    answer_of,
    follow_moves,
    refused_move,
)
from services.http.api.auth import AnyRequest
from services.http.api.declared import ANYBODY, ApiRoutes, refuses
from services.http.api.routes.players import GameKey
from services.http.etag import ETag
from services.http.requests import wanted_language
from services.words.game_schemas import BoardShape, GameSchema, board_shape, describe_game

api = ApiRoutes("games")


@api.get(
    "/api/games/{game:str}/schema",
    "The options, positions and moves of a game",
    ANYBODY,
    for_guests=True,
    tagged=True,
)
@refuses(Code.UNKNOWN_GAME)
def show_game_schema(request: AnyRequest, game: GameKey) -> Response[GameSchema]:
    """Return what a program needs to make a form for a match of a game, to draw its board and to write moves.

    The words are in the language that `Accept-Language` asks for, English or German.
    """
    rules = read_game(game)
    language = wanted_language(request.headers.get("accept-language", ""))
    described = describe_game(rules, wording(language))
    answer = ETag("schema", described).answer(request, lambda: described)
    answer.headers |= {"Content-Language": language, "Vary": "Accept-Language"}
    return answer


# --- the referee

_SECONDS: Final = 1.0
"""Processor time of one answer."""
_MOST_WORDS: Final = 20_000
"""Positions and legal moves of one answer."""
_AT_ONCE: Final = BoundedSemaphore(2)
"""The referee leaves room for matches: so many answers are made at once in a process."""
WEIGHT: Final = 10
"""As how many requests a question to the referee counts."""


class ToJudge(MovesToJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of `matchpost referee`, whose game is in the path as well."""

    game: str | None = None
    """May be left out; otherwise the game of the path."""


class JudgedPosition(msgspec.Struct, frozen=True):
    """A position on the way."""

    to_move: int | None
    legal: list[str]
    position: Any


class JudgedResult(msgspec.Struct, frozen=True):
    """How moves end a match."""

    winners: list[int]
    reason: str


class Judgement(msgspec.Struct, frozen=True):
    """The referee's answer. If `ok` is false, it has `ply`, `error` and `message` alone."""

    ok: bool
    """Whether the rules allow all moves."""
    ply: int
    """How many moves there are, or the index of the first that is refused."""
    rules: str | UnsetType = UNSET
    """The rules, such as `pow2/1`."""
    setup: Any = UNSET
    """The setup that chance drew, from the seed or as it was given; null in a game without one."""
    to_move: int | UnsetType | None = UNSET
    """The seat to move; null if the match is over."""
    legal: list[str] | UnsetType = UNSET
    """All legal moves in canonical form."""
    position: Any = UNSET
    """The position, as the game's schema describes it."""
    result: JudgedResult | UnsetType | None = UNSET
    trace: list[JudgedPosition] | UnsetType = UNSET
    """With `trace`: the position before the first move, and after each."""
    board: BoardShape | UnsetType = UNSET
    """With `picture=true`: where in the picture the places are."""
    picture: str | UnsetType = UNSET
    """With `picture=true`: the board as SVG."""
    error: str | UnsetType = UNSET
    """The code of the refusal."""
    message: str | UnsetType = UNSET
    """The refusal in a sentence."""


Picture = Annotated[bool, QueryParameter(description="whether to draw the last position")]


@api.post(
    "/api/games/{game:str}/judge",
    "Ask the referee",
    ANYBODY,
    for_guests=True,
    weight=WEIGHT,
)
@refuses(
    Code.UNKNOWN_GAME,
    Code.UNKNOWN_RULES,
    Code.UNKNOWN_OPTION,
    Code.BAD_OPTION,
    Code.BAD_PLAYERS,
    Code.BAD_SETUP,
    Code.BUSY,
)
def judge_game(
    game: GameKey,
    data: JSONBody[ToJudge],
    picture: Picture = False,  # noqa: FBT002
) -> Judgement:
    """Return what the rules say of moves from the start of a game, as `matchpost referee` does.

    A move that the rules refuse is an answer, whose `ok` is false. Nothing is kept.
    """
    rules = read_game(game)
    if data.game not in (None, rules.key):
        raise Refusal(
            Code.BAD_REQUEST, f"the body names another game than {rules.key}, that of the path"
        )
    request = RefereeRequest(**{**msgspec.structs.asdict(data), "game": rules.key})
    if not _AT_ONCE.acquire(blocking=False):
        raise Refusal(Code.BUSY, "the referee is judging other moves; ask again in a moment", 1)
    try:
        return _judged(request, picture=picture)
    finally:
        _AT_ONCE.release()


def _judged(request: RefereeRequest, *, picture: bool) -> Judgement:
    effort = Effort(_SECONDS, _MOST_WORDS)
    try:
        judged = follow_moves(request, effort=effort)
    except MoveRefused as refused:
        return msgspec.convert(refused_move(refused), Judgement)
    answer = answer_of(request, judged, effort=effort)
    if picture:
        answer |= _drawn(judged.rules, judged, request)
    return msgspec.convert(answer, Judgement)


def _drawn(rules: AnyRules, judged: JudgedMoves, request: RefereeRequest) -> dict[str, Any]:
    *earlier, position = judged.positions
    last = rules.write(rules.check(earlier[-1], rules.read(request.moves[-1]))) if earlier else ""
    needed = earlier and game_by_key(rules.key).needs_previous_position
    before = earlier[-1] if needed else None
    return {
        "board": board_shape(rules, position),
        "picture": illustrate(rules, position, last=last, before=before),
    }
