"""The games on the Power of Two board in SVG: which piece is which, and what is counted."""

from collections.abc import Mapping, Sequence
from typing import Final

from domain.boards.pow2_board import LINES, NAMES
from domain.boards.pow2_svg import Stone, Trail, board, trail_of
from domain.drawing.svg.elements import lettering
from domain.drawing.svg.painter import WIDTH, BoardInput, Picture, Player, body, listed
from domain.rules.defaults import counted

_LARGE, _STONE, _FIGURE, _HOLE, _CORE = 12.5, 11, 15, 7, 5


def _plain(look: str, seat: int, title: str) -> Stone:
    return Stone(f"{look} stone", seat, title, (body(look, _STONE),))


def _fresh(look: str, seat: int, side: str) -> Stone:
    return Stone(f"{look} fresh", seat, f"{side}, fresh", (body(look, _LARGE),))


def _aged(look: str, seat: int, side: str) -> Stone:
    shapes = (body(look, _LARGE), body(look, _HOLE, "hole"))
    return Stone(f"{look} aged", seat, f"{side}, aged", shapes)


def _figure(look: str, seat: int, name: str) -> Stone:
    letter = lettering(name[0], (0, 0), class_="letter")
    return Stone(f"{look} figure", seat, name, (body(look, _FIGURE), letter))


_POW2: Final = {
    "O": _fresh("light", 0, "Light"),
    "o": _aged("light", 0, "Light"),
    "X": _fresh("dark", 1, "Dark"),
    "x": _aged("dark", 1, "Dark"),
}
_GOLIATH: Final = {
    "D": _figure("light", 0, "David"),
    "G": _figure("dark", 1, "Goliath"),
    "o": _plain("light", 0, "a stone of David's"),
    "x": _plain("dark", 1, "a stone of Goliath's"),
}
_LINE: Final = {"o": _plain("light", 0, "Light"), "x": _plain("dark", 1, "Dark")}
_DUO: Final = {"o": _plain("light", 0, "light"), "x": _plain("dark", 0, "dark")}
_JUMP: Final = {
    "O": Stone(
        "light jumper", 0, "the jumper", (body("light", _FIGURE), body("light", _CORE, "core"))
    ),
    "o": _plain("light", 0, "a stone"),
}
_PLACING: Final = {"o": _plain("light", 0, "a stone")}

Kinds = Mapping[str, Stone]


def _where(letters: Mapping[str, str], kinds: Kinds) -> dict[str, list[str]]:
    """Give the names of the places of each kind of piece, by its title."""
    return {
        kind.title: [name for name, there in letters.items() if there == letter]
        for letter, kind in kinds.items()
    }


def _picture(
    view: BoardInput,
    kinds: Kinds,
    players: Sequence[Player],
    trail: Trail | None = None,
    marks: Mapping[int, str] | None = None,
) -> Picture:
    letters = view.position["board"]
    stones = {name: kinds[letter] for name, letter in letters.items()}
    drawn = board(stones, trail or trail_of(view.last), marks)
    return Picture(drawn, WIDTH, tuple(players), listed(_where(letters, kinds)))


def _players(kinds: Kinds, letters: str, counts: Sequence[str]) -> list[Player]:
    return [
        Player(kinds[letter].icon(), count) for letter, count in zip(letters, counts, strict=True)
    ]


# --- games of two


def paint_pow2(view: BoardInput) -> Picture:
    """Draw a position of pow2, fresh pieces solid, aged ones as rings."""
    counts = [f"{left} left to place" for left in view.position["supply"]]
    return _picture(view, _POW2, _players(_POW2, "OX", counts))


def _with_throw(last: str) -> Trail:
    """Give the ways of a figure's move and of the throw from its end."""
    trail, target = trail_of(last), last.replace(">", ":").rpartition(":")[2]
    if target not in trail.places or not trail.paths:
        return trail
    return Trail(trail.places, trail.paths, ((trail.paths[0][-1], target),))


def paint_goliath(view: BoardInput) -> Picture:
    """Draw a position of goliath, with the ways of the figure and of the stone thrown."""
    counts = [f"{counted(left, 'stone')} left" for left in view.position["supply"]]
    return _picture(view, _GOLIATH, _players(_GOLIATH, "DG", counts), _with_throw(view.last))


def paint_line(view: BoardInput) -> Picture:
    """Draw a position of line."""
    counts = [f"{counted(placed, 'stone')} placed" for placed in view.position["stones"]]
    return _picture(view, _LINE, _players(_LINE, "ox", counts))


# --- puzzles


def paint_duo(view: BoardInput) -> Picture:
    """Draw a position of duo; beside the name stands the stone that is placed next."""
    letters = [*view.position["board"].values()]
    light, dark, colour = letters.count("o"), letters.count("x"), view.position["colour"]
    counts = f"{counted(light + dark, 'stone')}, {light} light and {dark} dark"
    counts += f"; {colour} is next" if colour else ""
    return _picture(view, _DUO, _players(_DUO, "x" if colour == "dark" else "o", [counts]))


def paint_jump(view: BoardInput) -> Picture:
    """Draw a position of jump; the jumper is the large one."""
    letters, plies = [*view.position["board"].values()], view.position["plies"]
    stones = counted(len(letters), "stone")
    part_two = letters and "O" not in letters
    counts = (
        f"{stones} left after {counted(plies, 'ply', 'plies')}" if part_two else f"{stones} set"
    )
    return _picture(view, _JUMP, _players(_JUMP, "o" if part_two else "O", [counts]))


def _paint_placing(view: BoardInput, wanted: int, said: str) -> Picture:
    """Draw a puzzle of lines, those that count and those with too many stones marked as such."""
    stones, best = view.position["board"], view.position["best"]
    numbers = [sum(NAMES[at] in stones for at in line) for line in LINES]
    marks = {
        at: "full" if on == wanted else "over" for at, on in enumerate(numbers) if on >= wanted
    }
    lines = [*marks.values()]
    counts = (
        f"{counted(len(stones), 'stone')}, {lines.count('full')} lines with {said}, "
        f"{lines.count('over')} with more; best {best['lines']} by {best['stones']}"
    )
    return _picture(view, _PLACING, _players(_PLACING, "o", [counts]), None, marks)


def paint_one(view: BoardInput) -> Picture:
    """Draw a position of one."""
    return _paint_placing(view, 1, "one")


def paint_two(view: BoardInput) -> Picture:
    """Draw a position of two."""
    return _paint_placing(view, 2, "two")
