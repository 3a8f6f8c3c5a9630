"""Open challenges: matches that wait for whoever wants to play."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Annotated, Final
from uuid import uuid4

import msgspec
from litestar import delete, get, post
from litestar.di import NamedDependency
from litestar.params import JSONBody, PathParameter, QueryParameter
from redis.exceptions import RedisError

from domain.clocks.terms import write_terms
from domain.errors import Code, Refusal
from domain.match.commands import Sent
from domain.match.events import AccountId, command_id
from domain.rules import pinned, rules_id
from infra.challenges import Challenge, Proposal, State
from infra.gateway import OutcomePending
from infra.tokens import Scope
from services.api.answers import refuses
from services.api.bodies import Asked
from services.api.callers import PLAY, READ, Caller
from services.api.commands import WAIT_SECONDS, Key, Wait
from services.api.context import DOOR, ApiContext
from services.api.players import Cursor, GameWanted, Limit
from services.api.starting import Commitment, Words, begin
from services.app import contact
from services.app.games import read_game as known
from services.app.names import userids_of
from services.language.draws import all_committed, committed
from services.language.starting import check_players, start_command
from services.language.terms import Agreed, read_agreed

logger = logging.getLogger(__name__)

_TAGS: Final = ["challenges"]

Id = Annotated[str, PathParameter(max_length=24, description="the challenge's id")]


class NewChallenge(Asked, frozen=True):
    """A match that is offered to anybody."""

    game: Annotated[str, msgspec.Meta(max_length=24, examples=["pow2"])]
    options: Words = ()
    """The game's options, such as `-fast`."""
    terms: Words = ()
    """The server's options, such as `--days=3` and `--unrated`; not `--entropy=WORD`."""
    seats: Annotated[int, msgspec.Meta(ge=2, le=8)] = 2
    """Of how many it is played."""
    seat: Annotated[int, msgspec.Meta(ge=0, le=7)] | None = None
    """Where you sit, 0 for who moves first; null when chance shall decide, once all are there."""
    note: Annotated[str, msgspec.Meta(examples=["beginners welcome"])] = ""
    """A line to whoever may take it."""
    commitment: Commitment = ""
    """Where the match gathers: SHA-256 of a text that you keep; else the server keeps one."""


class OpenChallenge(msgspec.Struct, frozen=True):
    """A challenge."""

    id: str
    state: str
    """`open`, `taken` while its match is being started, `started` or `withdrawn`."""
    game: str
    rules: str
    options: tuple[str, ...]
    terms: tuple[str, ...]
    note: str
    seats: int
    seat: int | None
    """Where its maker sits; null while chance has not decided."""
    players: tuple[str | None, ...]
    """Its maker and those who have joined; by seat once all are there."""
    missing: int
    """How many are still to join."""
    created: int
    """Milliseconds since 1970."""
    expires: int
    """When it can be taken no more, ms."""
    board: int | None
    """Of its match, once that has started."""


class Challenges(msgspec.Struct, frozen=True):
    """A page of challenges, the newest first."""

    challenges: tuple[OpenChallenge, ...]
    next: int | None


@get(
    "/api/challenges",
    sync_to_thread=True,
    tags=_TAGS,
    opt=refuses(Code.UNKNOWN_GAME),
    summary="Challenges that can be taken",
)
def list_challenges(
    context: NamedDependency[ApiContext],
    game: GameWanted = None,
    cursor: Cursor = 0,
    limit: Limit = 50,
) -> Challenges:
    """Return open challenges of all games, or of one."""
    key = None if game is None else known(game).key
    found = context.app.challenges.listed(key, cursor, limit + 1)
    more = cursor + limit if len(found) > limit else None
    return Challenges(_shown(context, found[:limit]), more)


@get(
    "/api/account/challenges",
    sync_to_thread=True,
    security=READ,
    tags=_TAGS,
    opt=refuses(),
    summary="Challenges that you have opened or joined",
)
def own_challenges(
    context: NamedDependency[ApiContext], caller: NamedDependency[Caller]
) -> Challenges:
    """Return those that wait; 40 at most."""
    found = context.app.challenges.of(caller.need(Scope.READ))
    return Challenges(_shown(context, found), None)


