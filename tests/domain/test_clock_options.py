"""Options of a clock that few matches have: a cap of the bank, days of vacation, pauses, more reminders.

The worst-case length of a match, against a plain calendar that plays it.
"""

import re
from contextlib import nullcontext, suppress
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise, product
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from domain.clocks.length import longest
from domain.clocks.match_clock import time_left, vacation_left
from domain.clocks.time_control import (
    DAY,
    ClockOptions,
    TimeControl,
    read_time_control,
    write_time_control,
    year_of,
)
from domain.clocks.vacation import (
    Vacation,
    Vacations,
    days_left,
    end_vacation,
    take_vacation,
)
from domain.errors import Code, Refusal
from domain.match import commands
from domain.match.decision import Rejection
from domain.match.events import Absent, MatchStarted, Nagged
from domain.match.history import decode_event
from domain.match.imports import import_command
from domain.match.state import deadline, next_due, reminder_is_due
from domain.records import SERVER_ACCOUNT
from infra.languages.wording import wording
from tests.domain.given import OUT, two
from tests.domain.test_disputes import ARBITER, back, rule
from tests.domain.test_match_laws import ELSEWHERE
from tests.helpers.given import ALICE, BEGIN, BOB, Match, challenge, sent

ALL = ("--bank=10+1:20", "--nagtime=14,28", "--silence=40", "--vacation=9", "--pause=off")


def left(match: Match, seat: int, at: int) -> int | None:
    state = match.state
    assert state.clock is not None
    return time_left(state.clock, seat, state.next, at)


def refusal(match: Match, actor: bytes, command: object, at: int) -> tuple[Code, str]:
    found = match.decided(actor, command, at)
    assert isinstance(found, Rejection)
    return Code(found.code), found.sentence


def test_a_start_without_these_options_has_the_bytes_and_the_digest_it_always_had() -> None:
    actor, start = challenge("pow2", "--days=3", "--nagtime=1", "--weekends=off")
    event = decode_event(Match((actor, start)).events[0])
    assert isinstance(event.body, MatchStarted)
    assert msgspec.msgpack.encode(event.body.terms).hex(" ") == "98 01 00 00 03 00 00 c2 c3"
    digest = commands.command_digest(commands.encode_command(sent(actor, start)))
    assert digest.hex() == "581baf39bad54601"


def test_a_start_with_all_of_them_is_recorded_and_decided_again() -> None:
    match = two(*ALL)
    started = match.bodies[0]
    assert isinstance(started, MatchStarted)
    assert started.terms == read_time_control(ALL)
    match.play(OUT, at=BEGIN + 3 * DAY)
    match.holds()


def test_a_player_is_reminded_at_each_of_the_days_and_then_no_more() -> None:
    match = two("--forfeittime=9", "--nagtime=2,4,5")
    for day in (2, 4, 5):
        due = BEGIN + day * DAY
        assert next_due(match.state) == due
        assert (
            match.refuses(SERVER_ACCOUNT, commands.RemindPlayer(ply=0), due - 1) == Code.TOO_EARLY
        )
        assert reminder_is_due(match.state, due)
        assert match.do(SERVER_ACCOUNT, commands.RemindPlayer(ply=0), due) == (Nagged(seat=0),)
        assert match.refuses(SERVER_ACCOUNT, commands.RemindPlayer(ply=0), due) == Code.TOO_EARLY
    assert next_due(match.state) == BEGIN + 9 * DAY
    match.play(OUT, at=BEGIN + 6 * DAY)
    assert next_due(match.state) == BEGIN + 8 * DAY, "each turn has its own"
    match.holds()


def test_a_vacation_stops_the_clock_for_as_many_days_as_the_match_allows() -> None:
    match = two("--days=5", "--nagtime=0", "--vacation=3")
    assert match.do(ALICE, commands.StartVacation(until=BEGIN + 9 * DAY), BEGIN) == (
        Absent(seat=0, until=BEGIN + 9 * DAY),
    )
    assert deadline(match.state) == BEGIN + 8 * DAY
    more = commands.StartVacation(until=BEGIN + 20 * DAY)
    assert refusal(match, ALICE, more, BEGIN + 4 * DAY) == (
        Code.BAD_OPTION,
        "you have no vacation left that can stop your clock in this match",
    )
    match.play(OUT, at=BEGIN + 4 * DAY)
    match.do(BOB, more, BEGIN + 4 * DAY)
    assert deadline(match.state) == BEGIN + 12 * DAY, "each seat has its own"
    match.holds()


