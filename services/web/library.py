"""The games: their list, their rules, and boards to try them."""

import secrets
from hashlib import sha256
from typing import Any, Final

from litestar import Request, Response, get

from domain.drawing import draw_svg
from domain.errors import Code, Refusal
from domain.fairness import Stream
from domain.rules import AnyRules, current, game_of, rules_id
from services.api.visitors import WEIGHT
from services.app.games import games
from services.web.boards import legal, tried
from services.web.lines import Line
from services.web.matches import as_json
from services.web.pages import go, page
from services.web.params import (
    GameKey,
    LineText,
    MoveText,
    Options,
    Players,
    SeedText,
    TheContext,
    TheLine,
    TheVisitor,
)
from services.web.prose import blocks
from services.web.puzzles import best
from services.web.rows import items

AnyRequest = Request[Any, Any, Any]


_SHOWN: Final = 10
_PICTURE: Final = "public, max-age=86400"


@get("/games", sync_to_thread=False)
def show_games(visitor: TheVisitor) -> Response[str]:
    """Show all games and puzzles."""
    known = [current(key) for key in games()]
    return page(
        "games.html",
        visitor,
        played=[rules for rules in known if rules.players != (1,)],
        puzzles=[rules for rules in known if rules.players == (1,)],
    )


@get("/games/{game:str}", sync_to_thread=True)
def show_game(game: GameKey, context: TheContext, visitor: TheVisitor) -> Response[str]:
    """Show a game: its rules, its matches in play, or a puzzle's best scores."""
    rules = current(game.lower())
    answer = context.language.do(f"help {rules.key}", reader=visitor.account)
    rows = context.app.lists.playing(rules.key, 0, _SHOWN)
    return page(
        "game.html",
        visitor,
        rules=rules,
        blocks=blocks(answer.page),
        playing=items(context, rows),
        playing_count=context.app.lists.count_playing(rules.key),
        finished_count=context.app.history.count(rules.key),
        scores=best(context, rules) if rules.players == (1,) else None,
        choices=game_of(rules.key).options_form,
    )


@get("/games/{game:str}/board.svg", sync_to_thread=True, opt={WEIGHT: 2})
def show_board(game: GameKey, visitor: TheVisitor) -> Response[Any]:
    """Draw the initial position of a game; where chance decides it, a fixed example."""
    del visitor  # a dependency, so that the request is counted
    rules = current(game.lower())
    position = _start(rules, rules.read_options(()), rules.players[0], "example")
    return Response(
        draw_svg(rules, position, ()),
        media_type="image/svg+xml",
        headers={"Cache-Control": _PICTURE},
    )


def _start(rules: AnyRules, options: Any, players: int, seed: str) -> Any:
    """Return an initial position; where chance decides it, it is drawn from the seed."""
    chance = Stream(sha256(seed.encode()).digest(), rules_id(rules))
    setup = rules.draw(options, players, chance)
    return rules.start(options, players, setup)


def line_tried(
    game: GameKey,
    visitor: TheVisitor,
    options: Options = "",
    players: Players = 0,
    seed: SeedText = "",
    line: LineText = "",
) -> Line:
    """Return the variation in an address, from the beginning of a game."""
    del visitor  # a dependency, so that the request is counted before any work is done
    rules = current(game.lower())
    read = rules.read_options(options.split())
    written, count = rules.write_options(read), players or rules.players[0]
    if count not in rules.players:
        raise Refusal(Code.BAD_PLAYERS, f"{rules.title} is not played by {count}")
    query = {"options": " ".join(written)} if written else {}
    query |= {"players": str(count)} if count != rules.players[0] else {}
    if rules.needs_draw(read, count):
        seed = seed or secrets.token_hex(8)
        query |= {"seed": seed}
    return Line.of(
        rules, _start(rules, read, count, seed), (), line, f"/games/{rules.key}/try", query
    )


@get("/games/{game:str}/try", sync_to_thread=True, opt={WEIGHT: 3})
def try_game(tried_line: TheLine, visitor: TheVisitor, move: MoveText = "") -> Response[str]:
    """Show a board to try a game on, where the visitor moves for all players."""
    if move.strip():
        return go(tried_line.then(move.strip()))
    rules = tried_line.rules
    return page(
        "try.html",
        visitor,
        rules=rules,
        line=tried_line,
        shown=tried_line.shown(),
        score=rules.score(tried_line.position),
        choices=game_of(rules.key).options_form,
    )


@get("/games/{game:str}/try/moves", sync_to_thread=True, opt={WEIGHT: 3})
def list_moves_tried(tried_line: TheLine) -> dict[str, Any]:
    """Return the legal moves after a variation."""
    return {"ply": len(tried_line.moves), **legal(tried_line.rules, tried_line.position)}


@get("/games/{game:str}/try/check", sync_to_thread=True, opt={WEIGHT: 3})
def check_tried(tried_line: TheLine, move: MoveText = "") -> Response[Any]:
    """Return the result of a move after a variation."""
    found = tried(tried_line.rules, tried_line.position, move.strip(), tried_line.names)
    return as_json(found)
