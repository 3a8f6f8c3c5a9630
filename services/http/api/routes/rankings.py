"""Ratings, standings and finished matches."""

from collections.abc import Mapping
from typing import Annotated, Final

import msgspec
from litestar import Response
from litestar.params import QueryParameter

from domain.errors import Code
from domain.records import AccountId
from infra.projections.finished_matches import FinishedMatchRow
from services.app.games import read_game, read_multiplayer_game
from services.app.names import userids_of
from services.app.queries import finished_matches, head_to_head, pool, rating_series
from services.http.api.auth import AnyRequest, Context
from services.http.api.declared import ANYBODY, ApiRoutes, refuses, tagged
from services.http.api.routes.players import (
    Cursor,
    GameKey,
    Limit,
    Userid,
    UseridFilter,
    next_cursor,
)
from services.http.api.values import EndReason

api = ApiRoutes("players")

_MAX_POINTS: Final = 1_000
"""The maximum number of points in a series of ratings."""

WithBots = Annotated[
    bool, QueryParameter(description="true for ratings in matches in which a bot plays")
]


class Rated(msgspec.Struct, frozen=True):
    """A player's rating in a game."""

    userid: str | None
    """Null for a deleted account."""
    rating: int
    matches: int
    """The number of rated matches."""


class Ratings(msgspec.Struct, frozen=True):
    """A page of ratings."""

    game: str
    players: tuple[Rated, ...]
    next: int | None
    """The `cursor` of the next page; null on the last."""


class Point(msgspec.Struct, frozen=True):
    """A rating after a match."""

    board: int
    """The number of the match."""
    at: int
    """Time at which the match ended, in ms since 1970."""
    rating: int


class RatingSeries(msgspec.Struct, frozen=True):
    """The history of a player's rating."""

    game: str
    userid: str
    rating: int
    """The present rating."""
    place: int | None
    """The place among the rated players, 1 for the best; null without a rating."""
    points: tuple[Point, ...]
    """Ratings after each match, the oldest first."""


class Standing(msgspec.Struct, frozen=True):
    """A player's results in the matches of a game."""

    userid: str | None
    """Null for a deleted account."""
    points: float
    played: int
    won: int
    """Matches in which the player alone won."""
    shared: int
    """Matches in which the player shared first place."""
    lost: int


class Standings(msgspec.Struct, frozen=True):
    """A page of the standings of a game."""

    game: str
    players: tuple[Standing, ...]
    next: int | None
    """The `cursor` of the next page; null on the last."""


class FinishedMatch(msgspec.Struct, frozen=True):
    """A finished match."""

    board: int
    """The number of the match."""
    rules: str
    """The version of the rules, such as `pow2/1`."""
    options: tuple[str, ...]
    players: tuple[str | None, ...]
    """Userids by seat; null for a deleted account."""
    winners: tuple[int, ...]
    """Seats that have won: all tied seats for a draw, none if the match does not count."""
    ranks: tuple[int, ...]
    """The place of each seat; 1 is the first."""
    reason: EndReason
    """Why the match ended, such as `resignation`."""
    plies: int
    """The number of moves."""
    rated: bool
    ended: int
    """Time at which the match ended, in ms since 1970."""


class History(msgspec.Struct, frozen=True):
    """A page of finished matches, the last ended first."""

    game: str
    matches: tuple[FinishedMatch, ...]
    next: int | None
    """The `cursor` of the next page; null on the last."""


class HeadToHead(msgspec.Struct, frozen=True):
    """The results of two players against each other."""

    game: str
    userid: str | None
    opponent: str | None
    played: int
    won: int
    """Matches won by `userid`; among three or more players, matches with a better place."""
    shared: int
    """Matches in which both had the same place."""
    lost: int
    """Matches won by `opponent`, counted in the same way."""


@api.get("/api/ratings/{game:str}", "The ratings of a game", ANYBODY, tagged=True)
@refuses(Code.UNKNOWN_GAME, Code.USAGE)
def list_ratings(
    request: AnyRequest,
    game: GameKey,
    context: Context,
    cursor: Cursor = 0,
    limit: Limit = 50,
    bots: WithBots = False,  # noqa: FBT002 - a part of the address
) -> Response[Ratings]:
    """Return the rated players of a game, the best first."""
    key = read_multiplayer_game(game).key
    rows = context.app.ratings.of(pool(key, bots=bots), cursor, limit + 1)
    names = userids_of(context.app, (row.account for row in rows))
    shown = [
        Rated(names[r.account], r.rating.display_value, r.rating.matches) for r in rows[:limit]
    ]
    return tagged(request, Ratings(key, tuple(shown), next_cursor(cursor, limit, len(rows))))


