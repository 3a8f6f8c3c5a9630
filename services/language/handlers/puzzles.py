"""The command that lists the best scores of a puzzle."""

from typing import Final

from services.app.games import read_puzzle
from services.app.names import names_by_seat
from services.app.queries import best_scores, score_of
from services.language.answer import Answer
from services.language.invocation import Invocation

SHOWN: Final = 20
"""Rows of a leaderboard."""


def scores(call: Invocation) -> Answer:
    """List the best scores of a puzzle, with the best that is known to be possible."""
    rules = read_puzzle(call.rules.key)
    options = rules.read_options(call.line.all("flag"))
    rows = best_scores(call.app, rules, call.line.all("flag"), count=SHOWN)
    names = names_by_seat(call.app, [row.account for row in rows])
    bound = rules.score(rules.start(options, 1, None))
    lines = [
        f"{place:2} {name}: {score_of(call.app, row).detail} (match {row.board})"
        for place, (name, row) in enumerate(zip(names, rows, strict=True), 1)
    ]
    empty = ["nobody has finished it yet"] if not lines else []
    head = f"{' '.join([rules.title, *rules.write_options(options)])}: the best scores"
    return Answer(page="\n".join([head, *([bound.bound] if bound else []), "", *lines, *empty]))
