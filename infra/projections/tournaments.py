"""Tournaments: their lists, the matches of their pairings, and which of them wait for the server.

| key | what |
|---|---|
| `rows` | hash: number -> packed `TournamentRow` |
| `open`, `running`, `ended` | sorted sets: numbers; score: the same |
| `of:<account>` | sorted set: the tournaments that an account organises or has entered; score: number |
| `pairs:<number>` | hash: pairing -> packed `PairedMatch` |
| `waiting` | sorted set: tournaments with matches to start, to end or to be taken over, results to count or a round to pair; score: time of the last news, ms |

A tournament is in the bucket of its number. Its events and those of its matches are in several logs and come in any
order, so what they say of a pairing is merged.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, starmap, zip_longest
from typing import Any, Final, NamedTuple

import msgspec

from domain.match.events import MatchPaired, SeatTakenOver
from domain.match.history import EventEnvelope
from domain.records import AccountId
from domain.rules import Seat
from domain.tournament import events
from domain.tournament.results import PairResult
from domain.tournament.state import MatchReport, Phase
from domain.tournament.terms import TournamentForm, fewest_to_start
from domain.tournament.three_results import NO_PLACES, SEATS, places_text
from infra.projections.buckets import TOURNAMENTS, Bucket, Owner, RedisRead, RedisWrite
from infra.projections.generations import Query
from infra.projections.projection import Fact, Projection
from infra.redis.reads import Read

ROWS: Final = "rows"
WAITING: Final = "waiting"

LISTS_OF_PHASES: Final[Mapping[str, str]] = {
    Phase.ENTRY: "open",
    Phase.RUNNING: "running",
    Phase.FINISHED: "running",
    Phase.CONFIRMED: "ended",
    Phase.CANCELLED: "ended",
}
"""The list of each phase; a draft is in none."""

_ANY_TIME: Final = 1 << 52


class TournamentRow(msgspec.Struct, frozen=True, array_like=True):
    """A tournament in lists."""

    number: int
    seq: int = 0
    """The number of its last event."""
    at: int = 0
    """The time of the last event that is known of it or of a result, ms."""
    phase: Phase = Phase.DRAFT
    form: str = ""
    rules: str = ""
    options: tuple[str, ...] = ()
    organiser: AccountId = b""
    entered: int = 0
    """Those who wait for room included."""
    room: int = 0
    when_full: bool = False
    starts: int = 0
    club: str = ""
    pairings: int = 0
    started: int = 0
    """Of the pairings, how many have their match, or need none."""
    counted: int = 0
    """How many have a result that is counted."""
    news: int = 0
    """Of how many the match has a newer result than the one that is counted."""
    to_end: int = 0
    """How many matches of players who have left are to be ended."""
    settled: int = 0
    """Of how many pairings nothing is open: they have a result that is counted, or will have none."""
    stage: int = 0
    """The stage or round that was paired last."""
    rounds: int = 0
    """Of a Swiss tournament."""
    to_take_over: int = 0
    """How many matches have a seat that a substitute is to take over."""
    numbered: int = 0
    """While it starts, how many players have their numbers already."""

    @property
    def waits(self) -> bool:
        """Whether the server has matches to start, to end or to be taken over, results to count, or a round to pair."""
        runs = self.phase in (Phase.RUNNING, Phase.FINISHED)
        waiting = self.news > 0 or self.to_end > 0 or self.to_take_over > 0
        acts = self.started < self.pairings or waiting
        return (runs and acts) or self.waits_for_round

    @property
    def waits_for_round(self) -> bool:
        """Whether the server has to pair the next round of a Swiss tournament."""
        runs = self.phase is Phase.RUNNING
        return runs and self.settled == self.pairings and self.stage < self.rounds

    @property
    def least(self) -> int:
        """The least players with which it starts."""
        return fewest_to_start(self.form, self.rounds)


class SeatOrder(NamedTuple):
    """The last order of a tournament that a substitute takes over a seat."""

    seq: int
    """The number of the tournament's event; 0 if there is none."""
    account: AccountId
    """The substitute's."""


_NO_ORDER: Final = SeatOrder(0, b"")


