"""Conditional replies: moves laid ready, to be played the moment their turn comes.

Each seat has a tree of them, kept as its branches: the moves that must have been played, and the
reply. They are no events and in no log until they are played; then they are moves like any other,
marked as queued. `decide` is given them beside the state.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from domain.rules import Seat

MOST: Final = 100
"""Replies a seat can lay ready in a match."""

_NOTES: Final = 10
"""Of what became of replies, the newest."""


class Reply(msgspec.Struct, frozen=True, array_like=True):
    """A move for one place in a match."""

    ply: int
    """How many moves have been played when it is to be played."""
    path: tuple[str, ...] | None
    """Those of these moves that were still to come when it was laid ready, as canonical texts; None
    when any will do."""
    move: str
    """Canonical text."""

    @property
    def since(self) -> int:
        """How many moves had been played when it was laid ready, as far as it depends on them."""
        return self.ply - len(self.path or ())


class Laid(msgspec.Struct, frozen=True, array_like=True):
    """What a seat has laid ready, and what became of what it had."""

    replies: tuple[Reply, ...] = ()
    notes: tuple[str, ...] = ()


Replies = Mapping[Seat, Laid]
"""What all seats have laid ready. Each seat's is for its own player's eyes only."""

NONE: Final[Replies] = {}

_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(dict[Seat, Laid])


def pack(replies: Replies) -> bytes:
    """Return the stored bytes; empty when nothing is left to store."""
    # in the order of the seats, so that equal replies have equal bytes
    kept = {seat: replies[seat] for seat in sorted(replies) if replies[seat] != Laid()}
    return _ENCODER.encode(kept) if kept else b""


def unpack(data: bytes | None) -> Replies:
    """Read the stored bytes; `msgspec.DecodeError` or `ValidationError` when they are none."""
    return _DECODER.decode(data) if data else NONE


def find(replies: Replies, seat: Seat, moves: Sequence[str]) -> Reply | None:
    """Return the reply of a seat after these moves of the match; the most particular of several."""
    fitting = [
        reply
        for reply in replies.get(seat, Laid()).replies
        if reply.ply == len(moves) and _agrees(reply, moves)
    ]
    return max(fitting, key=lambda reply: len(reply.path or ()), default=None)


def _agrees(reply: Reply, moves: Sequence[str]) -> bool:
    """Return whether the moves until now are those it waits for, as far as they go."""
    if reply.path is None:
        return True
    played = tuple(moves[reply.since : reply.ply])
    return reply.since <= len(moves) and reply.path[: len(played)] == played


def kept(replies: Replies, moves: Sequence[str], seats: Container[Seat]) -> Replies:
    """Return those that can still come to be played after these moves, by the seats that play on."""
    return {
        seat: Laid(
            tuple(r for r in laid.replies if r.ply >= len(moves) and _agrees(r, moves)), laid.notes
        )
        for seat, laid in replies.items()
        if seat in seats
    }


def merged(laid: Laid, more: Iterable[Reply]) -> Laid:
    """Add replies to a seat's; a new one takes the place of one for the same moves."""
    found = list(laid.replies)
    for reply in more:
        found = [old for old in found if not _is_for_the_same(old, reply)]
        found.append(reply)
    return Laid(tuple(found), laid.notes)


def _is_for_the_same(old: Reply, new: Reply) -> bool:
    """Return whether a reply is for the same moves as one laid ready later.

    The path of the older one may begin with moves that have been played meanwhile.
    """
    if old.path is None or new.path is None or old.ply != new.ply:
        return (old.ply, old.path) == (new.ply, new.path)
    return old.path[len(old.path) - len(new.path) :] == new.path


def dropped(replies: Replies, seat: Seat, reply: Reply, note: str) -> Replies:
    """Take away a reply of a seat's that can't be played, with a note for its player."""
    laid = replies.get(seat, Laid())
    rest = tuple(other for other in laid.replies if other != reply)
    return {**replies, seat: Laid(rest, (*laid.notes, note)[-_NOTES:])}
