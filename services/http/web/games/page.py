"""The games: their list, their rules, and boards to try them.

The help page, and the plain text of help as blocks of a page.
"""

import re
import secrets
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final
from urllib.parse import urlencode

import msgspec
from litestar import Request, Response

from domain.errors import Code, Refusal
from domain.rules import game_by_key, latest_rules
from domain.sentences import text_in
from infra.redis.reads import read_all
from services.app.games import guide_of
from services.app.games_off import is_off, keys_on
from services.app.opponents import robot_answers
from services.app.sentences import SAY
from services.http.requests import TRIAL
from services.http.web.boards.board_view import (
    CARD,
    draw_guide_picture,
    game_card,
    guide_figures,
    legal_moves_json,
    preview_move,
)
from services.http.web.boards.live_try import (
    easiest_robot,
    live_try,
    live_try_of,
    start_of_try,
    turn_hint,
)
from services.http.web.challenges.match_draft import chosen_options, form_of_options, robot_offers
from services.http.web.declared import Pages
from services.http.web.forms import Form
from services.http.web.lists.match_rows import match_rows
from services.http.web.match.page import preview_json
from services.http.web.params import (
    Against,
    Asked,
    GameKey,
    LineText,
    Live,
    MoveText,
    Options,
    PictureName,
    PictureVersion,
    Players,
    SeedText,
    Theme,
    VariationDependency,
    VisitorDependency,
)
from services.http.web.puzzles.page import leaderboard
from services.http.web.render import redirect_to, render
from services.http.web.replay.variations import Variation
from services.http.web.session import USUAL

pages = Pages()

_ITEM: Final = re.compile(r"(?:\d\.|-) +")
_DRAWING: Final = re.compile(r"\S {2,}\S")
"""Spacing that occurs in boards and tables, but not in sentences."""


class HelpBlock(msgspec.Struct, frozen=True):
    """A block of a help page."""

    kind: str
    """`heading`, `text`, `item` or `drawn`."""
    text: str


@pages.get("/help", in_thread=False, for_guests=True)
def show_help(visitor: VisitorDependency) -> Response[str]:
    """Show how to use the pages, by topics."""
    return render("help.html", visitor)


@pages.get("/help/commands", for_guests=True)
def show_commands(asked: Asked) -> Response[str]:
    """Show the commands of terminal and mail."""
    answer = asked.context.language.do(f"help --lang={asked.visitor.language}")
    return render("commands.html", asked.visitor, text=answer.page)


def help_blocks(page: str) -> list[HelpBlock]:
    """Return the blocks of a help page; drawings keep their line breaks."""
    found = [_block(part) for part in re.split(r"\n{2,}", page.strip("\n"))]
    merged: list[HelpBlock] = []
    for kind, same in groupby(found, key=lambda block: block.kind):
        parts = [block.text for block in same]
        merged += [HelpBlock(kind, "\n\n".join(parts))] if kind == "drawn" else _split(kind, parts)
    return merged


def _block(part: str) -> HelpBlock:
    lines = part.split("\n")
    if len(lines) == 1 and part.isupper():
        return HelpBlock("heading", part.capitalize())
    if _ITEM.match(part):
        return HelpBlock("item", part)
    if any(line.startswith(" ") or _DRAWING.search(line) for line in lines):
        return HelpBlock("drawn", part)
    return HelpBlock("text", " ".join(lines))


def _split(kind: str, parts: list[str]) -> Iterator[HelpBlock]:
    for part in parts:
        if kind != "item":
            yield HelpBlock(kind, part)
            continue
        for item in re.split(r"\n(?=(?:\d\.|-) )", part):
            yield HelpBlock(kind, " ".join(line.strip() for line in item.split("\n")))


_MAX_MATCHES: Final = 10
_MAX_OPTION: Final = 300
_VISITOR: Final = 0
"""The seat of a visitor who tries a game against a robot."""
_FOR_A_DAY: Final = "public, max-age=86400"
_FOR_GOOD: Final = "public, max-age=31536000, immutable"


@pages.get("/games")
def show_games(asked: Asked) -> Response[str]:
    """Show all games and puzzles."""
    app, known = asked.app, [latest_rules(key) for key in keys_on(asked.app)]
    counts = read_all(app.data, *(app.lists.read_count_playing(rules.key) for rules in known))
    cards = [game_card(rules, asked.visitor, n) for rules, n in zip(known, counts, strict=True)]
    return render(
        "games.html",
        asked.visitor,
        played=[card for card in cards if card.players != (1,)],
        puzzles=[card for card in cards if card.players == (1,)],
    )


@pages.get("/games/{game:str}")
def show_game(game: GameKey, asked: Asked) -> Response[str]:
    """Show a game: its guide, a board to try it, its matches in play, or a puzzle's best scores."""
    visitor = asked.visitor
    rules = latest_rules(game.lower())
    answer = asked.context.language.do(f"help {rules.key} --lang={visitor.language}")
    rows = asked.app.lists.playing(rules.key, 0, _MAX_MATCHES)
    guide = guide_of(rules.key)
    return render(
        "game.html",
        visitor,
        rules=rules,
        off=is_off(asked.app, rules),
        guide=guide,
        figures=guide_figures(rules.key, guide, visitor) if guide else (),
        card=game_card(rules, visitor),
        blocks=help_blocks(answer.page),
        terminal=answer.page,
        playing=match_rows(asked.context, rows, visitor),
        playing_count=asked.app.lists.count_playing(rules.key),
        finished_count=asked.app.history.count(rules.key),
        scores=leaderboard(asked.context, rules, visitor) if rules.players == (1,) else None,
        live=live_try(rules, visitor.wording, easiest_robot(asked.app)),
        **robot_offers(asked.app, rules),
    )