def test_moves_taken_back_and_a_set_back_give_back_no_days() -> None:
    match = two("--days=5", "--nagtime=0", "--vacation=4")
    match.do(ALICE, commands.StartVacation(until=BEGIN + 3 * DAY), BEGIN)
    match.play(OUT, at=BEGIN + 4 * DAY)
    match.do(SERVER_ACCOUNT, commands.FlagPlayer(), BEGIN + 9 * DAY)
    match.away = {ALICE: BEGIN + 60 * DAY}
    back(match, 0, BEGIN + 30 * DAY)
    assert deadline(match.state) == BEGIN + (30 + 1 + 5) * DAY
    match.holds()


def test_a_match_that_goes_on_elsewhere_has_its_options_and_all_its_days() -> None:
    there = two(*ALL)
    there.do(ALICE, commands.StartVacation(until=BEGIN + 9 * DAY), BEGIN)
    there.play(OUT, at=BEGIN + DAY)
    here = Match(board=2)
    here.do(SERVER_ACCOUNT, import_command(there.state, (ALICE, BOB), ELSEWHERE), BEGIN)
    clock = here.state.clock
    assert clock is not None
    assert clock.terms == replace(read_time_control(ALL), rated=False)
    assert vacation_left(clock, 0) == 9 * DAY
    here.holds()


def test_a_match_without_pauses_refuses_to_be_paused_and_is_annulled_all_the_same() -> None:
    match = two("--days=5", "--pause=off")
    assert refusal(match, ALICE, commands.MakeOffer(kind="pause"), BEGIN) == (
        Code.UNKNOWN_OFFER,
        "a pause can't be proposed: this match is played without pauses",
    )
    match.do(ALICE, commands.MakeOffer(kind="draw"), BEGIN)
    match.do(ARBITER, rule(annul=True), BEGIN + DAY)
    assert match.state.over
    match.holds()


def worst(terms: TimeControl, plies: int) -> int:
    """The days until the last of two players has moved at the last instant, vacations in each turn.

    Days are the calendar's own, and the match begins on a Saturday. Vacations are limited.
    """
    day = datetime(2026, 11, 28, tzinfo=UTC)
    begin, options = day, terms.options
    total, bank = [terms.total] * 2, [terms.bank] * 2
    away = [options.vacation or 0] * 2
    for ply in range(plies):
        seat = ply % 2
        limits = [terms.turn] if terms.turn else []
        limits += [total[seat]] if terms.total else []
        limits += [bank[seat]] if terms.bank else []
        took = min(limits)
        total[seat] -= took
        bank[seat] += terms.increment - took
        if options.cap:
            bank[seat] = min(bank[seat], options.cap)
        took += away[seat]
        away[seat] = 0
        while took:
            took -= options.weekends or day.isoweekday() <= 5
            day += timedelta(days=1)
    return (day - begin).days


@given(
    st.builds(
        TimeControl,
        forfeit=st.integers(0, 9),
        total=st.sampled_from([0, 0, 30]),
        bank=st.integers(1, 12),
        increment=st.integers(0, 3),
        weekends=st.builds(
            ClockOptions,
            weekends=st.booleans(),
            cap=st.sampled_from([0, 12, 14]),
            vacation=st.integers(0, 8),
        ),
    ),
    st.integers(2, 24),
)
def test_the_longest_match_is_as_long_as_one_played_at_the_last_instant(terms, plies):
    assert longest(terms, plies) == worst(terms, plies)


@pytest.mark.parametrize(
    ("words", "plies", "days"),
    [
        ("--days=3 --vacation=0", 10, 30),
        ("--days=3 --vacation=5", 10, 40),
        ("--days=3 --vacation=0 --weekends=off", 10, 42),
        ("--bank=10+1 --vacation=0", 20, 2 * (10 + 9)),
        ("--bank=10+1:10 --vacation=0", 20, 2 * (10 + 9)),
        ("--bank=10+5:10 --silence=2 --vacation=0", 20, 40),
        ("--totaltime=90 --vacation=0", 1000, 180),
        ("--days=3", 0, 0),
        ("--forfeittime=0", 10, None),
        ("--days=3", 10, 30 + 2 * 30 * 2),
        ("--days=5", 200, 1000 + 2 * 30 * 5),
    ],
)
def test_the_longest_match_of_two(words, plies, days):
    assert longest(read_time_control(words.split()), plies) == days


