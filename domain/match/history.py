"""The history of a match: events chained by their hashes, and the snapshot after them.

The leaves of a log, of whatever kind: an event in its envelope, a refusal, or the anchor of a chain of seeds.

A leaf is encoded once. Those bytes are stored, hashed, logged and exported, and never encoded again.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import groupby
from typing import Final

import msgspec
from msgspec.structs import replace

from domain.clocks.match_clock import TURN_SIZE
from domain.match.commands import CommandEnvelope, RevealText, StartVacation
from domain.match.decision import Decision, Rejection
from domain.match.events import (
    Absent,
    Event,
    Flagged,
    Imported,
    MatchStarted,
    Moved,
    OpeningGiven,
    Resigned,
    Revealed,
    SetBack,
    Undone,
)
from domain.match.evolve import evolve
from domain.match.state import MatchState, initial
from domain.records import SCHEMA, SERVER_ACCOUNT, AccountId, CommandId, RecordDecoder, decode_text

EVENT_LIMIT: Final = 65_535
"""The most bytes of an event, because log tiles have two bytes for the length of an entry."""

NO_HASH: Final = bytes(32)
"""`prev` of a match's first event, and the head of a match without events."""


class AnchorLeaf(msgspec.Struct, frozen=True, array_like=True, tag="anchor"):
    """The leaf of the log that fixes a chain of seeds before the first is used."""

    schema: int
    shard: int
    chain: int
    """1 for the shard's first chain."""
    anchor: bytes
    """s(0)."""


class EventEnvelope(msgspec.Struct, frozen=True, array_like=True):
    """An event with its match, number, time, command, actor and the hash of its predecessor."""

    schema: int
    match: int
    """The board number."""
    seq: int
    """1..n within the match, without gaps."""
    at: int
    """Milliseconds since 1970 by Redis's clock; never decreasing within a match."""
    command: CommandId
    actor: AccountId
    prev: bytes
    """Leaf hash of the match's previous event, `NO_HASH` for the first."""
    body: Event


class RefusedLeaf(msgspec.Struct, frozen=True, array_like=True, tag="refused"):
    """The leaf of the log for a refused command of a player of the match.

    It can't be confused with an event, because no event begins with text.
    """

    schema: int
    match: int
    at: int
    command: CommandId
    actor: AccountId
    code: str
    move: str | None
    """The canonical text of a readable move; None for any other command."""
    text: bytes | None
    """None. It has a place in the bytes, which are final; a refused command is kept outside of the log."""


_ENCODER: Final = msgspec.msgpack.Encoder()

_EVENTS: Final = RecordDecoder(EventEnvelope)

_ANCHORS: Final = RecordDecoder(AnchorLeaf)

_REFUSALS: Final = RecordDecoder(RefusedLeaf)


def encode_event(item: EventEnvelope | RefusedLeaf | AnchorLeaf) -> bytes:
    """Return the bytes to store and hash; raises `ValueError` above `EVENT_LIMIT`."""
    data = _ENCODER.encode(item)
    if len(data) > EVENT_LIMIT:
        raise ValueError(f"an event of {len(data)} bytes; {EVENT_LIMIT} is the limit")
    return data


_FIRST_TEXT: Final = 0x80
"""MessagePack: a byte below it is a number, with which an event begins after its length."""


def body_size(body: Event) -> int:
    """Return the bytes of an event's body when encoded."""
    return len(_ENCODER.encode(body))


def is_event(leaf: bytes) -> bool:
    """Return whether a leaf is an event: the others begin with text. `msgspec.DecodeError` if it is none."""
    if len(leaf) < 2:  # noqa: PLR2004 - the length of an array, and its first field
        raise msgspec.DecodeError(f"a leaf has more than {len(leaf)} bytes")
    return leaf[1] < _FIRST_TEXT


def is_move(leaf: bytes) -> bool:
    """Return whether a leaf is a move; what else its command made, such as the match's end, has leaves of its own."""
    try:
        return is_event(leaf) and isinstance(decode_event(leaf).body, Moved)
    except msgspec.MsgspecError:
        return False


def decode_event(data: bytes) -> EventEnvelope:
    """Read an event; raises `msgspec.DecodeError` or `ValidationError` if the bytes are none."""
    return _EVENTS.decode(data)


def decode_refusal(data: bytes) -> RefusedLeaf:
    """Read a refusal's leaf; raises as `decode` does."""
    return _REFUSALS.decode(data)


def decode_anchor(data: bytes) -> AnchorLeaf:
    """Read an anchor's leaf; raises as `decode` does."""
    return _ANCHORS.decode(data)


