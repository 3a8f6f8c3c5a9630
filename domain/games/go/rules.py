"""Go: the players place stones on the points of a board, and have more of it in the end.

1. The board has 9 x 9 points, or another number from 5 to 13 a side; its lines join each point to those beside it.
   Black moves first. Stones of a colour that lines join are a chain; its empty neighbours are its liberties.
2. A turn places one stone on an empty point, or passes. Then chains of the opponent's without a liberty are taken off.
   A stone that would leave its own chain without one is not allowed.
3. No move may repeat a board that there was before, by either player's move (positional superko). Passing may.
4. After two passes in a row, the player whose turn it would be marks chains as dead, and says `propose`. The opponent
   agrees, or marks more and says `propose` in turn, or has play go on: then the marks are gone, the other player moves,
   and after two passes in a row all stones count.
5. Dead stones are taken off. A player has a point for each stone on the board and for each empty point from which
   lines over empty points lead to that player's stones alone. White has komi in addition, 7 and a half points unless
   agreed otherwise. So there are no draws.

Notation: `e5`, the point of a stone, or a stone that is dead with its chain; a1 is at the lower left, and there is no
column i. `pass`, `propose`, `agree`, `resume`.
"""

import re
from enum import IntEnum, StrEnum
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from domain.boards.points import INDEX, NAMES, Point, all_points, beside, grown, parts, point_of
from domain.boards.sets import bits
from domain.game.protocol import GameOutcome, Rules, Seat, unreadable_move
from domain.games.go.sentences import SAY
from domain.sentences import Text

BLACK, WHITE = 0, 1
LETTERS: Final = "xo"
"""The letters of each seat's stones in the JSON form."""
DEAD_LETTERS: Final = "bw"
"""The letters of stones that are marked as dead."""
PASS, PROPOSE, AGREE, RESUME = -1, -2, -3, -4
"""The moves that are words."""
WORDS: Final = {"pass": PASS, "propose": PROPOSE, "agree": AGREE, "resume": RESUME}
_WRITTEN: Final = {move: word for word, move in WORDS.items()}
_FORM: Final = SAY("form")
_NOTATION: Final = re.compile(r"\s*([a-z])\s*([1-9][0-9]?)\s*", re.ASCII | re.IGNORECASE)
_BYTES: Final = 26
"""In a set of points of the largest board."""
_KEY: Final = 6
"""The bytes that stand for a board among those that were there before."""
FEWEST: Final = 5
MOST: Final = 13
"""The points along each side."""
MOST_KOMI: Final = 30


class GoOptions(msgspec.Struct, frozen=True):
    """The options of Go."""

    size: Annotated[int, msgspec.Meta(ge=FEWEST, le=MOST)] = 9
    """The points along each side."""
    komi: Annotated[int, msgspec.Meta(ge=0, le=MOST_KOMI)] = 7
    """White's points for moving second; half a point is added."""


class Ending(StrEnum):
    """Why a match is over by the rules."""

    MORE_POINTS = "more-points"
    """The points were counted, and one player has more."""


class GoPhase(IntEnum):
    """The part of a match."""

    PLAYING = 0
    COUNTING = 1
    """Both have passed, and dead stones are marked."""
    OVER = 2


class GoPosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The stones of both players as sets of points, little-endian, and what was there before."""

    size: int
    komi: int
    """Half a point less than White's komi."""
    black: bytes
    white: bytes
    turn: Seat
    """The seat to move; at the end the seat that moved last."""
    phase: GoPhase = GoPhase.PLAYING
    passed: bool = False
    """Whether the last move was a pass."""
    resumed: bool = False
    """Whether play has gone on after two passes; two others end the match."""
    proposed: bool = False
    """While counting: whether the opponent has said `propose`, and nothing has been marked since."""
    dead: bytes = b""
    """Stones that are marked as dead."""
    seen: bytes = b""
    """For each board that was there, its key: 6 bytes each, in the order of the moves."""

    @property
    def stones(self) -> tuple[int, int]:
        """The points of Black's and of White's stones."""
        return int.from_bytes(self.black, "little"), int.from_bytes(self.white, "little")

    @property
    def own_and_other(self) -> tuple[int, int]:
        """The points of the stones of the seat to move, and of the other's."""
        black, white = self.stones
        return (white, black) if self.turn == WHITE else (black, white)

    @property
    def board_key(self) -> int:
        """The key of the board as it is."""
        return int.from_bytes(self.seen[-_KEY:], "big")

    @property
    def marked(self) -> int:
        """The points of stones that are marked as dead."""
        return int.from_bytes(self.dead, "little")


def _packed(points: int) -> bytes:
    return points.to_bytes(_BYTES, "little").rstrip(b"\0")


# --- boards that were there


def _keys_of(seat: Seat) -> dict[Point, int]:
    digests = {
        point: blake2b(f"go {seat} {name}".encode(), digest_size=_KEY).digest()
        for point, name in NAMES.items()
    }
    return {point: int.from_bytes(digest, "big") for point, digest in digests.items()}


