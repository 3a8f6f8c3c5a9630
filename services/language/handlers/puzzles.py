"""The command that lists the best scores of a puzzle."""

from typing import Final

from domain.sentences import text_in
from services.app.games import read_puzzle
from services.app.names import names_by_seat
from services.app.queries import best_scores, score_of
from services.language.answer import Answer
from services.language.invocation import Invocation

SHOWN: Final = 20
"""Rows of a leaderboard."""


def scores(call: Invocation) -> Answer:
    """List the best scores of a puzzle, with the best that is known to be possible."""
    rules, words = read_puzzle(call.rules.key), call.words
    options = rules.read_options(call.line.all("flag"))
    rows = best_scores(call.app, rules, call.line.all("flag"), count=SHOWN)
    names = names_by_seat(call.app, [row.account for row in rows], words)
    bound = rules.score(rules.start(options, 1, None))
    lines = [
        words.gettext(
            "%(place)2s %(name)s: %(score)s (match %(board)s)",
            place=place,
            name=name,
            score=text_in(score_of(call.app, row).text, words),
            board=row.board,
        )
        for place, (name, row) in enumerate(zip(names, rows, strict=True), 1)
    ]
    empty = [words.gettext("nobody has finished it yet")] if not lines else []
    game = " ".join([rules.title, *rules.write_options(options)])
    head = words.gettext("%(game)s: the best scores", game=game)
    return Answer(
        page="\n".join(
            [head, *([text_in(bound.limit, words)] if bound else []), "", *lines, *empty]
        )
    )