class PairedMatch(msgspec.Struct, frozen=True, array_like=True):
    """The match of a pairing."""

    board: int = 0
    """0 until it has started."""
    seq: int = 0
    """The number of the event that made or took away its result; 0 before."""
    result: str = ""
    """A `PairResult`, the places of a match for three, or empty."""
    counted_seq: int = 0
    counted: str = ""
    """Event and result, as the tournament has counted them."""
    unfinished: bool = False
    """Whether it had no result when a player of it left the tournament."""
    adjudicated: bool = False
    """Whether it got a result without its match."""
    seats: tuple[AccountId, ...] = ()
    """Its players; empty until it has started."""
    seats_seq: int = 0
    """The number of the match's event by which they are so."""
    orders: tuple[SeatOrder, ...] = (_NO_ORDER, _NO_ORDER)
    """For each seat; those of further seats may be missing."""

    @property
    def is_news(self) -> bool:
        """Whether the tournament has not counted the last result."""
        return self.seq > self.counted_seq

    @property
    def is_settled(self) -> bool:
        """Whether the tournament does not wait for its match."""
        return bool(self.counted) or self.unfinished or self.adjudicated

    @property
    def is_to_end(self) -> bool:
        """Whether it has to be ended, because a player has left the tournament, or its result was adjudicated."""
        left, adjudicated = self.unfinished and not self.result, self.adjudicated and not self.seq
        return bool(self.board) and (left or adjudicated)

    @property
    def needs_start(self) -> bool:
        """Whether it has not begun, and the tournament waits for it."""
        return not self.board and not self.is_settled

    @property
    def to_take_over(self) -> list[tuple[Seat, SeatOrder]]:
        """The seats that substitutes are to take over, in the order of the orders.

        A match may begin with a substitute, or with the player who left, if its start was under way.
        """
        if self.result or self.unfinished or self.adjudicated:
            return []
        placed = zip(self.seats, self.orders, strict=False)
        wrong = [
            (n, one) for n, (seat, one) in enumerate(placed) if one.seq and seat != one.account
        ]
        return sorted(wrong, key=_order_seq)


def _order_seq(one: tuple[Seat, SeatOrder]) -> int:
    return one[1].seq


_ENCODE: Final = msgspec.msgpack.Encoder().encode
_ROW: Final = msgspec.msgpack.Decoder(TournamentRow).decode
_PAIRED: Final = msgspec.msgpack.Decoder(PairedMatch).decode
_NO_MATCH: Final = PairedMatch()


def pairs_key(number: int) -> str:
    """Return the key of the matches of a tournament."""
    return f"pairs:{number}"


def tournaments_key(account: AccountId) -> str:
    """Return the key of an account's tournaments."""
    return f"of:{account.hex()}"


class Tournaments(Query):
    """Queries of tournaments."""

    spec = TOURNAMENTS

    def rows(self, numbers: Sequence[int]) -> list[TournamentRow | None]:
        """Return tournaments by number, None for those that there are not."""
        found = self._rows(self._generation(), ROWS, numbers) if numbers else []
        return [None if row is None else _ROW(row) for row in found]

    def listed(self, name: str, start: int, count: int) -> list[TournamentRow]:
        """Return tournaments of a list of `LISTS_OF_PHASES`, the newest first."""
        return self._known(self._greatest(self._generation(), name, start, count))

    def of_account(self, account: AccountId, count: int) -> list[TournamentRow]:
        """Return the newest tournaments that an account organises or has entered."""
        key = self._generation().of(account).key(tournaments_key(account))
        return self._known(list(islice(self._members(key, newest=True), count)))

    def read_newest(self, account: AccountId, count: int) -> Read[list[int]]:
        """Return the read of the numbers of the newest tournaments that an account organises or has entered."""
        key = self._generation().of(account).key(tournaments_key(account))
        return Read(
            lambda pipe: pipe.zrange(key, 0, count - 1, desc=True),
            lambda replies: [int(one) for one in replies[0]],
        )

    def read_rows(self, numbers: Sequence[int]) -> Read[list[TournamentRow]]:
        """Return the read of tournaments by number, without those that there are not."""
        groups = self._by_bucket(self._generation(), numbers)

        def queue(pipe: Any) -> None:
            for bucket, some in groups.items():
                pipe.hmget(bucket.key(ROWS), some)

        return Read(queue, lambda pages: [_ROW(row) for page in pages for row in page if row])

    def _known(self, members: Sequence[bytes]) -> list[TournamentRow]:
        return [row for row in self.rows([int(one) for one in members]) if row is not None]

    def waiting(self, count: int) -> list[int]:
        """Return tournaments that wait for the server, the longest waiting first."""
        names = [bucket.key(WAITING) for bucket in self._generation().all]
        pages = self._of_each(names, lambda pipe, name: pipe.zrange(name, 0, count - 1))
        return [int(one) for page in pages for one in page][:count]

    def count(self, name: str) -> int:
        """Return how many tournaments a list of `LISTS_OF_PHASES` has."""
        return self._count(self._generation(), name)

    def matches(self, number: int, pairings: Sequence[int] | None = None) -> dict[int, PairedMatch]:
        """Return the matches of a tournament, or of some pairings of it, by pairing."""
        key = self._generation().of(number).key(pairs_key(number))
        if pairings is None:
            return {int(one): _PAIRED(data) for one, data in self._client.hgetall(key).items()}
        found = zip(pairings, self._fields(key, pairings), strict=True)
        return {one: _PAIRED(data) for one, data in found if data is not None}


