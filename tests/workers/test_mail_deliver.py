"""Given letters and a relay, what is sent, tried again or given up; and after the data went back nothing is lost."""

import stat
from email.message import EmailMessage
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace
from redis import Redis
from redis.exceptions import ConnectionError as LostConnectionError

from domain.match.commands import PlayMove, ResignMatch
from infra.mail.addresses import AddressStatus
from infra.mail.email import Email, Purpose
from infra.mail.outbox import KEPT_MS, LEASE_MS, Outbox, SentEmails
from infra.mail.progress import MailerProgress
from infra.mail.verification_codes import VerificationCodes
from infra.people.accounts import MailAddress
from infra.store.closed_shards import ClosedShards, rolled_back
from tests.fakes.memory_store import MemoryObjects
from tests.helpers.doctor import value
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.mailing import HOMES, Mailing, recipients, text_of
from tests.helpers.rollback import Copy, copy_of, publish, put_back, restorer
from workers.mail.deliver import BACKOFF_MS, GIVE_UP_MS, RETRY_MS, EmailDelivery

MINUTE = 60_000


HOUR = 60 * MINUTE


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
    return mailing.accounts.record_of(account).addresses[0].bounced


def test_a_relay_that_is_down_for_an_hour_loses_nothing(mailing, sink, caplog):
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


def test_a_recipient_that_is_refused_for_now_is_tried_again_ever_later(mailing, sink):
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


@pytest.mark.parametrize(
    ("hangs_up", "bounce"), [(False, "tried for 3 days: 450 4.2.1 mailbox busy"), (True, "")]
)
def test_after_three_days_a_letter_is_given_up_and_an_address_that_was_refused_marked(
    mailing, sink, hangs_up, bounce
):
    sink.to_recipient = lambda _: "450 4.2.1 mailbox busy"
    sink.hangs_up = lambda to: hangs_up and to == HOMES[BOB]
    mailing.outbox.enqueue(notice())
    mailing.pass_time(GIVE_UP_MS - HOUR, step=HOUR)
    assert (mailing.outbox.size(), bounced(mailing)) == (1, "")
    mailing.pass_time(2 * HOUR, step=HOUR)
    assert (mailing.outbox.size(), bounced(mailing)) == (0, bounce)


def test_an_answer_goes_to_wherever_its_mail_came_from_and_a_refused_letter_marks_no_address(
    mailing, sink, caplog
):
    answer = Email(id="a@h", to="new@example.org", subject="Re: signup", body="hi\n")
    mailing.outbox.enqueue(answer)
    assert recipients(mailing.mail()) == ["new"]
    sink.to_recipient = lambda to: "550 no" if "new" in to else "250 OK"
    sink.to_data = lambda: "554 5.6.0 too odd"
    mailing.outbox.enqueue_all([replace(answer, id="b@h"), notice()])
    assert mailing.mail() == []
    assert (mailing.outbox.size(), bounced(mailing)) == (0, "")
    assert "is refused by the relay: 554 5.6.0" in caplog.text


