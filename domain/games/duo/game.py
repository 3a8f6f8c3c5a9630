"""Cooperative That's My Line: one player places both colours, as many stones as possible.

1. Light and dark stones are placed alternately on the Power of Two board, light first.
2. A stone goes on an empty intersection. None of its lines may carry a stone of the other colour.
3. A colour without such a place is passed. There is no limit of stones.
4. The match ends when neither colour has a place, or with `done`.
5. Score: all stones placed.

Notation: `c3`, the intersection for the next colour; `done`.
"""

from typing import Any, Final

from domain.boards.pow2_board import (
    INDEX,
    NAMES,
    bits,
    stones_json,
)
from domain.game.protocol import GameOutcome, NoOptions, PuzzleScore, Seat, unreadable_move
from domain.game.puzzle import DONE, Ending, Puzzle, solver_outcome
from domain.games.duo.illegal import why_illegal
from domain.games.duo.position import (
    COLOURS,
    FINISH,
    NEITHER,
    DuoPosition,
    Intersection,
    places,
    play,
)
from domain.games.duo.sentences import SAY

FORM: Final = SAY("form")
LIMIT: Final = SAY("limit")


class DuoRules(Puzzle[DuoPosition, Intersection, NoOptions]):
    """Cooperative That's My Line, version 1."""

    key = "duo"
    title = "Cooperative That's My Line"
    position_type = DuoPosition
    most_points = 48
    play = staticmethod(play)
    why_illegal = staticmethod(why_illegal)

    def start(self, options: NoOptions, players: int, setup: object | None) -> DuoPosition:
        """Return the empty board."""
        del options
        self.check_start(players, setup)
        return DuoPosition(0, 0, 0, done=False)

    def to_move(self, position: DuoPosition) -> Seat | None:
        """Return the solver's seat until the solver is done or no colour has a place."""
        return None if position.colour == NEITHER else 0

    def moves(self, position: DuoPosition) -> list[Intersection]:
        """Return every place for the next colour, then `FINISH`."""
        found = places(position)
        return [*bits(found), FINISH] if found else []

    def count_moves(self, position: DuoPosition) -> int:
        """Count the legal moves."""
        found = places(position)
        return found.bit_count() + 1 if found else 0

    def read(self, text: str) -> Intersection:
        """Read the name of an intersection, or `done`."""
        name = "".join(text.split()).lower()
        if text.isascii() and name == DONE:
            return FINISH
        if not text.isascii() or name not in INDEX:
            raise unreadable_move(text, FORM)
        return INDEX[name]

    def write(self, move: Intersection) -> str:
        """Return the name of the intersection, or `done`."""
        return DONE if move == FINISH else NAMES[move]

    def outcome(self, position: DuoPosition) -> GameOutcome | None:
        """Return the ending: the solver is done, or neither colour has a place."""
        if position.colour != NEITHER:
            return None
        return solver_outcome(
            Ending.DONE if position.done else Ending.NO_MOVE, self.score(position)
        )

    def score(self, position: DuoPosition) -> PuzzleScore:
        """Return the number of stones; no later position has fewer."""
        light, dark = position.light.bit_count(), position.dark.bit_count()
        said = SAY("placed", stones=light + dark, light=light, dark=dark)
        return PuzzleScore((-light - dark,), said, LIMIT)

    def to_json(self, position: DuoPosition) -> dict[str, Any]:
        """Return the stones on the board, the next colour, and whether the solver is done."""
        light, dark = position.light, position.dark
        return {
            "board": stones_json(light, dark),
            "colour": COLOURS[position.colour],
            "done": position.done,
        }
