"""Given a history, when a command comes, then these events or that refusal.

Events of matches, told in short.
"""

from collections.abc import Sequence

from msgspec.structs import asdict, replace

from domain.clocks.time_control import read_time_control
from domain.errors import Code
from domain.fairness import ChainSeed, Commitment
from domain.match.audit import verify
from domain.match.commands import Command, CommandEnvelope, PlayMove, StartMatch
from domain.match.conditional_moves import (
    NO_CONDITIONAL_MOVES,
    ConditionalMove,
    ConditionalMoves,
    ConditionalMovesBySeat,
    merge,
)
from domain.match.decide import decide
from domain.match.decision import Decision, DecisionContext, Rejection
from domain.match.events import (
    Accepted,
    Challenged,
    Claimed,
    DealProposed,
    Ended,
    Event,
    MatchProposed,
    MatchStarted,
    Moved,
    OfferMade,
    Resigned,
    ResultChanged,
    Ruled,
    SetBack,
    Undone,
)
from domain.match.history import (
    EMPTY_SNAPSHOT,
    NO_HASH,
    Snapshot,
    chain_events,
    decode_event,
    encode_event,
    leaf_hash,
    replay,
)
from domain.match.state import MatchState, cache_position
from domain.records import AccountId

ALICE, BOB, CAROL = b"alice...", b"bob.....", b"carol..."
BOARD = 1

BEGIN = 1_000
"""When the first command of a match is received, ms."""

Turn = tuple[bytes, Command]


def sent(actor: bytes, command: Command, number: int = 0, board: int = BOARD) -> CommandEnvelope:
    """A command with an id of its own for each number."""
    return CommandEnvelope(board, number.to_bytes(16, "big"), actor, command)


def pow2(*options: str) -> Turn:
    return ALICE, StartMatch(rules="pow2/1", options=options, seats=(ALICE, BOB))


def challenge(game: str, *words: str, seats: Sequence[bytes] = (ALICE, BOB)) -> Turn:
    """A challenge by the first of the seats; words with two hyphens are about time."""
    about_time = [word for word in words if word.startswith("--")]
    return seats[0], StartMatch(
        rules=f"{game}/1",
        options=tuple(word for word in words if word not in about_time),
        seats=tuple(seats),
        terms=read_time_control(about_time) if about_time else None,
    )


def plays(actor: bytes, *moves: str) -> list[Turn]:
    return [(actor, PlayMove(text=move)) for move in moves]


def alternating(*moves: str) -> list[Turn]:
    return [((ALICE, BOB)[i % 2], PlayMove(text=move)) for i, move in enumerate(moves)]


class Match:
    """A match as its commands come in, one after another; what a store would keep of it.

    A command for which no time is given comes so many ms after `BEGIN` as commands were taken, or
    together with the one before if that came later.
    """

    def __init__(self, *turns: Turn, board: int = BOARD) -> None:
        self.board = board
        self.events: list[bytes] = []
        self.snapshot = EMPTY_SNAPSHOT
        self.replies: ConditionalMovesBySeat = NO_CONDITIONAL_MOVES
        self.seed = ChainSeed(1, 1, bytes(32))
        self.kept: dict[int, bytes] = {}
        """What the server keeps for players who keep no text themselves."""
        self.away: dict[bytes, int] = {}
        """Who is on vacation, until when."""
        self.unseen: frozenset[int] = frozenset()
        """The seats whose browsers with the texts have not been seen since the seal."""
        self._taken = 0
        for actor, command in turns:
            self.do(actor, command)

    def resume(self, events: Sequence[bytes]) -> None:
        """Go on from a stored history."""
        self.events = list(events)
        self.snapshot = Snapshot(leaf_hash(events[-1]), cache_position(replay(events)))
        self._taken = len(events)

    @property
    def state(self) -> MatchState:
        return self.snapshot.state

    @property
    def bodies(self) -> list[Event]:
        return [decode_event(data).body for data in self.events]

    def decided(
        self, actor: bytes, command: Command, at: int | None = None
    ) -> Decision | Rejection:
        """Decide a command, which changes nothing unless it is accepted."""
        order = sent(actor, command, self._taken, self.board)
        received = BEGIN + self._taken if at is None else at
        decided = decide(order, self.state, self.given(received))
        if isinstance(decided, Decision):
            sealed, self.snapshot = chain_events(order, decided, self.snapshot, received)
            self.events += sealed
            self.replies = (
                self.replies if decided.conditional_moves is None else decided.conditional_moves
            )
            self._taken += 1
        return decided

    def given(self, received: int) -> DecisionContext:
        return DecisionContext(received, self.seed, self.replies, self.kept, self.away, self.unseen)

    def do(self, actor: bytes, command: Command, at: int | None = None) -> tuple[Event, ...]:
        """Give the events of a command, which has to be accepted."""
        decided = self.decided(actor, command, at)
        assert isinstance(decided, Decision), decided
        return decided.events

    def refuses(self, actor: bytes, command: Command, at: int | None = None) -> Code:
        """Give the code of a command, which has to be refused."""
        rejected = self.decided(actor, command, at)
        assert isinstance(rejected, Rejection), rejected
        return Code(rejected.code)

    def play(self, *moves: str, at: int | None = None) -> list[Event]:
        """Play moves, each by who is to move; give the events of all."""
        found: list[Event] = []
        for text in moves:
            assert self.state.next is not None
            found += self.do(self.state.seats[self.state.next], PlayMove(text=text), at)
        return found

    def lay(self, seat: int, *replies: ConditionalMove) -> None:
        """Lay replies of a seat ready beside those there are."""
        laid = merge(self.replies.get(seat, ConditionalMoves()), replies)
        self.replies = {**self.replies, seat: laid}

    def forged(self, seq: int, **changes: object) -> list[bytes]:
        """Return the events with one changed, and all that follow chained anew, as a forger would."""
        found = self.events[: seq - 1]
        head = leaf_hash(found[-1]) if found else NO_HASH
        for data in self.events[seq - 1 :]:
            envelope = replace(decode_event(data), prev=head, **changes)
            found.append(encode_event(envelope))
            head, changes = leaf_hash(found[-1]), {}
        return found

    def holds(self) -> None:
        """Assert that the history verifies and folds to the state there is."""
        verdict = verify(self.board, self.events)
        assert (verdict.head, verdict.state) == (self.snapshot.head, self.state)
        assert cache_position(replay(self.events)) == self.state