@api.get("/api/ratings/{game:str}/{userid:str}", "A player's rating", ANYBODY, tagged=True)
@refuses(Code.UNKNOWN_GAME, Code.UNKNOWN_USER, Code.USAGE)
def show_rating(
    request: AnyRequest,
    game: GameKey,
    userid: Userid,
    context: Context,
    bots: WithBots = False,  # noqa: FBT002 - as above
) -> Response[RatingSeries]:
    """Return a player's rating, now and after each of the last 1,000 rated matches."""
    key, account = read_multiplayer_game(game).key, context.app.accounts.id_of(userid)
    rated = pool(key, bots=bots)
    now, series = rating_series(context.app, rated, account, _MAX_POINTS)
    points = [Point(point.board, point.at, point.display_value) for point in series]
    place = context.app.ratings.place(rated, account)
    return tagged(
        request, RatingSeries(key, userid.lower(), now.display_value, place, tuple(points))
    )


@api.get("/api/standings/{game:str}", "The standings of a game", ANYBODY, tagged=True)
@refuses(Code.UNKNOWN_GAME, Code.USAGE)
def list_standings(
    request: AnyRequest, game: GameKey, context: Context, cursor: Cursor = 0, limit: Limit = 50
) -> Response[Standings]:
    """Return the standings of a game, most points first.

    A win is 1 point; players who share first place share the point.
    """
    key = read_multiplayer_game(game).key
    rows = context.app.standings.of(key, cursor, limit + 1)
    names = userids_of(context.app, (row.account for row in rows))
    shown = [
        Standing(names[r.account], r.points, r.played, r.won, r.drawn, r.lost) for r in rows[:limit]
    ]
    return tagged(request, Standings(key, tuple(shown), next_cursor(cursor, limit, len(rows))))


@api.get("/api/history/{game:str}", "Finished matches", ANYBODY, tagged=True)
@refuses(Code.UNKNOWN_GAME, Code.UNKNOWN_USER)
def list_history(  # noqa: PLR0917 - one for each parameter of the query
    request: AnyRequest,
    game: GameKey,
    context: Context,
    player: UseridFilter = None,
    opponent: UseridFilter = None,
    cursor: Cursor = 0,
    limit: Limit = 50,
) -> Response[History]:
    """Return finished matches of a game: all, those of a player, or those of two players."""
    key = read_game(game).key
    who = [context.app.accounts.id_of(name) for name in (player, opponent) if name is not None]
    rows = finished_matches(context.app, key, who, cursor, limit + 1)
    names = userids_of(context.app, (account for row in rows for account in row.seats))
    shown = [_finished_match_json(row, names) for row in rows[:limit]]
    return tagged(request, History(key, tuple(shown), next_cursor(cursor, limit, len(rows))))


@api.get(
    "/api/head-to-head/{game:str}/{userid:str}/{opponent:str}",
    "Two players against each other",
    ANYBODY,
    tagged=True,
)
@refuses(Code.UNKNOWN_GAME, Code.UNKNOWN_USER, Code.USAGE, Code.BAD_PLAYERS)
def show_head_to_head(
    request: AnyRequest, game: GameKey, userid: Userid, opponent: Userid, context: Context
) -> Response[HeadToHead]:
    """Return how often each of two players has won against the other."""
    key = read_multiplayer_game(game).key
    one, other = context.app.accounts.id_of(userid), context.app.accounts.id_of(opponent)
    record = head_to_head(context.app, key, one, other)
    names = userids_of(context.app, [one, other])
    return tagged(
        request,
        HeadToHead(
            key, names[one], names[other], record.played, record.won, record.drawn, record.lost
        ),
    )


def _finished_match_json(
    row: FinishedMatchRow, names: Mapping[AccountId, str | None]
) -> FinishedMatch:
    return FinishedMatch(
        board=row.board,
        rules=row.rules,
        options=row.options,
        players=tuple(names[account] for account in row.seats),
        winners=row.winners,
        ranks=row.ranks,
        reason=row.reason,
        plies=row.plies,
        rated=row.rated,
        ended=row.at,
    )
