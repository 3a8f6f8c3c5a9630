"""A match server in plain dicts and lists: what the real one must be equal to.

It shares the commands' types with the server and nothing else; the Power of Two is the slow second
one of `tests/games`. There are no scripts, hashes, leases or batches: commands wait in one list,
and `settle` carries out the first of a match's.
"""

import re
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache

from domain.match import commands
from domain.match.commands import Command, CommandEnvelope, MakeOffer, PlayMove, StartMatch
from tests.games.pow2 import reference as pow2

REFUSALS = 50
TRIES = 3
STARTS = {
    "": ("m1 m13", "a1 a13"),
    "-fast": ("m1 i5 i9 m13", "a1 e5 e9 a13"),
    "-middle": ("m7 g13", "g1 a7"),
}
SWITCHES = ("-exact", "-noborder")
Board = dict[str, str]
Event = list[object]


class Refused(Exception):  # noqa: N818 - it says what happened
    """The command leads to nothing."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@lru_cache(100_000)
def _legal(board: frozenset[tuple[str, str]], seat: int, switches: frozenset[str]) -> list[str]:
    exact, noborder = (switch in switches for switch in SWITCHES)
    return sorted(pow2.legal(dict(board), seat, exact=exact, noborder=noborder))


@dataclass
class Match:
    """One match; without seats before it has started."""

    options: tuple[str, ...] = ()
    seats: tuple[bytes, ...] = ()
    board: Board = field(default_factory=dict)
    turn: int | None = None
    stood: list[tuple[Board, int | None]] = field(default_factory=list)
    """Every position there was, with the seat to move."""
    moved: set[int] = field(default_factory=set)
    offer: tuple[int, str] | None = None
    """The seat whose offer stands, and of what."""
    over: bool = False
    events: list[Event] = field(default_factory=list)
    refusals: Counter[tuple[bytes, int]] = field(default_factory=Counter)

    @property
    def ply(self) -> int:
        return max(0, len(self.stood) - 1)

    def legal(self) -> list[str]:
        """The moves of the seat to move."""
        if self.turn is None:
            return []
        return _legal(frozenset(self.board.items()), self.turn, frozenset(self.options))

    def act(self, actor: bytes, command: Command) -> list[Event]:
        """Carry a command out, and give its events; or raise `Refused`, changing nothing."""
        if isinstance(command, StartMatch):
            return self._start(command)
        if not self.seats:
            raise Refused("unknown-board")
        if actor not in self.seats:
            raise Refused("not-a-player")
        if self.over:
            raise Refused("match-over")
        return self._turn(self.seats.index(actor), command)

    def _turn(self, seat: int, command: Command) -> list[Event]:
        match command:
            case PlayMove():
                return self._move(seat, command)
            case MakeOffer():
                return self._offer(seat, command.kind)
            case commands.AnswerOffer():
                return self._answer(seat, accept=command.accept)
            case commands.ResignMatch():
                return [["resigned", seat], self._end([1 - seat], "resignation")]
            case commands.DeclineMatch():
                if seat in self.moved:
                    raise Refused("too-late")
                return [["declined", seat], self._end([], "declined")]
            case StartMatch():
                raise AssertionError("a start is nobody's turn")

    def _start(self, command: StartMatch) -> list[Event]:
        if self.seats:
            raise Refused("already-started")
        if command.rules != "pow2/1":
            raise Refused("unknown-rules")
        if len(command.seats) != 2 or command.seats[0] == command.seats[1]:
            raise Refused("bad-players")
        if not set(command.options) <= {*STARTS, *SWITCHES}:
            raise Refused("unknown-option")
        starts = [option for option in command.options if option in STARTS]
        if len(starts) > 1:
            raise Refused("bad-option")
        light, dark = STARTS[starts[0] if starts else ""]
        self.options, self.seats = tuple(sorted(command.options)), command.seats
        self.board = dict.fromkeys(light.split(), "O") | dict.fromkeys(dark.split(), "X")
        self.turn = 0
        self.stood = [(self.board, 0)]
        seats = list(command.seats)
        # chance has no part in this game, so there is no setup; seat 0 is to move
        return [["match-started", command.rules, list(self.options), seats, None, 0]]

    def _move(self, seat: int, command: PlayMove) -> list[Event]:
        if command.ply is not None and command.ply != self.ply:
            raise Refused("stale-ply")
        if seat != self.turn:
            raise Refused("not-your-turn")
        text = read(command.text)
        if text not in self.legal():
            raise Refused("illegal-move")
        self.board, self.turn = pow2.play(self.board, seat, text), 1 - seat
        self.stood.append((self.board, self.turn))
        self.moved.add(seat)
        if self.offer != (seat, "draw"):
            self.offer = None
        ended = self._ended_by_rules(seat)
        return [["moved", self.ply, seat, text, self.turn], *ended]

    def _ended_by_rules(self, mover: int) -> list[Event]:
        if sum(letter in ("Oo", "Xx")[mover] for letter in self.board.values()) == 16:
            return [self._end([mover], "all-placed")]
        return [] if self.legal() else [self._end([mover], "no-move")]

    def _offer(self, seat: int, kind: str) -> list[Event]:
        if kind not in ("draw", "undo", "abort", "pause"):
            raise Refused("unknown-offer")
        if self.offer is not None:
            if self.offer != (1 - seat, kind):
                raise Refused("offer-stands")
            return self._answer(seat, accept=True)
        # these matches have no clocks that a pause could stop
        if kind == "pause" or (kind == "undo" and self._last_move_of(seat) is None):
            raise Refused("unknown-offer")
        offered: Event = ["offered", seat, kind]
        if kind == "draw" and self.stood.count(self.stood[-1]) >= 3:
            return [offered, self._end([0, 1], "repetition")]
        self.offer = (seat, kind)
        return [offered]

    def _last_move_of(self, seat: int) -> int | None:
        """How many moves had been played before the seat's last one."""
        own = [ply for ply, (_, turn) in enumerate(self.stood[:-1]) if turn == seat]
        return own[-1] if own else None

    def _undo(self, ply: int) -> Event:
        self.stood = self.stood[: ply + 1]
        self.board, self.turn = self.stood[-1]
        return ["undone", ply, self.turn]

    def _answer(self, seat: int, *, accept: bool) -> list[Event]:
        if self.offer is None or (accept and self.offer[0] == seat):
            raise Refused("no-offer")
        (other, kind), self.offer = self.offer, None
        answered: Event = ["answered", seat, kind, accept]
        if not accept:
            return [answered]
        if kind == "draw":
            return [answered, self._end([0, 1], "agreement")]
        if kind == "abort":
            return [answered, self._end([], "aborted")]
        ply = self._last_move_of(other)
        assert ply is not None
        return [answered, self._undo(ply)]

    def _end(self, winners: list[int], reason: str) -> Event:
        self.over, self.turn, self.offer = True, None, None
        return ["ended", winners, reason]


