"""Disputes: claims, appeals and rulings, and the cases that they make."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Final, cast

import msgspec
from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import JSONBody, PathParameter

from domain.errors import Code
from domain.match.dispute_events import Appealed, Claimed, ResultChanged, Ruled, SetBack, TimeGiven
from domain.match.events import AccountId
from infra.evidence.match_document import MatchDocument
from infra.people.tokens import Scope
from services.app.answered import Answered
from services.app.cases import CaseStep, CaseView, cases_of, queue_of
from services.app.disputes import AppealAction, ClaimAction, DisputeAction, RuleAction, carry_out
from services.app.evidence import evidence_of
from services.app.names import userids_of
from services.app.rulings import Verdict
from services.http.anonymous_limit import WEIGHT
from services.http.api.auth import PLAY_SCOPE, READ_SCOPE, Caller
from services.http.api.bodies import RequestBody
from services.http.api.command_requests import CommandRequest, answer_decided
from services.http.api.declared_errors import declare_errors
from services.http.api.pending import outcome_at
from services.http.api.routes.commands import BoardNumber
from services.http.api.routes.players import Cursor, Limit
from services.http.context import ApiContext

_TAGS: Final = ["disputes"]

_ERRORS: Final = (
    Code.UNKNOWN_BOARD,
    Code.NOT_A_PLAYER,
    Code.TOO_LONG,
    Code.TOO_MANY,
    Code.MATCH_OVER,
    Code.ID_REUSED,
    Code.TOO_MANY_REFUSALS,
    Code.BUSY,
)
"""The error codes of each command of a dispute."""

# without a maximum, because `statements` checks the length
_Text = Annotated[str, msgspec.Meta(min_length=1, examples=["My clock ran during the pause."])]
_Number = Annotated[int, msgspec.Meta(ge=1, le=10**9)]
_Ply = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
_Player = Annotated[str, msgspec.Meta(min_length=1, max_length=60, examples=["Light"])]


class NewClaim(RequestBody, frozen=True):
    """A claim to make."""

    ply: _Ply
    """The number of moves that are not in doubt."""
    text: _Text
    """Up to 2,000 characters."""


class NewAppeal(RequestBody, frozen=True):
    """An appeal to make."""

    text: _Text
    """Up to 2,000 characters."""
    case: _Number | None = None
    """The number of the case; by default the last on which an arbiter has ruled."""


class TimeGrant(RequestBody, frozen=True):
    """Time to add to the clock of a player."""

    player: _Player
    """A side or a userid."""
    ms: Annotated[int, msgspec.Meta(ge=1, le=10**12)]


class NewRuling(RequestBody, frozen=True):
    """A ruling on a case."""

    verdict: Annotated[str, msgspec.Meta(max_length=24, examples=["dismissed", "back", "result"])]
    """`dismissed`, `back`, `result`, `draw`, `annul` or `time`."""
    text: _Text
    """The reasons, up to 2,000 characters."""
    ply: _Ply | None = None
    """With `back`: the ply to go back to."""
    winners: Annotated[tuple[_Player, ...], msgspec.Meta(max_length=8)] = ()
    """With `result`: the sides or userids that win."""
    time: Annotated[tuple[TimeGrant, ...], msgspec.Meta(max_length=8)] = ()
    """With `time`, and optionally with `back`."""
    case: _Number | None = None
    """The number of the case; by default the one that waits."""
    own_motion: bool = False
    """Whether it is a ruling of your own motion, without a claim."""


class Remedy(msgspec.Struct, frozen=True):
    """A change in a match by a ruling."""

    kind: str
    """`set-back`, `result-changed` or `time-given`."""
    ply: int | None = None
    """The number of moves that are left."""
    winners: tuple[int, ...] | None = None
    """The seats that win; all for a draw, none for a match that is annulled."""
    seat: int | None = None
    """The seat that got time."""
    ms: int | None = None


class CaseEvent(msgspec.Struct, frozen=True):
    """A claim, a ruling or an appeal."""

    kind: str
    """`claim`, `ruling` or `appeal`."""
    seq: int
    """The number of its event in the match."""
    at: int
    """Its time, in ms since 1970."""
    userid: str | None
    """Userid of the player or the arbiter; null for a deleted account."""
    seat: int | None
    """The seat of a player; null for an arbiter."""
    text: str | None
    """Null for a text that was erased."""
    salt: str
    """In hex. SHA-256 of the salt's bytes and the text in UTF-8 is the digest in the event."""
    digest: str
    """In hex."""
    upheld: bool | None = None
    """Of a ruling: false if it dismisses the claim or the appeal."""
    remedies: tuple[Remedy, ...] = ()


