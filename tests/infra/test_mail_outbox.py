from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from redis import Redis

from infra.mail import keys
from infra.mail.letter import Letter, Purpose, UnfitLetterError, check_letter, fit_subject
from infra.mail.outbox import TAKEN_MS, Outbox, Rest

ALICE, BOB = b"alice...", b"bob....."
ANSWER = Letter(id="a1@play.example.org", to="alice@example.org", subject="Re: m", body="yes\n")
NOTICE = replace(ANSWER, id="m1@h", purpose=Purpose.NOTICE, account=ALICE)


class Clock:
    """A time of the test's own."""

    def __init__(self) -> None:
        self.now = 1_000_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def outbox(redis_client: Redis, clock: Callable[[], int]) -> Outbox:
    return Outbox(redis_client, clock)


def test_a_letter_that_was_put_can_be_taken_whole(outbox: Outbox, clock: Clock):
    assert outbox.put(ANSWER)
    (taken,) = outbox.take(clock.now, 10)
    assert taken.letter == ANSWER
    assert (taken.since, taken.tries) == (clock.now, 1)


def test_the_same_id_is_the_same_letter_even_after_it_was_sent(outbox: Outbox, clock: Clock):
    assert outbox.put_all([ANSWER, ANSWER]) == [True, False]
    (taken,) = outbox.take(clock.now, 10)
    outbox.done(taken)
    assert not outbox.put(replace(ANSWER, body="another"))
    assert outbox.waiting() == 0
    assert outbox.take(clock.now, 10) == []


def test_the_same_mail_to_two_addresses_is_two_letters(outbox: Outbox):
    elsewhere = replace(ANSWER, to="alice@elsewhere.example")
    assert outbox.put_all([ANSWER, elsewhere]) == [True, True]
    assert not outbox.put(replace(ANSWER, to="alice@EXAMPLE.org"))


def test_letters_outlive_the_process_that_put_them(redis_client: Redis, clock: Clock):
    Outbox(redis_client, clock).put(ANSWER)
    (taken,) = Outbox(redis_client, clock).take(clock.now, 1)
    assert taken.letter == ANSWER


def test_a_letter_waits_for_its_time(outbox: Outbox, clock: Clock):
    outbox.put(replace(ANSWER, not_before=clock.now + 500))
    assert not outbox.is_due(clock.now)
    assert outbox.take(clock.now, 10) == []
    assert outbox.is_due(clock.now + 500)
    assert len(outbox.take(clock.now + 500, 10)) == 1


def test_the_longest_due_goes_first(outbox: Outbox, clock: Clock):
    for number in range(3):
        outbox.put(replace(ANSWER, id=f"{number}@h"))
        clock.now += 1
    assert [taken.letter.id for taken in outbox.take(clock.now, 2)] == ["0@h", "1@h"]


def test_what_was_taken_is_left_to_who_took_it_and_then_tried_again(outbox: Outbox, clock: Clock):
    outbox.put(ANSWER)
    assert [taken.tries for taken in outbox.take(clock.now, 10)] == [1]
    assert outbox.take(clock.now + TAKEN_MS - 1, 10) == []
    assert [taken.tries for taken in outbox.take(clock.now + TAKEN_MS, 10)] == [2]


def test_a_letter_is_put_off(outbox: Outbox, clock: Clock):
    outbox.put(ANSWER)
    (taken,) = outbox.take(clock.now, 10)
    outbox.later(taken, clock.now + 60_000)
    assert outbox.take(clock.now + 59_999, 10) == []
    (again,) = outbox.take(clock.now + 60_000, 10)
    assert (again.since, again.tries) == (clock.now, 2)


def test_what_was_not_tried_counts_as_no_try(outbox: Outbox, clock: Clock):
    outbox.put(ANSWER)
    outbox.give_back(outbox.take(clock.now, 10), clock.now + 5)
    assert [taken.tries for taken in outbox.take(clock.now + 5, 10)] == [1]


def test_a_letter_that_was_forgotten_does_not_come_back(
    outbox: Outbox, clock: Clock, redis_client: Redis
):
    outbox.put_all([NOTICE, replace(NOTICE, id="m2@h", account=BOB), ANSWER])
    taken = outbox.take(clock.now, 10)
    outbox.forget(ALICE)
    outbox.forget(ALICE)
    for letter in taken:
        outbox.later(letter, clock.now)
    left = outbox.take(clock.now, 10)
    assert {letter.letter.account for letter in left} == {BOB, b""}
    assert redis_client.hlen(keys.TRIES) == redis_client.hlen(keys.LETTERS) == 2


