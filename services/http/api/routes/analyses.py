"""Analyses of matches: the request for one, and its values, turning points and better lines."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from litestar import Response

from domain.engine.turning_points import TurningPoint, turning_points
from domain.errors import Code, Refusal
from domain.rules import Seat
from infra.people.tokens import Scope
from infra.store.analyses import StoredAnalysis
from services.app.matches import analysis_of, load_state, score_bound, start_analysis
from services.http.api.auth import AnyRequest, Context, Own
from services.http.api.declared import ANYBODY, ApiRoutes, refuses
from services.http.api.routes.commands import BoardNumber
from services.http.etag import ETag

if TYPE_CHECKING:
    from infra.store.analyses import AnalysisProgress

api = ApiRoutes("analyses")

_REFUSED: Final = (
    Code.UNKNOWN_BOARD,
    Code.TOO_EARLY,
    Code.NOT_STARTED,
    Code.UNKNOWN_RULES,
    Code.UNAVAILABLE,
)

_AGAIN: Final = {"Retry-After": "1"}

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class AnalysedPly(msgspec.Struct, frozen=True):
    """The position after some moves, as the engine sees it."""

    ply: int
    """The number of moves played before."""
    to_move: Seat | None
    """The seat to move; null if the match is over by its rules."""
    values: tuple[Share, ...]
    """For each seat its expected share of the win. In a puzzle how good the best score within reach is, 1 for
    the bound."""
    move: str | None
    """The move that was played here; null in the last position."""
    better: tuple[str, ...]
    """A line that begins with a clearly better move; empty if there is none."""
    score: str | None
    """A puzzle's score so far, in words; null in other games."""
    reached: Share | None
    """How good a puzzle's score so far is, 1 for the bound; null in other games."""


class MatchAnalysis(msgspec.Struct, frozen=True):
    """The analysis of a match."""

    board: int
    """The number of the match."""
    seq: int
    """Number of the match's last event; after another the analysis is made again."""
    plies: tuple[AnalysedPly, ...]
    """All positions, from the start on."""
    turning_points: tuple[TurningPoint, ...]
    """The moves that cost their players much, although there were better ones."""
    bound: str | None
    """A puzzle's best score that is known to be possible, in words; null in other games."""


class AnalysisUnderWay(msgspec.Struct, frozen=True):
    """How far the analysis of a match is."""

    board: int
    """The number of the match."""
    done: int
    """The number of positions that are analysed."""
    total: int
    """The number of positions of the match."""
    interrupted: bool = False
    """Whether its process was killed; it goes on by itself where it was."""
    seconds_left: int | None = None
    """How long it takes at the rate seen so far, without its wait for robots; null before a position is done."""


@api.get(
    "/api/matches/{board:int}/analysis",
    "The analysis of a match",
    ANYBODY,
    weight=2,
    tagged=True,
    progress=AnalysisUnderWay,
    description="The engine's evaluation of each position of a match that is over, or of a puzzle, with the "
    "moves at which it tipped and better lines. 404 if nobody has asked for it lately (`POST` does), 202 "
    "while it is made, and 409 while people play the match.",
)
@refuses(*_REFUSED)
def show_analysis(
    request: AnyRequest, board: BoardNumber, context: Context
) -> Response[MatchAnalysis]:
    """Return the analysis of a match, or how far it is."""
    state = load_state(context.app, board)
    found = analysis_of(context.app, board, state)
    if found is None:
        raise Refusal(
            Code.NOT_FOUND, f"match {board} has no analysis yet; a POST to this path asks for one"
        )
    if not isinstance(found, StoredAnalysis):
        under_way: Any = _under_way(board, found)
        return Response(under_way, status_code=202, headers=_AGAIN)
    bound = str(score_bound(state))
    return ETag("analysis", found).answer(request, partial(_whole, board, found, bound))


@api.post(
    "/api/matches/{board:int}/analysis", "Analyse a match", Scope.PLAY, status_code=202, weight=2
)
@refuses(*_REFUSED, Code.TOO_MANY, Code.BUSY)
def request_analysis(board: BoardNumber, own: Own) -> Response[AnalysisUnderWay]:
    """Ask for the analysis of a match, and return how far it is; `GET` returns it.

    A request for one that is there, or is being made, changes nothing. An account has three at a time.
    """
    account, state = own.account, load_state(own.app, board)
    found = start_analysis(own.app, account, board, state)
    if isinstance(found, StoredAnalysis):
        done = AnalysisUnderWay(board, state.ply + 1, state.ply + 1)
        return Response(done, headers=_AGAIN)
    return Response(_under_way(board, found), headers=_AGAIN)


def _under_way(board: int, found: "AnalysisProgress") -> AnalysisUnderWay:
    left = None if found.ms_left is None else round(found.ms_left / 1000)
    return AnalysisUnderWay(board, found.done, found.total, found.interrupted, left)


def _whole(board: int, found: StoredAnalysis, bound: str) -> MatchAnalysis:
    return MatchAnalysis(
        board=board,
        seq=found.seq,
        plies=tuple(
            AnalysedPly(
                ply=ply,
                to_move=one.seat,
                values=one.values,
                move=one.move or None,
                better=one.better,
                score=one.score or None,
                reached=one.reached if one.score else None,
            )
            for ply, one in enumerate(found.positions)
        ),
        turning_points=tuple(turning_points(found.positions)),
        bound=bound or None,
    )
