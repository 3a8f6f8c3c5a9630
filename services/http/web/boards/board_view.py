"""Boards on pages: their drawings, legal moves, the changes that a move would make, and the small drawings beside them.

The board themes in pictures that are files: their colours are those of the pages' style sheet.

A browser draws such a picture in the light or dark colours of the page that shows it.

The guides of games as pages show them: texts in a language, and pictures.
"""

import html
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from math import ceil
from typing import Any, Final
from urllib.parse import urlencode

import msgspec
from markupsafe import Markup

from domain.drawing import draw_svg, illustrate
from domain.errors import Code, Refusal
from domain.fairness import DrawStream
from domain.game.painter import LOOKS, WIDTH, element, stone
from domain.game.protocol import GamePart, game_text
from domain.match.state import MatchState
from domain.rules import AnyRules, GamePackage, game_by_key, latest_rules, rules_id
from domain.rules.guide import (
    GameGuide,
    GuidePicture,
    LegendLine,
    next_places,
    reach_position,
)
from domain.sentences import ENGLISH, Translation, text_in
from infra.languages.wording import Wording, capitalised, wording
from services.app.context import App
from services.app.games import guide_of
from services.app.move_text import read_move
from services.app.sentences import SAY
from services.http.web.challenges.match_draft import offered_games, suggested_game
from services.http.web.session import USUAL, BoardTheme, DisplaySettings, Visitor
from services.words.endings import board_svg, over_by_rules, what_follows

_THEME: Final = re.compile(r'\[data-board="(\w+)"\] \.board:not\(\.sample\)[^{]*\{([^}]*)\}')
_THEME_STYLE: Final = (
    "<style>:root{{color-scheme:light dark}}"
    ".board{{{} --board-accent:var(--accent);--board-last:var(--last)}}</style>"
)


def _read_themes() -> dict[str, str]:
    """Return the colours of each board theme but the usual one, from the style sheet of the pages."""
    sheet = files("services.http.web").joinpath("static", "styles", "board.css").read_text("utf-8")
    return dict(_THEME.findall(sheet))


_THEMES: Final = _read_themes()


def with_board_theme(svg: str, theme: BoardTheme) -> str:
    """Return a standalone drawing in the colours of a board theme."""
    if theme not in _THEMES:
        return svg
    return svg.replace("</style>", f"</style>{_THEME_STYLE.format(_THEMES[theme])}", 1)


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


@lru_cache(maxsize=_MOST_PICTURES)
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


def welcome_game(app: App) -> AnyRules:
    """Return the game that visitors try on the first page."""
    found = (one for one in offered_games(app) if (guide := guide_of(one.key)) and guide.welcome)
    return next(found, suggested_game(app))


MAX_MOVES: Final = 5_000
"""Legal moves that a page gets; others can still be typed."""

_PLACE: Final = re.compile(r'data-place="([^"]*)"[^>]*><title>[^<]*?(?:: ([^<]*))?</title>')
"""A place, as docs/adding-a-game.md promises it: its name, and a title that describes its contents."""
_LOOKS: Final = re.compile(r'data-looks="([^"]*)"')
"""The looks of the players' pieces by seat, as docs/adding-a-game.md promises them."""
_BOX: Final = re.compile(r'viewBox="([^"]*)"')
_LOWEST, _TALLEST = 40, 160
"""The least and the greatest of `BoardView.tall`, as in match.css."""


_CLASSED: Final = re.compile(
    r'(?P<class>class="place[^"]*)(?P<rest>"[^>]*? data-place="(?P<name>[^"]*)"[^>]*>)'
)
"""The beginning of a place, with its class and its name."""
_RING: Final = 0.18
"""The radius of a ring around a piece, in units of a drawing for each percent of a game's rings."""


_APART: Final = 34
"""The distance between figures that stand together."""
_STONE: Final = 12.5
_SAMPLE: Final = (
    '<rect class="paper" width="96" height="64"/><path class="line" d="M0 8L44 32L96 6M44 32V64M44 32L96 52"/>'
    '<path class="line edge" d="M0 32H96"/>'
    '<g transform="translate(44 32)">{light}</g><g transform="translate(76 32)">{dark}</g>'
)


