"""Pairing from outside: batches of matches that an organiser's own tool or spreadsheet has paired."""

from typing import Annotated
from uuid import uuid4

import msgspec
from litestar.params import JSONBody, PathParameter

from domain.errors import Code
from domain.rules import Seat
from domain.sentences import Translation
from infra.languages.wording import wording
from infra.people.tokens import Scope
from services.app import pairings
from services.app.matches import phase_of
from services.app.names import userids_of
from services.app.pairings import (
    MOST_OF_LABEL,
    MOST_PAIRINGS,
    MatchOfBatch,
    PairedBatch,
    PairingPlan,
    WantedPairing,
)
from services.app.play import WAIT_SECONDS
from services.http.api.auth import AnyRequest, Own
from services.http.api.bodies import Key, RequestBody, Wait
from services.http.api.declared import ApiRoutes, refuses
from services.http.api.routes.accounts import Userid
from services.http.api.routes.new_match import Words
from services.http.api.values import EndReason, ErrorCode, PhaseName
from services.http.request_limits import note_budget
from services.http.requests import wanted_language

api = ApiRoutes("tournaments")

BatchKey = Annotated[str, PathParameter(max_length=200, description="the batch's Idempotency-Key")]
GameKey = Annotated[str, msgspec.Meta(max_length=24, examples=["goliath"])]


class NewPairing(RequestBody, frozen=True):
    """A match to start; what is null is as the batch has it."""

    players: Annotated[tuple[Userid, ...], msgspec.Meta(min_length=2, max_length=8)]
    """Userids, in the order of the seats."""
    label: Annotated[str, msgspec.Meta(max_length=MOST_OF_LABEL, examples=["Round 1"])] = ""
    """Yours, to find the match again; you alone see it."""
    game: GameKey | None = None
    options: Words | None = None
    terms: Words | None = None


class NewBatch(RequestBody, frozen=True):
    """Matches to start between members of a club, or entrants of a tournament."""

    pairings: Annotated[
        tuple[NewPairing, ...], msgspec.Meta(min_length=1, max_length=MOST_PAIRINGS)
    ]
    club: Annotated[str, msgspec.Meta(max_length=60, examples=["rook-and-pawn"])] = ""
    """The path of a club that you organise and whose members you may pair; empty for a tournament."""
    tournament: Annotated[int, msgspec.Meta(ge=0, le=10**15)] = 0
    """The number of a tournament that you organise, which names game, options and terms; 0 for a club."""
    game: GameKey = ""
    options: Words = ()
    """The game's options, such as `-fast`."""
    terms: Words = ()
    """The time control, such as `--days=3`, and `--unrated`."""


class AnsweredPairing(msgspec.Struct, frozen=True):
    """A match that has begun, or why it can't begin."""

    players: tuple[str, ...]
    label: str
    board: int | None
    """The number of the match; null if the batch has not started."""
    code: ErrorCode | None
    """Why this pairing is refused; null for one that could start."""
    detail: str | None
    """The same in words."""


class AnsweredBatch(msgspec.Struct, frozen=True):
    """A batch of which all matches have begun, or none."""

    key: str
    """At which `GET /api/pairings/{key}` lists it."""
    started: bool
    """Whether all matches have begun; otherwise none has, and some pairings have a `code`."""
    pairings: tuple[AnsweredPairing, ...]
    """In the order of the request."""


class BatchResult(msgspec.Struct, frozen=True):
    """How a match has ended."""

    winners: tuple[Seat, ...]
    """The seats that have won: all tied seats for a draw, none if the match does not count."""
    reason: EndReason
    """Why the match ended, such as `resignation`."""


class ListedPairing(msgspec.Struct, frozen=True):
    """A match of a batch as it stands."""

    board: int
    label: str
    players: tuple[str | None, ...]
    """Userids by seat; null for a deleted account."""
    state: PhaseName
    """`waiting` until it has begun, then `active` or `over`."""
    result: BatchResult | None
    """Null until it is over."""
    seq: int
    """The number of its last event, which grows with each; 0 until it has begun."""