def reports_of(matches: Mapping[int, PairedMatch], count: int) -> tuple[MatchReport, ...]:
    """Return the first `count` results that a tournament has not counted."""
    news = (
        MatchReport(pairing, one.board, one.seq, one.result)
        for pairing, one in sorted(matches.items())
        if one.is_news
    )
    return tuple(islice(news, count))


class _PairChange(NamedTuple):
    """A change of a pairing by a fact."""

    tournament: int
    pairing: int
    change: PairedMatch


class TournamentsProjection(Projection):
    """Keeps the tournaments, and the matches of their pairings."""

    spec = TOURNAMENTS
    of_tournaments = True
    shards_apart = False

    def owners(self, fact: Fact) -> Sequence[Owner]:
        """Return the tournament of an event of its own or of its matches' beginnings and ends, and its players."""
        body = fact.event.body
        if isinstance(body, events.TournamentEventBody):
            account = _account_of(fact.event)
            return (fact.event.match,) if account is None else (fact.event.match, account)
        return tuple(number for number, *_ in _changes(fact))

    def needs(self, facts: Sequence[Fact], bucket: Bucket) -> Sequence[RedisRead]:
        """Return the reads of the rows, and of the pairings that these facts change."""
        numbers, pairs = _concerned(facts, bucket)
        reads: list[RedisRead] = [("HMGET", ROWS, *numbers)] if numbers else []
        reads += [("HMGET", pairs_key(one), *some) for one, some in pairs.items()]
        return reads

    def fold(self, facts: Sequence[Fact], found: Sequence[Any], bucket: Bucket) -> list[RedisWrite]:
        """Return the changes of rows, lists and pairings."""
        numbers, wanted = _concerned(facts, bucket)
        rows = {
            number: TournamentRow(number) if data is None else _ROW(data)
            for number, data in zip(numbers, found[0] if numbers else (), strict=True)
        }
        before = {
            (number, pairing): _NO_MATCH if data is None else _PAIRED(data)
            for (number, some), page in zip(wanted.items(), found[1:], strict=True)
            for pairing, data in zip(some, page, strict=True)
        }
        pairs = dict(before)
        writes: list[RedisWrite] = []
        for fact in facts:
            event = fact.event
            if event.match in rows and isinstance(event.body, events.TournamentEventBody):
                rows[event.match] = _evolve(rows[event.match], event)
            writes += _account_writes(event, bucket)
            for number, pairing, change in _changes(fact):
                if number in rows:
                    key = number, pairing
                    pairs[key] = _merged(pairs[key], change)
                    at = max(rows[number].at, event.at)
                    rows[number] = msgspec.structs.replace(rows[number], at=at)
        for (number, pairing), after in pairs.items():
            rows[number] = _counted(rows[number], before[number, pairing], after)
            writes.append(("HSET", pairs_key(number), pairing, _ENCODE(after)))
        for row in rows.values():
            writes += _row_writes(row)
        return writes