class PlaceChange(msgspec.Struct, frozen=True):
    """A change that a move would make to a place."""

    place: str
    was: str
    """The contents before the move, in words; empty for nothing."""
    now: str

    @property
    def kind(self) -> str:
        """How it changes, as a class of the style sheet: `comes`, `changes` or `goes`."""
        if not self.was:
            return "comes"
        return "changes" if self.now else "goes"


class BoardView(msgspec.Struct, frozen=True):
    """A board as a page shows it."""

    svg: Markup
    moves: str
    """Address of the legal moves; empty if the visitor can't choose any."""
    check: str
    """Address that previews a move."""
    ply: int
    turn: str
    """The player to move, such as `Light`."""
    game: GamePackage

    @property
    def tall(self) -> int:
        """The height as percents of the width, rounded up to a step for which there is a style."""
        _, _, width, height = map(float, _BOX.findall(self.svg)[0].split())
        return min(_TALLEST, max(_LOWEST, 5 * ceil(20 * height / width)))

    @property
    def looks(self) -> tuple[int, ...]:
        """The look of each seat's pieces, as an index of `LOOKS`.

        It is read from the drawing, because players can exchange pieces, and in some games Dark begins.
        """
        found = _LOOKS.search(self.svg)
        return tuple(LOOKS.index(look) for look in found[1].split()) if found else ()

    @property
    def legend(self) -> tuple[LegendLine, ...]:
        """The meaning of the drawings on the board, without lines about places that it does not have."""
        guide = guide_of(self.game.key)
        lines = guide.legend if guide else ()
        return tuple(
            line for line in lines if not line.when or f'class="place {line.when}' in self.svg
        )


def is_turned(display: DisplaySettings, seat: int | None) -> bool:
    """Return whether a visitor who has a seat, or none, sees the board from the second seat."""
    return display.below == "mine" and seat == 1


def draw_match(
    state: MatchState,
    ply: int,
    names: Sequence[str],
    *,
    plates: bool = True,
    turned: bool = False,
    language: Translation = ENGLISH,
) -> Markup:
    """Return a match as it stood after so many moves, drawn for a page."""
    return _safe(
        board_svg(
            state,
            ply,
            names,
            standalone=False,
            plates=plates,
            turned=turned,
            language=language,
        )
    )


def draw_position(  # noqa: PLR0913 - all but the first three may be left out
    rules: AnyRules,
    position: Any,
    names: Sequence[str],
    *,
    last: str = "",
    before: Any = None,
    plates: bool = True,
    turned: bool = False,
    language: Translation = ENGLISH,
) -> Markup:
    """Return a position drawn for a page."""
    svg = draw_svg(
        rules,
        position,
        names,
        last=last,
        before=before,
        standalone=False,
        plates=plates,
        turned=turned,
        language=language,
    )
    return _safe(svg)


def _safe(svg: str) -> Markup:
    """Mark a drawing as safe for a page, because the drawing has escaped all user text."""
    return Markup(svg)  # noqa: S704 - our own markup, with every text in it escaped


def legal_moves_json(rules: AnyRules, position: Any, language: Translation) -> dict[str, Any]:
    """Return the legal moves, for the page's script to choose from, and in which words it asks for one."""
    if rules.outcome(position) is not None:
        return {"moves": [], "more": False}
    moves, more = rules.first_moves(position, MAX_MOVES)
    choice = game_by_key(rules.key).choice(position, rules.side_names)
    words = (
        {word: text_in(one.label, language) for word, one in choice.words.items()} if choice else {}
    )
    return {
        "moves": moves,
        "more": more,
        "prompt": text_in(choice.prompt, language) if choice else "",
        "words": words,
    }