def test_a_match_of_more_seats_than_a_year_has_vacations_for_has_no_longest():
    assert longest(read_time_control(["--days=3"]), 13, 13) is None
    assert longest(read_time_control(["--days=3", "--vacation=1"]), 13, 13) == 13 * 4
    for seats, off in product(range(2, 9), ("on", "off")):
        terms = read_time_control(["--days=3", f"--weekends={off}"])
        assert (longest(terms, 1000, seats) or 0) > 3000


# --- terms of time: words read and written, and each refusal's sentence


PAGE = Path(__file__).parents[2] / "docs" / "clocks.md"
BANK = "--bank=A+B, with A from 1 to 3650 and B from 0 to 365"
DAYS = "--days=N, with N from 1 to 365"
KNOWN = (
    "--bank, --days, --forfeittime, --nagtime, --pause, --rated-from, --silence, --totaltime, --unrated, "
    "--vacation, --weekends"
)


def refused(*flags):
    with pytest.raises(Refusal) as refusal:
        read_time_control(flags)
    return refusal.value.code, refusal.value.sentence


def terms():
    """Any terms that words can express."""
    banks = st.tuples(st.integers(1, 3650), st.integers(0, 365), st.just(0)) | st.just((0, 0, 0))
    capped = st.tuples(st.integers(1, 60), st.integers(1, 365), st.integers(60, 3650))
    days = st.sets(st.integers(1, 365), min_size=1, max_size=5).map(sorted).map(tuple)
    return st.builds(
        lambda bank, nags, options, **rest: TimeControl(
            bank=bank[0],
            increment=bank[1],
            nag=nags[0],
            weekends=replace(options, cap=bank[2], nags=nags[1:]).recorded,
            **rest,
        ),
        bank=banks | capped,
        nags=days | st.just((0,)),
        options=st.builds(
            ClockOptions,
            weekends=st.booleans(),
            vacation=st.none() | st.integers(0, 365),
            pause=st.booleans(),
        ),
        forfeit=st.integers(0, 3650),
        total=st.integers(0, 3650),
        days=st.integers(0, 365),
        rated=st.booleans() | st.integers(2, 100),
    )


@pytest.mark.parametrize(
    ("flag", "expected"),
    [
        ("--bank=1", TimeControl(forfeit=0, bank=1)),
        ("--bank=1+0", TimeControl(forfeit=0, bank=1)),
        ("--bank=3650+365", TimeControl(forfeit=0, bank=3650, increment=365)),
        ("--weekends=on", TimeControl()),
        ("--WeekEnds=off", TimeControl(weekends=False)),
        ("--DAYS=2", TimeControl(forfeit=0, days=2)),
    ],
)
def test_each_range_is_read_to_its_ends_and_names_in_any_letter_case(flag, expected):
    assert read_time_control([flag]) == expected


