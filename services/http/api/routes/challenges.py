"""Open challenges, whose seats any player may take, and the robots that take them."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated

import msgspec
from litestar import Response
from litestar.params import JSONBody, PathParameter, QueryParameter

from domain.errors import Code
from domain.game.engine import RobotLevel
from infra.people.challenges import Challenge
from infra.people.tokens import Scope
from services.app import challenges
from services.app.challenges import begun_when_full, decline_all, fill_with_robot, proposal_of, take
from services.app.clubs import club_at, visible_challenge
from services.app.context import App
from services.app.games import read_game
from services.app.names import userids_of
from services.app.opponents import games_of_robots, robots_here
from services.app.play import WAIT_SECONDS
from services.http.api.auth import AnyRequest, Caller, Context, Own, viewer_of
from services.http.api.bodies import Key, RequestBody, Wait
from services.http.api.declared import ANYBODY, ApiRoutes, created, refuses, tagged
from services.http.api.routes.new_match import (
    OPENING_ERRORS,
    Commitment,
    Opening,
    Words,
    with_opening,
)
from services.http.api.routes.players import Cursor, GameFilter, Limit
from services.http.api.values import LevelName, one_of

api = ApiRoutes("challenges")

Id = Annotated[str, PathParameter(max_length=24, description="the challenge's id")]


class NewChallenge(RequestBody, frozen=True):
    """A match that you offer to all players."""

    game: Annotated[str, msgspec.Meta(max_length=24, examples=["pow2"])]
    options: Words = ()
    """The game's options, such as `-fast`."""
    terms: Words = ()
    """The server's options, such as `--days=3` and `--unrated`; not `--entropy=WORD`."""
    seats: Annotated[int, msgspec.Meta(ge=2, le=8)] = 2
    """The number of players."""
    seat: Annotated[int, msgspec.Meta(ge=0, le=7)] | None = None
    """Your seat; 0 moves first. If it is null, chance decides once all players have joined."""
    note: Annotated[str, msgspec.Meta(examples=["beginners welcome"])] = ""
    """A note to other players."""
    listed: bool = True
    """Whether it is in the list of open challenges. If not, only players to whom you give its id can
    take it."""
    commitment: Commitment = ""
    """If the match gathers (`--gather`): SHA-256 of a secret text that you keep, in hex. If it is
    empty, the server keeps a text for you."""
    club: Annotated[str, msgspec.Meta(max_length=60)] = ""
    """The path of a club whose members alone see it and can take it; empty for none."""
    opening: Opening = ""
    """The moves with which the match begins, with blanks between them; empty for none."""


class OpenChallenge(msgspec.Struct, frozen=True):
    """A challenge to all players."""

    id: str
    state: Annotated[str, one_of(("open", "taken", "started", "withdrawn"))]
    """`open`, `taken` while its match is starting, `started` or `withdrawn`."""
    game: str
    rules: str
    """The version of the rules, such as `pow2/1`."""
    options: tuple[str, ...]
    """The game's options, such as `-fast`."""
    terms: tuple[str, ...]
    """The server's options, such as `--days=3`, with the opening as `--opening=MOVES`."""
    note: str
    listed: bool
    """Whether it is in a list of open challenges: that of all, or of its club."""
    seats: int
    """The number of players."""
    seat: int | None
    """The seat of its maker; null until chance has decided."""
    players: tuple[str | None, ...]
    """Userids of its maker and the players who have joined; by seat once all have. Null for a
    deleted account."""
    missing: int
    """The number of free seats."""
    created: int
    """Time at which it was opened, in ms since 1970."""
    expires: int
    """Time at which it expires, in ms since 1970."""
    board: int | None
    """The number of its match; null until the match has started."""


class Challenges(msgspec.Struct, frozen=True):
    """A page of challenges, the newest first."""

    challenges: tuple[OpenChallenge, ...]
    next: int | None
    """The `cursor` of the next page; null on the last."""


