"""The check of a match's draw, and the clauses that say how fair it was."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from domain.fairness import CHAIN_LENGTH, SetupDraw, earlier_seed
from domain.match.deals import DealKind, deal_kind
from domain.match.events import Revealed, Sealed, Withheld, draw_of
from domain.match.history import AnchorLeaf, BrokenHistory, EventEnvelope, decode_anchor
from domain.records import SCHEMA, SERVER_ACCOUNT
from domain.tournament.events import LotsDrawn

DEALS: Final[Mapping[DealKind, str]] = {
    DealKind.ALONE: (
        "the deal was not gathered: only the challenger added to it, so a challenger who runs the "
        "server could choose it"
    ),
    DealKind.IN_TURN: (
        "the players sent their texts one after another, so the last of them could have "
        "chosen the deal with the operator's help"
    ),
    DealKind.BY_SERVER: (
        "the server dealt as soon as all had accepted, and kept the texts of all players, so an operator "
        "who plays could choose the deal"
    ),
    DealKind.SEALED: "all players had committed to their texts before its seed was sealed",
    DealKind.AGREED: (
        "all players had committed to their texts before its seed was sealed, and then agreed that the "
        "server deals without the texts that were missing"
    ),
}
"""A clause on each kind of deal, and on who could choose it."""


LOTS: Final = (
    "; the server drew the lots from the entrants and the command that started it, so an operator who chooses these "
    "could choose the lots, which follow from"
)
"""The clauses on the lots of a tournament, before the name of their seed."""


class KnownSeeds:
    """Seeds that lead back to the anchors of their chains, so that a later one leads to the nearest of them."""

    def __init__(self) -> None:
        self._seeds: dict[tuple[int, int], dict[int, bytes]] = {}
        self._numbers: dict[tuple[int, int], list[int]] = {}

    def leads_back(self, shard: int, draw: SetupDraw, anchor: bytes) -> bool:
        """Return whether the seed of a draw leads back to its chain's anchor."""
        chain = shard, draw.chain
        seeds = self._seeds.setdefault(chain, {0: anchor})
        numbers = self._numbers.setdefault(chain, [0])
        at = bisect_right(numbers, draw.k)
        nearest = numbers[at - 1]
        if earlier_seed(draw.seed, draw.k - nearest) != seeds[nearest]:
            return False
        if nearest != draw.k:
            numbers.insert(at, draw.k)
            seeds[draw.k] = draw.seed
        return True


AnchorOf = Callable[[int], tuple[int, bytes | None] | None]
"""Returns index and bytes of the leaf that anchored a shard's chain of seeds.

None if no leaf did; without bytes if the leaf is missing.
"""


def check_draw(
    shard: int,
    events: Sequence[EventEnvelope],
    indexes: Sequence[int],
    anchor_of: AnchorOf,
    known: KnownSeeds,
) -> str:
    """Check that the seed of a match's draw was fixed before; return clauses for the sentence.

    The audit has already checked that it is the sealed seed, and that the texts match the commitments.
    `indexes` are those of the events in the shard's log.
    """
    sealed = next((event for event in events if isinstance(event.body, Sealed)), None)
    for event in events:
        if draw := draw_of(event.body):
            first = sealed or event
            anchor = anchor_of(draw.chain)
            index = _check_seed(shard, event, draw, anchor, indexes[first.seq - 1], known)
            of_lots = isinstance(event.body, LotsDrawn)
            said = (
                LOTS if of_lots else f"{_describe_draw(events, draw)}; what was dealt follows from"
            )
            return f"{said} seed {draw.k} of chain {draw.chain}, anchored before as leaf {index}"
    return _withheld(events)


def _check_seed(
    shard: int,
    event: EventEnvelope,
    draw: SetupDraw,
    anchor: tuple[int, bytes | None] | None,
    drawn_at: int,
    known: KnownSeeds,
) -> int:
    """Return the index of the leaf that anchored the chain, which must precede the draw."""
    if anchor is None:
        raise BrokenHistory(
            event.seq, f"chain {draw.chain} of seeds, from which it draws, was never anchored"
        )
    index, leaf = anchor
    if leaf is None:
        raise BrokenHistory(event.seq, f"leaf {index} of shard {shard}'s log is missing")
    if not 1 <= draw.k <= CHAIN_LENGTH:
        raise BrokenHistory(event.seq, f"no chain has a seed {draw.k}")
    if not _leads_back(shard, draw, leaf, known):
        raise BrokenHistory(event.seq, "its seed does not lead back to the chain's anchor")
    if index >= drawn_at:
        raise BrokenHistory(event.seq, "the chain of its seed was anchored only after it")
    return index


def _leads_back(shard: int, draw: SetupDraw, leaf: bytes, known: KnownSeeds) -> bool:
    try:
        anchor = decode_anchor(leaf)
    except msgspec.MsgspecError:
        return False
    wanted = AnchorLeaf(SCHEMA, shard, draw.chain, anchor.anchor)
    return anchor == wanted and known.leads_back(shard, draw, anchor.anchor)


def _describe_draw(events: Sequence[EventEnvelope], draw: SetupDraw) -> str:
    """Return a clause about the players' part in the draw."""
    kind = deal_kind([event.body for event in events])
    if kind is None or len(draw.texts) == 1:
        return ""
    kept = [
        e.body.seat for e in events if isinstance(e.body, Revealed) and e.actor == SERVER_ACCOUNT
    ]
    said = "" if kind is DealKind.BY_SERVER else _server_kept(kept)
    return f"; {DEALS[kind]}{said}"


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
    return f"; its deal was sealed and abandoned, because seat {listed} didn't reveal a text"
