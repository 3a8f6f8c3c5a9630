"""Oware by the Abapa rules: the players sow seeds from house to house, and capture the opponent's.

1. South has the houses a1 to f1, North a2 to f2. Four seeds lie in each at the start. South moves first.
2. A turn takes all seeds of one of the player's own houses and sows them one by one into the next houses,
   anticlockwise: to the right in row 1, to the left in row 2. The house that they come from is left out and stays empty.
3. If the last seed makes two or three in an opposing house, these are captured, and then the seeds of the house before
   it if that is an opposing house with two or three, and so on. If that would take all the opponent's seeds, none are.
4. A player whose opponent has no seeds has to choose a house from which a seed reaches the opponent's row.
5. The match is over when a player has captured 25 seeds, who wins. It is also over when a player can't move, when a
   position comes up again with the same player to move, and when 200 moves in a row have captured nothing: then the
   players take the seeds in their own rows. More seeds win; with 24 each it is a draw.

Notation: `c1`, the house whose seeds are sown.
"""

from enum import StrEnum
from typing import Any, Final

import msgspec

from domain.boards.pits import Pit, PitBoard
from domain.game.protocol import GameOutcome, NoOptions, Rules, Seat
from domain.games.oware.sentences import SAY
from domain.sentences import Text

HOUSES: Final = 6
"""The houses of each player."""
BOARD: Final = PitBoard(HOUSES)
SOUTH, NORTH, NOBODY = 0, 1, 2
"""The seat to move; nobody once the match is over."""
SEEDS: Final = 4
"""In each house at the start."""
HALF: Final = HOUSES * SEEDS
"""More captured seeds than this win."""
CAPTURED: Final = (2, 3)
"""So many seeds in a house are captured."""
LONGEST: Final = 200
"""After so many plies without a capture the match is over."""
FORM: Final = SAY("form")


class Ending(StrEnum):
    """Why a match is over by the rules."""

    MAJORITY = "majority"
    """A player has captured more than half of the seeds."""
    STARVED = "starved"
    """A player has no seeds and can't be given any."""
    REPEATED = "repeated"
    """A position has come up again."""
    NO_CAPTURE = "no-capture"
    """Nothing was captured for a long time."""


class OwarePosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The seeds in the houses and those captured, and the seat to move.

    Because of `earlier` no position equals another of the same match, so a draw by the server's rule on
    repetition can't be claimed: a repeated position ends the match, and rarely as a draw.
    """

    seeds: bytes
    """By house, in the order in which they are sown."""
    south: int
    """Captured by South; at the end, with what South has taken from the board."""
    north: int
    turn: int
    """The seat to move; `NOBODY` at the end."""
    earlier: tuple[int, ...] = ()
    """The positions since the last capture, each as one number; empty at the end."""
    ending: Ending | None = None


START: Final = OwarePosition(bytes([SEEDS] * 2 * HOUSES), 0, 0, SOUTH)


def row_of(seat: Seat) -> slice:
    """Return the houses of a player."""
    return slice(HOUSES * seat, HOUSES * (seat + 1))


def _number_of(seeds: bytes, turn: Seat) -> int:
    """Return seeds and turn as one number of at most 61 bits: a house is as many zeros, and a one."""
    number = turn
    for some in seeds:
        number = number << some + 1 | 1
    return number


def sown(seeds: bytes, start: Pit) -> tuple[bytearray, Pit]:
    """Return the seeds after those of a house were sown, and the house of the last one."""
    after, at, left = bytearray(seeds), start, seeds[start]
    after[start] = 0
    while left:
        at = (at + 1) % len(after)
        if at != start:
            after[at] += 1
            left -= 1
    return after, at


def captured_from(seeds: bytearray, last: Pit, seat: Seat) -> range:
    """Return the houses that a player captures whose last seed fell into a house."""
    other = row_of(1 - seat)
    first = last
    while other.start <= first < other.stop and seeds[first] in CAPTURED:
        first -= 1
    taken = range(first + 1, last + 1)
    everything = sum(seeds[at] for at in taken) == sum(seeds[other])
    return range(0) if everything else taken


def _can_sow(position: OwarePosition) -> list[Pit]:
    """Return the houses that the player to move may choose, from left to right of that player."""
    seeds, own = position.seeds, row_of(position.turn)
    feeds = not any(seeds[row_of(1 - position.turn)])  # then a seed has to leave the own row
    return [at for at in range(own.start, own.stop) if seeds[at] >= (own.stop - at if feeds else 1)]


class OwareRules(Rules[OwarePosition, Pit, NoOptions]):
    """Oware, version 1."""

    key = "oware"
    title = "Oware"
    sides = (SAY("side", seat=SOUTH), SAY("side", seat=NORTH))
    displays = ("large",)
    position_type = OwarePosition

    def start(self, options: NoOptions, players: int, setup: object | None) -> OwarePosition:
        """Return four seeds in each house."""
        del options
        self.check_start(players, setup)
        return START

    def to_move(self, position: OwarePosition) -> Seat | None:
        """Return the seat to move; None when the match is over."""
        return None if position.turn == NOBODY else position.turn

    def moves(self, position: OwarePosition) -> list[Pit]:
        """Return the houses that may be sown, in the order of sowing."""
        return [] if position.turn == NOBODY else _can_sow(position)

    def play(self, position: OwarePosition, move: Pit) -> OwarePosition:
        """Sow, capture, and look whether the match goes on."""
        turn = position.turn
        after, last = sown(position.seeds, move)
        taken = 0
        for at in captured_from(after, last, turn):
            taken += after[at]
            after[at] = 0
        seeds, south, north = bytes(after), position.south, position.north
        if turn == SOUTH:
            south += taken
        else:
            north += taken
        if max(south, north) > HALF:
            return OwarePosition(seeds, south, north, NOBODY, (), Ending.MAJORITY)
        earlier = () if taken else (*position.earlier, _number_of(position.seeds, turn))
        found = OwarePosition(seeds, south, north, 1 - turn, earlier)
        if _number_of(seeds, 1 - turn) in earlier:
            return _shared(found, Ending.REPEATED)
        if not _can_sow(found):
            return _shared(found, Ending.STARVED)
        return _shared(found, Ending.NO_CAPTURE) if len(earlier) >= LONGEST else found

    def read(self, text: str) -> Pit:
        """Read the name of a house."""
        return BOARD.read(text, FORM)

    def write(self, move: Pit) -> str:
        """Return the name of the house."""
        return BOARD.names[move]

    def why_illegal(self, position: OwarePosition, move: Pit) -> Text | None:
        """Return why a house can't be sown; None for a legal move."""
        turn = position.turn
        if turn == NOBODY:
            return SAY("over", south=position.south, north=position.north)
        if move // HOUSES != turn:
            return SAY("owner", other=1 - turn)
        if not position.seeds[move]:
            return SAY("empty")
        return None if move in _can_sow(position) else SAY("feed", other=1 - turn)

    def outcome(self, position: OwarePosition) -> GameOutcome | None:
        """Return the ending: one of four, each with the seeds of both."""
        ending, south, north = position.ending, position.south, position.north
        if ending is None:
            return None
        winners = tuple(
            seat for seat in (SOUTH, NORTH) if (south, north)[seat] == max(south, north)
        )
        match ending:
            case Ending.MAJORITY:
                said = SAY("majority", winner=winners[0], seeds=max(south, north))
            case Ending.STARVED:
                said = SAY("starved", south=south, north=north)
            case Ending.REPEATED:
                said = SAY("repeated", south=south, north=north)
            case Ending.NO_CAPTURE:
                said = SAY("no-capture", plies=LONGEST, south=south, north=north)
        return GameOutcome(winners, ending, said)

    def to_json(self, position: OwarePosition) -> dict[str, Any]:
        """Return the seeds by house, and those that South and North have captured."""
        board = dict(zip(BOARD.names, position.seeds, strict=True))
        return {"board": board, "captured": [position.south, position.north]}


def _shared(position: OwarePosition, ending: Ending) -> OwarePosition:
    """Return the end of a match in which the players take the seeds in their own rows."""
    south, north = (sum(position.seeds[row_of(seat)]) for seat in (SOUTH, NORTH))
    empty = bytes(len(position.seeds))
    return OwarePosition(empty, position.south + south, position.north + north, NOBODY, (), ending)
