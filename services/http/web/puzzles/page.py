"""Puzzles: their list with the best scores, the page to solve one, and handing it in."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec
from litestar import Response
from litestar.response import Redirect

from domain.errors import Code, Refusal
from domain.rules import AnyRules, latest_rules
from domain.sentences import Text, Translation
from infra.projections.leaderboards import LeaderboardRow
from services.app.games import guide_of
from services.app.games_off import is_off, keys_on
from services.app.names import names_by_seat
from services.app.puzzles import MOST_MOVES, hand_in
from services.app.queries import best_score_of, best_scores, count_scores, score_of
from services.app.sentences import SAY
from services.http.context import ApiContext
from services.http.web.boards.board_view import game_card, legal_moves_json, preview_move
from services.http.web.declared import Pages
from services.http.web.forms import Form
from services.http.web.match.page import preview_json
from services.http.web.params import (
    Asked,
    GameKey,
    LineText,
    MoveText,
    Options,
    Own,
    PuzzleDependency,
    UndoneText,
    VisitorDependency,
)
from services.http.web.puzzles.view import Points, PuzzleLine, without_end
from services.http.web.render import redirect_to, render
from services.http.web.replay.variations import Variation
from services.http.web.session import Visitor

pages = Pages()

_MAX_SCORES: Final = 20


class ScoreRow(msgspec.Struct, frozen=True):
    """A finished puzzle."""

    name: str
    board: int
    at: int
    text: Text


class Leaderboard(msgspec.Struct, frozen=True):
    """A puzzle's leaderboard."""

    rules: AnyRules
    limit: Text
    rows: tuple[ScoreRow, ...]
    points: Points | None
    """The visitor's own, beside the best."""


@pages.get("/puzzles")
def show_puzzles(asked: Asked) -> Response[str]:
    """Show the puzzles."""
    visitor = asked.visitor
    alone = [rules for rules in map(latest_rules, keys_on(asked.app)) if rules.players == (1,)]
    return render(
        "puzzles.html",
        visitor,
        puzzles=[
            (game_card(rules, visitor), leaderboard(asked.context, rules, visitor, 3))
            for rules in alone
        ],
    )


def leaderboard(
    context: ApiContext,
    rules: AnyRules,
    visitor: Visitor,
    count: int = _MAX_SCORES,
) -> Leaderboard:
    """Return the best scores of a puzzle with its default options, and the visitor's own points."""
    rows = best_scores(context.app, rules, count=count)
    own = best_score_of(context.app, rules, visitor.account) if visitor.account else None
    points = Points.of(rules, rows, own.rank if own else None)
    return _leaderboard_of(context, rules, rows, points, visitor.wording)


def leaderboard_page(
    context: ApiContext, rules: AnyRules, visitor: Visitor, start: int, count: int
) -> tuple[Leaderboard, int]:
    """Return a part of a puzzle's scores, one for each player, and their total."""
    rows = best_scores(context.app, rules, start=start, count=count)
    points = Points.of(rules, best_scores(context.app, rules, count=1), None)
    shown = _leaderboard_of(context, rules, rows, points, visitor.wording)
    return shown, count_scores(context.app, rules)


def _leaderboard_of(
    context: ApiContext,
    rules: AnyRules,
    rows: Sequence[LeaderboardRow],
    points: Points | None,
    language: Translation,
) -> Leaderboard:
    names = names_by_seat(context.app, [row.account for row in rows], language)
    start = rules.score(rules.start(rules.read_options(()), 1, None))
    found = [
        ScoreRow(name, row.board, row.at, score_of(context.app, row).text)
        for name, row in zip(names, rows, strict=True)
    ]
    return Leaderboard(rules, start.limit if start else "", tuple(found), points)


# solving


def puzzle_in_address(
    game: GameKey,
    visitor: VisitorDependency,
    options: Options = "",
    line: LineText = "",
    undone: UndoneText = "",
) -> PuzzleLine:
    """Return the moves in an address, and those that were undone."""
    rules = latest_rules(game.lower())
    if rules.players != (1,):
        raise Refusal(Code.NOT_FOUND, SAY("not-a-puzzle", game=rules.title))
    read = rules.read_options(options.split())
    written = " ".join(rules.write_options(read))
    found = Variation.of(
        rules,
        rules.start(read, 1, None),
        (),
        line,
        f"/puzzles/{rules.key}",
        {"options": written} if written else {},
        language=visitor.wording,
    )
    return PuzzleLine(found, tuple(undone.split()))


@pages.get("/puzzles/{game:str}", weight=3)
def show_puzzle(puzzle: PuzzleDependency, asked: Asked, move: MoveText = "") -> Response[Any]:
    """Show a puzzle after some moves; all of them are in the address, and nothing is stored."""
    if move.strip():
        return redirect_to(puzzle.with_move(move.strip()))
    line, rules = puzzle.line, puzzle.line.rules
    score = puzzle.score
    return render(
        "puzzle.html",
        asked.visitor,
        puzzle=puzzle,
        line=line,
        rules=rules,
        off=is_off(asked.app, rules),
        shown=line.shown(plates=False),
        score=score,
        guide=guide_of(rules.key),
        points=Points.of(
            rules, best_scores(asked.app, rules, count=1), score.rank if score else None
        ),
        here=line.url(),
    )


@pages.get("/puzzles/{game:str}/moves", weight=3)
def list_puzzle_moves(puzzle: PuzzleDependency) -> dict[str, Any]:
    """Return the legal moves, but for the one that ends the puzzle."""
    line = puzzle.line
    found = legal_moves_json(line.rules, line.position, line.language)
    return {"ply": len(line.moves), **found, "moves": without_end(found["moves"])}


@pages.get("/puzzles/{game:str}/check", weight=3)
def check_puzzle_move(
    puzzle: PuzzleDependency, visitor: VisitorDependency, move: MoveText = ""
) -> Response[Any]:
    """Return the result of a move."""
    line = puzzle.line
    return preview_json(
        preview_move(line.rules, line.position, move.strip(), line.names, visitor.wording)
    )


def _moves_in(form: Form) -> int:
    """Return how many commands are in a solution: each move is one, as if it was sent alone."""
    return max(1, min(len(form.get("line").split()), MOST_MOVES))


@pages.post("/puzzles/{game:str}", commands=_moves_in)
async def hand_in_puzzle(game: GameKey, own: Own) -> Redirect:
    """Hand a solution in: a match with its moves, which ends with them."""
    moves, options = own.get("line"), own.get("options")
    # the same solution is the same match, however often it is sent
    content = sha256(f"{game} {options} {moves}".encode()).hexdigest()[:32]
    solution = hand_in(
        own.app,
        own.actor(f"solution {content}"),
        latest_rules(game.lower()),
        own.visitor.name,
        options=options.split(),
        moves=moves.split(),
    )
    begun = await own.context.play.submit(solution)
    return redirect_to(f"/m/{begun.board}")
