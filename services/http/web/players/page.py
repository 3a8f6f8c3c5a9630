"""Players: their pages, lists of them, ratings; following and blocking them.

Ratings, results and matches of a player, for pages.

The chart of ratings: a line for each player, over the rated matches.
"""

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from litestar import Response
from litestar.params import QueryParameter
from litestar.response import Redirect
from markupsafe import Markup

from domain.errors import Refusal
from domain.game.painter import Markup as Drawn
from domain.game.painter import element, escape_text, number, text_line
from domain.match.state import is_bot
from domain.records import AccountId
from domain.rules import game_keys, latest_rules
from infra.languages.wording import Wording
from infra.projections.head_to_head import PairRecord
from infra.projections.match_lists import MatchFilter, MatchListRow
from infra.projections.ratings import Rating, RatingPoint, pool_of, pool_with_bots
from infra.projections.standings import StandingRow
from infra.redis.reads import read_all, read_one
from services.app.bot_rules import rules_in_words
from services.app.challenges import decline_all
from services.app.context import App
from services.app.follows import add_block, remove_block
from services.app.games import read_multiplayer_game
from services.app.names import names_of, robot_userids, shown_name
from services.app.queries import find_player, head_to_head, pool, rating_series
from services.http.context import ApiContext
from services.http.web.challenges.match_draft import showcase_games
from services.http.web.declared import Pages
from services.http.web.lists.match_rows import PAGE_SIZE, ListPart, first_row, rated_rows
from services.http.web.params import (
    Asked,
    GameKey,
    Own,
    PageNumber,
    SearchedName,
    Userid,
    WithPlayer,
)
from services.http.web.render import redirect_to, render

_WIDTH: Final = 640
_HEIGHT: Final = 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 120, 12, 28
_SPARK_WIDTH, _SPARK_HEIGHT = 152, 40
_STEPS: Final = (10, 20, 50, 100, 200, 500, 1000)
_MAX_GRID_LINES: Final = 5
"""Grid lines at most."""


class ChartSeries(msgspec.Struct, frozen=True):
    """The data of one line."""

    name: str
    values: tuple[int, ...]
    """The value before the first match, and after each."""


def draw_sparkline(title: str, values: Sequence[int]) -> Markup:
    """Return a small line without a scale as SVG; empty without two values."""
    if len(values) < 2:  # noqa: PLR2004 - a line has two ends
        return Markup()
    low, high = min(values), max(*values, min(values) + 1)
    points = " ".join(
        f"{number(4 + _SPARK_WIDTH * at / (len(values) - 1))},"
        f"{number(4 + _SPARK_HEIGHT * (high - value) / (high - low))}"
        for at, value in enumerate(values)
    )
    last = points.rpartition(" ")[2].split(",")
    return Markup(  # noqa: S704 - our own markup, with every text in it escaped
        element(
            "svg",
            element("title", escape_text(title)),
            element("polyline", class_="series series-0", points=points),
            element("circle", class_="dot series-0", r=3, cx=float(last[0]), cy=float(last[1])),
            class_="plot spark",
            role="img",
            viewBox=f"0 0 {_SPARK_WIDTH + 8} {_SPARK_HEIGHT + 8}",
        )
    )


def draw_chart(title: str, series: Sequence[ChartSeries], words: Wording) -> Markup:
    """Return a line chart as SVG; empty if no series has two values."""
    drawn = [one for one in series if len(one.values) > 1]
    if not drawn:
        return Markup()
    low, high, step = _scale([value for one in drawn for value in one.values])
    longest = max(len(one.values) for one in drawn) - 1
    inside: list[Drawn] = [element("title", escape_text(title))]
    inside += [_grid_line(value, low, high) for value in range(low, high + 1, step)]
    inside += [
        text_line("0", (_LEFT, _HEIGHT - 8), class_="tick"),
        text_line(
            words.ngettext("%(count)s match", "%(count)s matches", longest),
            (_WIDTH - _RIGHT, _HEIGHT - 8),
            class_="tick end",
        ),
    ]
    ends = _spread_labels([_y_of(one.values[-1], low, high) for one in drawn])
    for at, (one, end) in enumerate(zip(drawn, ends, strict=True)):
        inside += _line(one, at, end, longest, low, high)
    return Markup(  # noqa: S704 - our own markup, with every text in it escaped
        element("svg", *inside, class_="plot", role="img", viewBox=f"0 0 {_WIDTH} {_HEIGHT}")
    )


