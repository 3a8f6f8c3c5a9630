"""The laws of the clock, against a plain one that remembers everything and looks at every stretch.

The plain clock keeps all pauses and vacations since the match began and cuts time at each of their
ends and at each midnight; a stretch between two cuts counts whole or not at all, by Python's own
calendar.

Then stories of it, and the turns of a match, which agree with the clock that its events lead to.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from domain.clocks import match_clock
from domain.clocks.match_clock import (
    MatchClock,
    after_ply,
    flag_time,
    reminder_time,
    start_clock,
    time_left,
    time_of_turn,
    time_used,
    vacation_left,
)
from domain.clocks.time_control import DAY, ClockOptions, TimeControl, read_time_control
from domain.match.clocks import ClockTurn, clock_turns
from domain.match.commands import MakeOffer, PlayMove, ResignMatch
from domain.match.history import decode_event
from tests.golden.make_events import BEGIN, MATCHES
from tests.helpers.given import ALICE, Match, challenge

HOUR = DAY // 24
FIRST_TURN = int(datetime(2026, 11, 19, 15, 30, tzinfo=UTC).timestamp()) * 1000  # a Thursday
FAR = 400 * DAY
SEATS = (0, 1)


@dataclass
class Plain:
    """The same clock, remembering all that ever happened, one thing a list."""

    terms: TimeControl
    since: int
    turns: list[tuple[int, int]] = field(default_factory=list)
    pauses: list[tuple[int, int]] = field(default_factory=list)
    vacations: list[tuple[int, int, int]] = field(default_factory=list)
    paused: int | None = None
    reminded: int = 0

    def stretches(self, seat: int, until: int) -> Iterator[tuple[int, int]]:
        """Each stretch of the running turn that counts, in order."""
        off = [*self.pauses, *(one[:2] for one in self.vacations if one[2] == seat)]
        if self.paused is not None:
            off.append((self.paused, until))
        midnights = range(self.since - self.since % DAY, until + DAY, DAY)
        cuts = {self.since, until, *midnights, *(cut for one in off for cut in one)}
        inside = sorted(cut for cut in cuts if self.since <= cut <= until)
        for begin, end in pairwise(inside):
            if not self._weekend(begin) and not any(a <= begin < b for a, b in off):
                yield begin, end

    def _weekend(self, instant: int) -> bool:
        day = datetime.fromtimestamp(instant // 1000, UTC).isoweekday()
        return day > 5 and not self.terms.options.weekends

    def running(self, seat: int, now: int) -> int:
        return sum(end - begin for begin, end in self.stretches(seat, now))

    def used(self, seat: int) -> int:
        return sum(took for of, took in self.turns if of == seat)

    def allowance(self, seat: int) -> int | None:
        terms, limits = self.terms, []
        limits += [days * DAY for days in (terms.forfeit, terms.days) if days]
        if terms.total:
            limits.append(terms.total * DAY - self.used(seat))
        if terms.bank:
            bank = terms.bank * DAY
            for of, took in self.turns:
                bank += terms.increment * DAY - took if of == seat else 0
                bank = min(bank, (terms.options.cap or 10**6) * DAY)
            limits.append(bank)
        return min(limits, default=None)

    def reached(self, seat: int, counted: int) -> int:
        """The first instant at which the running turn has taken so much."""
        if counted <= 0:
            return self.since
        for begin, end in self.stretches(seat, self.since + FAR):
            if counted <= end - begin:
                return begin + counted
            counted -= end - begin
        raise AssertionError("it is never reached")

    def deadline(self, seat: int) -> int | None:
        allowance = self.allowance(seat)
        if self.paused is not None or allowance is None:
            return None
        return self.reached(seat, allowance)

    def reminder(self, seat: int) -> int | None:
        days = self.reminder_days()[self.reminded :]
        if self.paused is not None or not days:
            return None
        instant, flag = self.reached(seat, days[0] * DAY), self.deadline(seat)
        return None if flag is not None and flag <= instant else instant

    def reminder_days(self) -> list[int]:
        return [day for day in (self.terms.nag, *self.terms.options.nags) if self.terms.nag]

    def remind(self, seat: int, now: int) -> None:
        took = self.running(seat, now)
        self.reminded = max(1, len([day for day in self.reminder_days() if day * DAY <= took]))

    def go_away(self, seat: int, since: int, until: int) -> None:
        """Take the longest part of a vacation, from its beginning, that is allowed."""
        allowed = self.terms.options.vacation
        if allowed is not None:
            lengths = range(until - since + 1)
            taken = bisect_right(
                lengths, allowed * DAY, key=lambda ms: self.away((since, since + ms), seat)
            )
            until = since + taken - 1
        if until > since:
            self.vacations.append((since, until, seat))

    def away(self, new: tuple[int, int], seat: int) -> int:
        """How long a seat is away in all, if it is so then, too."""
        offs = [new, *(one[:2] for one in self.vacations if one[2] == seat)]
        cuts = sorted({cut for one in offs for cut in one})
        return sum(
            end - begin
            for begin, end in pairwise(cuts)
            if any(a <= begin and end <= b for a, b in offs)
        )

    def begin(self, at: int) -> None:
        self.since, self.reminded = at, 0


spans = st.integers(0, 9 * DAY) | st.integers(0, 9 * 24).map(lambda hours: hours * HOUR)
agreed = st.builds(
    TimeControl,
    nag=st.integers(0, 4),
    forfeit=st.integers(0, 9),
    total=st.sampled_from([0, 0, 5, 20]),
    days=st.sampled_from([0, 0, 3]),
    bank=st.sampled_from([0, 0, 2, 12]),
    increment=st.integers(0, 2),
    weekends=st.booleans() | st.builds(
        ClockOptions,
        weekends=st.booleans(),
        cap=st.sampled_from([0, 12, 14]),
        vacation=st.sampled_from([None, 0, 3, 7]),
        nags=st.sampled_from([(), (5,), (6, 8)]),
    ),
)  # fmt: skip
happenings = st.one_of(
    st.tuples(st.just("moved"), st.sampled_from(SEATS)),
    st.tuples(st.just("turned")),
    st.tuples(st.just("rewound"), st.integers(0, 4)),
    st.tuples(st.just("paused")),
    st.tuples(st.just("resumed")),
    st.tuples(st.just("nagged"), st.sampled_from(SEATS)),
    st.tuples(st.just("away"), st.sampled_from(SEATS), spans, spans),
    st.tuples(st.just("back"), st.sampled_from(SEATS), spans),
)
histories = st.lists(st.tuples(spans, happenings), max_size=12)


def happen(clock: MatchClock, plain: Plain, now: int, what: tuple) -> MatchClock:  # noqa: PLR0911
    """Tell both clocks; give the one that can't be changed."""
    match what:
        case ("moved", seat):
            plain.turns.append((seat, plain.running(seat, now)))
            plain.begin(now)
            return after_ply(clock, seat, now)
        case ("turned",):
            plain.begin(now)
            return match_clock.after_seat_left(clock, now)
        case ("rewound", plies):
            del plain.turns[plies:]
            plain.begin(now)
            return match_clock.after_undo(clock, plies, now)
        case ("paused",):
            plain.paused = now if plain.paused is None else plain.paused
            return match_clock.after_pause(clock, now)
        case ("resumed",):
            if plain.paused is not None:
                plain.pauses.append((plain.paused, now))
            plain.paused = None
            return match_clock.after_resume(clock, now)
        case ("nagged", seat):
            plain.remind(seat, now)
            return match_clock.after_reminder(clock, seat, now)
        case ("away", seat, wait, lasts):
            # a vacation begins as its event comes; the clock relies on it where vacations are limited
            since = now if plain.terms.options.vacation is not None else now + wait
            plain.go_away(seat, since, since + lasts)
            return match_clock.after_vacation_start(clock, seat, since, since + lasts)
        case ("back", seat, wait):
            end = now + wait
            plain.vacations = [
                (a, min(b, end) if of == seat else b, of) for a, b, of in plain.vacations
            ]
            return match_clock.after_vacation_end(clock, seat, end)
    raise AssertionError(what)


