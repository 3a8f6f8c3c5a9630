"""The common rules of puzzles in which the solver sets stones and takes them back at will.

They differ in the worth of a position and in the number of stones.

The line puzzles as text and in SVG.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from domain.boards.pieces import board_schema, player_captions, stone_kind
from domain.boards.pow2_board import (
    INDEX,
    INTERSECTION,
    LINE_SETS,
    LINES,
    NAMES,
    STONES,
    board_below,
    board_picture,
    puzzle_line_figure,
    stones_json,
)
from domain.game.painter import BoardInput, Picture
from domain.game.protocol import (
    GameOutcome,
    NoOptions,
    PuzzleScore,
    Seat,
    TextInput,
    unreadable_move,
)
from domain.game.puzzle import DONE, SOLVER_IS_DONE, Ending, Puzzle, solver_outcome
from domain.game.schemas import MoveNotation, Schema, notation, number, object_of, yes_or_no
from domain.sentences import Sentences, Text, counted, words

SAY: Final = Sentences(
    "",
    {
        "set-form": "a move is written a5 to place a stone, -a5 to take it back, or done",
        "set-none": "there is no stone at {at} to take back",
        "set-taken": "there is already a stone at {at}; -{at} takes it back",
        "set-all": "all {stones} stones are on the board; take one back first",
        "set-stone": "a stone",
        "set-score": "{lines:lines} with {wanted:exactly}, by {stones:stones}",
        "set-counts": (
            "{stones:stones}, {full} lines with {wanted:wanted}, {over} with more; "
            "best {lines} by {fewest}"
        ),
    },
    stones=STONES,
    stones_after_with=counted("{n} stone", "{n} stones"),
    lines=counted("{n} line", "{n} lines"),
    wanted=words("none", "one", "two"),
    exactly=words("no stone", "exactly one stone", "exactly two stones"),
)
FORM: Final = SAY("set-form")


class LinePuzzlePosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The stones, and the worth of the best position of the match so far."""

    stones: int
    lines: int
    """The most lines that counted in one position."""
    fewest_stones: int
    """The fewest stones of such a position."""
    done: bool


class LinePuzzleMove(msgspec.Struct, frozen=True, gc=False):
    """The solver sets a stone, takes one back, or is done (`FINISH`)."""

    at: int
    back: bool = False


FINISH: Final = LinePuzzleMove(len(NAMES))
_SET: Final = tuple(LinePuzzleMove(at) for at in range(len(NAMES)))
_BACK: Final = tuple(LinePuzzleMove(at, back=True) for at in range(len(NAMES)))
_START: Final = LinePuzzlePosition(0, 0, 0, done=False)


def stones_on_lines(stones: int) -> list[int]:
    """Return the number of stones on each of the 44 lines."""
    return [(line & stones).bit_count() for line in LINE_SETS]


def _read(text: str) -> LinePuzzleMove:
    """Read `a5`, `-a5` or `done`."""
    word = "".join(text.split()).lower()
    name = word.removeprefix("-")
    if text.isascii() and word == DONE:
        return FINISH
    if not text.isascii() or name not in INDEX:
        raise unreadable_move(text, FORM)
    return (_SET if name == word else _BACK)[INDEX[name]]