def read(text: str) -> str:
    """Give a move's canonical text; refused as the server says."""
    if len(text) > 512:
        raise Refused("too-long")
    place = "|".join(pow2.NAMES)
    plain = "".join(text.split()).lower() if text.isascii() else ""
    if plain in pow2.NAMES:
        return plain
    listed = f"(?::((?:{place})(?:,(?:{place}))*))?"
    found = re.fullmatch(f"({place})-({place}){listed}", plain)
    if not found:
        raise Refused("unreadable-move")
    placed = found[3].split(",") if found[3] else []
    if len(set(placed)) != len(placed):
        raise Refused("unreadable-move")
    return f"{found[1]}-{found[2]}" + (":" + ",".join(pow2.order(placed)) if placed else "")


@dataclass(frozen=True)
class Outcome:
    """What became of a command: the code is empty when it was accepted."""

    sent: CommandEnvelope
    code: str
    seq: int
    """Of its first event, or of the last one before it when it was refused."""


@dataclass(frozen=True)
class Waiting:
    """A command in the inbox."""

    entry: str
    sent: CommandEnvelope


class Server:
    """Matches, what waits, and what became of it."""

    def __init__(self, shards: int, cap: int) -> None:
        self._shards = shards
        self._cap = cap
        self.matches: dict[int, Match] = {}
        self.outcomes: dict[tuple[int, bytes], Outcome] = {}
        self.waiting: list[Waiting] = []

    def match(self, board: int) -> Match:
        """Give a match."""
        return self.matches.setdefault(board, Match())

    def expected(self, sent: CommandEnvelope, ply: int) -> str | Outcome:
        """Say how a command is received: its outcome, a refusal at once, or `queued`."""
        known = self.outcomes.get((sent.match, sent.id))
        if known:
            return known if known.sent == sent else "id-reused"
        if self.match(sent.match).refusals[sent.actor, ply] >= REFUSALS:
            return "too-many-refusals"
        shard = sent.match % self._shards
        if sum(w.sent.match % self._shards == shard for w in self.waiting) >= self._cap:
            return "busy"
        return "queued"

    def foreseen(self, board: int) -> Match:
        """Give the match as it will stand when what waits is done."""
        later = deepcopy(self.match(board))
        done = {id_ for at, id_ in self.outcomes if at == board}
        for waits in self.waiting:
            if waits.sent.match == board and waits.sent.id not in done:
                done.add(waits.sent.id)
                _carry_out(later, waits.sent)
        return later

    def settle(self, waits: Waiting, *, internal: bool = False) -> None:
        """Give a waiting command its outcome; a repeated id has one already."""
        self.waiting.remove(waits)
        sent = waits.sent
        if (sent.match, sent.id) in self.outcomes:
            return
        match = self.match(sent.match)
        before = len(match.events)
        code = "internal" if internal else _carry_out(match, sent)
        if code:
            match.refusals[sent.actor, match.ply] += 1
        self.outcomes[sent.match, sent.id] = Outcome(sent, code, before if code else before + 1)


def _carry_out(match: Match, sent: CommandEnvelope) -> str:
    """Let a command act; give the code of its refusal, if it is one."""
    try:
        match.events += match.act(sent.actor, sent.command)
    except Refused as refused:
        return refused.code
    match.refusals.clear()
    return ""
