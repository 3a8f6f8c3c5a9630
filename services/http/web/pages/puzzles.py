"""Puzzles, with their best scores."""

from collections.abc import Sequence
from typing import Final

import msgspec
from litestar import Response, get

from domain.rules import AnyRules, latest_rules
from infra.projections.leaderboards import LeaderboardRow
from services.app.games import game_keys
from services.app.names import names_by_seat
from services.app.queries import best_scores, score_of
from services.http.context import ApiContext
from services.http.web.params import ContextDependency, VisitorDependency
from services.http.web.render import render

_MAX_SCORES: Final = 20


class ScoreRow(msgspec.Struct, frozen=True):
    """A finished puzzle."""

    name: str
    board: int
    at: int
    detail: str


class Leaderboard(msgspec.Struct, frozen=True):
    """A puzzle's leaderboard."""

    rules: AnyRules
    bound: str
    rows: tuple[ScoreRow, ...]


@get("/puzzles", sync_to_thread=True)
def show_puzzles(context: ContextDependency, visitor: VisitorDependency) -> Response[str]:
    """Show the puzzles."""
    alone = [rules for rules in map(latest_rules, game_keys()) if rules.players == (1,)]
    return render(
        "puzzles.html", visitor, puzzles=[leaderboard(context, rules, 3) for rules in alone]
    )


def leaderboard(context: ApiContext, rules: AnyRules, count: int = _MAX_SCORES) -> Leaderboard:
    """Return the best scores of a puzzle with its default options."""
    return _leaderboard_of(context, rules, best_scores(context.app, rules, count=count))


def leaderboard_page(
    context: ApiContext, rules: AnyRules, start: int, count: int
) -> tuple[Leaderboard, int]:
    """Return a part of a puzzle's scores, one for each player, and their total; O(total)."""
    rows = best_scores(context.app, rules)
    return _leaderboard_of(context, rules, rows[start : start + count]), len(rows)


def _leaderboard_of(
    context: ApiContext, rules: AnyRules, rows: Sequence[LeaderboardRow]
) -> Leaderboard:
    names = names_by_seat(context.app, [row.account for row in rows])
    start = rules.score(rules.start(rules.read_options(()), 1, None))
    found = [
        ScoreRow(name, row.board, row.at, score_of(context.app, row).detail)
        for name, row in zip(names, rows, strict=True)
    ]
    return Leaderboard(rules, start.bound if start else "", tuple(found))
