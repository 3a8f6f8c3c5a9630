"""Given a history, when a command comes, then these events or that refusal."""

from collections.abc import Sequence

from domain.match.commands import Command, Move, Sent, Start
from domain.match.decide import Decided, Rejected, decide
from domain.match.events import Event
from domain.match.record import NO_MATCH, Snapshot, seal

ALICE, BOB, CAROL = b"alice...", b"bob.....", b"carol..."
BOARD = 1

Turn = tuple[bytes, Command]


def sent(actor: bytes, command: Command, number: int = 0, board: int = BOARD) -> Sent:
    """A command with an id of its own for each number."""
    return Sent(board, number.to_bytes(16, "big"), actor, command)


def pow2(*options: str) -> Turn:
    """A challenge of bob by alice."""
    return ALICE, Start(rules="pow2/1", options=options, seats=(ALICE, BOB))


def plays(actor: bytes, *moves: str) -> list[Turn]:
    """Moves of one player."""
    return [(actor, Move(text=move)) for move in moves]


def alternating(*moves: str) -> list[Turn]:
    """Moves in turn, alice first."""
    return [((ALICE, BOB)[i % 2], Move(text=move)) for i, move in enumerate(moves)]


def history(turns: Sequence[Turn], board: int = BOARD) -> tuple[list[bytes], Snapshot]:
    """Decide every turn, each must be accepted; give the events' bytes and the last snapshot."""
    snapshot = NO_MATCH
    events: list[bytes] = []
    for number, (actor, command) in enumerate(turns):
        order = sent(actor, command, number, board)
        decided = decide(order, snapshot.state)
        assert isinstance(decided, Decided), decided
        sealed, snapshot = seal(order, decided, snapshot, 1_000 + number)
        events += sealed
    return events, snapshot


def when(given: Sequence[Turn], actor: bytes, command: Command) -> tuple[Event, ...] | Rejected:
    """Decide one more command."""
    _, snapshot = history(given)
    decided = decide(sent(actor, command, len(given)), snapshot.state)
    return decided.events if isinstance(decided, Decided) else decided