@api.get("/api/challenges", "Challenges that you can join", ANYBODY, tagged=True)
@refuses(Code.UNKNOWN_GAME)
def list_challenges(
    request: AnyRequest,
    context: Context,
    game: GameFilter = None,
    cursor: Cursor = 0,
    limit: Limit = 50,
) -> Response[Challenges]:
    """Return open challenges of all games, or of one game."""
    key = None if game is None else read_game(game).key
    found = context.app.challenges.list_open(key, cursor, limit + 1)
    more = cursor + limit if len(found) > limit else None
    return tagged(request, Challenges(challenge_json(context.app, found[:limit]), more))


@api.post("/api/challenges", "Open a challenge", Scope.PLAY, located=True, status_code=201)
@refuses(
    Code.SANCTIONED,
    Code.UNKNOWN_GAME,
    Code.GAME_OFF,
    Code.UNKNOWN_OPTION,
    Code.BAD_OPTION,
    Code.BAD_PLAYERS,
    Code.TOO_LONG,
    Code.TOO_MANY,
    Code.ID_REUSED,
    Code.UNKNOWN_CLUB,
    Code.NOT_WANTED,
    *OPENING_ERRORS,
)
def open_challenge(
    data: JSONBody[NewChallenge], own: Own, key: Key = None
) -> Response[OpenChallenge]:
    """Offer a match to all players, for 30 days.

    A request repeated with its key makes one challenge.
    """
    actor = own.actor(key)
    proposal = proposal_of(
        read_game(data.game),
        data.options,
        with_opening(data.terms, data.opening),
        seats=data.seats,
        seat=data.seat,
        note=data.note,
        listed=data.listed,
        club=club_at(own.app, own.account, data.club).id if data.club else "",
    )
    made = challenges.propose(own.app, actor, proposal, data.commitment)
    shown = challenge_json(own.app, [made])[0]
    return created(shown, f"/api/challenges/{shown.id}")


@api.get("/api/challenges/{challenge:str}", "A challenge", ANYBODY)
@refuses(Code.UNKNOWN_CHALLENGE)
def show_challenge(challenge: Id, context: Context, request: AnyRequest) -> OpenChallenge:
    """Return a challenge.

    It stays for some time after the match has started, and then has the number of the match. One for the members of a
    club needs a token of theirs.
    """
    return challenge_json(
        context.app, [visible_challenge(context.app, viewer_of(request), challenge)]
    )[0]


@api.post(
    "/api/challenges/{challenge:str}/accept",
    "Join a challenge",
    Scope.PLAY,
    waits=True,
)
@refuses(
    Code.SANCTIONED,
    Code.GAME_OFF,
    Code.UNKNOWN_CHALLENGE,
    Code.OWN_CHALLENGE,
    Code.NOT_WANTED,
    Code.BAD_OPTION,
    Code.TOO_MANY,
    Code.BUSY,
)
async def accept_challenge(
    challenge: Id,
    own: Own,
    wait: Wait = WAIT_SECONDS,
    commitment: Annotated[
        str,
        QueryParameter(
            pattern="^([0-9A-Fa-f]{64})?$",
            description="if the match gathers (`--gather`): SHA-256 of a secret text that you "
            "keep, in hex; without it the server keeps a text for you",
        ),
    ] = "",
) -> OpenChallenge:
    """Take a free seat; the last one starts the match. The request can be repeated safely."""
    return await _take(own, partial(take, own.app, own.actor(), challenge, commitment), wait)


@api.delete("/api/challenges/{challenge:str}", "Withdraw a challenge, or leave it", Scope.PLAY)
@refuses(Code.UNKNOWN_CHALLENGE, Code.NOT_A_PLAYER, Code.ALREADY_STARTED)
def withdraw_challenge(challenge: Id, own: Own) -> None:
    """Withdraw your challenge, or leave another player's."""
    challenges.withdraw(own.app, own.actor(), challenge)