class LinePuzzle(Puzzle[LinePuzzlePosition, LinePuzzleMove, NoOptions]):
    """A puzzle in which the solver sets stones and takes them back."""

    position_type = LinePuzzlePosition
    read = staticmethod(_read)
    stone_limit: int
    """The most stones on the board."""
    limit: Text
    """The proven limit or the source's record."""
    wanted: int
    """The number of stones on a line that counts."""

    @abstractmethod
    def count_lines(self, stones: int) -> int:
        """Return the number of lines that count; -1 if the position is worth nothing."""

    def start(self, options: NoOptions, players: int, setup: object | None) -> LinePuzzlePosition:
        """Return the empty board."""
        del options
        self.check_start(players, setup)
        return _START

    def to_move(self, position: LinePuzzlePosition) -> Seat | None:
        """Return the solver's seat until the solver is done."""
        return None if position.done else 0

    def moves(self, position: LinePuzzlePosition) -> list[LinePuzzleMove]:
        """Return every legal move, in the order of intersections."""
        stones = position.stones
        if position.done:
            return []
        if stones.bit_count() >= self.stone_limit:
            return [*(move for move in _BACK if stones >> move.at & 1), FINISH]
        choice = [
            back if stones >> back.at & 1 else fresh
            for fresh, back in zip(_SET, _BACK, strict=True)
        ]
        choice.append(FINISH)
        return choice

    def count_moves(self, position: LinePuzzlePosition) -> int:
        """Count the legal moves."""
        if position.done:
            return 0
        full = position.stones.bit_count() >= self.stone_limit
        return 1 + (self.stone_limit if full else len(NAMES))

    def write(self, move: LinePuzzleMove) -> str:
        """Return the canonical text of a move."""
        if move == FINISH:
            return DONE
        return f"-{NAMES[move.at]}" if move.back else NAMES[move.at]

    def why_illegal(self, position: LinePuzzlePosition, move: LinePuzzleMove) -> Text | None:
        """Return which rule a move breaks; None for a legal move."""
        if position.done:
            return SOLVER_IS_DONE
        if move == FINISH:
            return None
        name, occupied = NAMES[move.at], position.stones >> move.at & 1
        if move.back:
            return None if occupied else SAY("set-none", at=name)
        if occupied:
            return SAY("set-taken", at=name)
        if position.stones.bit_count() >= self.stone_limit:
            return SAY("set-all", stones=self.stone_limit)
        return None

    def play(self, position: LinePuzzlePosition, move: LinePuzzleMove) -> LinePuzzlePosition:
        """Set a stone or take one back, and update the best so far."""
        best = position.lines, position.fewest_stones
        if move == FINISH:
            return LinePuzzlePosition(position.stones, *best, done=True)
        stones = position.stones ^ 1 << move.at
        lines, number = self.count_lines(stones), stones.bit_count()
        if lines > best[0] or (lines == best[0] and number < best[1]):
            best = lines, number
        return LinePuzzlePosition(stones, *best, done=False)

    def outcome(self, position: LinePuzzlePosition) -> GameOutcome | None:
        """Return the only ending: the solver is done."""
        return solver_outcome(Ending.DONE, self.score(position)) if position.done else None

    def score(self, position: LinePuzzlePosition) -> PuzzleScore:
        """Return the score of the best position: the most lines that count, by the fewest stones."""
        lines, stones = position.lines, position.fewest_stones
        said = SAY("set-score", lines=lines, wanted=self.wanted, stones=stones)
        return PuzzleScore((-lines, stones), said, self.limit)

    def to_json(self, position: LinePuzzlePosition) -> dict[str, Any]:
        """Return the stones on the board, the best so far, and whether the solver is done."""
        return {
            "board": stones_json(position.stones),
            "best": {"lines": position.lines, "stones": position.fewest_stones},
            "done": position.done,
        }


_KINDS: Final = {"o": stone_kind("light", 0, SAY("set-stone"))}

NOTATION: Final[MoveNotation] = notation(
    f"({INTERSECTION})|-({INTERSECTION})|({DONE})",
    ("at", "where a stone is placed"),
    ("back", "the stone that is taken back"),
    ("word", "the puzzle is submitted"),
)

POSITION: Final[Schema] = object_of(
    {
        "board": board_schema(NAMES, _KINDS),
        "best": object_of(
            {
                "lines": number(len(LINES), "the lines that count in the best position so far"),
                "stones": number(len(NAMES), "the fewest stones with so many"),
            }
        ),
        "done": yes_or_no("whether the puzzle is submitted"),
    }
)


def stones_by_line(position: Mapping[str, Any]) -> list[int]:
    """Return the number of stones on each line, from a position's JSON form."""
    stones = position["board"]
    return [sum(NAMES[at] in stones for at in line) for line in LINES]


def draw_lines(view: TextInput, wanted: int, word: str, *, more: bool = False) -> str:
    """Draw the board below a line that counts the stones, the lines that count, and the best so far.

    With `more` it counts the lines with too many stones, too.
    """
    on_lines, best = stones_by_line(view.position), view.position["best"]
    lines = f"Lines with exactly {word}: {on_lines.count(wanted)}"
    if more:
        lines += f" with more: {sum(on > wanted for on in on_lines)}"
    reached = f"Best: {best['lines']} by {best['stones']}"
    return board_below(f"Stones set: {len(view.position['board'])} {lines} {reached}", view)


def paint_lines(view: BoardInput, wanted: int) -> Picture:
    """Draw a position, and mark the lines that count and the lines with too many stones."""
    stones, best = view.position["board"], view.position["best"]
    marks = {
        at: "full" if on == wanted else "over"
        for at, on in enumerate(stones_by_line(view.position))
        if on >= wanted
    }
    lines = [*marks.values()]
    counts = SAY(
        "set-counts",
        stones=len(stones),
        full=lines.count("full"),
        wanted=wanted,
        over=lines.count("over"),
        lines=best["lines"],
        fewest=best["stones"],
    )
    return board_picture(view, _KINDS, player_captions(view, _KINDS, "o", [counts]), None, marks)


FIGURES: Final = {kind: puzzle_line_figure(kind) for kind in ("full", "over")}
"""A line that counts, and one with too many stones."""
