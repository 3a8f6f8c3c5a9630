"""Halves as text and in SVG: flat-topped hexagons with numbers, plain, dotted or dashed by colour."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from math import sqrt
from typing import Any, Final

import msgspec

from domain.boards.pieces import PLACES_KEPT
from domain.game.painter import (
    LOOKS,
    WIDTH,
    BoardInput,
    Markup,
    Picture,
    PlayerCaption,
    Point,
    element,
    escape_text,
    group,
    icon,
    number,
    outline,
    piece,
    place_sentences,
    text_line,
)
from domain.game.protocol import TextInput, TextPlace
from domain.games.halves.sentences import SAY, SIDES
from domain.sentences import Sentence

# --- text

Tile = tuple[int, int, int | None, int | None]
"""q, r, colour and number; a cell without a colour is drawn as its number only."""
_COLOURS_IN_TEXT: Final = ("blank", "dots", "dashes")
_OUTLINE: Final = ("  _____  ", " /     \\ ", "/       \\", "\\       /", " \\_____/ ")
_INSIDE: Final = (
    ("     ", "       ", "       "),
    (" . . ", " . . . ", "  . .  "),
    (" _ _ ", " _ _ _ ", "  _ _  "),
)
"""For each colour the lines 1 to 3 of a tile, between its edges."""
_INNER_WIDTH: Final = 7
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
    return f"{number or '':^{_INNER_WIDTH}}"


def draw_tiles(tiles: Iterable[Tile], frame: Iterable[tuple[int, int]]) -> str:
    """Draw tiles in a frame around the cells of `frame`."""
    cells = list(frame)
    left, top = min(q for q, _ in cells), min(2 * r + q for q, r in cells)
    page: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for q, r, colour, name in tiles:
        for down, text in enumerate(_tile_lines(colour, name), _LINE * (2 * r + q - top)):
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
        counts.append(f"{SIDES[seat]} {colours.count(colour)} ({_COLOURS_IN_TEXT[colour]}{out})")
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


def text_places(view: TextInput) -> Iterator[TextPlace]:
    """Return where each numbered tile is in the drawing, and each free cell with a number."""
    numbered, frame = _tiles_and_frame(msgspec.structs.replace(view, display="numbered"))
    if view.display == "plain":
        frame = _tiles_and_frame(view)[1]
    left, top = min(q for q, _ in frame), min(2 * r + q for q, r in frame)
    for q, r, colour, name in numbered:
        if name and (colour is not None or view.display == "numbered"):
            line, column = _LINE * (2 * r + q - top), _COLUMN * (q - left)
            height = 1 if colour is None else 2
            yield TextPlace(str(name), line + 4, column + 1, _INNER_WIDTH, height)


# --- SVG

COLOURS: Final = ("blank", "dotted", "dashed")
Cell = tuple[int, int]
"""q and r."""
_SIDE: Final = 34
"""The side of a hexagon, before scaling."""
_HALF: Final = _SIDE * sqrt(3) / 2
_MARGIN: Final = 18


def _hexagon(side: float) -> str:
    half = side * sqrt(3) / 2
    return outline(
        [(side, 0), (side / 2, half), (-side / 2, half), (-side, 0), (-side / 2, -half),
         (side / 2, -half)]
    )  # fmt: skip


_HIT, _TILE, _MOTIF, _GHOST, _MARK = (_hexagon(_SIDE - gap) for gap in (0, 1.5, 8, 5, 3.5))


def _lit_edges() -> str:
    """Return the strip along the three upper edges of a tile, on which the light falls."""
    half = sqrt(3) / 2
    shape = [(-1.0, 0.0), (-0.5, -half), (0.5, -half), (1.0, 0.0)]
    outer, inner = ([(side * x, side * y) for x, y in shape] for side in (_SIDE - 2, _SIDE - 6))
    return outline([*outer, *reversed(inner)])


_LIT: Final = _lit_edges()
_CROSS: Final = "M-9 -9L9 9M9 -9L-9 9"


def _centre_of(cell: Cell) -> Point:
    q, r = cell
    return 1.5 * _SIDE * q, _HALF * (2 * r + q)


class _HexFrame(msgspec.Struct, frozen=True):
    """The position and scale of the cells in the picture."""

    corner: Point
    """The upper left corner of all hexagons, in their units."""
    size: Point
    scale: float

    def transform(self) -> str:
        """Return the transform that centres the hexagons and shrinks them if necessary."""
        across = (WIDTH - self.size[0] * self.scale) / 2 - self.corner[0] * self.scale
        down = _MARGIN - self.corner[1] * self.scale
        scale = f" scale({self.scale:.4g})" if self.scale != 1 else ""
        return f"translate({number(across)} {number(down)}){scale}"

    @property
    def height(self) -> float:
        """The height of the hexagons in the picture, with margins."""
        return self.size[1] * self.scale + 2 * _MARGIN


def _frame(cells: Iterable[Cell]) -> _HexFrame:
    xs, ys = zip(*map(_centre_of, cells), strict=True)
    left, top = min(xs) - _SIDE, min(ys) - _HALF
    size = max(xs) + _SIDE - left, max(ys) + _HALF - top
    return _HexFrame((left, top), size, min(1, (WIDTH - 2 * _MARGIN) / size[0]))


# --- tiles and cells


@cache
def _shapes(colour: int) -> tuple[Markup, ...]:
    return (
        element("path", class_="shade", d=_TILE, transform="translate(1 3)"),
        element("path", class_="body", d=_TILE),
        element("path", class_="shine", d=_LIT),
        *([element("path", class_="motif", d=_MOTIF)] if colour else []),
    )


@lru_cache(PLACES_KEPT)
def _tile(colour: int, seat: int, *inside: Markup) -> Markup:
    return piece(f"{LOOKS[colour]} {COLOURS[colour]}", seat, *_shapes(colour), *inside)


def _cell(cell: Cell, name: int | None, kind: str, title: str, *inside: Markup) -> Markup:
    """Return a cell of the picture; `name` is its number in moves, if it has one."""
    return group(
        element("title", escape_text(title)),
        *([] if name is None else [element("path", class_="hit", d=_HIT)]),
        *inside,
        class_=kind,
        data_place=None if name is None else str(name),
        data_cell="{},{}".format(*cell),
        at=_centre_of(cell),
    )


def _number_label(name: int | None) -> tuple[Markup, ...]:
    return () if name is None else (text_line(str(name), (0, 0), class_="number"),)


def _mark(*, gone: bool) -> Markup:
    return element("path", class_="ring gone" if gone else "ring", d=_GHOST if gone else _MARK)


def _tiles(view: BoardInput, new: Cell | None) -> Iterator[Markup]:
    colours = view.position["colours"]
    for q, r, colour, name in view.position["tiles"]:
        seat, last = colours.index(colour), (q, r) == new
        kind = " ".join(["cell" if name is None else "place", *(["last"] if last else [])])
        tile = SAY("tile-of", owner=seat).in_language(view.language)
        title = tile if name is None else f"{name}: {tile}"
        mark = [_mark(gone=False)] if last else []
        drawn = _tile(colour, seat, *_number_label(name))
        yield _cell((q, r), name, kind, title, drawn, *mark)


def _free_cells(view: BoardInput) -> Iterator[Markup]:
    """Yield the cells on which a tile can be placed."""
    for q, r, name in view.position.get("cells", ()):
        ghost = element("path", class_="vacant", d=_GHOST)
        title = SAY("free", cell=name).in_language(view.language)
        yield _cell((q, r), name, "place free", title, ghost, *_number_label(name))


def _gone_cells(view: BoardInput, fallen: set[int]) -> Iterator[Markup]:
    """Yield the cells of tiles that are gone; `fallen` are those of the last move.

    The one that the player removed has a cross, those that fell off have none.
    """
    removed = view.last.partition(",")[0]
    for q, r, name in view.position.get("gone", ()):
        title = SAY("is-gone", cell=name).in_language(view.language)
        if name in fallen:
            named = [element("path", class_="cross", d=_CROSS)] if str(name) == removed else []
            yield _cell((q, r), None, "cell last", title, _mark(gone=True), *named)
        else:
            ghost = element("path", class_="ghost", d=_GHOST)
            yield _cell((q, r), None, "cell gone", title, ghost)


# --- the last move


def _placed_cell(view: BoardInput) -> Cell | None:
    """Return the cell of the tile that the last move placed, found in the position before it."""
    cells = view.before.get("cells", ()) if view.before else ()
    return next(((q, r) for q, r, name in cells if str(name) == view.last), None)


def _removed_tiles(view: BoardInput) -> set[int]:
    """Return the tiles that the last move removed; without the position before, only the named one."""
    removed = view.last.partition(",")[0]
    if view.before is None:
        gone = {name for *_, name in view.position.get("gone", ())}
        return {name for name in gone if str(name) == removed}
    there, now = (
        {name for *_, name in position["tiles"]} for position in (view.before, view.position)
    )
    return there - now - {None}


# --- the picture


def _counts(position: Mapping[str, Any]) -> Iterator[tuple[int, Sentence]]:
    """Yield each seat's colour and its count of tiles."""
    colours = [colour for _, _, colour, _ in position["tiles"]]
    for seat, colour in enumerate(position["colours"]):
        tiles, out = colours.count(colour), seat in position.get("out", ())
        yield colour, SAY("out", tiles=tiles) if out else SAY("tiles", tiles=tiles)


