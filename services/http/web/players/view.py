"""Ratings, results and matches of a player, for pages."""

from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from markupsafe import Markup

from domain.errors import Refusal
from domain.match.events import AccountId
from domain.rules import latest_rules
from infra.languages.wording import Wording
from infra.projections.head_to_head import PairRecord
from infra.projections.match_lists import MatchFilter, MatchListRow
from infra.projections.ratings import Rating
from infra.redis.reads import read_one
from services.app.context import App
from services.app.games import game_keys
from services.app.queries import find_player, head_to_head, rating_series
from services.http.web.players.rating_chart import draw_sparkline

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


def ratings_by_game(app: App, account: AccountId, words: Wording) -> list[PlayedGame]:
    """Return the games of a player, the best rating first."""
    found = []
    for key in game_keys():
        title, standing = latest_rules(key).title, app.standings.player(key, account)
        if not standing.played:
            continue
        rating, points = rating_series(app, key, account, MAX_PLOTTED_POINTS)
        first = () if rating.matches > MAX_PLOTTED_POINTS else (Rating().display_value,)
        values = (*first, *(point.display_value for point in points))
        label = words.gettext("Rating in %(game)s after each match", game=title)
        found.append(
            PlayedGame(
                key,
                title,
                rating if rating.matches else None,
                app.ratings.place(key, account),
                draw_sparkline(label, values),
                Results(standing.won, standing.drawn, standing.lost),
            )
        )
    return sorted(
        found, key=lambda one: one.rating.display_value if one.rating else 0, reverse=True
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
    wanted = [(key, accounts[name]) for name in names for key in games]
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
                active + over,
                last,
                best[1] if best else None,
                latest_rules(best[0]).title if best else "",
            )
        )
    return rows
