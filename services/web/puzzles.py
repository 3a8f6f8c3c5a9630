"""Puzzles, with their best scores."""

from collections.abc import Sequence
from typing import Final

import msgspec
from litestar import Response, get

from domain.rules import AnyRules, current
from infra.projections.scores import Row
from services.api.context import ApiContext
from services.app.games import games
from services.app.names import names_by_seat
from services.app.queries import best_scores, score_of
from services.web.pages import page
from services.web.params import TheContext, TheVisitor

_SHOWN: Final = 20


class Scored(msgspec.Struct, frozen=True):
    """A finished puzzle."""

    name: str
    board: int
    at: int
    detail: str


class Best(msgspec.Struct, frozen=True):
    """A puzzle's leaderboard."""

    rules: AnyRules
    bound: str
    rows: tuple[Scored, ...]


@get("/puzzles", sync_to_thread=True)
def show_puzzles(context: TheContext, visitor: TheVisitor) -> Response[str]:
    """Show the puzzles."""
    alone = [rules for rules in map(current, games()) if rules.players == (1,)]
    return page("puzzles.html", visitor, puzzles=[best(context, rules, 3) for rules in alone])


def best(context: ApiContext, rules: AnyRules, count: int = _SHOWN) -> Best:
    """Return the best scores of a puzzle as it is usually played."""
    return _best(context, rules, best_scores(context.app, rules, count=count))


def scored(context: ApiContext, rules: AnyRules, start: int, count: int) -> tuple[Best, int]:
    """Return some of its scores, one for each player, and how many there are; O(all)."""
    rows = best_scores(context.app, rules)
    return _best(context, rules, rows[start : start + count]), len(rows)


def _best(context: ApiContext, rules: AnyRules, rows: Sequence[Row]) -> Best:
    names = names_by_seat(context.app, [row.account for row in rows])
    start = rules.score(rules.start(rules.read_options(()), 1, None))
    found = [
        Scored(name, row.board, row.at, score_of(context.app, row).detail)
        for name, row in zip(names, rows, strict=True)
    ]
    return Best(rules, start.bound if start else "", tuple(found))