def history(turns: Sequence[Turn], board: int = BOARD) -> tuple[list[bytes], Snapshot]:
    """Decide every turn, each must be accepted; give the events' bytes and the last snapshot."""
    match = Match(*turns, board=board)
    return match.events, match.snapshot


def when(given: Sequence[Turn], actor: bytes, command: Command) -> tuple[Event, ...] | Rejection:
    decided = Match(*given).decided(actor, command)
    return decided.events if isinstance(decided, Decision) else decided


ARBITER = b"arbiter1"
TEXT = bytes(32)


def started(
    *seats: AccountId, turn: int | None = 0, rules: str = "pow2/1", options: tuple[str, ...] = ()
) -> MatchStarted:
    """A match begins, of alice and bob if nobody is named."""
    players = seats or (ALICE, BOB)
    return MatchStarted(rules=rules, options=options, seats=players, setup=None, next=turn)


def three(turn: int | None = 0) -> MatchStarted:
    return started(ALICE, BOB, CAROL, turn=turn, rules="halves/1")


def challenged(*seats: AccountId) -> Challenged:
    return Challenged(rules="halves/1", options=(), seats=seats or (ALICE, BOB), text=b"text")


def proposed(*seats: AccountId, invited: tuple[int, ...] = (1,), turn: int = 0) -> MatchProposed:
    """A match by name begins that not all have accepted."""
    begun = started(*seats, turn=turn, rules="halves/1" if len(seats) > 2 else "pow2/1")
    return MatchProposed(**asdict(begun), invited=invited, lapse=1_000_000)


def accepted(seat: int, turn: int | None = 0) -> Accepted:
    return Accepted(seat=seat, next=turn)


def deal_proposed() -> DealProposed:
    """A match by name is called for, and alice has committed."""
    called = asdict(challenged())
    given = Commitment(bytes(32)), Commitment()
    return DealProposed(**called, commitments=given, lapse=1_000_000, server_deals=True)


def moved(ply: int, seat: int, turn: int | None, *, queued: bool = False) -> Moved:
    return Moved(ply=ply, seat=seat, move="a1", next=turn, queued=queued)


def resigned(seat: int, turn: int | None = None) -> Resigned:
    return Resigned(seat=seat, next=turn)


def undone(ply: int, turn: int) -> Undone:
    return Undone(ply=ply, next=turn)


def offered(seat: int, kind: str = "draw") -> OfferMade:
    return OfferMade(seat=seat, kind=kind)


def ended(*winners: int, reason: str = "goal") -> Ended:
    return Ended(winners=winners, reason=reason)


def claimed(seat: int | None, ply: int = 0) -> Claimed:
    return Claimed(seat=seat, ply=ply, text=TEXT)


def ruled(claim: int | None = None, *, upheld: bool = True) -> Ruled:
    return Ruled(claim=claim, upheld=upheld, text=TEXT)


def set_back(ply: int, turn: int, *back: int) -> SetBack:
    """A match is set back, and some seats are back."""
    return SetBack(ply=ply, next=turn, back=back)


def result_changed(*winners: int) -> ResultChanged:
    """Another result; annulled without winners."""
    return ResultChanged(winners=winners, reason="ruling" if winners else "annulled")