@get(
    "/api/challenges/{challenge:str}",
    sync_to_thread=True,
    tags=_TAGS,
    opt=refuses(Code.UNKNOWN_CHALLENGE),
    summary="A challenge",
)
def show_challenge(challenge: Id, context: NamedDependency[ApiContext]) -> OpenChallenge:
    """Return a challenge, also for a while after it was taken: then it has the board of its match."""
    return _shown(context, [context.app.challenges.get(challenge)])[0]


@post(
    "/api/challenges",
    sync_to_thread=True,
    security=PLAY,
    tags=_TAGS,
    opt=refuses(
        Code.UNKNOWN_GAME,
        Code.UNKNOWN_OPTION,
        Code.BAD_OPTION,
        Code.BAD_PLAYERS,
        Code.TOO_LONG,
        Code.TOO_MANY,
        Code.ID_REUSED,
    ),
    summary="Open a challenge",
)
def open_challenge(
    data: JSONBody[NewChallenge],
    context: NamedDependency[ApiContext],
    caller: NamedDependency[Caller],
    key: Key = None,
) -> OpenChallenge:
    """Offer a match to anybody, for 30 days; repeated with its key it is one challenge.

    A rated match of chance gathers (`--gather`) whether or not that is said.
    """
    account = caller.need(Scope.PLAY)
    command = command_id(DOOR, account, key or uuid4().hex)
    proposal = proposal_of(data)
    if data.commitment:
        _check_gathers(proposal)
    own = bytes.fromhex(data.commitment)
    made = context.app.challenges.open(account, proposal, command, own)
    return _shown(context, [made])[0]


@post(
    "/api/challenges/{challenge:str}/accept",
    status_code=200,
    security=PLAY,
    tags=_TAGS,
    opt=refuses(
        Code.UNKNOWN_CHALLENGE,
        Code.OWN_CHALLENGE,
        Code.NOT_WANTED,
        Code.BAD_OPTION,
        Code.TOO_MANY,
        Code.BUSY,
        waits=True,
    ),
    summary="Take a challenge",
)
async def accept_challenge(
    challenge: Id,
    context: NamedDependency[ApiContext],
    caller: NamedDependency[Caller],
    wait: Wait = WAIT_SECONDS,
    commitment: Annotated[
        str,
        QueryParameter(
            pattern="^([0-9A-Fa-f]{64})?$",
            description="where the match gathers: SHA-256 of a text that you keep, in hex; else "
            "the server keeps one",
        ),
    ] = "",
) -> OpenChallenge:
    """Take a free seat; with the last one the match starts. To repeat it is safe."""
    account = caller.need(Scope.PLAY)
    taken = await asyncio.to_thread(take, context, challenge, account, commitment)
    if taken.state is State.TAKEN:
        taken = await start(context, taken, wait)
    return (await asyncio.to_thread(_shown, context, [taken]))[0]


@delete(
    "/api/challenges/{challenge:str}",
    sync_to_thread=True,
    security=PLAY,
    tags=_TAGS,
    opt=refuses(Code.UNKNOWN_CHALLENGE, Code.NOT_A_PLAYER, Code.ALREADY_STARTED),
    summary="Withdraw a challenge, or leave it",
)
def withdraw_challenge(
    challenge: Id, context: NamedDependency[ApiContext], caller: NamedDependency[Caller]
) -> None:
    """Withdraw a challenge of one's own, or give back the seat taken in another's."""
    context.app.challenges.withdraw(caller.need(Scope.PLAY), challenge)


def take(context: ApiContext, id_: str, account: AccountId, commitment: str) -> Challenge:
    """Take a free seat, with what the player commits to for the draw; empty for nothing."""
    if commitment:
        _check_gathers(context.app.challenges.get(id_).proposal)
    own = bytes.fromhex(commitment)
    return contact.take(context.app, context.app.challenges, id_, account, own)


async def start(context: ApiContext, challenge: Challenge, wait: float) -> Challenge:
    """Start the match of a challenge that is full, as often as it takes: there is one.

    `PendingAt` when there is no outcome in time; it is started all the same, see `start_full`.
    """
    sent = await asyncio.to_thread(_sent, context, challenge)
    begun = await begin(context, sent, wait)
    # crash window: the match has started and the challenge does not know its board
    return await asyncio.to_thread(context.app.challenges.done, challenge.id, begun.board)


