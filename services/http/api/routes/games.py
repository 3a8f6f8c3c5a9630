"""The games and puzzles, and the best scores of puzzles."""

from typing import Annotated

import msgspec
from litestar import Response
from litestar.params import QueryParameter

from domain.errors import Code
from domain.rules import AnyRules, game_keys, latest_rules
from services.app.games import read_game, read_puzzle
from services.app.games_off import is_off
from services.app.names import userids_of
from services.app.queries import best_scores
from services.http.api.auth import AnyRequest, Context
from services.http.api.declared import ANYBODY, ApiRoutes, refuses, tagged
from services.http.api.routes.players import GameKey
from services.http.context import ApiContext

api = ApiRoutes("games")


class Game(msgspec.Struct, frozen=True):
    """A game or puzzle."""

    key: str
    title: str
    rules: str
    """The newest version of its rules, such as `pow2/1`."""
    players: tuple[int, ...]
    """The possible numbers of players."""
    sides: tuple[str, ...]
    """The names of the seats, such as `Light`; the first moves first."""
    displays: tuple[str, ...]
    """The names of its text displays, such as `small`; the first is the default."""
    offers: tuple[str, ...]
    """Offers that it has in addition to those of every game."""
    off: bool
    """Whether the operators have switched it off, so that no new match of it begins."""


class Score(msgspec.Struct, frozen=True):
    """A finished puzzle."""

    board: int
    userid: str | None
    """Null for a deleted account."""
    at: int
    """Time at which the score was reached, in ms since 1970."""
    rank: tuple[int, ...]
    """Scores compare by these numbers, from the first on; smaller is better."""


@api.get("/api/puzzles/{game:str}/scores", "The best scores of a puzzle", ANYBODY, tagged=True)
@refuses(Code.UNKNOWN_GAME, Code.USAGE, Code.UNKNOWN_OPTION, Code.BAD_OPTION)
def list_scores(
    request: AnyRequest,
    game: GameKey,
    context: Context,
    options: Annotated[
        str, QueryParameter(max_length=512, description="the puzzle's options, separated by spaces")
    ] = "",
) -> Response[list[Score]]:
    """Return the best score of each player, the best first."""
    rows = best_scores(context.app, read_puzzle(game), options.split())
    names = userids_of(context.app, (row.account for row in rows))
    return tagged(request, [Score(row.board, names[row.account], row.at, row.rank) for row in rows])


@api.get("/api/games", "The games and puzzles", ANYBODY, for_guests=True, tagged=True)
def list_games(request: AnyRequest, context: Context) -> Response[list[Game]]:
    """Return all games."""
    return tagged(request, [_game(context, latest_rules(key)) for key in game_keys()])


@api.get("/api/games/{game:str}", "A game", ANYBODY, for_guests=True, tagged=True)
@refuses(Code.UNKNOWN_GAME)
def show_game(request: AnyRequest, game: GameKey, context: Context) -> Response[Game]:
    """Return a game; /api/help?topic= explains its rules."""
    return tagged(request, _game(context, read_game(game)))


def _game(context: ApiContext, rules: AnyRules) -> Game:
    return Game(
        key=rules.key,
        title=rules.title,
        rules=f"{rules.key}/{rules.version}",
        players=tuple(rules.players),
        sides=rules.side_names,
        displays=tuple(rules.displays),
        offers=tuple(rules.offers),
        off=is_off(context.app, rules),
    )