def leaf_hash(data: bytes) -> bytes:
    """Return the RFC 6962 leaf hash: SHA-256 of 0x00 and the bytes."""
    return sha256(b"\x00" + data).digest()


Leaf = EventEnvelope | RefusedLeaf | AnchorLeaf


def decode_leaf(data: bytes) -> Leaf:
    """Read a leaf; raises `msgspec.MsgspecError` if it is none."""
    if is_event(data):
        return decode_event(data)
    try:
        return decode_refusal(data)
    except msgspec.MsgspecError:
        return decode_anchor(data)


def time_of_leaf(data: bytes) -> int | None:
    """Return the time of a leaf; None for an anchor, and for a damaged leaf."""
    try:
        leaf = decode_leaf(data)
    except (msgspec.MsgspecError, TypeError):
        return None
    return None if isinstance(leaf, AnchorLeaf) else leaf.at


def command_of(leaf: Leaf) -> tuple[int, bytes]:
    """Return what the leaves of one commit have in common: match and command, or the chain."""
    return (leaf.chain, b"") if isinstance(leaf, AnchorLeaf) else (leaf.match, leaf.command)


def without_last_command(leaves: Sequence[bytes]) -> list[bytes]:
    """Return leaves without the last command's, of which more may follow; all if they are of one."""
    last = _command_in(leaves[-1])
    end = len(leaves)
    while end and _command_in(leaves[end - 1]) == last:
        end -= 1
    return list(leaves[:end] if end else leaves)


def _command_in(data: bytes) -> tuple[int, bytes]:
    """Return the command of a leaf; one that is damaged is alone."""
    try:
        return command_of(decode_leaf(data))
    except msgspec.MsgspecError:
        return (-1, data)


_CHANGES_POSITION = (
    Moved,
    MatchStarted,
    OpeningGiven,
    Imported,
    Undone,
    SetBack,
    Resigned,
    Flagged,
)
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


_HEAD: Final = 32
_MAPS: Final = frozenset((*range(0x80, 0x90), 0xDE))
"""First bytes of a map in MessagePack, as which a tournament's state is stored; a match's is an array."""


def is_tournament(packed: PackedSnapshot) -> bool:
    """Return whether a stored snapshot is a tournament's."""
    return len(packed.state) > _HEAD and packed.state[_HEAD] in _MAPS


def unpack_snapshot(packed: PackedSnapshot | None) -> Snapshot:
    """Read the stored snapshot of a match; `msgspec.MsgspecError` for a damaged one.

    `EMPTY_SNAPSHOT` for None, and for the number of a tournament, which is no match.
    """
    if packed is None or is_tournament(packed):
        return EMPTY_SNAPSHOT
    state = _UNPACK.decode(memoryview(packed.state)[_HEAD:])
    if packed.moves.count(b" ") + bool(packed.moves) != state.ply:
        raise msgspec.ValidationError(f"the state has {state.ply} plies, and the moves others")
    clock = state.clock
    if len(packed.turns) != (0 if clock is None else state.ply * TURN_SIZE):
        raise msgspec.ValidationError(f"the state has {state.ply} plies, and the turns others")
    if state.ply:
        clock = clock and replace(clock, turns=packed.turns)
        state = replace(state, moves=decode_text(packed.moves), clock=clock)
    return Snapshot(packed.state[:_HEAD], state)


def chain_events(
    sent: CommandEnvelope, decision: Decision, snapshot: Snapshot, received: int
) -> tuple[tuple[bytes, ...], Snapshot]:
    """Return the events' final bytes, each chained to the one before, and the snapshot after them.

    `received` is the inbox's time of the command, ms. An event has the later of that and the time
    of the event before, because the time of a match never runs backwards.
    """
    state, head = snapshot.state, snapshot.head
    placing = None
    for event in decision.events:
        if isinstance(event, _CHANGES_POSITION):
            placing = event
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
        case Moved():
            return state.seats[event.seat] if event.queued else sent.actor
        case Absent() if not isinstance(sent.command, StartVacation):
            return state.seats[event.seat]
        case Revealed() if not _is_own_reveal(sent, state.seats[event.seat]):
            return SERVER_ACCOUNT
        case _:
            return sent.actor


def _is_own_reveal(sent: CommandEnvelope, account: AccountId) -> bool:
    return isinstance(sent.command, RevealText) and sent.actor == account


def encode_refusal(
    sent: CommandEnvelope, rejected: Rejection, last_at: int, received: int
) -> bytes:
    """Return the leaf of the log for a refusal; `last_at` is the time of the last event before it, ms."""
    at = max(received, last_at)
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