class Challenger(RequestBody, frozen=True):
    """A player who has invited you to matches."""

    userid: Annotated[str, msgspec.Meta(max_length=24, examples=["bob"])]


class DeclinedMatches(msgspec.Struct, frozen=True):
    """The outcome of declining several matches."""

    declined: int
    """The number of matches."""


@api.post(
    "/api/account/challenges/decline",
    "Decline all invitations of a player",
    Scope.PLAY,
)
@refuses(Code.UNKNOWN_USER)
def decline_challenges(data: JSONBody[Challenger], own: Own) -> DeclinedMatches:
    """Decline all matches to which a player invites you, and that not all have accepted."""
    return DeclinedMatches(decline_all(own.app, own.actor(), data.userid))


class ListedRobot(msgspec.Struct, frozen=True):
    """A robot that you can play with."""

    userid: str
    level: LevelName
    """`easy`, `medium` or `hard`."""


class Robots(msgspec.Struct, frozen=True):
    """The robots that play here."""

    robots: tuple[ListedRobot, ...]
    """The weakest first; empty where no robots play."""
    games: tuple[str, ...]
    """The games that each of them plays."""


class FreeSeat(RequestBody, frozen=True):
    """A robot that is to take a free seat."""

    level: RobotLevel


@api.post(
    "/api/challenges/{challenge:str}/robot",
    "Let a robot join your challenge",
    Scope.PLAY,
    waits=True,
)
@refuses(
    *(Code.UNKNOWN_CHALLENGE, Code.NOT_A_PLAYER, Code.GAME_OFF, Code.NOT_WANTED, Code.TOO_MANY),
    Code.BUSY,
)
async def add_robot(
    challenge: Id, data: JSONBody[FreeSeat], own: Own, wait: Wait = WAIT_SECONDS
) -> OpenChallenge:
    """Let a robot take a free seat; the last one starts the match, which is unrated.

    Only the player who opened the challenge can. The request can be repeated safely.
    """
    filled = partial(fill_with_robot, own.app, own.actor(), challenge, data.level)
    return await _take(own, filled, wait)


@api.get("/api/account/challenges", "Challenges that you have opened or joined", Scope.READ)
def own_challenges(own: Own) -> Challenges:
    """Return your challenges that wait for players, and those you have joined; 40 at most."""
    found = own.app.challenges.of(own.account)
    return Challenges(challenge_json(own.app, found), None)


@api.get("/api/robots", "Robots that play here", ANYBODY, tag="players", tagged=True)
def list_robots(request: AnyRequest, context: Context) -> Response[Robots]:
    """Return the robots; each accepts any challenge by name at once, and no match with one is rated."""
    robots = robots_here(context.app)
    return tagged(
        request,
        Robots(
            tuple(ListedRobot(robot.userid, robot.level) for robot in robots),
            tuple(rules.key for rules in games_of_robots(context.app)) if robots else (),
        ),
    )


async def _take(own: Caller, seat: Callable[[], Challenge], wait: float) -> OpenChallenge:
    asked = begun_when_full(own.app, seat)
    taken = await own.context.play.submit(asked, wait, receipt=True)
    return (await asyncio.to_thread(challenge_json, own.app, [taken]))[0]


def challenge_json(app: App, found: Sequence[Challenge]) -> tuple[OpenChallenge, ...]:
    """Return challenges as JSON shows them."""
    names = userids_of(app, (account for one in found for account in one.players))
    return tuple(
        OpenChallenge(
            id=one.id,
            state=one.state,
            game=one.proposal.game,
            rules=one.proposal.rules,
            options=one.proposal.options,
            terms=one.words,
            note=one.proposal.note,
            listed=one.proposal.listed,
            seats=one.proposal.seats,
            seat=one.proposal.seat if one.drawn is None else one.drawn,
            players=tuple(names[account] for account in one.seat_order or one.players),
            missing=one.free_seats,
            created=one.created,
            expires=one.expires,
            board=one.board,
        )
        for one in found
    )
