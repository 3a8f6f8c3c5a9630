"""Positions as SVG documents. A painter of the game draws the board; the frame is common.

Nameplates: a plate for each player below the board, and the same as a description.

Figures of players: a small drawing of each player's piece, for a page that shows names beside a board.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from domain.drawing.svg.style import STYLE
from domain.game.painter import (
    WIDTH,
    BoardInput,
    Markup,
    Picture,
    PlayerCaption,
    element,
    escape_text,
    fit_text,
    group,
    number,
    text_line,
    width_of,
)
from domain.game.protocol import AnyRules, GameOutcome, Seat
from domain.rules.registry import game_by_key
from domain.sentences import ENGLISH, Sentence, Sentences, Translation, text_in

_MARGIN: Final = 16
_HEIGHT: Final = 54
_ICON: Final = 28
"""From the left end of a plate to the middle of the icon."""
_WORDS: Final = 54
_NAME, _LONG, _COUNTS, _ENDING = 16, 13, 13, 16
"""The sizes of the fonts, as in the style sheet."""
_TAG: Final = (66, 18)
_ROW: Final = _HEIGHT + 24
_LINE: Final = 26
_PLAYERS_KEPT: Final = 256
"""Positions whose players are kept, at 1 kB or so."""
_encode: Final = msgspec.json.Encoder().encode


SAY: Final = Sentences(
    "drawing",
    {
        # the description
        "turn": "{player} is to move",
        "last": "The last move was {move}",
        # the tags of the plates
        "to-move": "to move",
        "won": "won",
        "draw": "draw",
    },
)


class MatchCaption(msgspec.Struct, frozen=True):
    """The players of a match, the turn and the outcome."""

    title: str
    """The game's title."""
    sides: tuple[str, ...]
    """The sides' names by seat, in the language."""
    names: tuple[str, ...]
    """The players' names by seat; empty if they are not shown."""
    turn: Seat | None
    """The seat to move; None once the match is over."""
    outcome: GameOutcome | None
    language: Translation = ENGLISH

    @property
    def outcome_sentence(self) -> str:
        """The sentence on the outcome; empty while the match goes on."""
        return text_in(self.outcome.text, self.language) if self.outcome else ""

    def name_and_side(self, seat: Seat) -> str:
        """Return a player's name and side."""
        return f"{self.names[seat]} ({self.sides[seat]})" if self.names else self.sides[seat]


# --- in words


def _say(match: MatchCaption, sentence: Sentence) -> str:
    return sentence.in_language(match.language)


def drawing_title(match: MatchCaption) -> str:
    """Return the title of a drawing."""
    if not match.names:
        return match.title
    return f"{match.title}: {', '.join(map(match.name_and_side, range(len(match.names))))}"


def describe_drawing(match: MatchCaption, picture: Picture, last: str) -> str:
    """Return a description of a drawing: turn or outcome, each player's count, the pieces' places."""
    sentences = [match.outcome_sentence] if match.outcome_sentence else []
    if match.turn is not None:
        sentences.append(_say(match, SAY("turn", player=match.name_and_side(match.turn))))
    sentences += [
        f"{match.sides[seat]}: {player.counts}"
        for seat, player in enumerate(picture.players)
        if player.counts
    ]
    if last:
        sentences.append(_say(match, SAY("last", move=last)))
    return " ".join([*(f"{sentence}." for sentence in sentences), *picture.sentences])


# --- as plates


def _state(match: MatchCaption, seat: Seat) -> tuple[str, str] | None:
    """Return a plate's CSS class and the words on its tag, if any; a puzzle has no winner."""
    if seat == match.turn:
        return "turn", _say(match, SAY("to-move"))
    winners = match.outcome.winners if match.outcome else ()
    if seat not in winners or len(match.sides) == 1:
        return None
    tied = len(winners) == len(match.sides)
    return "won", _say(match, SAY("draw") if tied else SAY("won"))