@cache
def _keys() -> tuple[dict[Point, int], dict[Point, int]]:
    """Return for each seat the key of a stone on each point; that of a board is their exclusive or."""
    return _keys_of(BLACK), _keys_of(WHITE)


@lru_cache(1_024)
def _seen(keys: bytes) -> frozenset[int]:
    return frozenset(
        int.from_bytes(keys[at : at + _KEY], "big") for at in range(0, len(keys), _KEY)
    )


# --- liberties


class _Liberties(NamedTuple):
    """The points where a stone takes something or keeps its chain alive."""

    takes: dict[Point, int]
    """For each point that is the only liberty of chains of the opponent's, their stones."""
    saves: int
    """The points beside own chains that have another liberty."""


def _liberties(own: int, other: int, empty: int) -> _Liberties:
    takes: dict[Point, int] = {}
    for chain in parts(other):
        free = beside(chain) & empty
        if free.bit_count() == 1:
            point = free.bit_length() - 1
            takes[point] = takes.get(point, 0) | chain
    saves = 0
    for chain in parts(own):
        free = beside(chain) & empty
        if free.bit_count() > 1:
            saves |= free
    return _Liberties(takes, saves)


def taken_by(point: Point, other: int, empty: int) -> int:
    """Return the stones of `other` that a stone on an empty point takes."""
    taken, left = 0, empty & ~(1 << point)
    for near in bits(beside(1 << point) & other):
        if not taken >> near & 1:
            chain = grown(1 << near, other)
            if not beside(chain) & left:
                taken |= chain
    return taken


def area(size: int, black: int, white: int) -> tuple[int, int]:
    """Return each player's points: stones, and empty points that only that player's stones enclose."""
    points = [black.bit_count(), white.bit_count()]
    for part in parts(all_points(size) & ~(black | white)):
        edge = beside(part)
        touches = (bool(edge & black), bool(edge & white))
        if touches[BLACK] != touches[WHITE]:
            points[touches.index(True)] += part.bit_count()
    return points[BLACK], points[WHITE]


def counted(position: GoPosition) -> tuple[int, int]:
    """Return each player's points without komi, if the marked stones are dead."""
    black, white = position.stones
    return area(position.size, black & ~position.marked, white & ~position.marked)


class GoRules(Rules[GoPosition, Point, GoOptions]):
    """Go, version 1."""

    key = "go"
    title = "Go"
    sides = (SAY("side", seat=BLACK), SAY("side", seat=WHITE))
    displays = ("large",)
    options_type = GoOptions
    position_type = GoPosition
    most_packed = 4_000  # it has six bytes for each board that was there, and random games are long

    def start(self, options: GoOptions, players: int, setup: object | None) -> GoPosition:
        """Return the empty board."""
        self.check_start(players, setup)
        empty = bytes(_KEY)
        return GoPosition(options.size, options.komi, b"", b"", BLACK, seen=empty)

    def to_move(self, position: GoPosition) -> Seat | None:
        """Return the seat to move; None when the match is over."""
        return None if position.phase is GoPhase.OVER else position.turn

    # --- moves

    def moves(self, position: GoPosition) -> list[Point]:
        """Return the points in order, and after them the words."""
        if position.phase is GoPhase.PLAYING:
            return [*self._points(position), PASS]
        if position.phase is GoPhase.OVER:
            return []
        black, white = position.stones
        words = [AGREE, RESUME] if position.proposed else [PROPOSE]
        return [*bits((black | white) & ~position.marked), *words]

    def _points(self, position: GoPosition) -> list[Point]:
        """Return the points where a stone may be placed."""
        own, other = position.own_and_other
        empty = all_points(position.size) & ~(own | other)
        takes, saves = _liberties(own, other, empty)
        alive = beside(empty) | saves
        allowed = [point for point in bits(empty) if alive >> point & 1 or point in takes]
        seen, before = _seen(position.seen), position.board_key
        mine, theirs = _keys()[position.turn], _keys()[1 - position.turn]
        found = []
        for point in allowed:
            key = before ^ mine[point]
            for gone in bits(takes.get(point, 0)):
                key ^= theirs[gone]
            if key not in seen:
                found.append(point)
        return found

    def play(self, position: GoPosition, move: Point) -> GoPosition:
        """Place a stone and take what has no liberty; or pass, mark a chain, or end the counting."""
        if position.phase is GoPhase.COUNTING:
            return _mark(position, move) if move >= 0 else _answer(position, move)
        if move == PASS:
            return _pass(position)
        own, others = position.own_and_other
        taken = taken_by(move, others, all_points(position.size) & ~(own | others))
        own, others = own | 1 << move, others ^ taken
        black, white = (others, own) if position.turn == WHITE else (own, others)
        mine, theirs = _keys()[position.turn], _keys()[1 - position.turn]
        key = position.board_key ^ mine[move]
        for gone in bits(taken):
            key ^= theirs[gone]
        return GoPosition(
            position.size,
            position.komi,
            _packed(black),
            _packed(white),
            1 - position.turn,
            resumed=position.resumed,
            seen=position.seen + key.to_bytes(_KEY, "big"),
        )

    def read(self, text: str) -> Point:
        """Read the name of a point, or a word."""
        word = WORDS.get(text.strip().lower())
        if word is not None:
            return word
        found = _NOTATION.fullmatch(text)
        point = INDEX.get(f"{found[1].lower()}{found[2]}") if found else None
        if point is None:
            raise unreadable_move(text, _FORM)
        return point

    def write(self, move: Point) -> str:
        """Return the name of the point, or the word."""
        return _WRITTEN[move] if move < 0 else NAMES[move]

    def why_illegal(self, position: GoPosition, move: Point) -> Text | None:
        """Return why a move can't be made; None for a legal one."""
        if position.phase is GoPhase.OVER:
            return SAY("over")
        if move >= 0 and not all_points(position.size) >> move & 1:
            return SAY("off-board", last=NAMES[point_of(position.size - 1, position.size - 1)])
        if position.phase is GoPhase.COUNTING:
            return _why_not_counted(position, move)
        if move < 0:
            return None if move == PASS else SAY("playing")
        return None if move in self._points(position) else _why_not_placed(position, move)

    def outcome(self, position: GoPosition) -> GameOutcome | None:
        """Return the ending: the points were counted."""
        if position.phase is not GoPhase.OVER:
            return None
        winner, said = result(position)
        return GameOutcome((winner,), Ending.MORE_POINTS, said)

    def to_json(self, position: GoPosition) -> dict[str, Any]:
        """Return the stones by point: x is Black's, o is White's; b and w are those marked as dead.

        `points` are those of each player without komi, as the stones are now; `komi` is without its half.
        """
        black, white = position.stones
        marked, board = position.marked, {}
        for point in bits(black | white):
            letters = DEAD_LETTERS if marked >> point & 1 else LETTERS
            board[NAMES[point]] = letters[white >> point & 1]
        return {
            "size": position.size,
            "komi": position.komi,
            "phase": position.phase.name.lower(),
            "points": list(counted(position)),
            "board": board,
        }


