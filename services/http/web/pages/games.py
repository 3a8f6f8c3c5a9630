"""The games: their list, their rules, and boards to try them."""

import secrets
from hashlib import sha256
from typing import Any, Final

from litestar import Request, Response, get

from domain.drawing import draw_svg
from domain.errors import Code, Refusal
from domain.fairness import DrawStream
from domain.rules import AnyRules, game_by_key, latest_rules, rules_id
from services.app.games import game_keys
from services.http.anonymous_limit import WEIGHT
from services.http.web.pages.help import help_blocks
from services.http.web.pages.match import preview_json
from services.http.web.pages.puzzles import leaderboard
from services.http.web.params import (
    ContextDependency,
    GameKey,
    LineText,
    MoveText,
    Options,
    Players,
    SeedText,
    VariationDependency,
    VisitorDependency,
)
from services.http.web.render import redirect_to, render
from services.http.web.views.board_view import legal_moves_json, preview_move
from services.http.web.views.match_rows import match_rows
from services.http.web.views.new_match_form import robot_offers
from services.http.web.views.variations import Variation

AnyRequest = Request[Any, Any, Any]


_MAX_MATCHES: Final = 10
_PICTURE_CACHING: Final = "public, max-age=86400"


@get("/games", sync_to_thread=False)
def show_games(visitor: VisitorDependency) -> Response[str]:
    """Show all games and puzzles."""
    known = [latest_rules(key) for key in game_keys()]
    return render(
        "games.html",
        visitor,
        played=[rules for rules in known if rules.players != (1,)],
        puzzles=[rules for rules in known if rules.players == (1,)],
    )


@get("/games/{game:str}", sync_to_thread=True)
def show_game(
    game: GameKey, context: ContextDependency, visitor: VisitorDependency
) -> Response[str]:
    """Show a game: its rules, its matches in play, or a puzzle's best scores."""
    rules = latest_rules(game.lower())
    answer = context.language.do(f"help {rules.key}", reader=visitor.account)
    rows = context.app.lists.playing(rules.key, 0, _MAX_MATCHES)
    return render(
        "game.html",
        visitor,
        rules=rules,
        blocks=help_blocks(answer.page),
        playing=match_rows(context, rows),
        playing_count=context.app.lists.count_playing(rules.key),
        finished_count=context.app.history.count(rules.key),
        scores=leaderboard(context, rules) if rules.players == (1,) else None,
        choices=game_by_key(rules.key).options_form,
        **robot_offers(context.app, rules),
    )


@get("/games/{game:str}/board.svg", sync_to_thread=True, opt={WEIGHT: 2})
def show_board(game: GameKey, visitor: VisitorDependency) -> Response[Any]:
    """Draw the initial position of a game; where chance decides it, a fixed example."""
    del visitor  # a dependency, because it counts the request
    rules = latest_rules(game.lower())
    position = _initial_position(rules, rules.read_options(()), rules.players[0], "example")
    return Response(
        draw_svg(rules, position, ()),
        media_type="image/svg+xml",
        headers={"Cache-Control": _PICTURE_CACHING},
    )


def _initial_position(rules: AnyRules, options: Any, players: int, seed: str) -> Any:
    """Return an initial position; where chance decides it, it is drawn from the seed."""
    chance = DrawStream(sha256(seed.encode()).digest(), rules_id(rules))
    setup = rules.draw(options, players, chance)
    return rules.start(options, players, setup)


def variation_in_address(
    game: GameKey,
    visitor: VisitorDependency,
    options: Options = "",
    players: Players = 0,
    seed: SeedText = "",
    line: LineText = "",
) -> Variation:
    """Return the variation in an address, from the start of a game."""
    del visitor  # a dependency, because it counts the request before any work is done
    rules = latest_rules(game.lower())
    read = rules.read_options(options.split())
    written, count = rules.write_options(read), players or rules.players[0]
    if count not in rules.players:
        raise Refusal(Code.BAD_PLAYERS, f"{rules.title} is not played by {count}")
    query = {"options": " ".join(written)} if written else {}
    query |= {"players": str(count)} if count != rules.players[0] else {}
    if rules.needs_draw(read, count):
        seed = seed or secrets.token_hex(8)
        query |= {"seed": seed}
    return Variation.of(
        rules,
        _initial_position(rules, read, count, seed),
        (),
        line,
        f"/games/{rules.key}/try",
        query,
    )


@get("/games/{game:str}/try", sync_to_thread=True, opt={WEIGHT: 3})
def try_game(
    tried_line: VariationDependency, visitor: VisitorDependency, move: MoveText = ""
) -> Response[str]:
    """Show a board to try a game on, where the visitor moves for all players."""
    if move.strip():
        return redirect_to(tried_line.url_with_move(move.strip()))
    rules = tried_line.rules
    return render(
        "try.html",
        visitor,
        rules=rules,
        line=tried_line,
        shown=tried_line.shown(),
        score=rules.score(tried_line.position),
        choices=game_by_key(rules.key).options_form,
    )


@get("/games/{game:str}/try/moves", sync_to_thread=True, opt={WEIGHT: 3})
def list_variation_moves(tried_line: VariationDependency) -> dict[str, Any]:
    """Return the legal moves after a variation."""
    return {"ply": len(tried_line.moves), **legal_moves_json(tried_line.rules, tried_line.position)}


@get("/games/{game:str}/try/check", sync_to_thread=True, opt={WEIGHT: 3})
def check_variation_move(tried_line: VariationDependency, move: MoveText = "") -> Response[Any]:
    """Return the result of a move after a variation."""
    found = preview_move(tried_line.rules, tried_line.position, move.strip(), tried_line.names)
    return preview_json(found)