def _concerned(facts: Sequence[Fact], bucket: Bucket) -> tuple[list[int], dict[int, list[int]]]:
    """Return the tournaments of a bucket that facts are about, and by tournament the pairings."""
    numbers: dict[int, None] = {}
    pairs: dict[int, dict[int, None]] = {}
    for fact in facts:
        if isinstance(fact.event.body, events.TournamentEventBody) and bucket.owns(
            fact.event.match
        ):
            numbers[fact.event.match] = None
        for number, pairing, _ in _changes(fact):
            if bucket.owns(number):
                numbers[number] = None
                pairs.setdefault(number, {})[pairing] = None
    return list(numbers), {number: list(some) for number, some in pairs.items()}


def _changes(fact: Fact) -> Iterator[_PairChange]:  # noqa: C901 - one case an event
    """Yield what a fact says of pairings."""
    event = fact.event
    if isinstance(event.body, events.ResultsCounted):
        for one in event.body.reports:
            counted = PairedMatch(counted_seq=one.seq, counted=one.result)
            yield _PairChange(event.match, one.pairing, counted)
    elif isinstance(event.body, events.PlayerWithdrawn):
        for pairing in event.body.unfinished:
            yield _PairChange(event.match, pairing, PairedMatch(unfinished=True))
    elif isinstance(event.body, events.MatchesAdjudicated):
        for made in event.body.results:
            yield _PairChange(event.match, made.pairing, PairedMatch(adjudicated=True))
    elif isinstance(event.body, events.PlayerSubstituted):
        order = SeatOrder(event.seq, event.body.account)
        for pairing in event.body.first:
            yield _PairChange(event.match, pairing, PairedMatch(orders=(order, _NO_ORDER)))
        for pairing in event.body.second:
            yield _PairChange(event.match, pairing, PairedMatch(orders=(_NO_ORDER, order)))
        if isinstance(event.body, events.SubstitutedInThrees):
            for pairing in event.body.third:
                third = PairedMatch(orders=(_NO_ORDER, _NO_ORDER, order))
                yield _PairChange(event.match, pairing, third)
    elif fact.setup.pairing is not None and (change := _change_of(fact)) is not None:
        yield _PairChange(*fact.setup.pairing, change)


def _change_of(fact: Fact) -> PairedMatch | None:
    """Return what a match's event says of its pairing; None if nothing."""
    event = fact.event
    if isinstance(event.body, MatchPaired | SeatTakenOver):
        return PairedMatch(board=event.match, seats=fact.setup.seats, seats_seq=event.seq)
    if fact.result is None and fact.revoked is None:
        return None
    result = ""
    if fact.result:
        found = fact.result
        result = result_in_tournament(found.winners, found.ranks, played=found.played)
    return PairedMatch(board=event.match, seq=event.seq, result=result)


def result_in_tournament(winners: tuple[Seat, ...], ranks: tuple[int, ...], *, played: bool) -> str:
    """Return the result of a match as its tournament counts it: `pair_result`, or the places of a match for three."""
    if len(ranks) == SEATS:
        return places_text(ranks) if winners else NO_PLACES
    return pair_result(winners, played=played)


def pair_result(winners: tuple[Seat, ...], *, played: bool) -> str:
    """Return the result of a match of two as tables write it; `played` is whether both have moved.

    A match that one player lost on time without a move of theirs, or left before it, is decided by forfeit.
    """
    match winners:
        case (0, 1):
            return PairResult.DRAWN
        case (0,):
            return PairResult.FIRST_WON if played else PairResult.FIRST_BY_FORFEIT
        case (1,):
            return PairResult.SECOND_WON if played else PairResult.SECOND_BY_FORFEIT
        case _:
            return PairResult.BOTH_FORFEITED


def _merged(one: PairedMatch, other: PairedMatch) -> PairedMatch:
    """Return what both say of a match: of each part the later."""
    seen, counted = max(one, other, key=_seen), max(one, other, key=_counted_seq)
    sits = max(one, other, key=_seats_seq)
    orders = zip_longest(one.orders, other.orders, fillvalue=_NO_ORDER)
    return PairedMatch(
        one.board or other.board,
        seen.seq,
        seen.result,
        counted.counted_seq,
        counted.counted,
        one.unfinished or other.unfinished,
        one.adjudicated or other.adjudicated,
        sits.seats,
        sits.seats_seq,
        tuple(starmap(max, orders)),
    )


