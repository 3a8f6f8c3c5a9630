"""The part of `matchpost verify` that checks a match's draw, and says how fair it was."""

from collections.abc import Iterable, Sequence
from typing import Final

from redis.exceptions import ResponseError

from domain.fairness import CHAIN_LENGTH, SetupDraw, earlier_seed
from domain.match.events import (
    SCHEMA,
    SERVER_ACCOUNT,
    AnchorLeaf,
    Called,
    Challenged,
    EventEnvelope,
    MatchStarted,
    Revealed,
    Sealed,
    Withheld,
    encode_event,
)
from domain.match.history import BrokenHistory
from infra.redis.keys import shard_of
from infra.store.port import Store
from services.app.draws import NOT_GATHERED

_CHUNK: Final = 500
"""Leaves that are read in one round trip."""


class ShardLog:
    """The log of a match's shard."""

    def __init__(self, store: Store, board: int) -> None:
        self.board = board
        self._store = store
        self._shard = shard_of(board, store.layout().shards)
        self._read: dict[int, bytes] = {}

    def read(self, indexes: Iterable[int]) -> None:
        """Read leaves that `leaf` will return, many in one round trip."""
        wanted = sorted(set(indexes))
        for start in range(0, len(wanted), _CHUNK):
            some = wanted[start : start + _CHUNK]
            try:
                found = self._store.leaves_at(self._shard, some)
            except (LookupError, ValueError, TypeError, ResponseError):
                continue  # `leaf` reads them one by one, and finds which of them is damaged
            self._read |= {at: data for at, data in zip(some, found, strict=True) if data}

    def leaf(self, index: int, seq: int) -> bytes:
        """Return a leaf; raise `BrokenHistory` at event `seq` if it is missing or can't be read."""
        if (known := self._read.get(index)) is not None:
            return known
        try:
            ((at, data),) = self._store.leaves(self._shard, index, 1)
        except (LookupError, ValueError, TypeError, ResponseError) as error:
            raise BrokenHistory(seq, f"{self.name(index)} is missing") from error
        if at != index or data is None:
            raise BrokenHistory(seq, f"{self.name(index)} is missing")
        return data

    def anchor(self, chain: int, seq: int) -> tuple[int, bytes]:
        """Return the leaf that anchored a seed chain, and its index; raise `BrokenHistory` at event `seq`."""
        index = self._store.anchor_index(self._shard, chain)
        if index is None:
            raise BrokenHistory(
                seq, f"chain {chain} of seeds, from which it draws, was never anchored"
            )
        return index, self.leaf(index, seq)

    @property
    def shard(self) -> int:
        """The shard's number."""
        return self._shard

    def name(self, index: int) -> str:
        """Return a leaf's name for a sentence."""
        return f"leaf {index} of shard {self._shard}'s log"


def check_draw(log: ShardLog, events: Sequence[EventEnvelope], indexes: Sequence[int]) -> str:
    """Check that the seed of a match's draw was fixed before; return clauses for the sentence.

    The audit has already checked that it is the sealed seed, and that the texts match the commitments.
    """
    sealed = next((event for event in events if isinstance(event.body, Sealed)), None)
    for event in events:
        if isinstance(event.body, MatchStarted) and event.body.draw is not None:
            first = sealed or event
            index = _check_seed(log, event, event.body.draw, indexes[first.seq - 1])
            return (
                f"{_describe_draw(events, event.body.draw)}; what chance drew follows from seed "
                f"{event.body.draw.k} of chain {event.body.draw.chain}, anchored before as leaf {index}"
            )
    return _withheld(events)


def _check_seed(log: ShardLog, event: EventEnvelope, draw: SetupDraw, drawn_at: int) -> int:
    """Return the index of the leaf that anchored the chain, which must precede the draw."""
    index, leaf = log.anchor(draw.chain, event.seq)
    if not 1 <= draw.k <= CHAIN_LENGTH:
        raise BrokenHistory(event.seq, f"no chain has a seed {draw.k}")
    wanted = earlier_seed(draw.seed, draw.k)
    if leaf != encode_event(AnchorLeaf(SCHEMA, log.shard, draw.chain, wanted)):
        raise BrokenHistory(event.seq, "its seed does not lead back to the chain's anchor")
    if index >= drawn_at:
        raise BrokenHistory(event.seq, "the chain of its seed was anchored only after it")
    return index


def _describe_draw(events: Sequence[EventEnvelope], draw: SetupDraw) -> str:
    """Return a clause about the players' part in the draw."""
    if isinstance(events[0].body, Called):
        kept = [
            e.body.seat
            for e in events
            if isinstance(e.body, Revealed) and e.actor == SERVER_ACCOUNT
        ]
        said = "; all players had committed to their texts before its seed was sealed"
        return f"{said}{_server_kept(kept)}"
    if isinstance(events[0].body, Challenged):
        return (
            "; the players sent their texts one after another, so that the last of them could have "
            "chosen the draw with the operator's help"
        )
    return f"; {NOT_GATHERED}" if len(draw.texts) > 1 else ""


def _server_kept(seats: Sequence[int]) -> str:
    """Return a clause about players whose text the server kept, who had to trust its operator."""
    if not seats:
        return ""
    listed = " and ".join(str(seat + 1) for seat in seats)
    return f", and the server kept the text of seat{'s' * (len(seats) > 1)} {listed}"


def _withheld(events: Sequence[EventEnvelope]) -> str:
    """Return a clause about players whose missing text ended a sealed draw."""
    seats = [event.body.seat for event in events if isinstance(event.body, Withheld)]
    if not seats:
        return ""
    listed = " and ".join(str(seat + 1) for seat in seats)
    return f"; its draw was sealed and abandoned, because seat {listed} did not reveal a text"
