"""Boards on pages: their drawings, legal moves, the changes that a move would make, and the small drawings beside them."""

import html
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import ceil
from typing import Any, Final

import msgspec
from markupsafe import Markup

from domain.drawing import draw_svg
from domain.errors import Refusal
from domain.game.painter import LOOKS, stone
from domain.game.svg import element
from domain.match.state import MatchState
from domain.rules import AnyRules, GamePackage, game_by_key
from domain.rules.guide import LegendLine
from domain.sentences import text_in
from domain.translation import ENGLISH, Translation
from infra.languages.wording import capitalised, wording
from services.app.move_text import read_move
from services.http.web.display_settings import BoardTheme, DisplaySettings
from services.http.web.games.guides import guide_of
from services.words.boards import board_svg, what_follows
from services.words.endings import over_by_rules

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
