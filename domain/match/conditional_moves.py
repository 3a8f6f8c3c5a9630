"""Conditional moves: moves that a player enters in advance, played as soon as they are due.

Each seat has a tree of them, stored as its branches: the moves that must have been played, and the
answer. They are not events, and no log has them, until they are played. Then they are moves like
any other, marked as queued. `decide` takes them beside the state.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from domain.records import RecordDecoder
from domain.rules import Seat
from domain.sentences import Text, pack_text, unpack_text

CONDITIONAL_MOVES_LIMIT: Final = 100
"""The most conditional moves of a seat in a match."""

_NOTES_LIMIT: Final = 10
"""The most notes that are kept; older ones are dropped."""


class ConditionalMove(msgspec.Struct, frozen=True, array_like=True):
    """A conditional move."""

    ply: int
    """The number of moves before it."""
    path: tuple[str, ...] | None
    """The canonical texts of the moves that must come before it, from the ply at which it was
    entered; None if it is for any moves, empty if it is for the player's first turn from that ply on."""
    move: str
    """Its canonical text."""

    @property
    def next_turn(self) -> bool:
        """Whether it is for the player's first turn from its ply on, whichever ply that is."""
        return self.path == ()

    @property
    def first_ply(self) -> int:
        """The number of moves before the first that it depends on."""
        return self.ply - len(self.path or ())


class ConditionalMoves(msgspec.Struct, frozen=True, array_like=True):
    """The conditional moves of a seat, and notes about dropped ones."""

    moves: tuple[ConditionalMove, ...] = ()
    notes: tuple[Text, ...] = ()


ConditionalMovesBySeat = Mapping[Seat, ConditionalMoves]
"""The conditional moves of all seats. A player may see only their own."""

NO_CONDITIONAL_MOVES: Final[ConditionalMovesBySeat] = {}


class _StoredMoves(msgspec.Struct, frozen=True, array_like=True):
    moves: tuple[ConditionalMove, ...] = ()
    notes: tuple[str | list[Any], ...] = ()
    """Plain ones, and others as `pack_text` returns them."""


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = RecordDecoder(dict[Seat, _StoredMoves])


def pack(replies: ConditionalMovesBySeat) -> bytes:
    """Return the bytes to store; empty if there is nothing to store."""
    # in the order of the seats, because equal values must have equal bytes
    stored = {
        seat: _stored(replies[seat])
        for seat in sorted(replies)
        if replies[seat] != ConditionalMoves()
    }
    return _ENCODER.encode(stored) if stored else b""


def unpack(data: bytes | None) -> ConditionalMovesBySeat:
    """Read the stored bytes; raises `msgspec.DecodeError` or `ValidationError` for any others."""
    if not data:
        return NO_CONDITIONAL_MOVES
    return {seat: _read(stored) for seat, stored in _DECODER.decode(data).items()}


def _stored(own: ConditionalMoves) -> _StoredMoves:
    notes = (one if isinstance(one, str) else pack_text(one) for one in own.notes)
    return _StoredMoves(own.moves, tuple(notes))


def _read(stored: _StoredMoves) -> ConditionalMoves:
    try:
        notes = [one if isinstance(one, str) else unpack_text(one) for one in stored.notes]
    except ValueError as error:
        raise msgspec.DecodeError(str(error)) from error
    return ConditionalMoves(stored.moves, tuple(notes))


def find_due(
    replies: ConditionalMovesBySeat, seat: Seat, moves: Sequence[str]
) -> ConditionalMove | None:
    """Return a seat's conditional move after these moves; of several the one with the longest path."""
    fitting = [
        reply
        for reply in replies.get(seat, ConditionalMoves()).moves
        if _is_at(reply, len(moves)) and _fits_moves(reply, moves)
    ]
    return max(fitting, key=lambda reply: len(reply.path or ()), default=None)


def _is_at(reply: ConditionalMove, ply: int) -> bool:
    """Return whether a conditional move may be for the turn at a ply."""
    return reply.ply == ply or (reply.next_turn and reply.ply < ply)


def _fits_moves(reply: ConditionalMove, moves: Sequence[str]) -> bool:
    """Return whether the moves so far agree with its path."""
    if reply.path is None:
        return True
    played = tuple(moves[reply.first_ply : reply.ply])
    return reply.first_ply <= len(moves) and reply.path[: len(played)] == played


def still_possible(
    replies: ConditionalMovesBySeat, moves: Sequence[str], seats: Container[Seat]
) -> ConditionalMovesBySeat:
    """Return those that can still be played after these moves, by the seats that play on."""
    return {
        seat: ConditionalMoves(
            tuple(
                one
                for one in own.moves
                if (one.ply >= len(moves) or one.next_turn) and _fits_moves(one, moves)
            ),
            own.notes,
        )
        for seat, own in replies.items()
        if seat in seats
    }


def merge(own: ConditionalMoves, more: Iterable[ConditionalMove]) -> ConditionalMoves:
    """Add conditional moves to those of a seat; a new one replaces one for the same moves."""
    found = list(own.moves)
    for reply in more:
        found = [old for old in found if not _is_for_same_moves(old, reply)]
        found.append(reply)
    return ConditionalMoves(tuple(found), own.notes)


def _is_for_same_moves(old: ConditionalMove, new: ConditionalMove) -> bool:
    """Return whether two are for the same moves, the first being the older one.

    The path of the older one may begin with moves that have been played since.
    """
    if old.next_turn or new.next_turn:
        return old.next_turn and new.next_turn
    if old.path is None or new.path is None or old.ply != new.ply:
        return (old.ply, old.path) == (new.ply, new.path)
    return old.path[len(old.path) - len(new.path) :] == new.path


def turn_taken(replies: ConditionalMovesBySeat, seat: Seat) -> ConditionalMovesBySeat:
    """Remove a seat's conditional moves for its next turn, because that has been."""
    own = replies.get(seat, ConditionalMoves())
    rest = tuple(one for one in own.moves if not one.next_turn)
    return {**replies, seat: ConditionalMoves(rest, own.notes)} if rest != own.moves else replies


def drop(
    replies: ConditionalMovesBySeat, seat: Seat, reply: ConditionalMove, note: Text
) -> ConditionalMovesBySeat:
    """Remove a conditional move that can't be played, and add a note for its player."""
    own = replies.get(seat, ConditionalMoves())
    rest = tuple(other for other in own.moves if other != reply)
    return {**replies, seat: ConditionalMoves(rest, (*own.notes, note)[-_NOTES_LIMIT:])}
