"""Players: their list, their ratings, and the matches of each."""

from typing import Final

import msgspec
from litestar import Response, get
from litestar.response import Redirect

from domain.match.events import AccountId
from domain.rules import current
from infra.projections.lists import State
from infra.projections.ratings import Rating
from services.api.context import ApiContext
from services.app.games import games, read_contest
from services.app.names import names_of
from services.app.queries import head_to_head, player, rating_series, ratings_of
from services.web.choices import suggested
from services.web.pages import go, page
from services.web.paging import Part
from services.web.params import GameKey, Start, TheContext, TheVisitor, Userid
from services.web.plots import Series, plot
from services.web.rows import Item, items
from services.web.visitors import Visitor

_ROWS: Final = 50
_MATCHES: Final = 20
_PLOTTED: Final = 3
"""Players whose ratings are drawn together."""

_POINTS: Final = 500
_BEGINNER: Final = Rating().shown


class Standing(msgspec.Struct, frozen=True):
    """A player in a game's table."""

    place: int
    name: str
    rating: int
    matches: int


@get("/ratings", sync_to_thread=False)
def show_all_ratings() -> Redirect:
    """Show the ratings of the game that is suggested."""
    return go(f"/ratings/{suggested().key}")


@get("/ratings/{game:str}", sync_to_thread=True)
def show_ratings(
    game: GameKey,
    context: TheContext,
    visitor: TheVisitor,
    start: Start = 0,
) -> Response[str]:
    """Show a game's players, the best first, and how those at the top came there."""
    key = read_contest(game).key
    rows = context.app.ratings.of(key, start, _ROWS)
    names = names_of(context.app, (row.account for row in rows))
    table = [
        Standing(place, names[row.account], row.rating.shown, row.rating.matches)
        for place, row in enumerate(rows, start + 1)
    ]
    top = [] if start else rows[:_PLOTTED]
    series = [_series(context, key, row.account, names[row.account]) for row in top]
    return page(
        "ratings.html",
        visitor,
        rules=current(key),
        games=[one for one in map(current, games()) if one.players != (1,)],
        table=table,
        plot=plot(f"Ratings of the best in {current(key).title}, after each match", series),
        part=Part.of(
            "Ratings",
            start=start,
            shown=len(rows),
            total=context.app.ratings.count(key),
            path=f"/ratings/{key}",
        ),
    )


def _series(context: ApiContext, game: str, account: AccountId, name: str) -> Series:
    """Return a player's rating after each of the last matches that counted."""
    rating, points = rating_series(context.app, game, account, _POINTS)
    first = () if rating.matches > _POINTS else (_BEGINNER,)
    return Series(name, (*first, *(point.shown for point in points)))


@get("/players", sync_to_thread=True)
def list_players(context: TheContext, visitor: TheVisitor, start: Start = 0) -> Response[str]:
    """List all players, by name."""
    size = _ROWS * 2
    names = context.app.accounts.names(start, size)
    part = Part.of(
        "Players",
        start=start,
        shown=len(names),
        total=context.app.accounts.count(),
        path="/players",
        size=size,
    )
    return page("players.html", visitor, names=names, part=part)


class Strength(msgspec.Struct, frozen=True):
    """How strong a player is in a game."""

    game: str
    title: str
    rating: int
    matches: int
    place: int | None
    plot: str


@get("/players/{userid:str}", sync_to_thread=True)
def show_player(userid: Userid, context: TheContext, visitor: TheVisitor) -> Response[str]:
    """Show the public facts about a player."""
    account, profile = player(context.app, userid)
    counts = context.app.lists.counts(account)
    active = _matches(context, account, State.ACTIVE)
    finished = _matches(context, account, State.INACTIVE)
    return page(
        "player.html",
        visitor,
        name=profile.name,
        since=profile.created,
        now=context.app.store.now(),
        counts=counts,
        active=active,
        active_part=_part("Going on", profile.name, "going", len(active), counts.active),
        finished=finished,
        finished_part=_part("Finished", profile.name, "finished", len(finished), counts.inactive),
        strengths=_strengths(context, account, profile.name),
        blocked=bool(visitor.account and context.app.blocks.by([visitor.account], account)),
        against=_against(context, visitor, account),
        refused=context.app.standings.refused(account),
    )


def _part(label: str, name: str, show: str, shown: int, total: int) -> Part:
    path = f"/players/{name}/matches"
    return Part.of(label, start=0, shown=shown, total=total, path=path, query={"show": show})


def _matches(context: ApiContext, account: AccountId, state: State) -> list[Item]:
    return items(context, context.app.lists.of(account, state, None, 0, _MATCHES), account)


def _strengths(context: ApiContext, account: AccountId, name: str) -> list[Strength]:
    found = []
    for key, rating in ratings_of(context.app, account).items():
        title, series = current(key).title, [_series(context, key, account, name)]
        drawn = plot(f"{name}'s rating in {title}, after each match", series)
        place = context.app.ratings.place(key, account)
        found.append(Strength(key, title, rating.shown, rating.matches, place, drawn))
    return found


def _against(
    context: ApiContext, visitor: Visitor, account: AccountId
) -> list[tuple[str, int, int, int]]:
    """Return how the visitor did against a player: game, won, lost, level."""
    if visitor.account in (None, account):
        return []
    assert visitor.account is not None
    found = []
    for key in games():
        tally = head_to_head(context.app, key, visitor.account, account)
        if tally.played:
            found.append((current(key).title, tally.won, tally.lost, tally.drawn))
    return found
