"""The order of a shard's leaves: each can be read, is of a match of the shard, and has its turn.

The events of a match are numbered from 1 without gaps. Seeds are used one after another, from chains that were
anchored before.
"""

from math import gcd
from typing import Final

import msgspec

from domain.match.events import (
    AnchorLeaf,
    CommandId,
    EventEnvelope,
    MatchStarted,
    OfferAnswered,
    RefusedLeaf,
    Revealed,
    Sealed,
    decode_leaf,
)
from infra.redis.keys import shard_of

_MOST_FAULTS: Final = 100

_FREE: Final = 100_000
"""Places of boards that a shard may have before its first leaf."""

_MOST_UNUSED: Final = 16
"""How many places a shard may have for each leaf: so a forged number takes no memory."""


class LeafOrder:
    """The leaves of a shard, read in order from the first.

    Without the number of `shards`, 0, a match's place is its board, and boards are of the shard if `divisor` allows it.
    """

    def __init__(self, shard: int, shards: int) -> None:
        self._shard = shard
        self._shards = shards or 1
        self._is_any_shard = not shards
        self._divisor = 0
        self._events: dict[int, int] = {}
        """The number of the last event of the match at each place."""
        self._sealed: CommandId = b""
        """The command that has sealed its draw, or revealed a text for it, last."""
        self.faults: list[str] = []
        self.anchors: dict[int, int] = {}
        """The index of the leaf that anchored each chain of seeds."""
        self.used: dict[int, int] = {}
        """The number of the last seed of each chain that was used."""
        self.events = 0
        self.refusals = 0

    @property
    def highest_board(self) -> int:
        """Return the highest board that has a leaf; 0 without any."""
        return max(self._events, default=-1) * self._shards + self._shard if self._events else 0

    def add(self, index: int, data: bytes) -> int | None:
        """Read the next leaf, and return its board's place in the shard; None if it is no match's."""
        try:
            leaf = decode_leaf(data)
        except msgspec.MsgspecError as error:
            self._fault(index, f"can't be read: {error}")
            return None
        if isinstance(leaf, AnchorLeaf):
            self._anchor(index, leaf)
            return None
        if self._is_any_shard:
            self._divisor = gcd(self._divisor, leaf.match - self._shard)
        elif shard_of(leaf.match, self._shards) != self._shard:
            self._fault(index, f"is of match {leaf.match}, which belongs to another shard")
            return None
        place = leaf.match // self._shards
        if leaf.match < 1 or (not self._is_any_shard and place > _FREE + _MOST_UNUSED * index):
            self._fault(index, f"is of match {leaf.match}, and there can be no such match yet")
            return None
        if isinstance(leaf, RefusedLeaf):
            self.refusals += 1
            self._events.setdefault(place, 0)
        else:
            self._event(index, place, leaf)
        return place

    @property
    def divisor(self) -> int:
        """Return the number by which all boards have the shard as their remainder; 0 for any number."""
        return self._divisor

    def _fault(self, index: int, sentence: str) -> None:
        if len(self.faults) < _MOST_FAULTS:
            self.faults.append(f"the log of shard {self._shard}: leaf {index} {sentence}")

    def _anchor(self, index: int, leaf: AnchorLeaf) -> None:
        if leaf.shard != self._shard or leaf.chain != len(self.anchors) + 1:
            self._fault(index, f"anchors chain {leaf.chain} of shard {leaf.shard} out of turn")
        self.anchors[leaf.chain] = index

    def _event(self, index: int, place: int, event: EventEnvelope) -> None:
        self.events += 1
        self._events[place] = self._events.get(place, 0) + 1
        if event.seq != self._events[place]:
            self._fault(
                index,
                f"is event {event.seq} of match {event.match}, and comes after event "
                f"{self._events[place] - 1}",
            )
            self._events[place] = event.seq
        match event.body:
            case Revealed() | OfferAnswered():
                # the seed of the start that may follow was used when it was sealed
                self._sealed = event.command
            case Sealed(chain=chain, k=k):
                self._sealed = event.command
                self._use_seed(index, chain, k)
            case MatchStarted(draw=draw) if draw is not None and event.command != self._sealed:
                self._use_seed(index, draw.chain, draw.k)

    def _use_seed(self, index: int, chain: int, k: int) -> None:
        """Note the first use of a seed, which must be the next of the last chain."""
        last = self.used.get(chain, 0)
        if chain != len(self.anchors) or k != last + 1:
            self._fault(
                index,
                f"draws with seed {k} of chain {chain}, and it is not the next after seed {last}",
            )
        self.used[chain] = max(k, last)
