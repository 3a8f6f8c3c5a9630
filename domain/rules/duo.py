"""Cooperative That's My Line: one player places both colours, as many stones as possible.

1. Light and dark stones are placed alternately on the Power of Two board, light first.
2. A stone goes on an empty intersection none of whose lines carries a stone of the other colour.
3. A colour without such a place is passed. Stones are not limited.
4. The match ends when neither colour has a place, or with `done`.
5. Score: all stones placed.

Notation: `c3`, the intersection, for the colour whose turn it is; `done`.
"""

from collections.abc import Iterator
from typing import Any, Final, Literal

import msgspec

from domain.boards.pow2_board import INDEX, NAMES, SEEN, bits, names_of, read_pieces
from domain.rules.defaults import bad_position, check_turn, counted, read_position
from domain.rules.protocol import IllegalMove, Outcome, Score, Seat, UnreadableMove
from domain.rules.puzzle import DONE, OVER, Ending, Puzzle, ended

__all__ = ["Duo", "DuoOptions", "DuoPosition", "Intersection"]

FORM: Final = "a move is written as one intersection, such as c3, or done"
BOUND: Final = "proven: 48 at most (44 and 4); 40 when no colour is passed before the end"

Intersection = int
"""A move: the intersection, by its index, on which a stone is placed; or `FINISH`."""
FINISH: Final[Intersection] = len(NAMES)

NEITHER: Final = 2
_COLOURS: Final = ("light", "dark", None)
_EVERYWHERE: Final = (1 << len(NAMES)) - 1


class DuoOptions(msgspec.Struct, frozen=True):
    """There is nothing to choose."""


class DuoPosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The stones of both colours, and which is placed next."""

    light: int
    dark: int
    colour: int
    """0 light, 1 dark: one that has a place, for passes are automatic; `NEITHER` at the end."""
    done: bool


def _open_to(own: int, other: int) -> int:
    """Give where a stone may be placed beside those of its own and of the other colour."""
    barred = own
    for at in bits(other):
        barred |= SEEN[at]
    return _EVERYWHERE & ~barred


def _places(position: DuoPosition) -> int:
    """Give the places of the colour that is placed next."""
    light, dark, colour = position.light, position.dark, position.colour
    if colour == NEITHER:
        return 0
    return _open_to(dark, light) if colour else _open_to(light, dark)


def _play(position: DuoPosition, at: Intersection) -> DuoPosition:
    light, dark, colour = position.light, position.dark, position.colour
    if at == FINISH:
        return DuoPosition(light, dark, NEITHER, done=True)
    if colour:
        dark |= 1 << at
        after = 0 if _open_to(light, dark) else 1 if _open_to(dark, light) else NEITHER
    else:
        light |= 1 << at
        after = 1 if _open_to(dark, light) else 0 if _open_to(light, dark) else NEITHER
    return DuoPosition(light, dark, after, done=False)


def _fault(position: DuoPosition, at: Intersection) -> str | None:
    """Say why no stone can be placed there, or None when one can."""
    if position.done:
        return OVER
    if position.colour == NEITHER:
        return "the match is over: neither colour has a place"
    if at == FINISH or _places(position) >> at & 1:
        return None
    if (position.light | position.dark) >> at & 1:
        return f"it is occupied by {'x' if position.dark >> at & 1 else 'o'}"
    other = position.light if position.colour else position.dark
    whose = _COLOURS[1 - position.colour]
    *others, final = names_of(SEEN[at] & other)
    if not others:
        return f"the {whose} stone at {final} stands on a line through it"
    return f"the {whose} stones at {', '.join(others)} and {final} stand on lines through it"


class _PositionJson(msgspec.Struct, forbid_unknown_fields=True):
    board: dict[str, Literal["o", "x"]]
    colour: Literal["light", "dark"] | None
    done: bool


class Duo(Puzzle):
    """Cooperative That's My Line, version 1."""

    key = "duo"
    title = "Cooperative That's My Line"
    position_type = DuoPosition
    options_type = DuoOptions

    def start(self, options: DuoOptions, players: int, setup: object | None) -> DuoPosition:
        """Give the empty board."""
        del options
        self.check_start(players, setup)
        return DuoPosition(0, 0, 0, done=False)

    def to_move(self, position: DuoPosition) -> Seat | None:
        """Give the solver while a stone can be placed, and until done."""
        return None if position.colour == NEITHER else 0

    def moves(self, position: DuoPosition) -> list[Intersection]:
        """Give every place for the colour whose turn it is, and being done."""
        places = _places(position)
        return [*bits(places), FINISH] if places else []

    def count_moves(self, position: DuoPosition) -> int:
        """Count the legal moves."""
        places = _places(position)
        return places.bit_count() + 1 if places else 0

    def legal_moves(self, position: DuoPosition) -> Iterator[str]:
        """Yield every legal move in sorting order, `done` last."""
        return map(self.write, self.moves(position))

    def read(self, text: str) -> Intersection:
        """Read the name of an intersection, or `done`."""
        name = "".join(text.split()).lower()
        if text.isascii() and name == DONE:
            return FINISH
        if not text.isascii() or name not in INDEX:
            raise UnreadableMove(f"{text[:24]!r} is no move; {FORM}")
        return INDEX[name]

    def write(self, move: Intersection) -> str:
        """Give the name of the intersection, or `done`."""
        return DONE if move == FINISH else NAMES[move]

    def check(self, position: DuoPosition, move: Intersection) -> Intersection:
        """Give the move back if it is legal, else say what stands in its way."""
        if fault := _fault(position, move):
            raise IllegalMove(f"{self.write(move)}: {fault}")
        return move

    def play(self, position: DuoPosition, move: Intersection) -> DuoPosition:
        """Place a stone, and pass a colour without a place."""
        return _play(position, move)

    def outcome(self, position: DuoPosition) -> Outcome | None:
        """Give the ending: the solver is done, or neither colour has a place."""
        if position.colour != NEITHER:
            return None
        return ended(Ending.DONE if position.done else Ending.NO_MOVE, self.score(position))

    def score(self, position: DuoPosition) -> Score:
        """Give the stones placed; no later position has fewer."""
        light, dark = position.light.bit_count(), position.dark.bit_count()
        placed = counted(light + dark, "stone")
        detail = f"{placed} placed, {light} light and {dark} dark"
        return Score((-light - dark,), detail, BOUND)

    def to_json(self, position: DuoPosition) -> dict[str, Any]:
        """Give the stones on the board, the colour to be placed, and whether the solver is done."""
        light, dark = position.light, position.dark
        return {
            "board": {NAMES[at]: "o" if light >> at & 1 else "x" for at in bits(light | dark)},
            "colour": _COLOURS[position.colour],
            "done": position.done,
        }

    def from_json(self, data: object, options: DuoOptions, to_move: Seat) -> DuoPosition:
        """Read what `to_json` gave."""
        del options
        given = read_position(data, _PositionJson, self.key)
        check_turn(to_move, self.key, players=1)
        boards = read_pieces(given.board, "ox", self.key)
        colour = _COLOURS.index(given.colour)
        position = DuoPosition(boards["o"], boards["x"], colour, given.done)
        self._check_position(position)
        return position

    def _check_position(self, position: DuoPosition) -> None:
        for at in bits(position.light):
            if shared := SEEN[at] & position.dark:
                problem = f"{NAMES[at]} and {names_of(shared)[0]} are of two colours on one line"
                raise bad_position(self.key, problem)
        light, dark, colour = position.light, position.dark, position.colour
        if position.done or not (_open_to(light, dark) or _open_to(dark, light)):
            if colour != NEITHER:
                raise bad_position(self.key, "it is over, and no colour is placed any more")
        elif not _places(position):
            raise bad_position(self.key, f"{_COLOURS[colour] or 'no colour'} can't be placed next")