def test_a_letter_that_can_t_be_read_keeps_no_other_up(
    outbox: Outbox, clock: Clock, redis_client: Redis, caplog
):
    outbox.put(ANSWER)
    (key,) = redis_client.hkeys(keys.LETTERS)
    redis_client.hset(keys.LETTERS, key, b"broken")
    outbox.put(NOTICE)
    assert [taken.letter for taken in outbox.take(clock.now, 10)] == [NOTICE]
    assert "ALARM: e-mail" in caplog.text
    assert outbox.waiting() == 1


def test_nothing_is_due_while_the_relay_rests(outbox: Outbox, clock: Clock):
    outbox.put(ANSWER)
    rest = Rest(clock.now + 60_000, 1, "no answer")
    outbox.lay_in(rest)
    assert not outbox.is_due(clock.now)
    assert outbox.rest(clock.now) == rest
    assert outbox.rest(clock.now + 60_000) is None
    assert outbox.last_rest() == rest
    assert outbox.is_due(clock.now + 60_000)
    outbox.go_on()
    assert outbox.last_rest() is None


def test_without_a_clock_the_server_s_time_counts(redis_client: Redis):
    outbox = Outbox(redis_client)
    outbox.put(ANSWER)
    assert abs(outbox.now() - redis_client.time()[0] * 1000) < 60_000
    assert outbox.is_due(outbox.now())


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "a\r\nBcc: x@y.example@h"},
        {"id": "no-domain"},
        {"id": "<a@b>"},
        {"to": "alice@example.org\r\nRCPT TO:<x@y.example>"},
        {"to": "alice@example.org>"},
        {"to": "alice@example.org,bob@example.org"},
        {"to": "alice"},
        {"to": "alice@ex\u00e4mple.org"},
        {"subject": "Re: m\nBcc: x@y.example"},
        {"subject": "Re: m\r"},
        {"subject": "Re: m\x00"},
        {"subject": "Re:\u2028m"},
        {"subject": "Re:\x85m"},
        {"headers": (("Bcc", "x@y.example"),)},
        {"headers": (("In-Reply-To", "<a@b>\r\nBcc: x@y.example"),)},
        {"headers": (("In-Reply-To", "<a@b>\nBcc: x@y.example"),)},
        {"headers": (("In-Reply-To", "<a@b>\x0bBcc: x@y.example"),)},
        {"headers": (("In-Reply-To", "<a@b>"), ("In-Reply-To", "<c@d>"))},
        {"headers": (("References", "x" * 901),)},
        {"headers": (("Reply-To", "a@b.example, c@d.example"),)},
        {"headers": (("Reply-To", "<a@b.example>"),)},
        {"purpose": Purpose.NOTICE},
        {"account": ALICE},
    ],
)
def test_what_could_make_a_header_of_its_own_is_not_taken(outbox: Outbox, changes):
    with pytest.raises(UnfitLetterError):
        outbox.put(replace(ANSWER, **changes))
    assert outbox.waiting() == 0


@given(st.text())
def test_any_text_can_be_made_a_subject(text):
    subject = fit_subject(text)
    check_letter(replace(ANSWER, subject=subject))
    assert len(f"x{subject}x".splitlines()) == 1
    assert len(subject) <= 200


def test_a_subject_keeps_what_can_be_read():
    assert fit_subject(" Re:\r\n  Zug für \x00 T\u014drere ") == "Re: Zug für T\u014drere"


# the server's clock was set back

DAYS_40_MS = 40 * 24 * 3_600_000


def test_letters_that_were_laid_aside_by_a_clock_that_ran_ahead_are_sent(
    outbox: Outbox, clock: Clock
):
    clock.now += DAYS_40_MS
    outbox.put_all([ANSWER, NOTICE])
    outbox.take(clock.now, 1)
    outbox.lay_in(Rest(clock.now + 60_000, 1, "away"))
    clock.now -= DAYS_40_MS
    assert outbox.rest(clock.now) is None
    assert outbox.is_due(clock.now)
    assert len(outbox.take(clock.now, 10)) == 2
    assert outbox.take(clock.now, 10) == []
    assert not outbox.is_due(clock.now)
