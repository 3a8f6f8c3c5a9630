"""Players, and what lists know of them: matches, ratings, standings, history, scores."""

from collections.abc import Iterable
from typing import Annotated, Final

import msgspec
from litestar import get
from litestar.di import NamedDependency
from litestar.params import PathParameter, QueryParameter

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from domain.rules import AnyRules, current
from infra.projections.history import Row as Finished
from infra.projections.lists import Row, State
from infra.tokens import Scope
from services.api.answers import refuses
from services.api.callers import READ, Caller
from services.api.hand import Hand
from services.language.parsing import games

MOST: Final = 100
"""Rows of a page."""

_TAGS: Final = ["players"]

Limit = Annotated[int, QueryParameter(ge=1, le=MOST, description="how many at most")]
Cursor = Annotated[
    int,
    QueryParameter(ge=0, le=10**9, description="where to go on: the `next` of the page before"),
]
GameKey = Annotated[str, PathParameter(max_length=24, description="a game, such as `pow2`")]
GameWanted = Annotated[
    str | None, QueryParameter(max_length=24, description="a game, such as `pow2`")
]
Userid = Annotated[str, PathParameter(max_length=24, description="a userid, in any case")]
UseridWanted = Annotated[
    str | None, QueryParameter(max_length=24, description="a userid, in any case")
]


class Listed(msgspec.Struct, frozen=True):
    """A match in a list."""

    board: int
    game: str
    rules: str
    options: tuple[str, ...]
    players: tuple[str | None, ...]
    """Userids by seat; null for a player who is no more."""
    state: str
    """`waiting` for consent, `active` or `over`."""
    waits_for: tuple[int, ...]
    """Seats that are to act."""
    since: int
    """Since when, ms."""
    ply: int
    updated: int
    """When its last event was, ms."""
    winners: tuple[int, ...] | None
    reason: str


class Matches(msgspec.Struct, frozen=True):
    """A page of matches."""

    matches: tuple[Listed, ...]
    next: int | None
    """The cursor of the next page; null on the last."""


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


class Player(msgspec.Struct, frozen=True):
    """What anybody may know of a player."""

    userid: str
    since: int
    """When the account was made, ms."""
    to_move: int
    active: int
    finished: int
    ratings: dict[str, int]
    """By game, of those in which a rated match was finished."""


class Notice(msgspec.Struct, frozen=True):
    """Something that happened in a match of the caller's."""

    board: int
    seq: int
    at: int
    """When, ms."""
    kind: str
    """Such as `your-turn`."""


class Notices(msgspec.Struct, frozen=True):
    """A page of notices."""

    notices: tuple[Notice, ...]
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
    "/api/matches",
    sync_to_thread=True,
    tags=["matches"],
    opt=refuses(Code.UNKNOWN_GAME, Code.UNKNOWN_USER),
    summary="List matches",
)
def list_matches(
    hand: NamedDependency[Hand],
    player: UseridWanted = None,
    game: GameWanted = None,
    which: Annotated[
        State, QueryParameter(name="state", description="which of a player's matches")
    ] = State.ACTIVE,
    cursor: Cursor = 0,
    limit: Limit = 50,
) -> Matches:
    """Give matches of a player, or with a game alone those of it that go on."""
    if game is not None:
        game = known(game).key
    if player is not None:
        account = hand.parts.accounts.id_of(player)
        rows = hand.parts.lists.of(account, which, game, cursor, limit + 1)
    elif game is None or which is not State.ACTIVE:
        raise Refusal(Code.BAD_REQUEST, "name a player, or a game whose active matches are wanted")
    else:
        rows = hand.parts.lists.playing(game, cursor, limit + 1)
    names = names_of(hand, (account for row in rows for account in row.seats))
    return Matches(
        tuple(_listed(row, names) for row in rows[:limit]), _next(cursor, limit, len(rows))
    )


@get(
    "/api/players/{userid:str}",
    sync_to_thread=True,
    tags=_TAGS,
    opt=refuses(Code.UNKNOWN_USER),
    summary="A player",
)
def show_player(userid: Userid, hand: NamedDependency[Hand]) -> Player:
    """Give what anybody may know of a player."""
    account = hand.parts.accounts.id_of(userid)
    profile = hand.parts.accounts.record_of(account)
    if profile is None:
        raise Refusal(Code.UNKNOWN_USER, f"there is no user {userid[:24]!r}")
    counts = hand.parts.lists.counts(account)
    ratings = {key: hand.parts.ratings.player(key, account) for key in games()}
    return Player(
        userid=profile.name,
        since=profile.created,
        to_move=counts.next,
        active=counts.active,
        finished=counts.inactive,
        ratings={key: rating.shown for key, rating in ratings.items() if rating.matches},
    )


@get(
    "/api/ratings/{game:str}",
    sync_to_thread=True,
    tags=_TAGS,
    opt=refuses(Code.UNKNOWN_GAME, Code.USAGE),
    summary="The ratings of a game",
)
def list_ratings(
    game: GameKey, hand: NamedDependency[Hand], cursor: Cursor = 0, limit: Limit = 50
) -> Ratings:
    """Give a game's players, the best first."""
    key = of_several(game).key
    rows = hand.parts.ratings.of(key, cursor, limit + 1)
    names = names_of(hand, (row.account for row in rows))
    shown = [Rated(names[r.account], r.rating.shown, r.rating.matches) for r in rows[:limit]]
    return Ratings(key, tuple(shown), _next(cursor, limit, len(rows)))


