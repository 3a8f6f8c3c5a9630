"""The history of a match: events chained by their hashes, and the snapshot after them."""

from collections.abc import Iterable, Sequence

import msgspec

from domain.match.commands import Away, Reveal, Sent
from domain.match.decide import Decided, Rejected
from domain.match.events import (
    NO_HASH,
    SCHEMA,
    THE_SERVER,
    Absent,
    AccountId,
    Envelope,
    Event,
    Flagged,
    MatchStarted,
    Moved,
    RefusedLeaf,
    Resigned,
    Revealed,
    Undone,
    decode,
    encode,
    leaf_hash,
)
from domain.match.state import MatchState, evolve, initial

_PLACING = (MatchStarted, Moved, Undone, Resigned, Flagged)
"""Events that change the position."""

_PACK = msgspec.msgpack.Encoder()
_UNPACK = msgspec.msgpack.Decoder(MatchState)


class Snapshot(msgspec.Struct, frozen=True):
    """A match in the store: the leaf hash of its last event, and its state."""

    head: bytes
    state: MatchState


NO_MATCH = Snapshot(NO_HASH, initial())
"""The snapshot of a board without events."""


def pack_snapshot(snapshot: Snapshot) -> bytes:
    """Return the bytes to store: 32 of the head, then the state."""
    return snapshot.head + _PACK.encode(snapshot.state)


def unpack_snapshot(data: bytes | None) -> Snapshot:
    """Read the stored bytes; `NO_MATCH` for None."""
    if data is None:
        return NO_MATCH
    return Snapshot(data[:32], _UNPACK.decode(memoryview(data)[32:]))


def seal(
    sent: Sent, decision: Decided, snapshot: Snapshot, received: int
) -> tuple[tuple[bytes, ...], Snapshot]:
    """Return the events' final bytes, each chained to the one before, and the snapshot after them.

    `received` is the inbox's time of the command, ms. An event has the later of that and the time
    of the event before, because the time of a match never runs backwards.
    """
    state, head = snapshot.state, snapshot.head
    placing = next((e for e in reversed(decision.events) if isinstance(e, _PLACING)), None)
    at = max(received, state.at)
    sealed = []
    for event in decision.events:
        actor = _actor_of(event, sent, state)
        data = encode(Envelope(SCHEMA, sent.match, state.seq + 1, at, sent.id, actor, head, event))
        sealed.append(data)
        head = leaf_hash(data)
        # a decision has the position after its last event that changes it
        memo = decision.position if event is placing else None
        state = evolve(state, event, at, memo)
    return tuple(sealed), Snapshot(head, state)


def _actor_of(event: Event, sent: Sent, state: MatchState) -> AccountId:
    """Return the actor of an event: the sender, unless it is another's conditional move or vacation.

    A text that the server reveals has the server as its actor.
    """
    match event:
        case Moved(queued=True):
            return state.seats[event.seat]
        case Absent() if not isinstance(sent.command, Away):
            return state.seats[event.seat]
        case Revealed() if not _is_own(sent, state.seats[event.seat]):
            return THE_SERVER
        case _:
            return sent.actor


def _is_own(sent: Sent, account: AccountId) -> bool:
    return isinstance(sent.command, Reveal) and sent.actor == account


def seal_refusal(sent: Sent, rejected: Rejected, snapshot: Snapshot, received: int) -> bytes:
    """Return the leaf of the log for a refusal."""
    at = max(received, snapshot.state.at)
    return encode(
        RefusedLeaf(SCHEMA, sent.match, at, sent.id, sent.actor, rejected.code, rejected.move, None)
    )


def refold(events: Iterable[bytes]) -> MatchState:
    """Return the state after stored events, without checking them."""
    state = initial()
    for data in events:
        envelope = decode(data)
        state = evolve(state, envelope.body, envelope.at)
    return state


class Broken(Exception):  # noqa: N818 - it names the fault of a history
    """A history is invalid; `seq` is its first invalid event."""

    def __init__(self, seq: int, sentence: str) -> None:
        super().__init__(f"event {seq}: {sentence}")
        self.seq = seq
        self.sentence = sentence


def check_chain(board: int, events: Sequence[bytes]) -> list[Envelope]:
    """Read a whole history and check order and chain; raises `Broken` with the first invalid event."""
    head, at, found = NO_HASH, 0, []
    for seq, data in enumerate(events, 1):
        try:
            envelope = decode(data)
        except msgspec.MsgspecError as error:
            raise Broken(seq, f"its bytes are no event: {error}") from error
        _check_place(envelope, board, seq, at, head)
        head, at = leaf_hash(data), envelope.at
        found.append(envelope)
    return found


def _check_place(envelope: Envelope, board: int, seq: int, at: int, head: bytes) -> None:
    if envelope.schema != SCHEMA:
        raise Broken(seq, f"its schema is {envelope.schema}, not {SCHEMA}")
    if envelope.match != board:
        raise Broken(seq, f"it belongs to match {envelope.match}")
    if envelope.seq != seq:
        raise Broken(seq, f"it calls itself number {envelope.seq}")
    if envelope.at < at:
        raise Broken(seq, "it is older than the event before it")
    if envelope.prev != head:
        raise Broken(seq, "it does not follow the event before it: the hash differs")
