"""Given letters and a relay, what is sent, what is tried again and what is given up."""

import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace
from redis import Redis
from redis.exceptions import ConnectionError as LostConnectionError

from domain.clocks.time_control import DAY
from infra.mail.addresses import AddressStatus
from infra.mail.email import Email, Purpose
from infra.mail.outbox import LEASE_MS, SentEmails
from infra.mail.verification_codes import VerificationCodes
from infra.people.accounts import MailAddress
from tests.fakes.sink import Sink
from tests.helpers.doctor import value
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.mailing import HOMES, Mailing, recipients, work_out
from workers.mail.deliver import (
    BACKOFF_MS,
    GIVE_UP_MS,
    MAX_BROKEN_SESSIONS,
    RETRY_MS,
    EmailDelivery,
)

MINUTE = 60_000
HOUR = 60 * MINUTE
NO_ONE = b"nobody.."


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink() as one:
        yield one


@pytest.fixture
def mailing(redis_client: Redis, tmp_path: Path, sink: Sink) -> Mailing:
    return Mailing(redis_client, tmp_path, sink)


def notice(number: int = 1, account: bytes = BOB, **changes: object) -> Email:
    letter = Email(
        id=f"m{number}@play.example.org",
        to=HOMES.get(account, "nobody@example.org"),
        subject="match",
        body="it is your turn\n",
        purpose=Purpose.NOTICE,
        account=account,
    )
    return replace(letter, **changes)


def bounced(mailing: Mailing, account: bytes = BOB) -> str:
    profile = mailing.accounts.record_of(account)
    assert profile is not None
    return profile.addresses[0].bounced


def test_a_relay_that_is_down_for_an_hour_loses_nothing(mailing: Mailing, sink: Sink, caplog):
    mailing.sink.stop()
    for board in range(1, 21):
        mailing.challenge(ALICE, BOB, board=board)
        mailing.pass_time(3 * MINUTE)
    assert mailing.outbox.size() == 40
    assert caplog.text.count("ALARM: mail can't be sent, and waits: ") == 1
    sink.start()
    mailing.pass_time(BACKOFF_MS[-1])
    told = sorted(mail["Subject"] for mail in sink.to(HOMES[BOB]))
    assert told == sorted(
        f"You and alice: The Power of Two, match {board}" for board in range(1, 21)
    )
    assert len(sink.messages) == 40
    assert mailing.outbox.size() == 0
    assert "the relay can be reached again" in caplog.text


def test_a_relay_that_is_down_for_a_week_marks_no_address(mailing: Mailing, sink: Sink):
    mailing.challenge()
    sink.stop()
    mailing.pass_time(7 * DAY, step=HOUR)
    sink.start()
    mailing.pass_time(BACKOFF_MS[-1])
    assert recipients(sink.messages) == ["alice", "bob"]
    assert bounced(mailing) == ""


def test_a_relay_that_was_not_reached_is_left_alone_a_little_longer_each_time(
    mailing: Mailing, sink: Sink
):
    mailing.outbox.enqueue(notice())
    sink.stop()
    ends = []
    for _ in range(4):
        mailing.work()
        rest = mailing.outbox.last_backoff()
        assert rest is not None
        ends.append(rest.until - mailing.bench.now)
        mailing.bench.now = rest.until
    assert ends == [*BACKOFF_MS, BACKOFF_MS[-1]]


def test_a_recipient_that_is_refused_for_now_is_tried_again_ever_later(
    mailing: Mailing, sink: Sink
):
    sink.to_recipient = lambda _: "451 4.7.1 greylisted"
    mailing.outbox.enqueue(notice())
    tried = []
    for _ in range(2 * 60):
        before = len(sink.recipients)
        mailing.work()
        if len(sink.recipients) > before:
            tried.append(mailing.bench.now)
        mailing.bench.now += MINUTE
    gaps = [after - before for before, after in pairwise(tried)]
    assert gaps == list(RETRY_MS)
    sink.to_recipient = lambda _: "250 OK"
    mailing.pass_time(RETRY_MS[-1])
    assert recipients(sink.messages) == ["bob"]
    assert bounced(mailing) == ""


def test_after_three_days_of_refusals_a_letter_is_given_up_and_its_address_marked(
    mailing: Mailing, sink: Sink
):
    sink.to_recipient = lambda _: "450 4.2.1 mailbox busy"
    mailing.outbox.enqueue(notice())
    mailing.pass_time(GIVE_UP_MS - HOUR, step=HOUR)
    assert mailing.outbox.size() == 1
    assert bounced(mailing) == ""
    mailing.pass_time(2 * HOUR, step=HOUR)
    assert mailing.outbox.size() == 0
    assert bounced(mailing) == "tried for 3 days: 450 4.2.1 mailbox busy"


def test_an_address_that_is_refused_for_good_is_marked_and_written_to_no_more(
    mailing: Mailing, sink: Sink, caplog
):
    caplog.set_level("INFO")
    sink.to_recipient = lambda to: f"550 5.1.1 <{to}> is nobody" if "bob" in to else "250 OK"
    mailing.outbox.enqueue_all([notice(1), notice(2), notice(3, CAROL)])
    results = ("sent", "no-address")
    before = [value("matchpost_mail_deliveries_total", result=one) for one in results]
    mailing.mail()
    after = [value("matchpost_mail_deliveries_total", result=one) for one in results]
    assert after == [count + 1 for count in before]
    assert recipients(sink.messages) == ["carol"]
    assert sink.recipients.count(HOMES[BOB]) == 1
    assert bounced(mailing) == "550 5.1.1 <bob@example.org> is nobody"
    assert mailing.outbox.size() == 0
    assert "can't be delivered: 550 5.1.1" in caplog.text
    ours = [line.message for line in caplog.records if line.name.startswith("workers.")]
    assert ours
    assert not any("bob" in line for line in ours)


