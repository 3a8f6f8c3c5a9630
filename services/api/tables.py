"""What has been played: ratings, tables, finished matches."""

from typing import Final

import msgspec
from litestar import get
from litestar.di import NamedDependency

from domain.errors import Code, Refusal
from infra.projections.history import Row
from services.api.answers import refuses
from services.api.context import ApiContext
from services.api.players import (
    Cursor,
    GameKey,
    Limit,
    Names,
    Userid,
    UseridWanted,
    known,
    names_of,
    next_of,
    of_several,
)

_TAGS: Final = ["players"]


class Rated(msgspec.Struct, frozen=True):
    """A player's rating in a game."""

    userid: str | None
    rating: int
    matches: int
    """How many have counted."""


class Ratings(msgspec.Struct, frozen=True):
    """A page of ratings."""

    game: str
    players: tuple[Rated, ...]
    next: int | None


class Point(msgspec.Struct, frozen=True):
    """A rating after a match."""

    board: int
    at: int
    rating: int


class RatingSeries(msgspec.Struct, frozen=True):
    """How a player's rating came about."""

    game: str
    userid: str
    rating: int
    place: int | None
    points: tuple[Point, ...]


class Standing(msgspec.Struct, frozen=True):
    """A player's place in a game's table."""

    userid: str | None
    points: float
    played: int
    won: int
    shared: int
    lost: int


class Standings(msgspec.Struct, frozen=True):
    """A page of a game's table."""

    game: str
    players: tuple[Standing, ...]
    next: int | None


class FinishedMatch(msgspec.Struct, frozen=True):
    """A finished match."""

    board: int
    rules: str
    options: tuple[str, ...]
    players: tuple[str | None, ...]
    winners: tuple[int, ...]
    ranks: tuple[int, ...]
    """For each seat its place, 1 for the first."""
    reason: str
    plies: int
    rated: bool
    ended: int
    """Milliseconds since 1970."""


class History(msgspec.Struct, frozen=True):
    """A page of finished matches, the last ended first."""

    game: str
    matches: tuple[FinishedMatch, ...]
    next: int | None


class HeadToHead(msgspec.Struct, frozen=True):
    """How two players did against each other."""

    game: str
    userid: str | None
    opponent: str | None
    played: int
    won: int
    """By the first of them; among three, when placed before the other."""
    shared: int
    lost: int


@get(
    "/api/ratings/{game:str}",
    sync_to_thread=True,
    tags=_TAGS,
    opt=refuses(Code.UNKNOWN_GAME, Code.USAGE),
    summary="The ratings of a game",
)
def list_ratings(
    game: GameKey, context: NamedDependency[ApiContext], cursor: Cursor = 0, limit: Limit = 50
) -> Ratings:
    """Return a game's players, the best first."""
    key = of_several(game).key
    rows = context.app.ratings.of(key, cursor, limit + 1)
    names = names_of(context, (row.account for row in rows))
    shown = [Rated(names[r.account], r.rating.shown, r.rating.matches) for r in rows[:limit]]
    return Ratings(key, tuple(shown), next_of(cursor, limit, len(rows)))


@get(
    "/api/ratings/{game:str}/{userid:str}",
    sync_to_thread=True,
    tags=_TAGS,
    opt=refuses(Code.UNKNOWN_GAME, Code.UNKNOWN_USER, Code.USAGE),
    summary="A player's rating",
)
def show_rating(
    game: GameKey, userid: Userid, context: NamedDependency[ApiContext]
) -> RatingSeries:
    """Return a player's rating, and what it was after each of the last 1,000 matches."""
    key, account = of_several(game).key, context.app.accounts.id_of(userid)
    ratings = context.app.ratings
    now = ratings.player(key, account)
    series = ratings.series(key, account, max(0, now.matches - 1_000))
    points = [Point(point.board, point.at, point.shown) for point in series]
    place = ratings.place(key, account)
    return RatingSeries(key, userid.lower(), now.shown, place, tuple(points))


@get(
    "/api/standings/{game:str}",
    sync_to_thread=True,
    tags=_TAGS,
    opt=refuses(Code.UNKNOWN_GAME, Code.USAGE),
    summary="Who has won how often",
)
def list_standings(
    game: GameKey, context: NamedDependency[ApiContext], cursor: Cursor = 0, limit: Limit = 50
) -> Standings:
    """Return a game's table, most points first: 1 for a win, a shared one in parts."""
    key = of_several(game).key
    rows = context.app.standings.of(key, cursor, limit + 1)
    names = names_of(context, (row.account for row in rows))
    shown = [
        Standing(names[r.account], r.points, r.played, r.won, r.drawn, r.lost) for r in rows[:limit]
    ]
    return Standings(key, tuple(shown), next_of(cursor, limit, len(rows)))


@get(
    "/api/history/{game:str}",
    sync_to_thread=True,
    tags=_TAGS,
    opt=refuses(Code.UNKNOWN_GAME, Code.UNKNOWN_USER),
    summary="Finished matches",
)
def list_history(
    game: GameKey,
    context: NamedDependency[ApiContext],
    player: UseridWanted = None,
    opponent: UseridWanted = None,
    cursor: Cursor = 0,
    limit: Limit = 50,
) -> History:
    """Return finished matches of a game, of a player, or of two."""
    key = known(game).key
    who = [context.app.accounts.id_of(name) for name in (player, opponent) if name is not None]
    one, other = (*who, None, None)[:2]
    rows = context.app.history.of(key, one, other, cursor, limit + 1)
    names = names_of(context, (account for row in rows for account in row.seats))
    shown = [_finished(row, names) for row in rows[:limit]]
    return History(key, tuple(shown), next_of(cursor, limit, len(rows)))


@get(
    "/api/head-to-head/{game:str}/{userid:str}/{opponent:str}",
    sync_to_thread=True,
    tags=_TAGS,
    opt=refuses(Code.UNKNOWN_GAME, Code.UNKNOWN_USER, Code.USAGE, Code.BAD_PLAYERS),
    summary="How two players did against each other",
)
def show_head_to_head(
    game: GameKey, userid: Userid, opponent: Userid, context: NamedDependency[ApiContext]
) -> HeadToHead:
    """Count the matches of two players in a game, as the first of them sees it."""
    key = of_several(game).key
    one, other = context.app.accounts.id_of(userid), context.app.accounts.id_of(opponent)
    if one == other:
        raise Refusal(Code.BAD_PLAYERS, "a player can't play against themselves; name two")
    names = names_of(context, [one, other])
    record = context.app.head_to_head.of(key, one, other)
    return HeadToHead(
        key, names[one], names[other], record.played, record.won, record.drawn, record.lost
    )


def _finished(row: Row, names: Names) -> FinishedMatch:
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
