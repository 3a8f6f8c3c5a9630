"""Disputes: claims, appeals and rulings, and the cases that they make."""

from collections.abc import Callable
from typing import Annotated, Final, cast

import msgspec
from litestar import MediaType, Response
from litestar.params import JSONBody, PathParameter

from domain.errors import Code
from domain.match.events import Appealed, Claimed, ResultChanged, Ruled, SetBack, TimeGiven
from domain.records import AccountId
from infra.audit.match_document import MatchDocument
from infra.people.tokens import Scope
from services.app.cases import CaseStep, CaseView, cases_of, queue_of
from services.app.disputes import (
    AppealAction,
    ClaimAction,
    DisputeAction,
    RuleAction,
    Verdict,
    dispute,
)
from services.app.exports import evidence_of
from services.app.names import userids_of
from services.app.receipts import Answered
from services.http.api.auth import Own
from services.http.api.bodies import CommandSender, RequestBody, Sender
from services.http.api.declared import COMMAND_ERRORS, ApiRoutes, refuses
from services.http.api.routes.commands import BoardNumber
from services.http.api.routes.players import Cursor, Limit
from services.http.api.values import one_of

api = ApiRoutes("disputes")

_ERRORS: Final = (
    *(Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER, Code.TOO_LONG, Code.TOO_MANY, Code.MATCH_OVER),
    *COMMAND_ERRORS,
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

    kind: Annotated[str, one_of(("set-back", "result-changed", "time-given"))]
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

    kind: Annotated[str, one_of(("claim", "ruling", "appeal"))]
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


@api.post("/api/matches/{board:int}/claim", "Make a claim", Scope.PLAY, waits=True)
@refuses(*_ERRORS, Code.UNKNOWN_PLY, Code.CLAIM_STANDS)
async def make_claim(board: BoardNumber, data: JSONBody[NewClaim], sender: Sender) -> Answered:
    """Ask an arbiter to look at a match, as one of its players or as an arbiter."""
    return await _carry_out(sender, board, ClaimAction(data.ply, data.text))


@api.post(
    "/api/matches/{board:int}/appeal",
    "Appeal against a ruling",
    Scope.PLAY,
    waits=True,
)
@refuses(*_ERRORS, Code.UNKNOWN_CLAIM, Code.ALREADY_APPEALED, Code.TOO_EARLY, Code.TOO_LATE)
async def make_appeal(board: BoardNumber, data: JSONBody[NewAppeal], sender: Sender) -> Answered:
    """Object to a ruling, once, within 14 days; another arbiter rules on it."""
    return await _carry_out(sender, board, AppealAction(data.text, data.case))


@api.post("/api/matches/{board:int}/rule", "Rule on a case", Scope.PLAY, waits=True)
@refuses(
    *_ERRORS,
    Code.NOT_AN_ARBITER,
    Code.UNKNOWN_CLAIM,
    Code.UNKNOWN_PLY,
    Code.ALREADY_RULED,
    Code.BAD_RULING,
)
async def give_ruling(board: BoardNumber, data: JSONBody[NewRuling], sender: Sender) -> Answered:
    """Rule on the case of a match that waits, or of your own motion, as an arbiter who does not play in it."""
    grants = tuple((one.player, one.ms) for one in data.time)
    verdict = Verdict(data.verdict.lower(), data.ply, data.winners, grants)
    action = RuleAction(verdict, data.text, data.case, data.own_motion)
    return await _carry_out(sender, board, action)


@api.get("/api/matches/{board:int}/cases", "The cases of a match", Scope.READ)
@refuses(Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER)
def list_cases(board: BoardNumber, own: Own) -> DisputeCases:
    """Return the claims and rulings of a match with their texts, to its players and to arbiters."""
    _, found = cases_of(own.app, own.account, board)
    names = userids_of(own.app, [step.event.actor for case in found for step in case.steps])
    return DisputeCases(board, tuple(_case_json(case, names.__getitem__) for case in found))


@api.get("/api/cases", "The cases that wait for a ruling", Scope.READ)
@refuses(Code.NOT_AN_ARBITER)
def list_waiting_cases(own: Own, cursor: Cursor = 0, limit: Limit = 50) -> WaitingCases:
    """Return the cases of all matches that wait for a ruling; arbiters only."""
    found = queue_of(own.app, own.account, cursor, limit)
    count = own.app.cases.count()
    return WaitingCases(
        count,
        tuple(WaitingCase(one.case.board, one.case.claim, one.case.since) for one in found),
        cursor + limit if count > cursor + limit else None,
    )


@api.get(
    "/api/matches/{board:int}/cases/{case:int}/evidence",
    "The evidence of a case",
    Scope.READ,
    weight=20,
)
@refuses(Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER, Code.UNKNOWN_CLAIM, Code.NOT_PUBLISHED)
def show_evidence(
    board: BoardNumber,
    case: Annotated[int, PathParameter(ge=1, le=10**9, description="the number of the case")],
    own: Own,
) -> Response[MatchDocument]:
    """Return the match document of a match as it was at the claim, to its players and to arbiters.

    It is frozen once the published log has the claim, and proves each of its leaves; before that it is
    404 with `not-published`. Texts and userids that were erased are not in it.
    """
    line = evidence_of(own.app, own.account, board, case)
    return Response(cast("MatchDocument", line), media_type=MediaType.JSON)


async def _carry_out(sender: CommandSender, board: int, action: DisputeAction) -> Answered:
    return await sender.submit(dispute(sender.app, sender.actor, board, action))


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