def test_a_letter_that_is_refused_for_good_marks_no_address(mailing: Mailing, sink: Sink, caplog):
    sink.to_data = lambda: "554 5.6.0 too odd"
    mailing.outbox.enqueue(notice())
    mailing.mail()
    assert mailing.outbox.size() == 0
    assert bounced(mailing) == ""
    assert "is refused by the relay: 554 5.6.0" in caplog.text


@pytest.mark.parametrize(
    "changes",
    [
        {"signed_off": True},
        {"notify": "none"},
        {"addresses": ()},
        {"addresses": (MailAddress("elsewhere@example.org", verified=True),)},
        {"addresses": (MailAddress(HOMES[BOB]),)},
        {"addresses": (MailAddress(HOMES[BOB], verified=True, bounced="550 no"),)},
    ],
)
def test_a_letter_that_waited_is_not_sent_to_who_wants_it_no_more(mailing: Mailing, changes):
    mailing.outbox.enqueue(notice())
    mailing.change(BOB, lambda record: replace(record, **changes))
    assert mailing.mail() == []
    assert mailing.outbox.size() == 0


def test_a_letter_to_who_is_no_more_is_not_sent(mailing: Mailing):
    mailing.outbox.enqueue(notice(1, NO_ONE))
    assert mailing.mail() == []
    assert mailing.outbox.size() == 0


def test_an_answer_is_sent_to_wherever_its_mail_came_from(mailing: Mailing, sink: Sink):
    mailing.outbox.enqueue(Email(id="a@h", to="new@example.org", subject="Re: signup", body="hi\n"))
    assert recipients(mailing.mail()) == ["new"]
    sink.to_recipient = lambda _: "550 no"
    mailing.outbox.enqueue(Email(id="b@h", to="new@example.org", subject="Re: signup", body="hi\n"))
    assert mailing.mail() == []
    assert mailing.outbox.size() == 0


class Forgetful(SentEmails):
    """Notes that lose the connection to everything before the first one is made."""

    killed = False

    def add(self, key: str, now: int) -> None:
        if not self.killed:
            self.killed = True
            raise LostConnectionError
        super().add(key, now)


def test_what_was_sent_and_not_noted_is_sent_again_and_is_the_same(
    mailing: Mailing, sink: Sink, tmp_path: Path
):
    mailing.outbox.enqueue(notice())
    standing = AddressStatus(
        mailing.accounts, VerificationCodes(mailing.client, mailing.outbox.now)
    )
    sent = Forgetful(tmp_path / "notes")
    sending = EmailDelivery(
        mailing.outbox, mailing.relay, mailing.accounts, standing, mailing.addresses, sent
    )
    with pytest.raises(LostConnectionError):
        sending.round()
    assert sending.round() == 0, "it is still in other hands"
    mailing.bench.now += LEASE_MS
    assert sending.round() == 1
    one, other = [envelope.content for envelope in sink.envelopes]
    assert one == other
    assert mailing.outbox.size() == 0


def test_a_letter_at_which_the_relay_hangs_up_lets_the_others_go_first(
    mailing: Mailing, sink: Sink
):
    mailing.outbox.enqueue(notice(1))
    mailing.bench.now += 1
    mailing.outbox.enqueue_all([notice(number, CAROL) for number in range(2, 6)])
    sink.hangs_up = lambda to: to == HOMES[BOB]
    mailing.mail()
    assert recipients(sink.messages) == ["carol"] * 4
    assert mailing.outbox.last_backoff() is None
    sink.hangs_up = lambda _: False
    mailing.pass_time(RETRY_MS[1])
    assert len(sink.to(HOMES[BOB])) == 1


def test_a_relay_that_breaks_each_connection_is_left_alone_for_a_while(
    mailing: Mailing, sink: Sink
):
    mailing.outbox.enqueue_all([notice(number) for number in range(10)])
    sink.hangs_up = lambda _: True
    mailing.mail()
    assert len(sink.recipients) == MAX_BROKEN_SESSIONS
    rest = mailing.outbox.last_backoff()
    assert rest is not None
    assert rest.until == mailing.bench.now + BACKOFF_MS[0]
    sink.hangs_up = lambda _: False
    mailing.pass_time(BACKOFF_MS[0] + RETRY_MS[0])
    assert len(sink.messages) == 10


def test_a_relay_that_breaks_one_line_in_ten_delays_those_letters_alone(
    mailing: Mailing, sink: Sink
):
    mailing.outbox.enqueue_all([notice(number) for number in range(40)])
    sink.hangs_up = lambda _: len(sink.recipients) % 10 == 0
    mailing.mail()
    assert len(sink.messages) == 36
    mailing.pass_time(RETRY_MS[0])
    assert len(sink.messages) == 40


def test_a_letter_at_which_the_relay_hangs_up_for_days_is_dropped_and_no_address_marked(
    mailing: Mailing, sink: Sink
):
    sink.hangs_up = lambda to: to == HOMES[BOB]
    mailing.outbox.enqueue(notice(1))
    mailing.pass_time(GIVE_UP_MS + HOUR, step=HOUR)
    assert mailing.outbox.size() == 0
    assert bounced(mailing) == ""


def test_two_mailers_at_once_send_each_letter_once(mailing: Mailing, sink: Sink):
    mailing.outbox.enqueue_all([notice(number) for number in range(60)])
    others = [threading.Thread(target=work_out, args=(mailing.another_mailer(),)) for _ in range(2)]
    for one in others:
        one.start()
    for one in others:
        one.join()
    assert len(sink.messages) == 60
    assert len({mail["Message-ID"] for mail in sink.messages}) == 60
