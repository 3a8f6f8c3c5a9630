"""Players: their list, their ratings, and a page for each."""

from typing import Final

import msgspec
from litestar import Response, get
from litestar.response import Redirect

from domain.match.events import AccountId
from domain.rules import latest_rules
from infra.projections.match_lists import MatchFilter
from infra.projections.ratings import Rating
from services.app.games import game_keys, read_multiplayer_game
from services.app.names import names_of, robot_userids
from services.app.queries import find_player, head_to_head, rating_series, ratings_of
from services.http.context import ApiContext
from services.http.web.params import (
    ContextDependency,
    GameKey,
    StartIndex,
    Userid,
    VisitorDependency,
)
from services.http.web.render import redirect_to, render
from services.http.web.session import Visitor
from services.http.web.views.match_rows import MatchRow, match_rows
from services.http.web.views.new_match_form import suggested_game
from services.http.web.views.pagination import ListPart
from services.http.web.views.rating_chart import ChartSeries, draw_chart

_ROWS: Final = 50
_MATCHES: Final = 20
_MAX_PLOTTED: Final = 3
"""Players whose ratings are drawn together."""

_POINTS: Final = 500
_BEGINNER: Final = Rating().display_value


class RatingRow(msgspec.Struct, frozen=True):
    """A player in the ratings of a game."""

    place: int
    name: str
    rating: int
    matches: int


@get("/ratings", sync_to_thread=False)
def show_all_ratings() -> Redirect:
    """Show the ratings of the suggested game."""
    return redirect_to(f"/ratings/{suggested_game().key}")


@get("/ratings/{game:str}", sync_to_thread=True)
def show_ratings(
    game: GameKey,
    context: ContextDependency,
    visitor: VisitorDependency,
    start: StartIndex = 0,
) -> Response[str]:
    """Show the ratings of a game, the best first, with a chart of the first three."""
    key = read_multiplayer_game(game).key
    rows = context.app.ratings.of(key, start, _ROWS)
    names = names_of(context.app, (row.account for row in rows))
    table = [
        RatingRow(place, names[row.account], row.rating.display_value, row.rating.matches)
        for place, row in enumerate(rows, start + 1)
    ]
    top = [] if start else rows[:_MAX_PLOTTED]
    series = [_series(context, key, row.account, names[row.account]) for row in top]
    return render(
        "ratings.html",
        visitor,
        rules=latest_rules(key),
        games=[one for one in map(latest_rules, game_keys()) if one.players != (1,)],
        table=table,
        plot=draw_chart(
            f"Ratings of the best in {latest_rules(key).title}, after each match", series
        ),
        part=ListPart.of(
            "Ratings",
            start=start,
            shown=len(rows),
            total=context.app.ratings.count(key),
            path=f"/ratings/{key}",
        ),
    )


def _series(context: ApiContext, game: str, account: AccountId, name: str) -> ChartSeries:
    """Return a player's rating after each of their last rated matches."""
    rating, points = rating_series(context.app, game, account, _POINTS)
    first = () if rating.matches > _POINTS else (_BEGINNER,)
    return ChartSeries(name, (*first, *(point.display_value for point in points)))


@get("/players", sync_to_thread=True)
def list_players(
    context: ContextDependency, visitor: VisitorDependency, start: StartIndex = 0
) -> Response[str]:
    """List all players, by name."""
    size = _ROWS * 2
    names = context.app.accounts.names(start, size)
    part = ListPart.of(
        "Players",
        start=start,
        shown=len(names),
        total=context.app.accounts.count(),
        path="/players",
        size=size,
    )
    robots = robot_userids(context.app)
    return render("players.html", visitor, names=names, robots=robots, part=part)


class GameRating(msgspec.Struct, frozen=True):
    """A player's rating in a game."""

    game: str
    title: str
    rating: int
    matches: int
    place: int | None
    plot: str


@get("/players/{userid:str}", sync_to_thread=True)
def show_player(
    userid: Userid, context: ContextDependency, visitor: VisitorDependency
) -> Response[str]:
    """Show the public facts about a player."""
    account, profile = find_player(context.app, userid)
    counts = context.app.lists.counts(account)
    active = _matches(context, account, MatchFilter.ACTIVE)
    finished = _matches(context, account, MatchFilter.INACTIVE)
    return render(
        "player.html",
        visitor,
        name=profile.name,
        robot=profile.robot,
        since=profile.created,
        now=context.app.store.now(),
        counts=counts,
        active=active,
        active_part=_part("In progress", profile.name, "going", len(active), counts.active),
        finished=finished,
        finished_part=_part("Finished", profile.name, "finished", len(finished), counts.inactive),
        strengths=_game_ratings(context, account, profile.name),
        blocked=bool(visitor.account and context.app.blocks.by([visitor.account], account)),
        against=_head_to_head(context, visitor, account),
        refused=context.app.standings.refused(account),
    )


def _part(label: str, name: str, show: str, shown: int, total: int) -> ListPart:
    path = f"/players/{name}/matches"
    return ListPart.of(label, start=0, shown=shown, total=total, path=path, query={"show": show})


def _matches(context: ApiContext, account: AccountId, state: MatchFilter) -> list[MatchRow]:
    return match_rows(context, context.app.lists.of(account, state, None, 0, _MATCHES), account)


def _game_ratings(context: ApiContext, account: AccountId, name: str) -> list[GameRating]:
    found = []
    for key, rating in ratings_of(context.app, account).items():
        title, series = latest_rules(key).title, [_series(context, key, account, name)]
        drawn = draw_chart(f"{name}'s rating in {title}, after each match", series)
        place = context.app.ratings.place(key, account)
        found.append(GameRating(key, title, rating.display_value, rating.matches, place, drawn))
    return found


def _head_to_head(
    context: ApiContext, visitor: Visitor, account: AccountId
) -> list[tuple[str, int, int, int]]:
    """Return the visitor's results against a player: game, won, lost, drawn."""
    if visitor.account in (None, account):
        return []
    assert visitor.account is not None
    found = []
    for key in game_keys():
        tally = head_to_head(context.app, key, visitor.account, account)
        if tally.played:
            found.append((latest_rules(key).title, tally.won, tally.lost, tally.drawn))
    return found