def test_an_address_that_is_refused_for_good_is_marked_and_written_to_no_more(
    mailing, sink, caplog
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
def test_a_letter_that_waited_is_not_sent_to_who_wants_it_no_more(mailing, changes):
    mailing.outbox.enqueue(notice())
    mailing.change(BOB, lambda record: replace(record, **changes))
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


def test_what_was_sent_and_not_noted_is_sent_again_and_is_the_same(mailing, sink, tmp_path):
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


SHARD = 1


class Published:
    """The published log of the matches' shard, with which lost leaves are restored."""

    def __init__(self, mailing: Mailing) -> None:
        self.mailing = mailing
        self.objects = MemoryObjects()

    def publish(self) -> int:
        return publish(self.objects, self.mailing.bench.store, SHARD)

    def close(self) -> None:
        """Close the shard, as the publisher does when it finds that leaves are missing."""
        size = publish(self.objects, self.mailing.bench.store, SHARD, 0)
        ClosedShards(self.mailing.client).close(SHARD, rolled_back(SHARD, size, 0))

    def restore(self) -> None:
        one = restorer(self.mailing.client, self.mailing.bench.store, self.objects, SHARD)
        while not one.step():
            pass


@pytest.fixture
def published(mailing: Mailing) -> Published:
    return Published(mailing)


def ids(mailing: Mailing, since: int = 0) -> list[tuple[str, str]]:
    return [(mail["Message-ID"], mail["To"]) for mail in mailing.sink.messages[since:]]


def roll_back_a_mailed_move_and_another(mailing: Mailing, published: Published) -> EmailMessage:
    """Have the data lose a move that was mailed and one that was not, and restore them; return the mail."""
    mailing.challenge()
    mailing.work()
    copy = copy_of(mailing.client)
    mailing.do(ALICE, PlayMove(text="m13-j7"))
    (sent,) = mailing.mail()
    mailing.do(BOB, PlayMove(text="a13-d7"))  # of which no mailer learns
    published.publish()
    put_back(mailing.client, copy)
    published.close()
    mailing.mailer = mailing.another_mailer()
    assert mailing.mail() == [], "nothing has come back yet"
    published.restore()
    return sent


def test_mail_of_restored_moves_is_not_sent_again_and_what_was_not_sent_is(mailing, published):
    roll_back_a_mailed_move_and_another(mailing, published)
    (new,) = mailing.mail()
    assert new["To"] == HOMES[ALICE]
    assert "a13-d7" in text_of(new)
    mailing.do(ALICE, ResignMatch())
    assert [mail["To"] for mail in mailing.mail()] == [HOMES[BOB]]
    assert mailing.mail() == []


@pytest.mark.parametrize(
    "damage", [Path.unlink, lambda file: file.write_bytes(b"no database" * 99)]
)
def test_without_the_notes_of_what_was_sent_it_is_sent_once_more_under_the_same_id(
    mailing, published, damage, tmp_path
):
    sent = roll_back_a_mailed_move_and_another(mailing, published)
    for file in tmp_path.glob("mail-sent-*"):
        file.unlink()
    damage(tmp_path / "mail-sent")
    mailing.sent = SentEmails(tmp_path / "mail-sent")
    mailing.mailer = mailing.another_mailer()
    again, new = sorted(mailing.mail(), key=lambda mail: str(mail["Message-ID"]))
    assert (again["Message-ID"], again["To"]) == (sent["Message-ID"], sent["To"])
    assert text_of(again) == text_of(sent)
    assert new["To"] == HOMES[ALICE]


def test_a_mailer_that_was_killed_after_the_relay_took_a_mail_sends_it_once(mailing, monkeypatch):
    mailing.challenge()

    def killed(*_: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(Outbox, "remove", killed)
        with pytest.raises(SystemExit):
            mailing.work()
    assert len(mailing.sink.messages) == 1
    mailing.bench.now += LEASE_MS
    mailing.mailer = mailing.another_mailer()
    mailing.work()
    assert len(mailing.sink.messages) == 2
    assert len(set(ids(mailing))) == 2
    assert mailing.outbox.size() == 0


def test_notes_of_what_was_sent_are_deleted_after_a_week(tmp_path):
    sent = SentEmails(tmp_path / "mail-sent")
    sent.add("a", 0)
    sent.add("b", KEPT_MS)
    assert [sent.has(key) for key in "abc"] == [True, True, False]
    sent.add("c", KEPT_MS + 1)
    assert SentEmails(tmp_path / "mail-sent").has("c")
    sent.add("d", 2 * KEPT_MS)
    assert [sent.has(key) for key in "abcd"] == [False, True, True, True]
    assert stat.S_IMODE((tmp_path / "mail-sent").stat().st_mode) == 0o600


def put_back_matches(client: Redis, copy: Copy) -> None:
    """Put back the matches alone, as where another node of a cluster keeps the mail."""
    for name in client.keys("{s*"):
        client.delete(name)
    for name, (life, data) in copy.items():
        if name.startswith(b"{s"):
            client.restore(name, life, data)


def test_where_the_marks_of_mail_did_not_go_back_nothing_is_sent_twice(mailing, published, caplog):
    mailing.challenge()
    mailing.work()
    copy = copy_of(mailing.client)
    mailing.do(ALICE, PlayMove(text="m13-j7"))
    mailing.work()
    sent = ids(mailing)
    end = published.publish()
    put_back_matches(mailing.client, copy)
    published.close()
    mailing.work()
    assert "the logs end before the leaves that were mailed" in caplog.text
    published.restore()
    mailing.work()
    assert ids(mailing) == sent
    assert MailerProgress(mailing.client).cursor()[SHARD] == end
    mailing.do(BOB, PlayMove(text="a13-d7"))
    assert [mail["To"] for mail in mailing.mail()] == [HOMES[ALICE]]


def test_another_move_in_the_place_of_one_that_was_lost_is_mailed(mailing, published):
    mailing.challenge()
    published.publish()
    mailing.work()
    copy = copy_of(mailing.client)
    mailing.do(ALICE, PlayMove(text="m13-j7"))  # which is never published
    (lost,) = mailing.mail()
    put_back_matches(mailing.client, copy)
    mailing.work()
    mailing.do(ALICE, PlayMove(text="m13-m9"))
    (new,) = mailing.mail()
    assert "m13-m9" in text_of(new)
    assert new["Message-ID"] != lost["Message-ID"]
    assert new["In-Reply-To"] == lost["In-Reply-To"]
