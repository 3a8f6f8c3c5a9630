"""Cooperative That's My Line: one player places both colours, as many stones as possible.

1. Light and dark stones are placed alternately on the Power of Two board, light first.
2. A stone goes on an empty intersection. None of its lines may carry a stone of the other colour.
3. A colour without such a place is passed. There is no limit of stones.
4. The match ends when neither colour has a place, or with `done`.
5. Score: all stones placed.

Notation: `c3`, the intersection for the next colour; `done`.
"""

from typing import Any, Final

import msgspec

from domain.boards.pow2_board import INDEX, NAMES, ON_COMMON_LINE, stones_json, unopposed
from domain.boards.sets import bits
from domain.game.protocol import GameOutcome, NoOptions, PuzzleScore, Seat, unreadable_move
from domain.game.puzzle import DONE, SOLVER_IS_DONE, Ending, Puzzle, solver_outcome
from domain.games.duo.sentences import SAY
from domain.sentences import Text

Intersection = int
"""A move: the index of the intersection for a stone, or `FINISH`."""
FINISH: Final[Intersection] = len(NAMES)
NEITHER: Final = 2
"""The colour at the end."""
COLOURS: Final = ("light", "dark", None)
FORM: Final = SAY("form")
LIMIT: Final = SAY("limit")


class DuoPosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The stones of both colours, and the next colour."""

    light: int
    dark: int
    colour: int
    """The next colour, which has a place, because passes are automatic; `NEITHER` at the end."""
    done: bool


def places(position: DuoPosition) -> int:
    """Return the places for the next colour, as a set."""
    light, dark, colour = position.light, position.dark, position.colour
    if colour == NEITHER:
        return 0
    return unopposed(dark, light) if colour else unopposed(light, dark)


class DuoRules(Puzzle[DuoPosition, Intersection, NoOptions]):
    """Cooperative That's My Line, version 1."""

    key = "duo"
    title = "Cooperative That's My Line"
    position_type = DuoPosition
    most_points = 48

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

    def play(self, position: DuoPosition, move: Intersection) -> DuoPosition:
        """Place a stone, and pass a colour without a place."""
        light, dark, colour = position.light, position.dark, position.colour
        if move == FINISH:
            return DuoPosition(light, dark, NEITHER, done=True)
        if colour:
            dark |= 1 << move
            after = 0 if unopposed(light, dark) else 1 if unopposed(dark, light) else NEITHER
        else:
            light |= 1 << move
            after = 1 if unopposed(dark, light) else 0 if unopposed(light, dark) else NEITHER
        return DuoPosition(light, dark, after, done=False)

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

    def why_illegal(self, position: DuoPosition, move: Intersection) -> Text | None:
        """Return why no stone can be placed there; None for a legal move."""
        if position.done:
            return SOLVER_IS_DONE
        if position.colour == NEITHER:
            return SAY("over")
        if move == FINISH or places(position) >> move & 1:
            return None
        if (position.light | position.dark) >> move & 1:
            return SAY("taken", stone=position.dark >> move & 1)
        other = position.light if position.colour else position.dark
        stones, colour = ON_COMMON_LINE[move] & other, 1 - position.colour
        if stones.bit_count() == 1:
            return SAY("seen", colour=colour, stones=stones)
        return SAY("seen-all", colour=colour, stones=stones)

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
