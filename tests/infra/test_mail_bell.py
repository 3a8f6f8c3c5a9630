"""Given what waits, whether the mailer is asked for."""

from pathlib import Path

import pytest
from redis import Redis
from rq import Queue
from rq.serializers import JSONSerializer
from rq.suspension import resume, suspend

from domain.clocks.time_control import DAY
from infra.mail.email import Email
from infra.mail.outbox import RelayBackoff
from infra.mail.progress import DigestItem, MailerProgress
from infra.mail.queues import MailingMessageStore
from infra.mail.wakeup import JOB, MailerWakeup
from infra.redis import mail_keys as keys
from infra.redis.keys import lease
from infra.redis.rq_jobs import queue_key
from infra.store.leases import REQUESTED
from tests.fakes.sink import Sink
from tests.helpers.given import ALICE, BOB
from tests.helpers.mailing import Mailing
from workers.mail.mailer import MailRun

ANSWER = Email(id="a1@play.example.org", to="alice@example.org", subject="Re: m", body="yes\n")


@pytest.fixture
def mailing(redis_client: Redis, tmp_path: Path) -> Mailing:
    return Mailing(redis_client, tmp_path, Sink())


@pytest.fixture
def wakeup(mailing: Mailing) -> MailerWakeup:
    return MailerWakeup(mailing.bench.store, mailing.client, mailing.client, mailing.outbox)


def jobs(mailing: Mailing) -> list[str]:
    queue = Queue(JOB.wakeup.queue, connection=mailing.client, serializer=JSONSerializer)
    return [job.func_name for job in queue.get_jobs()]


def test_the_mailer_is_asked_for_once_until_it_came(mailing: Mailing, wakeup: MailerWakeup):
    wakeup.tick()
    assert not wakeup.has_work()
    assert jobs(mailing) == []
    mailing.outbox.enqueue(ANSWER)
    for _ in range(3):
        wakeup.tick()
    assert jobs(mailing) == [JOB.wakeup.function]
    mailing.client.delete(queue_key(JOB.wakeup.queue))  # taken by a mailer
    wakeup.leases.acquire(JOB.lease, "a mailer")
    assert 0 < mailing.client.pttl(lease(JOB.lease)) <= JOB.lease_ms
    wakeup.tick()
    assert jobs(mailing) == []
    with wakeup.leases.waiting(JOB.lease, 5) as is_woken:
        assert is_woken(5), "a mailer that waits is woken"
    mailing.client.delete(lease(JOB.lease))  # it was killed, and its lease has ended
    wakeup.tick()
    assert jobs(mailing) == [JOB.wakeup.function]


def test_a_run_sends_what_waits_and_asks_for_another_when_it_must_end(mailing, wakeup):
    mailing.outbox.enqueue(ANSWER)
    with mailing.sink:
        MailRun(mailing.mailer, wakeup).run()
    assert [mail["To"] for mail in mailing.sink.messages] == ["alice@example.org"]
    assert jobs(mailing) == []
    mailing.challenge()
    suspend(mailing.client)
    MailRun(mailing.mailer, wakeup).run()
    assert len(mailing.sink.messages) == 1
    assert jobs(mailing) == []
    resume(mailing.client)
    mailing.client.delete(lease(JOB.lease))
    wakeup.tick()
    assert jobs(mailing) == [JOB.wakeup.function]


def test_nothing_is_work_before_mail_was_begun(mailing: Mailing, wakeup: MailerWakeup):
    mailing.client.delete(keys.CURSOR)
    mailing.challenge()
    for begin in (lambda: None, wakeup.begin):
        begin()
        assert not wakeup.has_work()
    mailing.challenge(board=2)
    wakeup.begin()
    assert wakeup.has_work()


def test_what_is_due_is_work_and_so_are_a_new_address_and_a_message(mailing, wakeup):
    mailing.outbox.enqueue(ANSWER)
    mailing.outbox.start_backoff(RelayBackoff(mailing.bench.now + 1_000, 1, "down"))
    assert not wakeup.has_work(), "the relay is left alone"
    mailing.bench.now += 1_000
    assert wakeup.has_work()
    mailing.outbox.remove(*mailing.outbox.lease_due(mailing.bench.now, 1))
    MailerProgress(mailing.client).add_digest_items(
        BOB, [DigestItem(1, 1, "started", 5)], mailing.bench.now
    )
    assert not wakeup.has_work()
    mailing.bench.now += DAY
    assert wakeup.has_work()
    mailing.bench.now -= DAY
    mailing.accounts.signup("dora", "mad-hatter", ["dora@example.org"])
    assert wakeup.has_work()
    mailing.client.delete(keys.ADDRESSES_TO_VERIFY)
    assert not wakeup.has_work()
    MailingMessageStore(mailing.client, lambda: 4).send(ALICE, [BOB], "hello", bytes(16))
    assert wakeup.has_work()


def test_what_waits_by_a_clock_that_ran_ahead_is_work(mailing: Mailing, wakeup: MailerWakeup):
    mailing.client.set(lease(JOB.lease), REQUESTED, px=3_600_000)
    now = mailing.outbox.now()
    MailerProgress(mailing.client).add_digest_items(
        ALICE, [DigestItem(1, 1, "turn", now)], now + 40 * DAY
    )
    wakeup.tick()
    assert jobs(mailing) == [JOB.wakeup.function]
    due = MailerProgress(mailing.client).digests_due(now, 10)
    assert [account for account, _ in due] == [ALICE]
