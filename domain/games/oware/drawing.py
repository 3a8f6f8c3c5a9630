"""Oware as text and in SVG."""

from collections.abc import Iterator
from typing import Final

from domain.boards.pits import paint_pits, pit_figure, pit_places, pit_text
from domain.game.painter import BoardInput, Picture
from domain.game.protocol import TextInput, TextPlace
from domain.games.oware.rules import BOARD
from domain.games.oware.sentences import SAY


def draw(view: TextInput) -> str:
    """Draw a position; there is only one display."""
    return pit_text(BOARD, view.position["board"], view.position["captured"])


def text_places(view: TextInput) -> Iterator[TextPlace]:
    """Return where each house is in the drawing."""
    del view
    return pit_places(BOARD)


def paint(view: BoardInput) -> Picture:
    """Draw a position, and mark the houses that the last move has emptied."""
    seeds, counts = view.position["board"], view.position["captured"]
    emptied = {view.last} & seeds.keys()
    if view.before and emptied and any(seeds.values()):
        was = view.before["board"]
        emptied |= {name for name, some in seeds.items() if was[name] and not some}
    captions = [SAY("captured", seeds=count) for count in counts]
    return paint_pits(BOARD, view, lambda some: SAY("seeds", seeds=some), captions, emptied)


FIGURES: Final = {"south": pit_figure("light", 3), "north": pit_figure("dark", 3)}
