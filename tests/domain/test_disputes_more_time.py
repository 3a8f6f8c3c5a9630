"""A ruling lets a seat have more time."""

import pytest
from msgspec.structs import replace

from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.fairness import Commitment
from domain.match.commands import (
    AnswerOffer,
    DeclineMatch,
    FlagPlayer,
    MakeOffer,
    ResumeMatch,
    StartVacation,
)
from domain.match.events import SERVER_ACCOUNT
from domain.match.state import deadline, next_due
from tests.domain.clocks_given import two
from tests.domain.rulings import give, go_on, played
from tests.helpers.given import ALICE, BEGIN, BOB, Match, challenge


def test_the_seat_to_move_has_more_time_for_this_turn() -> None:
    match = two("--days=5")
    give(match, BEGIN + DAY, (0, 2 * DAY))
    assert deadline(match.state) == BEGIN + 7 * DAY
    give(match, BEGIN + DAY, (0, DAY))
    assert deadline(match.state) == BEGIN + 8 * DAY
    match.play("m13-m9", at=BEGIN + 7 * DAY)
    assert deadline(match.state) == BEGIN + 12 * DAY, "the other has none of it"
    match.play("a13-c11", at=BEGIN + 7 * DAY)
    assert deadline(match.state) == BEGIN + 12 * DAY, "it is used up"
    match.holds()


def test_another_seat_has_more_time_for_its_next_turn() -> None:
    match = two("--days=5")
    give(match, BEGIN, (1, DAY))
    assert deadline(match.state) == BEGIN + 5 * DAY
    match.play("m13-m9", at=BEGIN)
    assert deadline(match.state) == BEGIN + 6 * DAY
    go_on(match, 2, BEGIN)
    assert deadline(match.state) == BEGIN + 5 * DAY, "it is used up"
    match.holds()


@pytest.mark.parametrize("terms", ["--bank=5", "--totaltime=5"])
def test_of_a_bank_and_of_a_total_time_it_is_more_for_good(terms: str) -> None:
    match = two(terms, "--forfeittime=0", "--nagtime=0")
    give(match, BEGIN, (0, 2 * DAY), (1, DAY))
    assert deadline(match.state) == BEGIN + 7 * DAY
    match.play("m13-m9", at=BEGIN + 3 * DAY)
    assert deadline(match.state) == BEGIN + 9 * DAY
    match.play("a13-c11", at=BEGIN + 3 * DAY)
    assert deadline(match.state) == BEGIN + 7 * DAY
    match.holds()


def test_of_several_limits_each_grows() -> None:
    match = two("--days=3", "--bank=5", "--nagtime=0")
    give(match, BEGIN, (0, DAY))
    assert deadline(match.state) == BEGIN + 4 * DAY
    match.play("m13-m9", "a13-c11", at=BEGIN + 4 * DAY - 1)
    assert deadline(match.state) == BEGIN + 6 * DAY, "2 of 6 days are left"
    match.holds()


def test_a_flag_that_is_due_waits_for_the_time_that_was_given() -> None:
    match = two("--days=5")
    give(match, BEGIN + 6 * DAY, (0, 2 * DAY))
    assert match.refuses(SERVER_ACCOUNT, FlagPlayer(), BEGIN + 6 * DAY) == Code.TOO_EARLY
    match.play("m13-m9", at=BEGIN + 7 * DAY - 1)
    match.holds()


def test_time_is_given_in_a_pause_and_on_vacation() -> None:
    match = played()
    match.do(ALICE, StartVacation(until=BEGIN + 9 * DAY), BEGIN + 3 * DAY)
    match.do(ALICE, MakeOffer(kind="pause"), BEGIN + 4 * DAY)
    match.do(BOB, AnswerOffer(accept=True), BEGIN + 4 * DAY)
    give(match, BEGIN + 5 * DAY, (0, DAY))
    assert deadline(match.state) is None
    match.do(BOB, ResumeMatch(), BEGIN + 6 * DAY)
    assert deadline(match.state) == BEGIN + 15 * DAY
    match.holds()


def test_a_seat_has_more_time_before_a_draw() -> None:
    alice, start = challenge("powerdrain", "-p", "--days=3")
    commitments = (Commitment(bytes(32)), Commitment())
    match = Match()
    match.do(alice, replace(start, gather=True, commitments=commitments), BEGIN)
    assert deadline(match.state) == BEGIN + 3 * DAY
    give(match, BEGIN, (1, 2 * DAY))
    assert deadline(match.state) == next_due(match.state) == BEGIN + 5 * DAY
    match.do(BOB, DeclineMatch(), BEGIN + 4 * DAY)
    match.holds()
