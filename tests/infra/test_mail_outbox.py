from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from redis import Redis

from infra.mail.email import Email, InvalidEmailError, Purpose, check_email, clean_subject
from infra.mail.outbox import LEASE_MS, Outbox, RelayBackoff
from infra.redis import mail_keys as keys

ALICE, BOB = b"alice...", b"bob....."
ANSWER = Email(id="a1@play.example.org", to="alice@example.org", subject="Re: m", body="yes\n")
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
    assert outbox.enqueue(ANSWER)
    (taken,) = outbox.lease_due(clock.now, 10)
    assert taken.email == ANSWER
    assert (taken.since, taken.tries) == (clock.now, 1)


def test_the_same_id_is_the_same_letter_even_after_it_was_sent(outbox: Outbox, clock: Clock):
    assert outbox.enqueue_all([ANSWER, ANSWER]) == [True, False]
    (taken,) = outbox.lease_due(clock.now, 10)
    outbox.remove(taken)
    assert not outbox.enqueue(replace(ANSWER, body="another"))
    assert outbox.size() == 0
    assert outbox.lease_due(clock.now, 10) == []


def test_the_same_mail_to_two_addresses_is_two_letters(outbox: Outbox):
    elsewhere = replace(ANSWER, to="alice@elsewhere.example")
    assert outbox.enqueue_all([ANSWER, elsewhere]) == [True, True]
    assert not outbox.enqueue(replace(ANSWER, to="alice@EXAMPLE.org"))


def test_letters_outlive_the_process_that_put_them(redis_client: Redis, clock: Clock):
    Outbox(redis_client, clock).enqueue(ANSWER)
    (taken,) = Outbox(redis_client, clock).lease_due(clock.now, 1)
    assert taken.email == ANSWER


def test_a_letter_waits_for_its_time(outbox: Outbox, clock: Clock):
    outbox.enqueue(replace(ANSWER, not_before=clock.now + 500))
    assert not outbox.is_due(clock.now)
    assert outbox.lease_due(clock.now, 10) == []
    assert outbox.is_due(clock.now + 500)
    assert len(outbox.lease_due(clock.now + 500, 10)) == 1


def test_the_longest_due_goes_first(outbox: Outbox, clock: Clock):
    for number in range(3):
        outbox.enqueue(replace(ANSWER, id=f"{number}@h"))
        clock.now += 1
    assert [taken.email.id for taken in outbox.lease_due(clock.now, 2)] == ["0@h", "1@h"]


def test_what_was_taken_is_left_to_who_took_it_and_then_tried_again(outbox: Outbox, clock: Clock):
    outbox.enqueue(ANSWER)
    assert [taken.tries for taken in outbox.lease_due(clock.now, 10)] == [1]
    assert outbox.lease_due(clock.now + LEASE_MS - 1, 10) == []
    assert [taken.tries for taken in outbox.lease_due(clock.now + LEASE_MS, 10)] == [2]


def test_a_letter_is_put_off(outbox: Outbox, clock: Clock):
    outbox.enqueue(ANSWER)
    (taken,) = outbox.lease_due(clock.now, 10)
    outbox.retry_at(taken, clock.now + 60_000)
    assert outbox.lease_due(clock.now + 59_999, 10) == []
    (again,) = outbox.lease_due(clock.now + 60_000, 10)
    assert (again.since, again.tries) == (clock.now, 2)


def test_what_was_not_tried_counts_as_no_try(outbox: Outbox, clock: Clock):
    outbox.enqueue(ANSWER)
    outbox.release(outbox.lease_due(clock.now, 10), clock.now + 5)
    assert [taken.tries for taken in outbox.lease_due(clock.now + 5, 10)] == [1]


def test_a_letter_that_was_forgotten_does_not_come_back(
    outbox: Outbox, clock: Clock, redis_client: Redis
):
    outbox.enqueue_all([NOTICE, replace(NOTICE, id="m2@h", account=BOB), ANSWER])
    taken = outbox.lease_due(clock.now, 10)
    outbox.forget(ALICE)
    outbox.forget(ALICE)
    for letter in taken:
        outbox.retry_at(letter, clock.now)
    left = outbox.lease_due(clock.now, 10)
    assert {letter.email.account for letter in left} == {BOB, b""}
    assert redis_client.hlen(keys.TRIES) == redis_client.hlen(keys.EMAILS) == 2


def test_a_letter_that_can_t_be_read_keeps_no_other_up(
    outbox: Outbox, clock: Clock, redis_client: Redis, caplog
):
    outbox.enqueue(ANSWER)
    (key,) = redis_client.hkeys(keys.EMAILS)
    redis_client.hset(keys.EMAILS, key, b"broken")
    outbox.enqueue(NOTICE)
    assert [taken.email for taken in outbox.lease_due(clock.now, 10)] == [NOTICE]
    assert "ALARM: e-mail" in caplog.text
    assert outbox.size() == 1


def test_nothing_is_due_while_the_relay_rests(outbox: Outbox, clock: Clock):
    outbox.enqueue(ANSWER)
    rest = RelayBackoff(clock.now + 60_000, 1, "no answer")
    outbox.start_backoff(rest)
    assert not outbox.is_due(clock.now)
    assert outbox.backoff(clock.now) == rest
    assert outbox.backoff(clock.now + 60_000) is None
    assert outbox.last_backoff() == rest
    assert outbox.is_due(clock.now + 60_000)
    outbox.clear_backoff()
    assert outbox.last_backoff() is None


def test_without_a_clock_the_server_s_time_counts(redis_client: Redis):
    outbox = Outbox(redis_client)
    outbox.enqueue(ANSWER)
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
    with pytest.raises(InvalidEmailError):
        outbox.enqueue(replace(ANSWER, **changes))
    assert outbox.size() == 0


@given(st.text())
def test_any_text_can_be_made_a_subject(text):
    subject = clean_subject(text)
    check_email(replace(ANSWER, subject=subject))
    assert len(f"x{subject}x".splitlines()) == 1
    assert len(subject) <= 200


def test_a_subject_keeps_what_can_be_read():
    assert clean_subject(" Re:\r\n  Zug für \x00 T\u014drere ") == "Re: Zug für T\u014drere"


# the server's clock was set back

DAYS_40_MS = 40 * 24 * 3_600_000


def test_letters_that_were_laid_aside_by_a_clock_that_ran_ahead_are_sent(
    outbox: Outbox, clock: Clock
):
    clock.now += DAYS_40_MS
    outbox.enqueue_all([ANSWER, NOTICE])
    outbox.lease_due(clock.now, 1)
    outbox.start_backoff(RelayBackoff(clock.now + 60_000, 1, "away"))
    clock.now -= DAYS_40_MS
    assert outbox.backoff(clock.now) is None
    assert outbox.is_due(clock.now)
    assert len(outbox.lease_due(clock.now, 10)) == 2
    assert outbox.lease_due(clock.now, 10) == []
    assert not outbox.is_due(clock.now)
