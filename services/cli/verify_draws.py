"""What `matchpost verify` checks of a match's draw, and says of how fair it was."""

from collections.abc import Sequence

from redis.exceptions import ResponseError

from domain.fairness import CHAIN_LENGTH, Draw, steps_back
from domain.match.events import (
    SCHEMA,
    THE_SERVER,
    AnchorLeaf,
    Called,
    Challenged,
    Envelope,
    MatchStarted,
    Revealed,
    Sealed,
    Withheld,
    encode,
)
from domain.match.record import Broken
from infra.keys import shard_of
from infra.store.port import Store
from services.app.draws import NOT_GATHERED


class Log:
    """The log of a match's shard."""

    def __init__(self, store: Store, board: int) -> None:
        self.board = board
        self._store = store
        self._shard = shard_of(board, store.shape().shards)

    def leaf(self, index: int, seq: int) -> bytes:
        """Return a leaf; `Broken` at event `seq` when there is none that can be read."""
        try:
            ((at, data),) = self._store.leaves(self._shard, index, 1)
        except (LookupError, ValueError, TypeError, ResponseError) as error:
            raise Broken(seq, f"{self.name(index)} is missing") from error
        if at != index or data is None:
            raise Broken(seq, f"{self.name(index)} is missing")
        return data

    def anchor(self, chain: int, seq: int) -> tuple[int, bytes]:
        """Return the leaf that anchored a chain of seeds, and its index; `Broken` at event `seq`."""
        index = self._store.anchored(self._shard, chain)
        if index is None:
            raise Broken(seq, f"chain {chain} of seeds, from which it draws, was never anchored")
        return index, self.leaf(index, seq)

    @property
    def shard(self) -> int:
        """The shard's number."""
        return self._shard

    def name(self, index: int) -> str:
        """Name a leaf."""
        return f"leaf {index} of shard {self._shard}'s log"


def check_draw(log: Log, events: Sequence[Envelope], places: Sequence[int]) -> str:
    """Check that the seed of a match's draw was fixed before; return clauses for the sentence.

    That it is the one which was sealed, and the texts those committed to, the rules have checked.
    """
    sealed = next((event for event in events if isinstance(event.body, Sealed)), None)
    for event in events:
        if isinstance(event.body, MatchStarted) and event.body.draw is not None:
            first = sealed or event
            index = _check_seed(log, event, event.body.draw, places[first.seq - 1])
            return (
                f"{_how(events, event.body.draw)}; what chance drew follows from seed "
                f"{event.body.draw.k} of chain {event.body.draw.chain}, anchored before as leaf {index}"
            )
    return _refused(events)


def _check_seed(log: Log, event: Envelope, draw: Draw, place: int) -> int:
    """Return the index of the leaf that anchored the chain; it must come before that place."""
    index, leaf = log.anchor(draw.chain, event.seq)
    if not 1 <= draw.k <= CHAIN_LENGTH:
        raise Broken(event.seq, f"no chain has a seed {draw.k}")
    wanted = steps_back(draw.seed, draw.k)
    if leaf != encode(AnchorLeaf(SCHEMA, log.shard, draw.chain, wanted)):
        raise Broken(event.seq, "its seed does not lead back to the chain's anchor")
    if index >= place:
        raise Broken(event.seq, "the chain of its seed was anchored only after it")
    return index


def _how(events: Sequence[Envelope], draw: Draw) -> str:
    """Say who had a part in the draw, and when."""
    if isinstance(events[0].body, Called):
        kept = [
            e.body.seat for e in events if isinstance(e.body, Revealed) and e.actor == THE_SERVER
        ]
        said = "; all players had committed to their texts before its seed was sealed"
        return f"{said}{_kept(kept)}"
    if isinstance(events[0].body, Challenged):
        return (
            "; the players gave their texts one after another, so that who came last, with the "
            "operator's help, could choose the draw"
        )
    return f"; {NOT_GATHERED}" if len(draw.texts) > 1 else ""


def _kept(seats: Sequence[int]) -> str:
    """Say for whom the server kept the text: they trust its operator."""
    if not seats:
        return ""
    listed = " and ".join(str(seat + 1) for seat in seats)
    return f", and the server kept the text of seat{'s' * (len(seats) > 1)} {listed}"


def _refused(events: Sequence[Envelope]) -> str:
    """Say who made an end of a draw that was sealed."""
    seats = [event.body.seat for event in events if isinstance(event.body, Withheld)]
    if not seats:
        return ""
    listed = " and ".join(str(seat + 1) for seat in seats)
    return f"; its draw was sealed and came to nothing, because seat {listed} did not reveal a text"