@st.composite
def lives(draw) -> tuple[MatchClock, Plain, int]:
    """A clock after anything that can happen, its plain twin, and the time it is."""
    terms, now = draw(agreed), FIRST_TURN + draw(spans)
    clock, plain = start_clock(terms, now), Plain(terms, now)
    for wait, what in draw(histories):
        now += wait
        clock = happen(clock, plain, now, what)
    return clock, plain, now


@st.composite
def plays(draw, terms=agreed) -> MatchClock:
    """A clock that runs after some plies and vacations, and is not paused."""
    now = FIRST_TURN
    clock = start_clock(draw(terms), now)
    for wait, seat, off in draw(st.lists(st.tuples(spans, st.sampled_from(SEATS), spans))):
        clock = match_clock.after_vacation_start(
            clock, 1 - seat, now + wait // 2, now + wait // 2 + off
        )
        now += wait
        clock = after_ply(clock, seat, now)
    return clock


@given(lives(), st.sampled_from(SEATS), spans)
def test_it_agrees_with_the_plain_clock_whatever_happened(life, seat, later):
    clock, plain, now = life
    assert time_of_turn(clock, seat, now + later) == plain.running(seat, now + later)
    assert time_used(clock, seat) == plain.used(seat)
    assert flag_time(clock, seat) == plain.deadline(seat)
    assert reminder_time(clock, seat) == plain.reminder(seat)
    allowance = plain.allowance(seat)
    expected = allowance and max(0, allowance - plain.running(seat, now + later))
    assert time_left(clock, seat, seat, now + later) == expected
    allowed = plain.terms.options.vacation
    left = None if allowed is None else allowed * DAY - plain.away((0, 0), seat)
    assert vacation_left(clock, seat) == left