def _players(view: BoardInput) -> Iterator[PlayerCaption]:
    for colour, counts in _counts(view.position):
        tile = icon(f"{LOOKS[colour]} {COLOURS[colour]}", *_shapes(colour), scale=0.5)
        yield PlayerCaption(tile, counts.in_language(view.language))


def _sentences(view: BoardInput) -> tuple[str, ...]:
    position, language = view.position, view.language
    if position["phase"] == "wax":
        numbers = [str(name) for *_, name in position["cells"]]
        return place_sentences({SAY("cells").in_language(language): numbers})
    owned: dict[str, Sequence[str]] = {
        SAY("tiles-of", owner=seat).in_language(language): [
            str(name) for _, _, own, name in position["tiles"] if own == colour
        ]
        for seat, colour in enumerate(position["colours"])
    }
    return place_sentences(owned)


def paint(view: BoardInput) -> Picture:
    """Draw a position, in a frame around all tiles ever placed and the free cells."""
    position = view.position
    ever = [*position["tiles"], *position.get("gone", ()), *position.get("cells", ())]
    frame = _frame((q, r) for q, r, *_ in ever)
    drawn = (
        *_gone_cells(view, _removed_tiles(view)),
        *_free_cells(view),
        *_tiles(view, _placed_cell(view)),
    )
    tiles = element("g", *drawn, class_="tiles", transform=frame.transform())
    return Picture((tiles,), frame.height, tuple(_players(view)), _sentences(view))


# --- figures


def _figure(*shapes: Markup, kind: str | None = None) -> Markup:
    return element("g", *shapes, class_=kind, transform="scale(0.56)")


FIGURES: Final = {
    **{
        name: _figure(*_shapes(colour), kind=f"{LOOKS[colour]} {name}")
        for colour, name in enumerate(COLOURS)
    },
    "free": _figure(element("path", class_="vacant", d=_GHOST)),
    "removed": _figure(_mark(gone=True), element("path", class_="cross", d=_CROSS)),
    "fallen": _figure(_mark(gone=True)),
}
