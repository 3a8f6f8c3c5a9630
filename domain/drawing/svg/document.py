"""Positions as SVG documents. A painter of the game draws the board; the frame is common."""

from collections.abc import Sequence

import msgspec

from domain.drawing.svg.nameplates import MatchCaption, describe_drawing, draw_plates, drawing_title
from domain.drawing.svg.style import STYLE
from domain.game.painter import WIDTH, BoardInput, Picture
from domain.game.protocol import AnyRules, GameOutcome, Seat
from domain.game.svg import Markup, element, escape_text, number
from domain.rules.registry import game_by_key
from domain.sentences import text_in
from domain.translation import ENGLISH, Translation


def draw_svg(  # noqa: PLR0913 - all but the first three may be left out
    rules: AnyRules,
    position: msgspec.Struct,
    names: Sequence[str],
    *,
    last: str = "",
    before: msgspec.Struct | None = None,
    ended: GameOutcome | None = None,
    standalone: bool = True,
    plates: bool = True,
    turned: bool = False,
    language: Translation = ENGLISH,
) -> str:
    """Draw a position as an SVG document; the same arguments give the same text.

    `names` are the players' names by seat; may be empty. `last` is the canonical text of the last
    move, whose places are marked; some games need the position `before` it to find all of them.
    `ended` is the outcome of a match that ended other than by its rules. A `standalone` drawing
    contains its style; any other goes into a page with `STYLE`. Without `plates` there is only the
    board. A `turned` one has the side of the second seat below, and that player's plate first. Its
    words are in a `language`.
    """
    earlier = None if before is None else rules.to_json(before)
    view = BoardInput(rules.to_json(position), last, earlier, turned, language)
    picture = game_by_key(rules.key).paint(view)
    match = _caption(rules, position, names, len(picture.players), ended, language)
    says = (
        element("title", escape_text(drawing_title(match))),
        element("desc", escape_text(describe_drawing(match, picture, last))),
        *([element("style", Markup(STYLE))] if standalone else []),
    )
    below = draw_plates(match, picture, turned=turned) if plates else (Markup(""), 0.0)
    return _document(rules.key, says, picture, below, match.turn, standalone=standalone)


def _caption(
    rules: AnyRules,
    position: msgspec.Struct,
    names: Sequence[str],
    players: int,
    ended: GameOutcome | None,
    language: Translation,
) -> MatchCaption:
    if names and len(names) != players:
        raise ValueError(f"{len(names)} names are given for {players} seats")
    outcome = rules.outcome(position) or ended
    turn = None if outcome else rules.to_move(position)
    sides = tuple(text_in(rules.sides[seat], language) for seat in range(players))
    return MatchCaption(rules.title, sides, tuple(names), turn, outcome, language)


def _document(
    key: str,
    says: Sequence[Markup],
    picture: Picture,
    below: tuple[Markup, float],
    turn: Seat | None,
    *,
    standalone: bool,
) -> str:
    height = picture.height + below[1]
    return element(
        "svg",
        *says,
        element("rect", class_="paper", width=WIDTH, height=height, rx=14),
        *picture.body,
        below[0],
        xmlns="http://www.w3.org/2000/svg" if standalone else None,
        class_="board",
        viewBox=f"0 0 {WIDTH} {number(height)}",
        role="img" if standalone else "group",
        data_game=key,
        data_looks=" ".join(player.look for player in picture.players),
        data_turn=None if turn is None else str(turn),
    )