@given(lives(), st.sampled_from(SEATS))
def test_a_deadline_is_the_first_instant_at_which_nothing_is_left(life, seat):
    clock, plain, _ = life
    flag, allowance = flag_time(clock, seat), plain.allowance(seat)
    assume(flag is not None and allowance > 0)
    assert time_of_turn(clock, seat, flag) == allowance
    assert time_of_turn(clock, seat, flag - 1) == allowance - 1
    assert time_left(clock, seat, seat, flag - 1) == 1
    assert time_left(clock, seat, seat, flag) == 0


@given(
    plays(),
    st.lists(st.tuples(st.sampled_from((*SEATS, -1)), spans, spans), max_size=5),
    st.randoms(use_true_random=False),
)
def test_times_off_may_be_told_in_any_order_and_overlap(clock, offs, random):
    assume(clock.terms.options.vacation is None)  # or the first ones told use up what is allowed
    one = another = clock
    mixed = random.sample(offs, len(offs))
    for seat, wait, lasts in offs:
        one = match_clock.after_vacation_start(
            one, seat, clock.since + wait, clock.since + wait + lasts
        )
    for seat, wait, lasts in mixed:
        another = match_clock.after_vacation_start(
            another, seat, clock.since + wait, clock.since + wait + lasts
        )
    assert one == another


LIGHT, DARK = 0, 1


def at(text):
    """The instant of an ISO date and time, UTC."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


MONDAY = at("2026-11-23T00:00")


def begun(words="", when=MONDAY):
    return start_clock(read_time_control(words.split()), when)


def test_a_flag_falls_before_a_vacation_that_begins_at_that_instant():
    clock = match_clock.after_vacation_start(
        begun("--days=3"), LIGHT, MONDAY + 3 * DAY, MONDAY + 9 * DAY
    )
    assert match_clock.flag_time(clock, LIGHT) == MONDAY + 3 * DAY
    clock = match_clock.after_vacation_start(
        begun("--days=3"), LIGHT, MONDAY + 3 * DAY - 1, MONDAY + 9 * DAY
    )
    assert match_clock.flag_time(clock, LIGHT) == MONDAY + 9 * DAY + 1


def test_the_stored_form_is_final_and_small():
    clock = match_clock.after_vacation_start(begun(), DARK, MONDAY, MONDAY + DAY)
    clock = match_clock.after_pause(after_ply(clock, LIGHT, MONDAY + 1), MONDAY + 2)
    encoded = msgspec.msgpack.encode(clock)
    assert encoded.hex(" ") == (
        "97 98 07 15 00 00 00 00 c3 c3 cf 00 00 01 a2 05 b3 d0 01 c4 06 00 00 00 00 00 01 "
        "91 93 cf 00 00 01 a2 05 b3 d0 00 cf 00 00 01 a2 0a da 2c 00 01 "
        "cf 00 00 01 a2 05 b3 d0 02 c2 90"
    )
    assert msgspec.msgpack.decode(encoded, type=MatchClock) == clock
    assert len(msgspec.msgpack.encode(begun())) == 25


def test_a_clock_stored_with_fewer_fields_is_read():
    assert msgspec.msgpack.decode(b"\x92\x90\x05", type=MatchClock) == start_clock(TimeControl(), 5)


def turns_of(match: Match) -> list[ClockTurn]:
    return list(clock_turns(map(decode_event, match.events)))


def test_a_turn_is_over_with_a_move_and_with_the_end():
    match = Match()
    match.do(*challenge("pow2", "--days=3"), BEGIN)
    match.do(ALICE, PlayMove(text="m13-m9"), BEGIN + DAY)
    match.do(ALICE, MakeOffer(kind="draw"), BEGIN + DAY)
    assert turns_of(match) == [ClockTurn(0, BEGIN, BEGIN + DAY, DAY, 2 * DAY)]
    match.do(ALICE, ResignMatch(), BEGIN + 2 * DAY)
    assert turns_of(match)[1:] == [ClockTurn(1, BEGIN + DAY, BEGIN + 2 * DAY, DAY, 2 * DAY)]


@pytest.mark.parametrize("kind", sorted(MATCHES))
def test_the_turns_of_plies_that_stand_add_up_to_the_time_used(kind):
    match = MATCHES[kind]()
    clock, found = match.state.clock, turns_of(match)
    assert all(one.began <= one.ended and one.counted <= one.ended - one.began for one in found)
    for before, after in pairwise(found):
        assert before.ended <= after.began
    # the turns of a source are in its own ledger
    elsewhere = ("Undone", "SetBack", "Imported")
    if clock is not None and not any(type(one).__name__ in elsewhere for one in match.bodies):
        left = {seat for seat, _ in match.state.out}
        for seat in set(range(len(match.state.seats))) - left:
            used = sum(one.counted for one in found if one.seat == seat)
            assert used >= time_used(clock, seat)
