"""Players: their pages, lists of them, ratings; following and blocking them."""

from typing import Final

import msgspec
from litestar import Response
from litestar.response import Redirect

from domain.errors import Refusal
from domain.rules import latest_rules
from infra.projections.ratings import Rating
from services.app.blocks import add_block, remove_block
from services.app.games import game_keys, read_multiplayer_game
from services.app.invitations import decline_all
from services.app.names import names_of, robot_userids
from services.app.queries import find_player, rating_series
from services.http.context import ApiContext
from services.http.web.challenges.new_match_form import suggested_game
from services.http.web.declared import Pages
from services.http.web.lists.match_rows import rated_rows
from services.http.web.lists.pagination import PAGE_SIZE, ListPart, first_row
from services.http.web.params import (
    ContextDependency,
    GameKey,
    Own,
    PageNumber,
    SearchedName,
    Userid,
    VisitorDependency,
    WithPlayer,
)
from services.http.web.players.rating_chart import ChartSeries, draw_chart
from services.http.web.players.view import (
    MAX_PLOTTED_POINTS,
    head_to_head_of,
    newest_matches,
    player_rows,
    ratings_by_game,
    record_of,
)
from services.http.web.render import redirect_to, render

pages = Pages()

_MAX_PLOTTED: Final = 3
"""Players whose ratings are drawn together."""


class RatingRow(msgspec.Struct, frozen=True):
    """A player in the ratings of a game."""

    place: int
    name: str
    rating: Rating


@pages.get("/ratings", in_thread=False)
def show_all_ratings() -> Redirect:
    """Show the ratings of the suggested game."""
    return redirect_to(f"/ratings/{suggested_game().key}")


@pages.get("/ratings/{game:str}")
def show_ratings(
    game: GameKey,
    context: ContextDependency,
    visitor: VisitorDependency,
    page: PageNumber = 1,
    name: SearchedName = "",
) -> Response[str]:
    """Show the ratings of a game, the best first, with a chart of the first three.

    With a name, the page on which that player is.
    """
    key, app = read_multiplayer_game(game).key, context.app
    wanted, place = name.strip().lower(), _place_of(context, key, name)
    start = first_row(page) if place is None else (place - 1) // PAGE_SIZE * PAGE_SIZE
    rows = app.ratings.of(key, start, PAGE_SIZE)
    names = names_of(app, (row.account for row in rows), visitor.wording)
    table = [
        RatingRow(place, names[row.account], row.rating)
        for place, row in enumerate(rows, start + 1)
    ]
    series = [
        ChartSeries(names[row.account], _values(context, key, row.account))
        for row in ([] if start else rows[:_MAX_PLOTTED])
    ]
    title = latest_rules(key).title
    words = visitor.wording
    return render(
        "ratings.html",
        visitor,
        rules=latest_rules(key),
        games=[one for one in map(latest_rules, game_keys()) if one.players != (1,)],
        table=table,
        wanted=wanted,
        missing=bool(wanted) and place is None,
        plot=draw_chart(
            words.gettext("Ratings of the top players in %(game)s after each match", game=title),
            series,
            words,
        ),
        part=ListPart.of(
            words.gettext("Ratings"),
            start=start,
            shown=len(rows),
            total=app.ratings.count(key),
            path=f"/ratings/{key}",
        ),
    )


def _place_of(context: ApiContext, game: str, name: str) -> int | None:
    """Return the place of a player who is searched; None for nobody, or one without a rating."""
    if not name.strip():
        return None
    try:
        account, _ = find_player(context.app, name.strip().lower())
    except Refusal:
        return None
    return context.app.ratings.place(game, account)


def _values(context: ApiContext, game: str, account: bytes) -> tuple[int, ...]:
    """Return a player's rating after each of their last rated matches."""
    rating, points = rating_series(context.app, game, account, MAX_PLOTTED_POINTS)
    first = () if rating.matches > MAX_PLOTTED_POINTS else (Rating().display_value,)
    return (*first, *(point.display_value for point in points))


@pages.get("/players")
def list_players(
    context: ContextDependency,
    visitor: VisitorDependency,
    page: PageNumber = 1,
    name: SearchedName = "",
) -> Response[str]:
    """List all players, by name; or those whose names begin with a text."""
    accounts, start, wanted = context.app.accounts, first_row(page), name.strip().lower()
    if wanted:
        start, names = 0, accounts.names_starting(wanted, PAGE_SIZE)
    else:
        names = accounts.names(start, PAGE_SIZE)
    part = ListPart.of(
        visitor.wording.gettext("Players"),
        start=start,
        shown=len(names),
        total=len(names) if wanted else accounts.count(),
        path="/players",
    )
    return render(
        "players.html",
        visitor,
        found=player_rows(context.app, names, robot_userids(context.app)),
        wanted=wanted,
        part=part,
        count=accounts.count(),
    )


@pages.get("/players/{userid:str}")
def show_player(
    userid: Userid,
    context: ContextDependency,
    visitor: VisitorDependency,
    opponent: WithPlayer = "",
) -> Response[str]:
    """Show the public facts about a player, and the results against one opponent."""
    app = context.app
    account, profile = find_player(app, userid)
    games = ratings_by_game(app, account, visitor.wording)
    newest = newest_matches(app, account)
    return render(
        "player.html",
        visitor,
        name=profile.name,
        robot=profile.robot,
        since=profile.created,
        now=app.store.now(),
        counts=app.lists.counts(account),
        games=games,
        record=record_of(games),
        going=rated_rows(context, newest.going, visitor.wording, account),
        finished=rated_rows(context, newest.finished, visitor.wording, account),
        unread=newest.unread.in_language(visitor.wording) if newest.unread else "",
        blocked=bool(visitor.account and app.blocks.by([visitor.account], account)),
        followed=bool(visitor.account and app.follows.accounts.has(visitor.account, account)),
        against=head_to_head_of(app, account, opponent or visitor.name),
        refused=app.standings.refused(account),
    )


@pages.post("/players/{userid:str}/block")
def block_player(userid: Userid, own: Own) -> Redirect:
    """Block a player, and show the list of blocked players."""
    declined = add_block(own.app, own.account, userid)
    return redirect_to(f"/account?saved=blocks&declined={declined}#blocks")


@pages.post("/players/{userid:str}/unblock")
def unblock_player(userid: Userid, own: Own) -> Redirect:
    """End a block."""
    remove_block(own.app, own.account, userid)
    return redirect_to("/account#blocks")


@pages.post("/players/{userid:str}/decline")
def decline_challenges(userid: Userid, own: Own) -> Redirect:
    """Decline all matches by name to which a player challenges the visitor, and show the home page."""
    decline_all(own.app, own.actor(), userid)
    return redirect_to("/")
