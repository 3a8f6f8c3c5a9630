"""Tic-tac-toe as text and in SVG."""

from typing import Final

from domain.game.painter import (
    LOOKS,
    WIDTH,
    BoardInput,
    Picture,
    PlayerCaption,
    Point,
    body,
    element,
    icon,
    piece,
    place,
    place_sentences,
    ring,
)
from domain.game.protocol import TextInput
from matchpost_tictactoe.rules import SIDES, SQUARES

_CELL: Final = WIDTH / 3
_SEATS: Final = {"x": 0, "o": 1}


def draw(view: TextInput) -> str:
    """Draw a position; there is one display only."""
    board = view.position["board"]
    rows = [" ".join(board.get(f"{column}{row}", ".") for column in "abc") for row in "321"]
    return "\n".join([*(f"{3 - at} {row}" for at, row in enumerate(rows)), "  a b c"])


def _centre_of(name: str) -> Point:
    return _CELL * ("abc".index(name[0]) + 0.5), _CELL * ("321".index(name[1]) + 0.5)


def paint(view: BoardInput) -> Picture:
    """Draw a position: X as discs, O as squares."""
    board, drawn = view.position["board"], []
    for name in SQUARES:
        hit = element("rect", class_="hit", x=-_CELL / 2, y=-_CELL / 2, width=_CELL, height=_CELL)
        frame = element(
            "rect", class_="line", x=-_CELL / 2, y=-_CELL / 2, width=_CELL, height=_CELL
        )
        inside, last = [hit, frame], name == view.last
        if name in board:
            seat = _SEATS[board[name]]
            inside.append(piece(f"{LOOKS[seat]} stone", seat, body(LOOKS[seat], _CELL / 4)))
        if last:
            inside.append(ring(_CELL / 3, gone=False))
        title = f"{name}: {SIDES[_SEATS[board[name]]]}" if name in board else name
        drawn.append(place(name, _centre_of(name), title, *inside, last=last))
    players = tuple(PlayerCaption(icon(f"{look} stone", body(look, 13)), "") for look in LOOKS[:2])
    where = {
        side: [name for name, mark in board.items() if _SEATS[mark] == seat]
        for seat, side in enumerate(SIDES)
    }
    return Picture(tuple(drawn), WIDTH, players, place_sentences(where))
