"""Puzzles, with their best scores."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec
from litestar import Response, get

from domain.match.record import refold
from domain.match.state import positions
from domain.rules import AnyRules, current, pinned
from infra.projections.scores import Row, puzzle_name
from services.api.context import ApiContext
from services.app.damaged import reading
from services.language.parsing import games
from services.web.boards import names_of
from services.web.pages import page
from services.web.params import TheContext, TheVisitor

_SHOWN: Final = 20
_KEPT: Final = 2_000


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
    """Return the best scores of a puzzle with default options."""
    return _best(context, rules, context.app.scores.best(puzzle_name(rules.key, ()), count))


def scored(context: ApiContext, rules: AnyRules, start: int, count: int) -> tuple[Best, int]:
    """Return a part of the scores, one for each player, and their number; O(all)."""
    rows = context.app.scores.best(puzzle_name(rules.key, ()))
    return _best(context, rules, rows[start : start + count]), len(rows)


def _best(context: ApiContext, rules: AnyRules, rows: Sequence[Row]) -> Best:
    names = names_of(context.app.accounts.name_of([row.account for row in rows]))
    start = rules.score(rules.start(rules.read_options(()), 1, None))
    found = [
        Scored(name, row.board, row.at, _detail(context, row))
        for name, row in zip(names, rows, strict=True)
    ]
    return Best(rules, start.bound if start else "", tuple(found))


def _detail(context: ApiContext, row: Row) -> str:
    """Return the words of a score; cached, because a finished match does not change."""
    known = _known(row)
    if not known:
        with reading(context.app.damage, row.board):
            state = refold(context.app.store.events(row.board))
        rules = pinned(state.rules)
        found = [score for position in positions(state) if (score := rules.score(position))]
        known.append(min(found, key=lambda score: score.rank).detail)
    return known[0]


@lru_cache(_KEPT)
def _known(_: Row) -> list[str]:
    """Return the cache cell of a row, empty at first."""
    return []