class DisputeCase(msgspec.Struct, frozen=True):
    """A claim, or a ruling without one, with all that followed."""

    case: int
    """Its number: that of the event it began with."""
    ply: int
    """The ply that it is about."""
    waits: bool
    """Whether it waits for a ruling."""
    final: bool
    """Whether an arbiter has ruled on its appeal."""
    appeal_until: int | None
    """Until when a player can appeal, in ms since 1970; null if no appeal is possible."""
    events: tuple[CaseEvent, ...]


class DisputeCases(msgspec.Struct, frozen=True):
    """The cases of a match, the first one first."""

    board: int
    cases: tuple[DisputeCase, ...]


class WaitingCase(msgspec.Struct, frozen=True):
    """A case that waits for a ruling."""

    board: int
    case: int
    """Its number."""
    since: int
    """When the claim or the appeal was made, in ms since 1970."""


class WaitingCases(msgspec.Struct, frozen=True):
    """A page of the cases that wait for a ruling, the oldest first."""

    count: int
    """The number of all cases that wait."""
    cases: tuple[WaitingCase, ...]
    next: int | None
    """The `cursor` of the next page; null on the last."""


@post(
    "/api/matches/{board:int}/claim",
    status_code=200,
    security=PLAY_SCOPE,
    tags=_TAGS,
    opt=declare_errors(*_ERRORS, Code.UNKNOWN_PLY, Code.CLAIM_STANDS, waits=True),
    summary="Make a claim",
)
async def make_claim(
    board: BoardNumber,
    data: JSONBody[NewClaim],
    command_request: NamedDependency[CommandRequest],
) -> Answered:
    """Ask an arbiter to look at a match, as one of its players or as an arbiter."""
    return await _carry_out(command_request, board, ClaimAction(data.ply, data.text))


@post(
    "/api/matches/{board:int}/appeal",
    status_code=200,
    security=PLAY_SCOPE,
    tags=_TAGS,
    opt=declare_errors(
        *_ERRORS,
        Code.UNKNOWN_CLAIM,
        Code.ALREADY_APPEALED,
        Code.TOO_EARLY,
        Code.TOO_LATE,
        waits=True,
    ),
    summary="Appeal against a ruling",
)
async def make_appeal(
    board: BoardNumber,
    data: JSONBody[NewAppeal],
    command_request: NamedDependency[CommandRequest],
) -> Answered:
    """Object to a ruling, once, within 14 days; another arbiter rules on it."""
    return await _carry_out(command_request, board, AppealAction(data.text, data.case))


@post(
    "/api/matches/{board:int}/rule",
    status_code=200,
    security=PLAY_SCOPE,
    tags=_TAGS,
    opt=declare_errors(
        *_ERRORS,
        Code.NOT_AN_ARBITER,
        Code.UNKNOWN_CLAIM,
        Code.UNKNOWN_PLY,
        Code.ALREADY_RULED,
        Code.BAD_RULING,
        waits=True,
    ),
    summary="Rule on a case",
)
async def give_ruling(
    board: BoardNumber,
    data: JSONBody[NewRuling],
    command_request: NamedDependency[CommandRequest],
) -> Answered:
    """Rule on the case of a match that waits, or of your own motion, as an arbiter who does not play in it."""
    grants = tuple((one.player, one.ms) for one in data.time)
    verdict = Verdict(data.verdict.lower(), data.ply, data.winners, grants)
    action = RuleAction(verdict, data.text, data.case, data.own_motion)
    return await _carry_out(command_request, board, action)