class MovePreview(msgspec.Struct, frozen=True):
    """The result of a move that is previewed, or why it can't be played."""

    legal: bool
    move: str
    """Canonical if it is legal, otherwise as it was written."""
    said: str
    """A sentence on the turn after it, or the reason why it is not legal."""
    label: str = ""
    """The words of the button, for a move that the game calls by other words."""
    svg: str = ""
    changes: tuple[PlaceChange, ...] = ()


def preview_move(
    rules: AnyRules,
    position: Any,
    text: str,
    names: Sequence[str],
    language: Translation = ENGLISH,
    *,
    plates: bool = True,
    turned: bool = False,
) -> MovePreview:
    """Return the result of a move; nothing is played. All words are in the visitor's language."""
    outcome = rules.outcome(position)
    if outcome is not None:
        said = over_by_rules(outcome, wording(language.code))
        return MovePreview(legal=False, move=text, said=said)
    try:
        move = rules.check(position, read_move(rules, text))
    except Refusal as reason:
        return MovePreview(legal=False, move=text, said=reason.in_language(language))
    after, written = rules.play(position, move), rules.write(move)
    then = what_follows(rules, after, names, language)
    svg = draw_position(
        rules,
        after,
        names,
        last=written,
        before=position,
        plates=plates,
        turned=turned,
        language=language,
    )
    choice = game_by_key(rules.key).choice(position, names or rules.side_names)
    if choice and (word := choice.words.get(written)):
        label, follows = text_in(word.label, language), text_in(word.follows, language)
        return MovePreview(legal=True, move=written, said=follows, label=label, svg=svg)
    was = contents_of_places(draw_position(rules, position, names, plates=False, language=language))
    return MovePreview(
        legal=True,
        move=written,
        said=f"{capitalised(then)}." if then else "",
        svg=svg,
        changes=tuple(_changes(was, contents_of_places(svg))),
    )


def contents_of_places(svg: str) -> dict[str, str]:
    """Return the contents of each place of a drawing, in words; empty for nothing."""
    return {html.unescape(name): html.unescape(what) for name, what in _PLACE.findall(svg)}


def mark_places(svg: Markup, places: Collection[str], percent: int) -> Markup:
    """Return a drawing in which some places have the class `differs`.

    Each has a ring of so many percent of the usual size; with 0 the areas of the places are the marks.
    """
    ring = f'<circle class="differs-ring" r="{percent * _RING:g}"/>' if percent else ""

    def marked(found: re.Match[str]) -> str:
        if html.unescape(found["name"]) not in places:
            return found[0]
        kind = "" if ring else " whole"
        return f"{found['class']} differs{kind}{found['rest']}{ring}"

    return _safe(_CLASSED.sub(marked, svg))


def _changes(was: Mapping[str, str], now: Mapping[str, str]) -> Iterator[PlaceChange]:
    for place in dict.fromkeys((*was, *now)):
        before, after = was.get(place, ""), now.get(place, "")
        if before != after:
            yield PlaceChange(place, before, after)


def draw_figures(game: GamePackage, *names: str) -> Markup:
    """Return figures of a game side by side as one drawing, for a page that describes them."""
    width = 40 + _APART * (len(names) - 1)
    drawn = "".join(_at(_APART * at, game.figures[name]) for at, name in enumerate(names))
    return _drawing(f"-20 -20 {width} 40", drawn, "figure")


@cache
def board_sample(theme: BoardTheme) -> Markup:
    """Return a piece of a board in a theme, whatever the page's own is."""
    light, dark = (element("g", *stone(look, _STONE), class_=f"piece {look}") for look in LOOKS[:2])
    drawn = _SAMPLE.format(light=light, dark=dark)
    return _drawing("0 0 96 64", drawn, f"sample {theme}")


def _at(across: int, drawn: str) -> str:
    return f'<g transform="translate({across} 0)">{drawn}</g>' if across else drawn


def _drawing(box: str, drawn: str, kind: str) -> Markup:
    svg = f'<svg class="board {kind}" viewBox="{box}" aria-hidden="true">{drawn}</svg>'
    return Markup(svg)  # noqa: S704 - our own markup, without any text of users
