"""The guides of games as pages show them: texts in a language, and pictures."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Final
from urllib.parse import urlencode

import msgspec

from domain.drawing import draw_svg, illustrate
from domain.errors import Code, Refusal
from domain.fairness import DrawStream
from domain.game.package import GamePart, game_text
from domain.game.painter import WIDTH
from domain.rules import AnyRules, game_by_key, latest_rules, rules_id
from domain.rules.guide import (
    GameGuide,
    GuidePicture,
    next_places,
    reach_position,
    read_guide,
)
from infra.languages.wording import Wording
from services.app.sentences import SAY
from services.http.web.boards.theme import with_board_theme
from services.http.web.challenges.new_match_form import showcase_games
from services.http.web.display_settings import USUAL, BoardTheme
from services.http.web.session import Visitor

GUIDE_FILE: Final = "guide.toml"
CARD: Final = "card"
"""The name of the picture that stands for a game; each game has one."""
_HEIGHT: Final = re.compile(r'viewBox="0 0 [\d.]+ ([\d.]+)"')
_LONGEST_SHOWN: Final = 60
"""Characters of the moves of a picture that its description has; of more it has the number."""
_MOST_PICTURES: Final = 256
_VERSION_LENGTH: Final = 12


class DrawnPicture(msgspec.Struct, frozen=True):
    """A picture as a file."""

    svg: str
    height: int
    """For a width of `WIDTH`."""
    version: str
    """Changes with the picture, so browsers may keep an address with it for good."""


def guide_of(key: str) -> GameGuide | None:
    """Return the guide of a game; None if its package has none."""
    return _read_guide(game_by_key(key).package)


@cache
def _read_guide(package: str) -> GameGuide | None:
    found = files(package).joinpath(GUIDE_FILE)
    return read_guide(found.read_text("utf-8")) if found.is_file() else None


@lru_cache(maxsize=_MOST_PICTURES)
def draw_guide_picture(key: str, name: str, theme: BoardTheme = USUAL.board) -> DrawnPicture:
    """Draw a picture of a game's guide, or its card; `not-found` if there is none of this name."""
    rules, guide = latest_rules(key), guide_of(key)
    picture = guide.picture(guide.card if name == CARD else name) if guide else None
    if picture is not None:
        # a card shows the game, and not a move
        svg = _draw(rules, picture, shows_last=picture.shows_last and name != CARD)
    elif guide is None and name == CARD:
        svg = _draw_start(rules)
    else:
        raise Refusal(Code.NOT_FOUND, SAY("no-picture"))
    svg = with_board_theme(svg, theme)
    found = _HEIGHT.search(svg)
    height = round(float(found[1])) if found else WIDTH
    return DrawnPicture(svg, height, sha256(svg.encode()).hexdigest()[:_VERSION_LENGTH])


def _draw(rules: AnyRules, picture: GuidePicture, *, shows_last: bool) -> str:
    position, before, last = reach_position(rules, picture)
    shows_targets = picture.chosen or picture.choices
    return illustrate(
        rules,
        position,
        last=last if shows_last else "",
        before=before,
        chosen=picture.chosen,
        targets=next_places(rules, position, picture.chosen) if shows_targets else (),
    )


def _draw_start(rules: AnyRules) -> str:
    options, players = rules.read_options(()), rules.players[0]
    chance = DrawStream(sha256(b"example").digest(), rules_id(rules))
    position = rules.start(options, players, rules.draw(options, players, chance))
    return draw_svg(rules, position, (), plates=False)


def picture_url(key: str, name: str = CARD, theme: BoardTheme = USUAL.board) -> str:
    """Return the address of a picture of a game."""
    query = {"v": draw_guide_picture(key, name, theme).version}
    query |= {} if theme == USUAL.board else {"board": theme}
    return f"/games/{key}/pictures/{name}.svg?{urlencode(query)}"


def game_picture(key: str, theme: BoardTheme) -> str:
    """Return the address of the picture that stands for a game."""
    return picture_url(key, CARD, theme)


class GuideFigure(msgspec.Struct, frozen=True):
    """A picture of a guide as a page shows it."""

    url: str
    width: int
    height: int
    alt: str
    caption: str


def guide_figures(key: str, guide: GameGuide, visitor: Visitor) -> list[GuideFigure]:
    """Return the pictures of a guide, in the visitor's language and theme."""
    words, theme = visitor.wording, visitor.display.board
    return [
        GuideFigure(
            url=picture_url(key, picture.name, theme),
            width=WIDTH,
            height=draw_guide_picture(key, picture.name).height,
            alt=_alternative(picture, words),
            caption=game_text(key, GamePart.GUIDE, picture.caption, words),
        )
        for picture in guide.pictures
    ]


def _alternative(picture: GuidePicture, words: Wording) -> str:
    count = len(picture.moves.split())
    if not count:
        return words.gettext("The board at the start")
    if len(picture.moves) <= _LONGEST_SHOWN:
        return words.gettext("The board after %(moves)s", moves=picture.moves)
    return words.ngettext(
        "The board after %(count)s move", "The board after %(count)s moves", count
    )


class GameCard(msgspec.Struct, frozen=True):
    """A game in a list of games."""

    key: str
    title: str
    about: str
    """One sentence; empty for a game without a guide."""
    players: tuple[int, ...]
    moves: int
    """About how many moves a match has; 0 if that is not known."""
    picture: str
    """The address of its picture."""
    going_on: int = 0
    """How many matches are in progress."""


def game_card(rules: AnyRules, visitor: Visitor, going_on: int = 0) -> GameCard:
    """Return the card of a game, in the visitor's language and theme."""
    guide = guide_of(rules.key)
    about, moves = (guide.about, guide.moves) if guide else ("", 0)
    about = game_text(rules.key, GamePart.GUIDE, about, visitor.wording)
    picture = game_picture(rules.key, visitor.display.board)
    return GameCard(rules.key, rules.title, about, rules.players, moves, picture, going_on)


def game_cards(found: Sequence[AnyRules], visitor: Visitor) -> list[GameCard]:
    """Return the cards of games."""
    return [game_card(rules, visitor) for rules in found]


def welcome_game() -> AnyRules:
    """Return the game that visitors try on the first page."""
    found = [rules for rules in showcase_games() if (one := guide_of(rules.key)) and one.welcome]
    return (found or showcase_games())[0]
