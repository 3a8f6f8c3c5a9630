"""Tiles of Halves as text: hexagons side by side, blank, dotted or dashed by colour."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from domain.game.text import TextInput, TextPlace
from domain.games.halves.position import SIDES

Tile = tuple[int, int, int | None, int | None]
"""q, r, colour and number; a cell without a colour is drawn as its number only."""

COLOURS: Final = ("blank", "dots", "dashes")
_OUTLINE: Final = ("  _____  ", " /     \\ ", "/       \\", "\\       /", " \\_____/ ")
_INSIDE: Final = (
    ("     ", "       ", "       "),
    (" . . ", " . . . ", "  . .  "),
    (" _ _ ", " _ _ _ ", "  _ _  "),
)
"""For each colour the lines 1 to 3 of a tile, between its edges."""
_WIDTH: Final = 7
_COLUMN, _LINE = 7, 2  # from a tile to the next one to the right, which lies half a tile lower


def _tile_lines(colour: int | None, number: int | None) -> list[str]:
    """Return the five lines of a tile; blanks are transparent."""
    if colour is None:
        return ["", "", f" {_centred_number(number)}"]
    lines = list(_OUTLINE)
    for line, inside in enumerate(_INSIDE[colour], 1):
        edge = (9 - len(inside)) // 2
        text = _centred_number(number) if number and line == 2 else inside  # noqa: PLR2004 - the middle
        lines[line] = lines[line][:edge] + text + lines[line][9 - edge :]
    return lines


def _centred_number(number: int | None) -> str:
    return f"{number or '':^{_WIDTH}}"


def draw_tiles(tiles: Iterable[Tile], frame: Iterable[tuple[int, int]]) -> str:
    """Draw tiles in a frame around the cells of `frame`."""
    cells = list(frame)
    left, top = min(q for q, _ in cells), min(2 * r + q for q, r in cells)
    page: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for q, r, colour, number in tiles:
        for down, text in enumerate(_tile_lines(colour, number), _LINE * (2 * r + q - top)):
            letters = enumerate(text, _COLUMN * (q - left))
            page[down] |= {across: letter for across, letter in letters if letter != " "}
    lines = [page[down] for down in range(max(page) + 1)]
    return "\n".join(
        "".join(line.get(across, " ") for across in range(max(line, default=-1) + 1))
        for line in lines
    )


def _tile_counts(position: Mapping[str, Any]) -> str:
    """Return a line with each player's number of tiles and colour."""
    colours = [colour for _, _, colour, _ in position["tiles"]]
    counts = []
    for seat, colour in enumerate(position["colours"]):
        out = ", out" if seat in position.get("out", ()) else ""
        counts.append(f"{SIDES[seat]} {colours.count(colour)} ({COLOURS[colour]}{out})")
    return f"Tiles: {'  '.join(counts)}"


def draw(view: TextInput) -> str:
    """Draw a position below a line that counts the tiles of each player.

    The display `numbered` shows the numbers of tiles, or of free cells; `plain` shows none.
    """
    tiles, frame = _tiles_and_frame(view)
    return f"{_tile_counts(view.position)}\n\n{draw_tiles(tiles, frame)}"


def _tiles_and_frame(view: TextInput) -> tuple[list[Tile], list[tuple[int, int]]]:
    """Return the tiles as they are drawn, and the cells that the drawing has room for."""
    position = view.position
    tiles: list[Tile] = [tuple(tile) for tile in position["tiles"]]
    if view.display == "plain":
        tiles = [(q, r, colour, None) for q, r, colour, _ in tiles]
    else:
        tiles += [(q, r, None, number) for q, r, number in position.get("cells", ())]
    return tiles, [(q, r) for q, r, *_ in (*tiles, *position.get("gone", ()))]


def places(view: TextInput) -> Iterator[TextPlace]:
    """Return where each numbered tile is in the drawing, and each free cell with a number."""
    numbered, frame = _tiles_and_frame(msgspec.structs.replace(view, display="numbered"))
    if view.display == "plain":
        frame = _tiles_and_frame(view)[1]
    left, top = min(q for q, _ in frame), min(2 * r + q for q, r in frame)
    for q, r, colour, number in numbered:
        if number and (colour is not None or view.display == "numbered"):
            line, column = _LINE * (2 * r + q - top), _COLUMN * (q - left)
            height = 1 if colour is None else 2
            yield TextPlace(str(number), line + 4, column + 1, _WIDTH, height)