def _scale(values: Sequence[int]) -> tuple[int, int, int]:
    """Return the lower end, the upper end and the step of the scale."""
    low, high = min(values), max(values)
    step = next((step for step in _STEPS if (high - low) / step < _MAX_GRID_LINES), _STEPS[-1])
    return low // step * step, -(-max(high, low + 1) // step) * step, step


def _y_of(value: int, low: int, high: int) -> float:
    return _TOP + (high - value) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)


def _grid_line(value: int, low: int, high: int) -> Drawn:
    down = _y_of(value, low, high)
    return element(
        "g",
        element("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=down, y2=down, class_="grid"),
        text_line(str(value), (_LEFT - 8, down + 4), class_="tick end"),
    )


def _spread_labels(places: Sequence[float]) -> list[float]:
    """Move the labels at the ends of lines apart, so that none covers another."""
    order = sorted(range(len(places)), key=places.__getitem__)
    found = list(places)
    for before, after in pairwise(order):
        found[after] = max(found[after], found[before] + 16)
    return found


def _line(one: ChartSeries, at: int, end: float, longest: int, low: int, high: int) -> list[Drawn]:
    room = _WIDTH - _LEFT - _RIGHT
    points = " ".join(
        f"{number(_LEFT + room * x / longest)},{number(_y_of(value, low, high))}"
        for x, value in enumerate(one.values)
    )
    last = _LEFT + room * (len(one.values) - 1) / longest
    return [
        element("polyline", class_=f"series series-{at}", points=points),
        element(
            "circle", class_=f"dot series-{at}", r=3, cx=last, cy=_y_of(one.values[-1], low, high)
        ),
        text_line(f"{one.name} {one.values[-1]}", (_WIDTH - _RIGHT + 8, end + 4), class_="tag"),
    ]


MAX_PLOTTED_POINTS: Final = 500

_MAX_MATCHES: Final = 10


class Results(msgspec.Struct, frozen=True):
    """Numbers of results."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    @property
    def played(self) -> int:
        """The number of all."""
        return self.won + self.drawn + self.lost

    def plus(self, won: int, drawn: int, lost: int) -> "Results":
        """Return these with others."""
        return Results(self.won + won, self.drawn + drawn, self.lost + lost)

    @property
    def bar(self) -> tuple[tuple[str, float, float], ...]:
        """Kind, start and width of each part of a bar that is 100 wide."""
        parts, at = [], 0.0
        for kind, count in (("won", self.won), ("drawn", self.drawn), ("lost", self.lost)):
            width = 100 * count / max(1, self.played)
            parts.append((kind, round(at, 2), round(width, 2)))
            at += width
        return tuple(parts)


class PlayedGame(msgspec.Struct, frozen=True):
    """A game that a player has finished matches of."""

    game: str
    title: str
    rating: Rating | None
    """None without a rated match."""
    place: int | None
    plot: Markup
    results: Results


class PlayerRow(msgspec.Struct, frozen=True):
    """A player in a list."""

    name: str
    robot: bool
    bot: bool
    matches: int
    """Finished and running ones."""
    last: int
    """When the last match ended, ms; 0 for none."""
    best: Rating | None = None
    title: str = ""
    """The game of the best rating."""


class PlayerComparison(msgspec.Struct, frozen=True):
    """The results of a player against another."""

    name: str
    """The other player's."""
    known: bool
    """False for a name that nobody has, or the player's own."""
    games: tuple[tuple[str, PairRecord], ...] = ()
    """By the title of the game."""

    @property
    def results(self) -> Results:
        """Return the results of all games."""
        found = Results()
        for _, one in self.games:
            found = found.plus(one.won, one.drawn, one.lost)
        return found


class BotGame(NamedTuple):
    """A player's rating in the matches with bots of a game."""

    game: str
    title: str
    rating: Rating
    place: int | None


class RatedGames(NamedTuple):
    """The games of a player, the best rating first."""

    played: list[PlayedGame]
    with_bots: list[BotGame]


def rated_games(app: App, account: AccountId, words: Wording) -> RatedGames:
    """Return the games that a player has finished matches of, in two round trips."""
    known = game_keys()
    *standings, ratings, with_bots = read_all(
        app.data,
        *(app.standings.read_player(key, account) for key in known),
        app.ratings.read_players([(key, account) for key in known]),
        app.ratings.read_players([(pool_with_bots(key), account) for key in known]),
    )
    rows = zip(known, ratings, standings, strict=True)
    played = [row for row in rows if row[2].played]
    against_bots = [pair for pair in zip(known, with_bots, strict=True) if pair[1].matches]
    pools = [*(key for key, *_ in played), *(pool_with_bots(key) for key, _ in against_bots)]
    series = [
        app.ratings.read_series(key, account, _plotted_from(rating), MAX_PLOTTED_POINTS)
        for key, rating, _ in played
    ]
    found = read_all(app.data, *series, *(app.ratings.read_place(pool, account) for pool in pools))
    points, places = found[: len(series)], found[len(series) :]
    games = [
        _played_game(key, rating, standing, places[at], points[at], words)
        for at, (key, rating, standing) in enumerate(played)
    ]
    bots = [
        BotGame(key, latest_rules(key).title, rating, place)
        for (key, rating), place in zip(against_bots, places[len(played) :], strict=True)
    ]
    return RatedGames(
        sorted(games, key=lambda one: -one.rating.display_value if one.rating else 0),
        sorted(bots, key=lambda one: -one.rating.display_value),
    )


def _plotted_from(rating: Rating) -> int:
    """Return the first match after which a rating is drawn."""
    return max(0, rating.matches - MAX_PLOTTED_POINTS)


def _played_game(
    key: str,
    rating: Rating,
    standing: StandingRow,
    place: int | None,
    points: Sequence[RatingPoint],
    words: Wording,
) -> PlayedGame:
    title = latest_rules(key).title
    first = () if _plotted_from(rating) else (Rating().display_value,)
    values = (*first, *(point.display_value for point in points))
    return PlayedGame(
        key,
        title,
        rating if rating.matches else None,
        place,
        draw_sparkline(words.gettext("Rating in %(game)s after each match", game=title), values),
        Results(standing.won, standing.drawn, standing.lost),
    )


def record_of(games: Sequence[PlayedGame]) -> Results:
    """Return the results of all games together."""
    found = Results()
    for one in games:
        found = found.plus(one.results.won, one.results.drawn, one.results.lost)
    return found


class NewestMatches(NamedTuple):
    """The newest running matches of a player, and the last that ended."""

    going: list[MatchListRow]
    finished: list[MatchListRow]
    unread: Refusal | None
    """Why those that ended can't be read, which costs the page nothing else."""


def newest_matches(app: App, account: AccountId) -> NewestMatches:
    """Return the newest matches of a player; those that ended may be in an archive that is away."""
    going = app.lists.of(account, MatchFilter.ACTIVE, None, 0, _MAX_MATCHES)
    try:
        finished = app.lists.of(account, MatchFilter.INACTIVE, None, 0, _MAX_MATCHES)
    except Refusal as reason:
        return NewestMatches(going, [], reason)
    return NewestMatches(going, finished, None)


def head_to_head_of(app: App, account: AccountId, opponent: str) -> PlayerComparison | None:
    """Return a player's results against another by name; None if there is nobody to compare with."""
    name = opponent.strip().lower()
    if not name:
        return None
    try:
        other, profile = find_player(app, name)
        pairs = [
            (latest_rules(key).title, head_to_head(app, key, account, other)) for key in game_keys()
        ]
    except Refusal:
        return PlayerComparison(name, known=False)
    return PlayerComparison(
        profile.name, known=True, games=tuple(one for one in pairs if one[1].played)
    )


def player_rows(app: App, names: Sequence[str], robots: Collection[str]) -> list[PlayerRow]:
    """Return the rows of players by their names."""
    accounts: Any = {name: app.accounts.id_of(name) for name in names}
    games = [key for key in game_keys() if latest_rules(key).players != (1,)]
    wanted = [(pool_of(key, [accounts[name]]), accounts[name]) for name in names for key in games]
    ratings = read_one(app.data, app.ratings.read_players(wanted))
    facts = read_one(app.data, app.lists.read_activity([accounts[name] for name in names]))
    rows = []
    for at, (name, (active, over, last)) in enumerate(zip(names, facts, strict=True)):
        own = ratings[at * len(games) : (at + 1) * len(games)]
        rated = [pair for pair in zip(games, own, strict=True) if pair[1].matches]
        # one that is settled says more than a provisional one
        best = max(
            rated, key=lambda pair: (not pair[1].provisional, pair[1].skill.ordinal), default=None
        )
        rows.append(
            PlayerRow(
                name,
                name in robots,
                is_bot(accounts[name]),
                active + over,
                last,
                best[1] if best else None,
                latest_rules(best[0]).title if best else "",
            )
        )
    return rows


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
    return redirect_to(f"/ratings/{showcase_games()[0].key}")


@pages.get("/ratings/{game:str}")
def show_ratings(
    game: GameKey,
    asked: Asked,
    page: PageNumber = 1,
    name: SearchedName = "",
    bots: Annotated[bool, QueryParameter()] = False,  # noqa: FBT002 - a part of the address
) -> Response[str]:
    """Show the ratings of a game, the best first, with a chart of the first three; or those with bots.

    With a name, the page on which that player is.
    """
    visitor = asked.visitor
    key, app = read_multiplayer_game(game).key, asked.app
    rated = pool(key, bots=bots)
    wanted, place = name.strip().lower(), _place_of(asked.context, rated, name)
    start = first_row(page) if place is None else (place - 1) // PAGE_SIZE * PAGE_SIZE
    rows = app.ratings.of(rated, start, PAGE_SIZE)
    names = names_of(app, (row.account for row in rows), visitor.wording)
    table = [
        RatingRow(place, names[row.account], row.rating)
        for place, row in enumerate(rows, start + 1)
    ]
    series = [
        ChartSeries(names[row.account], _values(asked.context, rated, row.account))
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
        bots=bots,
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
            total=app.ratings.count(rated),
            path=f"/ratings/{key}",
            query={"bots": "true"} if bots else None,
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
def list_players(asked: Asked, page: PageNumber = 1, name: SearchedName = "") -> Response[str]:
    """List all players, by name; or those whose names begin with a text."""
    accounts, start, wanted = asked.app.accounts, first_row(page), name.strip().lower()
    if wanted:
        start, names = 0, accounts.names_starting(wanted, PAGE_SIZE)
    else:
        names = accounts.names(start, PAGE_SIZE)
    part = ListPart.of(
        asked.visitor.wording.gettext("Players"),
        start=start,
        shown=len(names),
        total=len(names) if wanted else accounts.count(),
        path="/players",
    )
    return render(
        "players.html",
        asked.visitor,
        found=player_rows(asked.app, names, robot_userids(asked.app)),
        wanted=wanted,
        part=part,
        count=accounts.count(),
    )


@pages.get("/players/{userid:str}")
def show_player(userid: Userid, asked: Asked, opponent: WithPlayer = "") -> Response[str]:
    """Show the public facts about a player, and the results against one opponent."""
    visitor = asked.visitor
    app = asked.app
    account, profile = find_player(app, userid)
    games, with_bots = rated_games(app, account, visitor.wording)
    newest = newest_matches(app, account)
    rows = rated_rows(asked.context, [*newest.going, *newest.finished], visitor, account)
    return render(
        "player.html",
        visitor,
        name=profile.name,
        robot=profile.robot,
        bot=is_bot(account),
        owner=shown_name(app.accounts.name_of([profile.owner])[0], visitor.wording)
        if profile.owner
        else "",
        accepts=rules_in_words(profile, visitor.wording) if profile.owner else [],
        with_bots=with_bots,
        since=profile.created,
        now=app.store.now(),
        counts=app.lists.counts(account),
        games=games,
        record=record_of(games),
        going=rows[: len(newest.going)],
        finished=rows[len(newest.going) :],
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