@pages.get("/games/{game:str}/board.svg", weight=2, for_guests=True)
def show_board(game: GameKey, visitor: VisitorDependency) -> Response[Any]:
    """Return the picture that stands for a game, under an address that never changes."""
    del visitor  # a dependency, because it counts the request
    drawn = draw_guide_picture(latest_rules(game.lower()).key, CARD)
    return _svg(drawn.svg, _FOR_A_DAY)


@pages.get("/games/{game:str}/pictures/{name:str}", for_guests=True)
def show_picture_of_game(
    game: GameKey,
    name: PictureName,
    visitor: VisitorDependency,
    version: PictureVersion = "",
    board: Theme = USUAL.board,
) -> Response[Any]:
    """Return a picture of a game's guide; it is drawn once, and browsers keep it."""
    del visitor  # a dependency, because it counts the request
    drawn = draw_guide_picture(latest_rules(game.lower()).key, name.removesuffix(".svg"), board)
    return _svg(drawn.svg, _FOR_GOOD if version == drawn.version else _FOR_A_DAY)


def _svg(text: str, caching: str) -> Response[Any]:
    return Response(text, media_type="image/svg+xml", headers={"Cache-Control": caching})


def variation_in_address(  # noqa: PLR0913, PLR0917 - each is a part of the address
    game: GameKey,
    visitor: VisitorDependency,
    options: Options = "",
    players: Players = 0,
    seed: SeedText = "",
    line: LineText = "",
    against: Against = "",
    live: Live = "",
) -> Variation:
    """Return the variation in an address, from the start of a game."""
    rules = latest_rules(game.lower())
    read = rules.read_options(options.split())
    written, count = rules.write_options(read), players or rules.players[0]
    if count not in rules.players:
        raise Refusal(Code.BAD_PLAYERS, SAY("not-for-count", game=rules.title, count=count))
    query = {"options": " ".join(written)} if written else {}
    query |= {"players": str(count)} if count != rules.players[0] else {}
    query |= {"against": against} if against and rules.players != (1,) else {}
    query |= {"live": live} if live else {}
    if rules.needs_draw(read, count):
        seed = seed or secrets.token_hex(8)
        query |= {"seed": seed}
    return Variation.of(
        rules,
        start_of_try(rules, read, count, seed),
        (),
        line,
        f"/games/{rules.key}/try",
        query,
        language=visitor.wording,
    )


@pages.get("/games/{game:str}/try", weight=3, for_guests=TRIAL)
def try_game(asked: Asked, tried_line: VariationDependency, move: MoveText = "") -> Response[str]:
    """Show a board to try a game on, where the visitor moves for all players or against a robot."""
    visitor = asked.visitor
    if move.strip():
        return redirect_to(_after_move(tried_line, move.strip()).url())
    rules = tried_line.rules
    return render(
        "try.html",
        visitor,
        rules=rules,
        line=tried_line,
        shown=tried_line.shown(),
        score=rules.score(tried_line.position),
        choices=game_by_key(rules.key).options_form,
        side=text_in(rules.colour_text(_VISITOR), visitor.wording),
        robot=easiest_robot(asked.app),
        hint=turn_hint(rules.key, visitor.wording),
        typed=form_of_options(rules.key, tried_line.query.get("options", "").split()),
    )


@pages.get("/games/{game:str}/try/live", weight=3, for_guests=TRIAL)
def show_live_try(
    asked: Asked, tried_line: VariationDependency, move: MoveText = ""
) -> Response[str]:
    """Return the board to try a game on alone, as other pages embed it, after a move on it."""
    after = _after_move(tried_line, move.strip()) if move.strip() else tried_line
    live = live_try_of(after, easiest_robot(asked.app))
    return render("_live_try.html", asked.visitor, live=live)


@pages.get("/games/{game:str}/try/options", for_guests=TRIAL)
def choose_try_options(
    game: GameKey, request: Request[Any, Any, Any], visitor: VisitorDependency
) -> Response[str]:
    """Redirect to the board with the options that were chosen in a form."""
    del visitor  # a dependency, because it counts the request
    rules = latest_rules(game.lower())
    sent: dict[str, tuple[str, ...]] = {}
    for name, value in request.query_params.multi_items():
        sent[name] = (*sent.get(name, ()), str(value)[:_MAX_OPTION])
    form = Form(sent)
    chosen = rules.write_options(rules.read_options(chosen_options(rules.key, form)))
    query = {"options": " ".join(chosen), "players": form.get("players")}
    query["against"] = "robot" if form.get("against") == "robot" else ""
    written = urlencode({name: value for name, value in query.items() if value})
    return redirect_to(f"/games/{rules.key}/try{'?' + written if written else ''}")


def _after_move(line: Variation, move: str) -> Variation:
    """Return a variation after a move, and after a robot's answers if one plays."""
    after = line.with_move(move)
    if "against" in line.query:
        for answer in robot_answers(after.rules, after.position, _VISITOR, after.text):
            after = after.with_move(answer)
    return after


@pages.get("/games/{game:str}/try/moves", weight=3, for_guests=TRIAL)
def list_variation_moves(tried_line: VariationDependency) -> dict[str, Any]:
    """Return the legal moves after a variation."""
    moves = legal_moves_json(tried_line.rules, tried_line.position, tried_line.language)
    return {"ply": len(tried_line.moves), **moves}


@pages.get("/games/{game:str}/try/check", weight=3, for_guests=TRIAL)
def check_variation_move(tried_line: VariationDependency, move: MoveText = "") -> Response[Any]:
    """Return the result of a move after a variation."""
    line, plates = tried_line, "live" not in tried_line.query
    found = preview_move(
        line.rules, line.position, move.strip(), line.names, line.language, plates=plates
    )
    return preview_json(found)