@get(
    "/api/ratings/{game:str}/{userid:str}",
    sync_to_thread=True,
    tags=_TAGS,
    opt=refuses(Code.UNKNOWN_GAME, Code.UNKNOWN_USER, Code.USAGE),
    summary="A player's rating",
)
def show_rating(game: GameKey, userid: Userid, hand: NamedDependency[Hand]) -> RatingSeries:
    """Give a player's rating, and what it was after each of the last 1,000 matches."""
    key, account = of_several(game).key, hand.parts.accounts.id_of(userid)
    ratings = hand.parts.ratings
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
    game: GameKey, hand: NamedDependency[Hand], cursor: Cursor = 0, limit: Limit = 50
) -> Standings:
    """Give a game's table, most points first: 1 for a win, a shared one in parts."""
    key = of_several(game).key
    rows = hand.parts.standings.of(key, cursor, limit + 1)
    names = names_of(hand, (row.account for row in rows))
    shown = [
        Standing(names[r.account], r.points, r.played, r.won, r.drawn, r.lost) for r in rows[:limit]
    ]
    return Standings(key, tuple(shown), _next(cursor, limit, len(rows)))


@get(
    "/api/history/{game:str}",
    sync_to_thread=True,
    tags=_TAGS,
    opt=refuses(Code.UNKNOWN_GAME, Code.UNKNOWN_USER),
    summary="Finished matches",
)
def list_history(
    game: GameKey,
    hand: NamedDependency[Hand],
    player: UseridWanted = None,
    opponent: UseridWanted = None,
    cursor: Cursor = 0,
    limit: Limit = 50,
) -> History:
    """Give finished matches of a game, of a player, or of two."""
    key = known(game).key
    who = [hand.parts.accounts.id_of(name) for name in (player, opponent) if name is not None]
    one, other = (*who, None, None)[:2]
    rows = hand.parts.history.of(key, one, other, cursor, limit + 1)
    names = names_of(hand, (account for row in rows for account in row.seats))
    shown = [_finished(row, names) for row in rows[:limit]]
    return History(key, tuple(shown), _next(cursor, limit, len(rows)))


@get(
    "/api/head-to-head/{game:str}/{userid:str}/{opponent:str}",
    sync_to_thread=True,
    tags=_TAGS,
    opt=refuses(Code.UNKNOWN_GAME, Code.UNKNOWN_USER, Code.USAGE, Code.BAD_PLAYERS),
    summary="How two players did against each other",
)
def show_head_to_head(
    game: GameKey, userid: Userid, opponent: Userid, hand: NamedDependency[Hand]
) -> HeadToHead:
    """Count the matches of two players in a game, as the first of them sees it."""
    key = of_several(game).key
    one, other = hand.parts.accounts.id_of(userid), hand.parts.accounts.id_of(opponent)
    if one == other:
        raise Refusal(Code.BAD_PLAYERS, "a player can't play against themselves; name two")
    names = names_of(hand, [one, other])
    record = hand.parts.head_to_head.of(key, one, other)
    return HeadToHead(
        key, names[one], names[other], record.played, record.won, record.drawn, record.lost
    )


@get(
    "/api/notices",
    sync_to_thread=True,
    security=READ,
    tags=["events"],
    opt=refuses(),
    summary="What happened in the own matches",
)
def list_notices(
    hand: NamedDependency[Hand],
    caller: NamedDependency[Caller],
    cursor: Cursor = 0,
    limit: Limit = 50,
) -> Notices:
    """Give the newest first; 200 are kept."""
    rows = hand.parts.notices.of(caller.need(Scope.READ), cursor, limit + 1)
    shown = tuple(Notice(row.board, row.seq, row.at, row.kind) for row in rows[:limit])
    return Notices(shown, _next(cursor, limit, len(rows)))


Names = dict[AccountId, str | None]


def names_of(hand: Hand, accounts: Iterable[AccountId]) -> Names:
    """Look up userids; None for those that are no more."""
    wanted = list(dict.fromkeys(accounts))
    return dict(zip(wanted, hand.parts.accounts.name_of(wanted), strict=True))


def known(game: str) -> AnyRules:
    """Give a game's newest rules; `unknown-game` when there is none."""
    return current(game.lower())


def of_several(game: str) -> AnyRules:
    """Give a game's newest rules, refused as `usage` if it is played alone."""
    rules = known(game)
    if rules.players == (1,):
        raise Refusal(
            Code.USAGE, f"{rules.key} is played alone; /api/puzzles/{rules.key} has its best scores"
        )
    return rules


def _next(cursor: int, limit: int, found: int) -> int | None:
    return cursor + limit if found > limit else None


def _listed(row: Row, names: Names) -> Listed:
    return Listed(
        board=row.board,
        game=row.game,
        rules=row.rules,
        options=row.options,
        players=tuple(names[account] for account in row.seats),
        state="over" if row.over else "active" if row.started else "waiting",
        waits_for=row.waits,
        since=row.since,
        ply=row.ply,
        updated=row.at,
        winners=row.winners,
        reason=row.reason,
    )


def _finished(row: Finished, names: Names) -> FinishedMatch:
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