def result(position: GoPosition) -> tuple[Seat, Text]:
    """Return who wins if the marked stones are dead and no others, and a sentence on it."""
    black, white = counted(position)
    ahead = black - white - position.komi
    winner, by = (BLACK, ahead - 1) if ahead > 0 else (WHITE, -ahead)
    return winner, SAY("won", winner=winner, by=by, black=black, white=white, komi=position.komi)


def _why_not_placed(position: GoPosition, point: Point) -> Text:
    """Return why a stone can't be placed on a point of the board."""
    own, other = position.own_and_other
    if (own | other) >> point & 1:
        return SAY("taken", stone=position.stones[WHITE] >> point & 1)
    empty = all_points(position.size) & ~(own | other)
    takes, saves = _liberties(own, other, empty)
    alive = (beside(empty) | saves) >> point & 1 or point in takes
    return SAY("repeats") if alive else SAY("suicide")


# --- passing and counting


def _pass(position: GoPosition) -> GoPosition:
    """Pass; the second pass in a row begins the counting, or ends the match after that was broken off."""
    replace, other = msgspec.structs.replace, 1 - position.turn
    if not position.passed:
        return replace(position, turn=other, passed=True)
    if position.resumed:
        return replace(position, phase=GoPhase.OVER)
    return replace(position, turn=other, passed=False, phase=GoPhase.COUNTING)


def _mark(position: GoPosition, point: Point) -> GoPosition:
    """Mark the chain of a stone as dead; the same player goes on."""
    black, white = position.stones
    chain = grown(1 << point, black if black >> point & 1 else white)
    dead = _packed(position.marked | chain)
    return msgspec.structs.replace(position, dead=dead, proposed=False)


def _answer(position: GoPosition, word: Point) -> GoPosition:
    """Hand the marks over, agree with them, or have play go on without them."""
    replace, other = msgspec.structs.replace, 1 - position.turn
    if word == PROPOSE:
        return replace(position, turn=other, proposed=True)
    if word == AGREE:
        return replace(position, phase=GoPhase.OVER)
    return replace(
        position, turn=other, phase=GoPhase.PLAYING, resumed=True, proposed=False, dead=b""
    )


def _why_not_counted(position: GoPosition, move: Point) -> Text | None:
    """Return why nothing can be marked there, or why a word is no answer; None for a legal move."""
    if move == PASS:
        return SAY("counting-answer") if position.proposed else SAY("counting")
    if move < 0:
        if (move == PROPOSE) != position.proposed:
            return None
        return SAY("answer", other=1 - position.turn) if position.proposed else SAY("unproposed")
    black, white = position.stones
    if not (black | white) >> move & 1:
        return SAY("no-stone")
    return SAY("dead-already") if position.marked >> move & 1 else None