def _seen(one: PairedMatch) -> int:
    return one.seq


def _counted_seq(one: PairedMatch) -> int:
    return one.counted_seq


def _seats_seq(one: PairedMatch) -> int:
    return one.seats_seq


def _counted(row: TournamentRow, before: PairedMatch, after: PairedMatch) -> TournamentRow:
    """Return a row with the numbers of its pairings after one of them has changed."""
    return msgspec.structs.replace(
        row,
        started=row.started + before.needs_start - after.needs_start,
        counted=row.counted + bool(after.counted) - bool(before.counted),
        news=row.news + after.is_news - before.is_news,
        to_end=row.to_end + after.is_to_end - before.is_to_end,
        settled=row.settled + after.is_settled - before.is_settled,
        to_take_over=row.to_take_over + bool(after.to_take_over) - bool(before.to_take_over),
    )


def _evolve(  # noqa: C901, PLR0911, PLR0912 - one case an event
    row: TournamentRow, event: EventEnvelope
) -> TournamentRow:
    body, replace = event.body, msgspec.structs.replace
    if event.seq <= row.seq:
        return row
    row = replace(row, seq=event.seq, at=max(row.at, event.at))
    match body:
        case events.TournamentDrafted(terms=terms):
            return replace(
                row,
                form=terms.form,
                rules=terms.rules,
                options=terms.options,
                organiser=event.actor,
                room=terms.room,
                when_full=terms.when_full,
                starts=terms.starts,
                club=terms.club,
                rounds=terms.swiss.rounds if terms.swiss else 0,
            )
        case events.EntryOpened():
            return replace(row, phase=Phase.ENTRY)
        case events.Entered() | events.TeamJoined():
            return replace(row, entered=row.entered + 1)
        case events.EntryTakenBack() if (
            row.phase is Phase.ENTRY or row.form == TournamentForm.LADDER
        ):
            return replace(row, entered=row.entered - 1)
        case events.LeftAfterSeason():
            return replace(row, entered=row.entered - 1)
        case events.PlayersNumbered(players=players):
            return replace(row, numbered=row.numbered + len(players))
        case events.TournamentStarted(players=players):
            return replace(
                row, phase=Phase.RUNNING, entered=row.numbered + len(players), numbered=0
            )
        case events.SectionPaired():
            return replace(row, pairings=row.pairings + len(body.pairings), stage=body.stage)
        case events.ResultsCounted() if not all(one.result for one in body.reports):
            # a ruling has set a match back after all were over
            return replace(row, phase=Phase.RUNNING)
        case events.TournamentFinished():
            return replace(row, phase=Phase.FINISHED)
        case events.PlacesConfirmed():
            return replace(row, phase=Phase.CONFIRMED)
        case events.TournamentCancelled():
            return replace(row, phase=Phase.CANCELLED)
        case _:
            return row


def _row_writes(row: TournamentRow) -> Iterator[RedisWrite]:
    number = str(row.number)
    yield "HSET", ROWS, number, _ENCODE(row)
    listed = LISTS_OF_PHASES.get(row.phase)
    for name in dict.fromkeys(LISTS_OF_PHASES.values()):
        yield ("ZADD", name, row.number, number) if name == listed else ("ZREM", name, number)
    yield ("ZADD", WAITING, row.at, number) if row.waits else ("ZREM", WAITING, number)


def _account_of(event: EventEnvelope) -> AccountId | None:
    """Return the account whose list an event changes."""
    match event.body:
        case events.TournamentDrafted() | events.TeamNamed() | events.TeamJoined():
            return event.actor
        case events.Entered(account=account) | events.EntryTakenBack(account=account):
            return account
        case events.SubstituteVolunteered(account=account):
            return account
        case _:
            return None


def _account_writes(event: EventEnvelope, bucket: Bucket) -> Iterator[RedisWrite]:
    account = _account_of(event)
    if account is None or not bucket.owns(account):
        return
    key, number = tournaments_key(account), str(event.match)
    if isinstance(event.body, events.EntryTakenBack):
        yield "ZREM", key, number
    else:
        yield "ZADD", key, event.match, number
