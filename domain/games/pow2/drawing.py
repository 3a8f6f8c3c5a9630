"""The Power of Two as text and in SVG: fresh pieces are smooth, aged ones have a notch, a crack and a groove."""

from math import cos, radians, sin
from typing import Final

from domain.boards.pieces import PieceKind, figures_of, player_captions
from domain.boards.pow2_board import board_below, board_picture
from domain.game.painter import BoardInput, Markup, Picture, element, number, shade, stone
from domain.game.protocol import TextInput
from domain.games.pow2.sentences import SAY


def draw(view: TextInput) -> str:
    """Draw a position below a line that counts the pieces left to place."""
    light, dark = view.position["supply"]
    return board_below(f"Remaining Pieces: Light {light} Dark {dark}", view)


_SIZE: Final = 12.5
_NOTCH: Final = (-66, -24)
"""The angles between which the rim of an aged piece is broken."""
_DEPTH: Final = 0.5
_GROOVE: Final = 0.62
_CRACK: Final = ((0.35, -0.35), (0.02, -0.12), (0.12, 0.12), (-0.3, 0.26), (-0.2, 0.5))


def _on_rim(angle: float, part: float = 1.0) -> str:
    x, y = (_SIZE * part * along(radians(angle)) for along in (cos, sin))
    return f"{number(x)} {number(y)}"


def _broken_rim() -> str:
    """Return the outline of a disc out of which a notch is broken."""
    begin, end = _NOTCH
    tip = _on_rim((begin + end) / 2, _DEPTH)
    return f"M{_on_rim(end)}A{_SIZE} {_SIZE} 0 1 1 {_on_rim(begin)}L{tip}Z"


def _groove() -> str:
    size, (begin, end) = number(_SIZE * _GROOVE), _NOTCH
    ends = _on_rim(end + 20, _GROOVE), _on_rim(begin - 20, _GROOVE)
    return f"M{ends[0]}A{size} {size} 0 1 1 {ends[1]}"


def _crack() -> str:
    return "M" + " ".join(f"{number(_SIZE * x)} {number(_SIZE * y)}" for x, y in _CRACK)


_AGED: Final[tuple[Markup, ...]] = (
    shade(_SIZE),
    element("path", class_="body", d=_broken_rim()),
    element("path", class_="groove", d=_groove()),
    element("path", class_="crack", d=_crack()),
)


def _fresh(look: str, seat: int) -> PieceKind:
    return PieceKind(f"{look} fresh", seat, SAY("fresh", seat=seat), stone(look, _SIZE))


def _aged(look: str, seat: int) -> PieceKind:
    return PieceKind(f"{look} aged", seat, SAY("aged", seat=seat), _AGED)


KINDS: Final = {
    "O": _fresh("light", 0),
    "o": _aged("light", 0),
    "X": _fresh("dark", 1),
    "x": _aged("dark", 1),
}


def paint(view: BoardInput) -> Picture:
    """Draw a position."""
    counts = [SAY("left", left=left) for left in view.position["supply"]]
    return board_picture(view, KINDS, player_captions(view, KINDS, "OX", counts))


FIGURES: Final = figures_of(KINDS, {"fresh": "O", "dark fresh": "X", "aged": "o", "dark aged": "x"})