@get(
    "/api/matches/{board:int}/cases",
    sync_to_thread=True,
    security=READ_SCOPE,
    tags=_TAGS,
    opt=declare_errors(Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER),
    summary="The cases of a match",
)
def list_cases(
    board: BoardNumber, context: NamedDependency[ApiContext], caller: NamedDependency[Caller]
) -> DisputeCases:
    """Return the claims and rulings of a match with their texts, to its players and to arbiters."""
    _, found = cases_of(context.app, caller.require(Scope.READ), board)
    names = userids_of(context.app, [step.event.actor for case in found for step in case.steps])
    return DisputeCases(board, tuple(_case_json(case, names.__getitem__) for case in found))


@get(
    "/api/matches/{board:int}/cases/{case:int}/evidence",
    sync_to_thread=True,
    security=READ_SCOPE,
    tags=_TAGS,
    opt={WEIGHT: 20}
    | declare_errors(Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER, Code.UNKNOWN_CLAIM, Code.NOT_PUBLISHED),
    summary="The evidence of a case",
)
def show_evidence(
    board: BoardNumber,
    case: Annotated[int, PathParameter(ge=1, le=10**9, description="the number of the case")],
    context: NamedDependency[ApiContext],
    caller: NamedDependency[Caller],
) -> Response[MatchDocument]:
    """Return the match document of a match as it was at the claim, to its players and to arbiters.

    It is frozen once the published log has the claim, and proves each of its leaves; before that it is
    404 with `not-published`. Texts and userids that were erased are not in it.
    """
    line = evidence_of(context.app, caller.require(Scope.READ), board, case)
    return Response(cast("MatchDocument", line), media_type=MediaType.JSON)


@get(
    "/api/cases",
    sync_to_thread=True,
    security=READ_SCOPE,
    tags=_TAGS,
    opt=declare_errors(Code.NOT_AN_ARBITER),
    summary="The cases that wait for a ruling",
)
def list_waiting_cases(
    context: NamedDependency[ApiContext],
    caller: NamedDependency[Caller],
    cursor: Cursor = 0,
    limit: Limit = 50,
) -> WaitingCases:
    """Return the cases of all matches that wait for a ruling; arbiters only."""
    found = queue_of(context.app, caller.require(Scope.READ), cursor, limit)
    count = context.app.cases.count()
    return WaitingCases(
        count,
        tuple(WaitingCase(one.case.board, one.case.claim, one.case.since) for one in found),
        cursor + limit if count > cursor + limit else None,
    )


async def _carry_out(request: CommandRequest, board: int, action: DisputeAction) -> Answered:
    context, actor = request.context, request.actor
    with outcome_at(board, actor.command_id()):
        decided = await context.wait(
            partial(carry_out, context.app, actor, board, action, request.wait)
        )
        return await answer_decided(context, decided)


def _case_json(case: CaseView, userid_of: Callable[[AccountId], str | None]) -> DisputeCase:
    return DisputeCase(
        case=case.number,
        ply=case.ply,
        waits=case.waits,
        final=case.final,
        appeal_until=case.appeal_until or None,
        events=tuple(_event_json(step, userid_of(step.event.actor)) for step in case.steps),
    )


def _event_json(step: CaseStep, userid: str | None) -> CaseEvent:
    body = step.body
    return CaseEvent(
        kind=step.kind,
        seq=step.event.seq,
        at=step.event.at,
        userid=userid,
        seat=body.seat if isinstance(body, Claimed | Appealed) else None,
        text=step.text,
        salt=step.salt.hex(),
        digest=body.text.hex(),
        upheld=body.upheld if isinstance(body, Ruled) else None,
        remedies=tuple(_remedy_json(event) for event in step.remedies),
    )


def _remedy_json(event: SetBack | ResultChanged | TimeGiven) -> Remedy:
    match event:
        case SetBack():
            return Remedy("set-back", ply=event.ply)
        case ResultChanged():
            return Remedy("result-changed", winners=event.winners)
        case TimeGiven():
            return Remedy("time-given", seat=event.seat, ms=event.ms)