class ListedBatch(msgspec.Struct, frozen=True):
    """A batch with its matches."""

    key: str
    at: int
    """Time at which it was accepted, in ms since 1970."""
    source: str
    """The club or the tournament, such as `club rook-and-pawn`."""
    pairings: tuple[ListedPairing, ...]
    """In the order of the request."""


@api.post("/api/pairings", "Pair others", Scope.ORGANISE, waits=True)
@refuses(
    *(Code.UNKNOWN_CLUB, Code.NOT_AN_ORGANISER, Code.CLUB_CLOSED, Code.NOT_WANTED),
    *(Code.UNKNOWN_TOURNAMENT, Code.AGAINST_TERMS, Code.TOO_LATE, Code.SANCTIONED),
    *(Code.ID_REUSED, Code.BUSY),
)
async def pair_players(
    data: JSONBody[NewBatch],
    own: Own,
    request: AnyRequest,
    key: Key = None,
    wait: Wait = WAIT_SECONDS,
) -> AnsweredBatch:
    """Start up to 500 matches between others who have agreed to be paired, all or none.

    Members of a club agree by being in one that says so, and entrants of a tournament by having entered it. All
    pairings are checked before any match starts. A batch counts as many requests as it has matches.
    """
    actor = own.actor(key or uuid4().hex)
    plan = _plan(data)

    def count(matches: int) -> None:
        pace = own.app.pace
        pace.give_back(own.account)  # the request has counted as the first of them
        note_budget(request.scope, "commands", pace.check(own.account, matches))

    paired = await own.context.play.submit(pairings.pair(own.app, actor, plan, count), wait)
    language = wording(wanted_language(request.headers.get("accept-language", "")))
    return _answered(actor.key, plan, paired, language)


def _plan(data: NewBatch) -> PairingPlan:
    return PairingPlan(
        club=data.club,
        tournament=data.tournament,
        game=data.game,
        options=data.options,
        terms=data.terms,
        pairings=tuple(
            WantedPairing(one.players, one.label, one.game, one.options, one.terms)
            for one in data.pairings
        ),
    )


def _answered(
    key: str, plan: PairingPlan, paired: PairedBatch, language: Translation
) -> AnsweredBatch:
    batch = paired.batch
    boards = [one.board for one in batch.pairings] if batch else [None] * len(plan.pairings)
    refused = paired.refused or (None,) * len(plan.pairings)
    return AnsweredBatch(
        key,
        batch is not None,
        tuple(
            AnsweredPairing(
                one.players,
                one.label,
                board,
                str(reason.code) if reason else None,
                reason.in_language(language) if reason else None,
            )
            for one, board, reason in zip(plan.pairings, boards, refused, strict=True)
        ),
    )


@api.get("/api/pairings/{key:str}", "A batch of pairings", Scope.ORGANISE, weight=5)
@refuses(Code.NOT_FOUND)
def show_pairings(key: BatchKey, own: Own) -> ListedBatch:
    """Return the matches of a batch of yours with their results; it is kept for 400 days, and the last 50 are."""
    batch, found = pairings.batch_of(own.app, own.account, key)
    userids = userids_of(own.app, [seat for one in found for seat in one.seats])
    return ListedBatch(
        key,
        batch.at,
        batch.source,
        tuple(_listed(one, tuple(userids[seat] for seat in one.seats)) for one in found),
    )


def _listed(one: MatchOfBatch, players: tuple[str | None, ...]) -> ListedPairing:
    state = one.state
    ended = state.result
    result = BatchResult(ended.winners, ended.reason) if ended else None
    phase = phase_of(state) if state.started else "waiting"
    return ListedPairing(one.board, one.label, players, phase, result, state.seq)
