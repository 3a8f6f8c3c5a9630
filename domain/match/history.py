"""The history of a match: events chained by their hashes, and the snapshot after them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import msgspec
from msgspec.structs import replace

from domain.clocks.match_clock import TURN_SIZE
from domain.match.commands import CommandEnvelope, RevealText, StartVacation
from domain.match.decision import Decision, Rejection
from domain.match.decoding import RecordDecoder, decode_text
from domain.match.events import (
    SCHEMA,
    SERVER_ACCOUNT,
    Absent,
    AccountId,
    Event,
    Flagged,
    Imported,
    MatchStarted,
    Moved,
    Resigned,
    Revealed,
    SetBack,
    Undone,
)
from domain.match.evolve import evolve
from domain.match.leaves import (
    NO_HASH,
    EventEnvelope,
    RefusedLeaf,
    decode_event,
    encode_event,
    leaf_hash,
)
from domain.match.state import MatchState, initial

_CHANGES_POSITION = (MatchStarted, Imported, Moved, Undone, SetBack, Resigned, Flagged)
"""Events that change the position."""

_PACK = msgspec.msgpack.Encoder()
_UNPACK = RecordDecoder(MatchState)


class Snapshot(msgspec.Struct, frozen=True):
    """A match in the store: the leaf hash of its last event, and its state."""

    head: bytes
    state: MatchState


EMPTY_SNAPSHOT = Snapshot(NO_HASH, initial())
"""The snapshot of a board without events."""


class PackedSnapshot(msgspec.Struct, frozen=True):
    """A snapshot as it is stored: a state of nearly fixed size, and apart from it what each ply adds to."""

    state: bytes
    """32 bytes of the head, then the state without its moves and their times."""
    moves: bytes = b""
    """`MatchState.moves` in UTF-8."""
    turns: bytes = b""
    """`MatchClock.turns`; empty for a match without clocks."""


def pack_snapshot(snapshot: Snapshot, since: MatchState | None = None) -> PackedSnapshot:
    """Return the parts to store.

    With `since`, an earlier state after which no move was taken back, moves and turns are only those
    after it, to be appended to those that are stored.
    """
    state, clock = snapshot.state, snapshot.state.clock
    moves, turns = state.moves, clock.turns if clock else b""
    bare = replace(state, moves="", clock=clock and replace(clock, turns=b""))
    if since is not None:
        moves = moves[len(since.moves) :]
        turns = turns[len(since.clock.turns) :] if since.clock else turns
    return PackedSnapshot(snapshot.head + _PACK.encode(bare), moves.encode(), turns)


def unpack_snapshot(packed: PackedSnapshot | None) -> Snapshot:
    """Read a stored snapshot; `EMPTY_SNAPSHOT` for None, `msgspec.MsgspecError` for a damaged one."""
    if packed is None:
        return EMPTY_SNAPSHOT
    state = _UNPACK.decode(memoryview(packed.state)[32:])
    if packed.moves.count(b" ") + bool(packed.moves) != state.ply:
        raise msgspec.ValidationError(f"the state has {state.ply} plies, and the moves others")
    clock = state.clock
    if len(packed.turns) != (0 if clock is None else state.ply * TURN_SIZE):
        raise msgspec.ValidationError(f"the state has {state.ply} plies, and the turns others")
    if state.ply:
        clock = clock and replace(clock, turns=packed.turns)
        state = replace(state, moves=decode_text(packed.moves), clock=clock)
    return Snapshot(packed.state[:32], state)


def chain_events(
    sent: CommandEnvelope, decision: Decision, snapshot: Snapshot, received: int
) -> tuple[tuple[bytes, ...], Snapshot]:
    """Return the events' final bytes, each chained to the one before, and the snapshot after them.

    `received` is the inbox's time of the command, ms. An event has the later of that and the time
    of the event before, because the time of a match never runs backwards.
    """
    state, head = snapshot.state, snapshot.head
    placing = next((e for e in reversed(decision.events) if isinstance(e, _CHANGES_POSITION)), None)
    at = max(received, state.at)
    sealed = []
    for event in decision.events:
        actor = _actor_of(event, sent, state)
        data = encode_event(
            EventEnvelope(SCHEMA, sent.match, state.seq + 1, at, sent.id, actor, head, event)
        )
        sealed.append(data)
        head = leaf_hash(data)
        # a decision has the position after its last event that changes it
        memo = decision.position if event is placing else None
        state = evolve(state, event, at, memo, actor)
    return tuple(sealed), Snapshot(head, state)


def _actor_of(event: Event, sent: CommandEnvelope, state: MatchState) -> AccountId:
    """Return the actor of an event: the sender, unless it is another's conditional move or vacation.

    A text that the server reveals has the server as its actor.
    """
    match event:
        case Moved(queued=True):
            return state.seats[event.seat]
        case Absent() if not isinstance(sent.command, StartVacation):
            return state.seats[event.seat]
        case Revealed() if not _is_own_reveal(sent, state.seats[event.seat]):
            return SERVER_ACCOUNT
        case _:
            return sent.actor


def _is_own_reveal(sent: CommandEnvelope, account: AccountId) -> bool:
    return isinstance(sent.command, RevealText) and sent.actor == account


def encode_refusal(
    sent: CommandEnvelope, rejected: Rejection, snapshot: Snapshot, received: int
) -> bytes:
    """Return the leaf of the log for a refusal."""
    at = max(received, snapshot.state.at)
    return encode_event(
        RefusedLeaf(SCHEMA, sent.match, at, sent.id, sent.actor, rejected.code, rejected.move, None)
    )


def replay(events: Iterable[bytes]) -> MatchState:
    """Return the state after stored events, without checking them."""
    state = initial()
    for data in events:
        envelope = decode_event(data)
        state = evolve(state, envelope.body, envelope.at, actor=envelope.actor)
    return state


def events_by_command(events: Iterable[EventEnvelope]) -> Iterator[list[EventEnvelope]]:
    """Yield the events of each command, which stand together."""
    for _, group in groupby(events, key=lambda event: event.command):
        yield list(group)


class BrokenHistory(Exception):  # noqa: N818 - it names the fault of a history
    """A history is invalid; `seq` is its first invalid event."""

    def __init__(self, seq: int, sentence: str) -> None:
        super().__init__(f"event {seq}: {sentence}")
        self.seq = seq
        self.sentence = sentence


def check_chain(board: int, events: Sequence[bytes]) -> list[EventEnvelope]:
    """Read a whole history and check order and chain; raises `BrokenHistory` with the first invalid event."""
    head, at, found = NO_HASH, 0, []
    for seq, data in enumerate(events, 1):
        try:
            envelope = decode_event(data)
        except msgspec.MsgspecError as error:
            raise BrokenHistory(seq, f"its bytes are no event: {error}") from error
        _check_place(envelope, board, seq, at, head)
        head, at = leaf_hash(data), envelope.at
        found.append(envelope)
    return found


def _check_place(envelope: EventEnvelope, board: int, seq: int, at: int, head: bytes) -> None:
    if envelope.schema != SCHEMA:
        raise BrokenHistory(seq, f"its schema is {envelope.schema}, not {SCHEMA}")
    if envelope.match != board:
        raise BrokenHistory(seq, f"it belongs to match {envelope.match}")
    if envelope.seq != seq:
        raise BrokenHistory(seq, f"it calls itself number {envelope.seq}")
    if envelope.at < at:
        raise BrokenHistory(seq, "it is older than the event before it")
    if envelope.prev != head:
        raise BrokenHistory(seq, "it does not follow the event before it: the hash differs")
