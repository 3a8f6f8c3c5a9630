"""Projections of finished matches: history, standings, head-to-head.

None of them depends on the order of matches: what they keep are sets, and sums of whole numbers. So
they need not wait for a watermark, as the ratings must.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from domain.match.events import Declined, MatchStarted, Withheld
from domain.match.state import Reason
from infra.projections import head_to_head, history, standings
from infra.projections.shelf import Write
from infra.projections.specs import HEAD_TO_HEAD, HISTORY, STANDINGS
from workers.projections.projection import Fact, Finished, Projection


class HistoryProjection(Projection):
    """A row for each match that has ended, and the sets it is in."""

    spec = HISTORY

    def fold(self, facts: Sequence[Fact], found: Sequence[Any]) -> Sequence[Write]:
        """Add what has ended."""
        del found
        return [
            write
            for fact in facts
            if fact.finished
            for write in _history_writes(fact, fact.finished)
        ]


def _history_writes(fact: Fact, finished: Finished) -> Iterator[Write]:
    event, cast = fact.event, fact.cast
    row = history.Row(
        board=event.match,
        at=event.at,
        rules=cast.rules,
        options=cast.options,
        seats=cast.seats,
        winners=finished.winners,
        ranks=finished.ranks,
        reason=finished.reason,
        plies=finished.plies,
        rated=finished.rated,
    )
    yield "HSET", history.ROWS, event.match, history.pack(row)
    keys = [history.game_key(cast.game)]
    keys += [history.player_key(cast.game, account) for account in cast.seats]
    keys += [history.pair_key(cast.game, *pair) for pair in combinations(cast.seats, 2)]
    for key in keys:
        yield "ZADD", key, event.at, event.match


def counts(fact: Fact) -> Finished | None:
    """Return how a match came out, if it has ended and counts.

    It does if somebody won it against others, and if all have moved: nobody loses a match that
    they never took up.
    """
    finished = fact.finished
    against = len(fact.cast.seats) > 1
    return finished if finished and finished.winners and finished.played and against else None


class StandingsProjection(Projection):
    """Wins, shared wins, losses and points of each player, and draws that were refused."""

    spec = STANDINGS

    def fold(self, facts: Sequence[Fact], found: Sequence[Any]) -> Sequence[Write]:
        """Count what has ended."""
        del found
        counted = [
            write
            for fact in facts
            if (finished := counts(fact))
            for write in _standing_writes(fact, finished)
        ]
        return [*counted, *(write for fact in facts for write in _refused_writes(fact))]


def _refused_writes(fact: Fact) -> Iterator[Write]:
    """Count who would not play when the draw was, or could be, known to them."""
    if fact.finished is None or fact.finished.reason != Reason.DECLINED:
        return
    drawn = False
    for event in fact.finished.history:
        body = event.body
        drawn = drawn or (isinstance(body, MatchStarted) and body.draw is not None)
        if isinstance(body, Withheld) or (drawn and isinstance(body, Declined)):
            yield "HINCRBY", standings.REFUSED, fact.cast.seats[body.seat].hex(), 1


def _standing_writes(fact: Fact, finished: Finished) -> Iterator[Write]:
    game, winners = fact.cast.game, finished.winners
    for seat, account in enumerate(fact.cast.seats):
        result, points = "lost", 0
        if seat in winners:
            result, points = (
                "won" if len(winners) == 1 else "drawn",
                standings.POINT // len(winners),
            )
        for what in ("played", result):
            field = standings.tally_field(account, what)
            yield "HINCRBY", standings.tally_key(game), field, 1
        yield "ZINCRBY", standings.table_key(game), points, account.hex()


class HeadToHeadProjection(Projection):
    """How often one of two was placed before the other."""

    spec = HEAD_TO_HEAD

    def fold(self, facts: Sequence[Fact], found: Sequence[Any]) -> Sequence[Write]:
        """Count what has ended."""
        del found
        return [
            write
            for fact in facts
            if (finished := counts(fact))
            for write in _pair_writes(fact, finished)
        ]


def _pair_writes(fact: Fact, finished: Finished) -> Iterator[Write]:
    places = sorted(zip(fact.cast.seats, finished.ranks, strict=True))
    for (first, place), (second, other) in combinations(places, 2):
        what = head_to_head.LEVEL
        if place != other:
            what = head_to_head.FIRST if place < other else head_to_head.SECOND
        field = head_to_head.pair_field(first, second, what)
        yield "HINCRBY", head_to_head.pairs_key(fact.cast.game), field, 1
