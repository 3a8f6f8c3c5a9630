"""The command that lists the best scores of a puzzle."""

from typing import Final

from domain.errors import Code, Refusal
from domain.match.record import refold
from domain.match.state import positions
from domain.rules import pinned
from domain.rules.protocol import Score
from infra.projections.scores import Row, puzzle_name
from services.app.damaged import reading
from services.language.answer import Answer
from services.language.invocation import Invocation

SHOWN: Final = 20
"""Rows of a leaderboard."""


def scores(call: Invocation) -> Answer:
    """List the best scores of a puzzle, with what is known to be possible."""
    if call.rules.players != (1,):
        raise Refusal(
            Code.USAGE, f"{call.rules.key} is no puzzle: only games played alone have scores"
        )
    options = call.rules.read_options(call.line.all("flag"))
    written = call.rules.write_options(options)
    rows = call.app.scores.best(puzzle_name(call.rules.key, written), SHOWN)
    names = call.app.accounts.name_of([row.account for row in rows])
    reached = [_score(call, row) for row in rows]
    start = call.rules.start(options, 1, None)
    bound = call.rules.score(start)
    lines = [
        f"{place:2} {name or 'a former player'}: {score.detail} (match {row.board})"
        for place, (name, score, row) in enumerate(zip(names, reached, rows, strict=True), 1)
    ]
    empty = ["nobody has finished it yet"] if not lines else []
    head = f"{' '.join([call.rules.title, *written])}: the best scores"
    return Answer(page="\n".join([head, *([bound.bound] if bound else []), "", *lines, *empty]))


def _score(call: Invocation, row: Row) -> Score:
    """Return the best score of a match, by replay."""
    with reading(call.app.damage, row.board):
        state = refold(call.app.store.events(row.board))
    rules = pinned(state.rules)
    found = [score for position in positions(state) if (score := rules.score(position))]
    return min(found, key=lambda score: score.rank)
