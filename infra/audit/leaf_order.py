"""The order of a shard's leaves: each can be read, is of a match of the shard, and has its turn.

The events of a match are numbered from 1 without gaps. Seeds are used one after another, from chains that were
anchored before.
"""

from collections.abc import Iterator
from math import gcd
from typing import Final

import msgspec

from domain.match.events import OfferAnswered, Revealed, Sealed, draw_of
from domain.match.history import AnchorLeaf, EventEnvelope, RefusedLeaf, decode_leaf
from domain.records import CommandId
from infra.redis.keys import shard_of

_MOST_FAULTS: Final = 100

_FREE: Final = 100_000
"""Places of boards that a shard may have before its first leaf."""

_MOST_UNUSED: Final = 16
"""How many places a shard may have for each leaf: so a forged number takes no memory."""


class LeafFacts:
    """The facts in some leaves of a shard: boards, anchors and seeds, and leaves that can't be its."""

    def __init__(self, shard: int, shards: int) -> None:
        self.shard = shard
        self._shards = shards or 1
        self._is_any_shard = not shards
        self._highest: int | None = None
        self.faults: list[tuple[int, str]] = []
        """Indexes of leaves, each with its fault, such as `can't be read`."""
        self.anchors: dict[int, tuple[int, bytes]] = {}
        """Index of the leaf that anchored each chain of seeds, and its anchor."""
        self.used: dict[int, int] = {}
        """The number of the last seed of each chain that was used."""

    @property
    def highest_board(self) -> int:
        """Return the highest board that has a leaf; 0 without any."""
        return 0 if self._highest is None else self._highest * self._shards + self.shard

    def sentences(self) -> Iterator[str]:
        """Yield a sentence for each fault."""
        for index, fault in self.faults:
            yield f"the log of shard {self.shard}: leaf {index} {fault}"

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
        if not self._is_any_shard and shard_of(leaf.match, self._shards) != self.shard:
            self._fault(index, f"is of match {leaf.match}, which belongs to another shard")
            return None
        place = leaf.match // self._shards
        if leaf.match < 1 or (not self._is_any_shard and place > _FREE + _MOST_UNUSED * index):
            self._fault(index, f"is of match {leaf.match}, and there can be no such match yet")
            return None
        self._highest = place if self._highest is None else max(place, self._highest)
        self._of_match(index, place, leaf)
        return place

    def _fault(self, index: int, sentence: str) -> None:
        if len(self.faults) < _MOST_FAULTS:
            self.faults.append((index, sentence))

    def _anchor(self, index: int, leaf: AnchorLeaf) -> None:
        self.anchors[leaf.chain] = index, leaf.anchor

    def _of_match(self, index: int, place: int, leaf: EventEnvelope | RefusedLeaf) -> None:
        """Note what a leaf of a match says."""
        del place
        match leaf:
            case EventEnvelope(body=Sealed(chain=chain, k=k)):
                self._use_seed(index, chain, k)
            case EventEnvelope(body=body) if draw := draw_of(body):
                self._use_seed(index, draw.chain, draw.k)

    def _use_seed(self, index: int, chain: int, k: int) -> None:
        del index
        self.used[chain] = max(k, self.used.get(chain, 0))


class LeafOrder(LeafFacts):
    """The leaves of a shard, read in order from the first.

    Without the number of `shards`, 0, a match's place is its board, and boards are of the shard if `divisor` allows it.
    """

    def __init__(self, shard: int, shards: int) -> None:
        super().__init__(shard, shards)
        self.divisor = 0
        """The number by which all boards have the shard as their remainder; 0 for any number."""
        self._events: dict[int, int] = {}
        """The number of the last event of the match at each place."""
        self._sealed: CommandId = b""
        """The command that has sealed its draw, or revealed a text for it, last."""

    def _anchor(self, index: int, leaf: AnchorLeaf) -> None:
        if leaf.shard != self.shard or leaf.chain != len(self.anchors) + 1:
            self._fault(index, f"anchors chain {leaf.chain} of shard {leaf.shard} out of turn")
        super()._anchor(index, leaf)

    def _of_match(self, index: int, place: int, leaf: EventEnvelope | RefusedLeaf) -> None:
        if self._is_any_shard:
            self.divisor = gcd(self.divisor, leaf.match - self.shard)
        if isinstance(leaf, RefusedLeaf):
            self._events.setdefault(place, 0)
        else:
            self._event(index, place, leaf)

    def _event(self, index: int, place: int, event: EventEnvelope) -> None:
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
            case body if (draw := draw_of(body)) and event.command != self._sealed:
                self._use_seed(index, draw.chain, draw.k)

    def _use_seed(self, index: int, chain: int, k: int) -> None:
        """Note the first use of a seed, which must be the next of the last chain."""
        last = self.used.get(chain, 0)
        if chain != len(self.anchors) or k != last + 1:
            self._fault(
                index,
                f"draws with seed {k} of chain {chain}, and it is not the next after seed {last}",
            )
        super()._use_seed(index, chain, k)
