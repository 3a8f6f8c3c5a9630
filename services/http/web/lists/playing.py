"""The public page of matches that go on now, the newest move first."""

from collections.abc import Iterable, Sequence
from heapq import merge
from itertools import islice
from typing import Annotated, Final

from litestar import Response
from litestar.params import QueryParameter

from domain.rules import latest_rules
from infra.projections.match_lists import MatchListRow
from infra.redis.reads import read_one
from services.app.context import App
from services.app.games import game_keys, read_multiplayer_game
from services.http.web.declared import Pages
from services.http.web.lists.pagination import PAGE_SIZE, ListPart, first_row
from services.http.web.lists.watching_view import shown_part
from services.http.web.params import (
    ContextDependency,
    GameParameter,
    PageNumber,
    VisitorDependency,
)
from services.http.web.render import render

pages = Pages()

RATINGS: Final = (1500, 1600, 1700, 1800)
"""The least ratings that can be chosen."""

LOOKED_AT: Final = 500
"""Matches that are put in order, the newest: those of a game are all on the game's own page."""

LeastRating = Annotated[int, QueryParameter(name="rating", ge=0, le=10_000)]


@pages.get("/playing")
def show_playing(
    context: ContextDependency,
    visitor: VisitorDependency,
    game: GameParameter = "",
    rating: LeastRating = 0,
    page: PageNumber = 1,
) -> Response[str]:
    """Show the matches that go on, of all games or one, with a player of at least some rating."""
    app, start = context.app, first_row(page)
    games = [key for key in game_keys() if latest_rules(key).players != (1,)]
    chosen = read_multiplayer_game(game).key if game else ""
    wanted = [chosen] if chosen else games
    rows = [row for row in _newest(app, wanted) if row.started]
    found = sorted(_rated(app, rows, rating), key=lambda row: (row.since, row.board), reverse=True)
    shown = shown_part(context, found[start : start + PAGE_SIZE], len(found), visitor.wording)
    query = {"game": chosen, "rating": str(rating or "")}
    part = ListPart.of(
        visitor.wording.gettext("Being played now"),
        start=start,
        shown=len(shown.rows),
        total=len(found),
        path="/playing",
        query={name: value for name, value in query.items() if value},
    )
    return render(
        "playing.html",
        visitor,
        games=[latest_rules(key) for key in games],
        game=chosen,
        ratings=RATINGS,
        rating=rating,
        found=shown,
        more=len(rows) >= LOOKED_AT,
        most=LOOKED_AT,
        part=part,
        now=app.store.now(),
    )


def _newest(app: App, games: Sequence[str]) -> Iterable[MatchListRow]:
    """Return the newest running matches of some games."""
    lists = [app.lists.playing(key, 0, LOOKED_AT) for key in games]
    newest = merge(*lists, key=lambda row: row.board, reverse=True)
    return islice(newest, LOOKED_AT)


def _rated(app: App, rows: Sequence[MatchListRow], least: int) -> list[MatchListRow]:
    """Return the matches that have a player with at least this rating in their game."""
    if not least:
        return list(rows)
    players = list(dict.fromkeys((row.game, seat) for row in rows for seat in row.seats))
    ratings = read_one(app.data, app.ratings.read_players(players))
    strong = {
        player
        for player, rating in zip(players, ratings, strict=True)
        if rating.matches and rating.display_value >= least
    }
    return [row for row in rows if any((row.game, seat) in strong for seat in row.seats)]