async def start_full(context: ApiContext) -> None:
    """Start, for ever, what is full and was not started: who was to may have been killed."""
    while True:
        try:
            for challenge in await asyncio.to_thread(context.app.challenges.unstarted):
                await _try_to_start(context, challenge)
        except (RedisError, OSError) as error:
            logger.warning("full challenges can't be looked for (%s); trying again", error)
        await asyncio.sleep(context.rhythm.challenges)


async def _try_to_start(context: ApiContext, challenge: Challenge) -> None:
    try:
        await start(context, challenge, WAIT_SECONDS)
    except OutcomePending:
        return  # it has been handed in, and is noted next time
    except Refusal as reason:
        logger.warning("challenge %s could not be started (%s)", challenge.id, reason)


def proposal_of(data: NewChallenge) -> Proposal:
    """Return what is proposed, in the one form in which it is kept; refused as a start is."""
    rules = known(data.game)
    options = rules.read_options(data.options)
    check_players(rules, range(data.seats))
    agreed = read_agreed(data.terms, data.seats)
    if agreed.commitment:
        raise Refusal(Code.BAD_OPTION, "a commitment to an open challenge stands beside its terms")
    if agreed.word:
        raise Refusal(
            Code.BAD_OPTION,
            "an open challenge takes no --entropy, since all could read it; with --gather the "
            "players give it when the match starts",
        )
    if agreed.gather and not rules.needs_draw(options, data.seats):
        raise Refusal(Code.BAD_OPTION, "chance decides nothing here, so it takes no entropy")
    # who takes it is a stranger, and nobody shall have to trust one
    rated = agreed.terms is not None and agreed.terms.rated
    gather = agreed.gather or (rated and rules.needs_draw(options, data.seats))
    return Proposal(
        rules=rules_id(rules),
        options=rules.write_options(options),
        words=_words(msgspec.structs.replace(agreed, gather=gather)),
        seats=data.seats,
        seat=data.seat,
        note=data.note,
    )


def gathers(proposal: Proposal) -> bool:
    """Return whether the match of a challenge waits for its players' commitments."""
    return "--gather" in proposal.words


def _check_gathers(proposal: Proposal) -> None:
    """Refuse, as `bad-option`, a commitment where nothing is gathered."""
    if not gathers(proposal):
        raise Refusal(
            Code.BAD_OPTION, "the match gathers nothing for a draw; leave `commitment` out"
        )


def _words(agreed: Agreed) -> tuple[str, ...]:
    gather = ("--gather",) if agreed.gather else ()
    return (*gather, *(write_terms(agreed.terms) if agreed.terms else ()))


def _sent(context: ApiContext, challenge: Challenge) -> Sent:
    """Return the command that starts the match, the same from whoever gives it."""
    proposal, seats = challenge.proposal, challenge.seated
    agreed = read_agreed(proposal.words, proposal.seats)
    rules = pinned(proposal.rules)
    command = challenge.start_id
    begun = start_command(rules, proposal.options, agreed, seats, command)
    board = context.app.store.allocate(command)
    # whose taking made it full, so that all others are told; the same for whoever starts it
    actor = challenge.takers[-1]
    sent = Sent(board, command, actor, begun)
    if begun.gather:
        given = dict(challenge.commitments)
        return committed(context.app, sent, all_committed(context.app.words, board, seats, given))
    return sent


def _shown(context: ApiContext, found: Sequence[Challenge]) -> tuple[OpenChallenge, ...]:
    names = userids_of(context.app, (account for one in found for account in one.players))
    return tuple(
        OpenChallenge(
            id=one.id,
            state=str(one.state),
            game=one.proposal.game,
            rules=one.proposal.rules,
            options=one.proposal.options,
            terms=one.proposal.words,
            note=one.proposal.note,
            seats=one.proposal.seats,
            seat=one.proposal.seat if one.drawn is None else one.drawn,
            players=tuple(names[account] for account in one.seated or one.players),
            missing=one.missing,
            created=one.created,
            expires=one.expires,
            board=one.board,
        )
        for one in found
    )