@pytest.mark.parametrize(
    ("flag", "sentence"),
    [
        ("--days=0", f"'--days=0' is out of range; write {DAYS}"),
        ("--days=366", f"'--days=366' is out of range; write {DAYS}"),
        ("--days", f"'--days' isn't understood; write {DAYS}"),
        ("--days=+3", f"'--days=+3' isn't understood; write {DAYS}"),
        ("--days=03", f"'--days=03' isn't understood; write {DAYS}"),
        ("--days=3\n", f"'--days=3\\n' isn't understood; write {DAYS}"),
        ("--days=٣", f"'--days=٣' isn't understood; write {DAYS}"),
        ("--days=" + "9" * 5000, f"'--days={'9' * 24}' isn't understood; write {DAYS}"),
        ("--nagtime=366", "'--nagtime=366' is out of range; write --nagtime=N, with N from 0 to 365"),
        ("--forfeittime=3651", "'--forfeittime=3651' is out of range; write --forfeittime=N, with N from 0 to 3650"),
        ("--totaltime=0", "'--totaltime=0' is out of range; write --totaltime=N, with N from 1 to 3650"),
        ("--bank=0", f"'--bank=0' is out of range; write {BANK}"),
        ("--bank=3651+1", f"'--bank=3651+1' is out of range; write {BANK}"),
        ("--bank=1+366", f"'--bank=1+366' is out of range; write {BANK}"),
        ("--bank", f"'--bank' isn't understood; write {BANK}"),
        ("--bank=1+2+3", f"'--bank=1+2+3' isn't understood; write {BANK}"),
        ("--weekends", "'--weekends' isn't understood; write --weekends=off or --weekends=on"),
        ("--weekends=OFF", "'--weekends=OFF' isn't understood; write --weekends=off or --weekends=on"),
        ("--unrated=1", "--unrated takes no value; write it alone"),
        ("--nagtme=3", "there is no option '--nagtme'; did you mean --nagtime?"),
        ("--FORFEIT=3", "there is no option '--FORFEIT'; did you mean --forfeittime?"),
        ("days=3", "there is no option 'days'; did you mean --days?"),
        ("--wee\u212aends=off", "there is no option '--wee\u212aends'; did you mean --weekends?"),
        ("--zzz", f"there is no option '--zzz'; the options are {KNOWN}"),
        ("", f"there is no option ''; the options are {KNOWN}"),
        ("--" + "q" * 5000, f"there is no option '--{'q' * 22}'; the options are {KNOWN}"),
    ],
)  # fmt: skip
def test_a_flag_is_refused_with_the_range_or_the_nearest_known_one(flag, sentence):
    code = Code.UNKNOWN_OPTION if "there is no option" in sentence else Code.BAD_OPTION
    assert refused(flag) == (code, sentence)


def test_an_option_is_given_once():
    for flags, name in (
        (["--Days=3", "--dAYS=4"], "days"),
        (["--unrated", "--nagtime=1", "--unrated"], "unrated"),
    ):
        assert refused(*flags) == (Code.BAD_OPTION, f"--{name} is given twice; give it once")


def test_the_recorded_words_are_sorted_and_leave_defaults_out():
    words = ["--unrated", "--nagtime=7", "--weekends=off", "--bank=10+0", "--DAYS=3"]
    assert write_time_control(read_time_control(words)) == (
        "--bank=10",
        "--days=3",
        "--unrated",
        "--weekends=off",
    )
    words = ["--totaltime=90", "--forfeittime=0", "--nagtime=0"]
    assert write_time_control(read_time_control(words)) == (
        "--forfeittime=0",
        "--nagtime=0",
        "--totaltime=90",
    )


@given(terms())
def test_reading_gives_back_what_was_written(agreed):
    assert read_time_control(write_time_control(agreed)) == agreed


@given(st.lists(st.text("-=+:,daysbnkwefortu0123456789", max_size=14), max_size=3))
def test_whatever_is_given_is_read_or_refused(flags):
    try:
        agreed = read_time_control(flags)
    except Refusal:
        assert refused(*flags)[0] in (Code.UNKNOWN_OPTION, Code.BAD_OPTION)
    else:
        assert read_time_control(write_time_control(agreed)) == agreed


def test_the_page_for_players_names_every_option_with_its_range():
    table = PAGE.read_text().partition("| option |")[2].partition("\n\n")[0]
    named = set(re.findall(r"^\| `(--[a-z-]+)", table, re.MULTILINE))
    assert named == set(KNOWN.split(", "))
    ranges = re.findall(r"`(--[a-z]+)=N` .* (\d+) to (\d+) \|", table)
    assert len(ranges) == 6
    for option, low, high in ranges:
        edges = int(low) - 1, int(low), int(high), int(high) + 1
        for edge, fits in zip(edges, (False, True, True, False), strict=True):
            with nullcontext() if fits else pytest.raises(Refusal):
                read_time_control([f"{option}={edge}"])