def _tag(text: str, width: float) -> Markup:
    across, down = _TAG
    return group(
        element("rect", class_="tag", x=-across / 2, y=-down / 2, width=across, height=down, rx=9),
        text_line(text, (0, 0), class_="tag-words"),
        at=(width - across / 2 - 12, 0),
    )


def _name(name: str, room: float) -> Markup:
    """Return a name, in a smaller font if it is too wide."""
    at = (_WORDS, _HEIGHT * 0.35)
    if width_of(name, _NAME) <= room:
        return text_line(name, at, class_="name")
    return fit_text(name, at, room, _LONG, class_="name long")


def _plate(
    match: MatchCaption, seat: Seat, player: PlayerCaption, across: float, width: float
) -> Markup:
    state, room = _state(match, seat), width - _WORDS - 10
    side, name = match.sides[seat], match.names[seat] if match.names else match.sides[seat]
    below = " \N{MIDDLE DOT} ".join(filter(None, [side if match.names else "", player.counts]))
    parts = [
        element("rect", class_="plate", width=width, height=_HEIGHT, rx=10),
        group(player.icon, at=(_ICON, _HEIGHT / 2)),
        _name(name, room),
        fit_text(below, (_WORDS, _HEIGHT * 0.7), room, _COUNTS, class_="counts"),
        *([_tag(state[1], width)] if state else []),
    ]
    classes = f"player {state[0]}" if state else "player"
    return group(*parts, class_=classes, data_seat=str(seat), at=(across, 0))


def _plates(match: MatchCaption, picture: Picture, *, turned: bool) -> Iterator[Markup]:
    number = len(picture.players)
    width = (WIDTH - _MARGIN * (number + 1)) / number
    for at, seat in enumerate(reversed(range(number)) if turned else range(number)):
        across = _MARGIN + at * (width + _MARGIN)
        yield _plate(match, seat, picture.players[seat], across, width)


def draw_plates(match: MatchCaption, picture: Picture, *, turned: bool) -> tuple[Markup, float]:
    """Return the plates, the outcome below if there is one, and the height of both."""
    drawn, height = [*_plates(match, picture, turned=turned)], _ROW
    if match.outcome_sentence:
        height += _LINE
        at, room = (WIDTH / 2, _ROW - 6), WIDTH - 2 * _MARGIN
        drawn.append(fit_text(match.outcome_sentence, at, room, _ENDING, class_="ending"))
    return group(*drawn, class_="players", at=(0, picture.height + 10)), height


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
    picture = _paint(rules.key, view)
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


_SIZE = 18
"""An icon lies within so many units of the origin."""


class PlayerFigure(msgspec.Struct, frozen=True):
    """A player's piece, and the count of the player's pieces."""

    icon: str
    """A drawing of its own, which needs `STYLE` on its page."""
    counts: str
    """Such as `14 left to place`; may be empty."""


def player_figures(
    rules: AnyRules, position: msgspec.Struct, language: Translation = ENGLISH
) -> tuple[PlayerFigure, ...]:
    """Return the figures of the players of a position, by seat."""
    view = BoardInput(rules.to_json(position), language=language)
    (players,) = _known_players(rules.key, _encode(view.position), language) or [
        _paint(rules.key, view).players
    ]
    box = f"{-_SIZE} {-_SIZE} {2 * _SIZE} {2 * _SIZE}"
    return tuple(
        PlayerFigure(
            element("svg", one.icon, class_="figure board", viewBox=box, aria_hidden="true"),
            one.counts,
        )
        for one in players
    )


def _paint(key: str, view: BoardInput) -> Picture:
    """Return the picture of a position, and keep its players, whom a page shows beside the board."""
    picture = game_by_key(key).paint(view)
    _known_players(key, _encode(view.position), view.language)[:] = [picture.players]
    return picture


@lru_cache(_PLAYERS_KEPT)
def _known_players(*_: str | bytes | Translation) -> list[tuple[PlayerCaption, ...]]:
    """Return the players of a position, who are the same however it is drawn: a list, empty at first."""
    return []