def test_the_recorded_form_of_terms_is_final():
    encoded = msgspec.msgpack.encode(TimeControl(3, 30, 90, 5, 10, 1, False, False))
    assert encoded == bytes.fromhex("98 03 1e 5a 05 0a 01 c2 c2")
    assert msgspec.msgpack.decode(b"\x90", type=TimeControl) == TimeControl()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--dys=3"], "es gibt keine Option '--dys'; ist --days gemeint?"),
        (["--days=0"], "'--days=0' ist zu klein oder zu groß; richtig ist --days=N, mit N von 1 bis 365"),
        (["--bank=x"], "'--bank=x' ist unklar; richtig ist --bank=A+B, mit A von 1 bis 3650 und B von 0 bis 365"),
        (["--bank=10+1:9"], "'--bank=10+1:9' ist unklar; richtig ist --bank=A+B:C, mit C von A bis 3650"),
        (
            ["--nagtime=9,5"],
            (
                "'--nagtime=9,5' ist unklar; richtig ist --nagtime=N,N,..., mit höchstens 5 Tagen von 1 bis "
                "365, jeder größer als der davor"
            ),
        ),
        (["--pause=never"], "'--pause=never' ist unklar; richtig ist --pause=off oder --pause=on"),
        (["--silence=9", "--forfeittime=9"], "--silence und --forfeittime bedeuten dasselbe; eines davon genügt"),
        (["--weekends=x"], "'--weekends=x' ist unklar; richtig ist --weekends=off oder --weekends=on"),
    ],
)  # fmt: skip
def test_a_refused_flag_is_explained_in_german(flags, said):
    with pytest.raises(Refusal) as found:
        read_time_control(flags)
    assert found.value.in_language(wording("de")) == said


EPOCH = date(1970, 1, 1)
HOUR = DAY // 24


def at(text):
    """The instant of an ISO date and time, UTC."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


MAY = at("2026-05-04T12:00")


def test_the_year_of_a_day_is_as_in_the_calendar():
    for year in range(1600, 2410):
        first = (date(year, 1, 1) - EPOCH).days
        assert [year_of(first - 1), year_of(first)] == [year - 1, year]


@pytest.mark.parametrize("days", [0, -1, 61, 10**12])
def test_a_vacation_of_no_days_or_too_many_is_refused(days):
    with pytest.raises(Refusal) as refusal:
        take_vacation((), MAY, days)
    said = f"a vacation lasts whole days, at least 1 and at most 30 a year, not {days}"
    assert (refusal.value.code, refusal.value.sentence) == (Code.BAD_OPTION, said)


@pytest.mark.parametrize(
    ("after", "days"), [(0, 1), (DAY - 1, 1), (DAY, 2), (2 * DAY + HOUR, 3), (10 * DAY - 1, 10)]
)
def test_who_is_back_early_can_take_the_days_that_have_not_begun_again(after, days):
    taken = end_vacation(take_vacation(take_vacation((), MAY - 99 * DAY, 2), MAY, 10), MAY + after)
    assert taken == (Vacation(MAY - 99 * DAY, 2), Vacation(MAY, days))
    assert days_left(taken, 2026) == 28 - days


@given(st.lists(st.tuples(st.integers(0, 40 * 24), st.integers(1, 40), st.booleans()), max_size=40))
def test_however_vacations_are_taken_no_year_has_more_than_thirty_days_and_none_overlap(steps):
    now, taken, every = MAY, (), {}
    for hours, days, ends in steps:
        now += hours * HOUR
        with suppress(Refusal):  # what is refused changes nothing
            taken = end_vacation(taken, now) if ends else take_vacation(taken, now, days)
        every |= {one.since: one.days for one in taken}
    days = sorted(since + day * DAY for since, count in every.items() for day in range(count))
    years = [datetime.fromtimestamp(day / 1000, UTC).year for day in days]
    assert all(years.count(year) <= 30 for year in years)
    assert all(later - day >= DAY for day, later in pairwise(days))


def test_the_stored_form_of_vacations_is_final():
    taken = (Vacation(MAY, 3),)
    encoded = msgspec.msgpack.encode(taken)
    assert encoded == bytes.fromhex("91 92 cf") + MAY.to_bytes(8, "big") + b"\x03"
    assert msgspec.msgpack.decode(encoded, type=Vacations) == taken


def test_a_vacation_that_ends_with_its_year_is_forgotten_in_the_next():
    taken = take_vacation((), at("2026-12-22T00:00"), 10)
    assert take_vacation(taken, at("2027-01-01T00:00"), 1) == (Vacation(at("2027-01-01T00:00"), 1),)
