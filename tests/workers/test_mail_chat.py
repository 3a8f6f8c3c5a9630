"""Given what players say in their matches, who is mailed what of it, and when."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace
from redis import Redis

from domain.clocks.time_control import DAY
from domain.match.commands import PlayMove
from infra.mail.account_changes import erase_mail
from infra.mail.queues import WAIT_MS, ChatMailQueue, MailingMessageStore
from infra.mail.wakeup import MailerWakeup
from infra.redis import mail_keys as keys
from tests.fakes.sink import Sink
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.mailing import Mailing, recipients, text_of


@pytest.fixture
def mailing(redis_client: Redis, tmp_path: Path) -> Iterator[Mailing]:
    with Sink() as sink:
        mailing = Mailing(redis_client, tmp_path, sink)
        mailing.challenge()
        mailing.mail()
        yield mailing


@pytest.fixture
def letters(mailing: Mailing) -> MailingMessageStore:
    return MailingMessageStore(mailing.client, lambda: 4, lambda: mailing.bench.now)


NUMBERS = count(1)


def say(letters: MailingMessageStore, sender: bytes, text: str, *others: bytes) -> None:
    letters.chat(1, sender, text, next(NUMBERS).to_bytes(16), (ALICE, BOB, *others))


def test_the_next_mail_of_the_match_has_what_was_said_once(mailing: Mailing, letters):
    say(letters, ALICE, "hello - you")
    mailing.do(ALICE, PlayMove(text="m13-j7"))
    (mail,) = mailing.mail_to(BOB)
    assert "\n\nalice says: hello - you\n\n" in text_of(mail)
    mailing.do(BOB, PlayMove(text="a13-d7"))
    mailing.bench.now += 2 * WAIT_MS
    mails = mailing.mail()
    assert recipients(mails) == ["alice"]
    assert "says:" not in text_of(mails[0])


def test_where_no_move_follows_the_lines_of_some_minutes_are_one_mail(mailing: Mailing, letters):
    say(letters, ALICE, "one")
    mailing.bench.now += WAIT_MS - 1000
    say(letters, ALICE, "two")
    assert mailing.mail() == []
    mailing.bench.now += 1000
    (mail,) = mailing.mail()
    assert text_of(mail).startswith("alice says: one\nalice says: two\n")
    assert "To chat with the other players, reply with: chat TEXT" in text_of(mail)
    assert mail["Subject"] == "You and alice: The Power of Two, match 1"
    first = next(one for one in mailing.sink.messages if one["To"] == mail["To"])
    assert mail["In-Reply-To"] == first["Message-ID"]
    claim = mailing.addresses.read(mail["Reply-To"].addresses[0].addr_spec)
    assert claim is not None
    assert mailing.addresses.proves(claim, BOB)
    mailing.pass_time(DAY, DAY // 4)
    assert mailing.mail() == []


def test_what_is_said_while_a_mail_is_made_is_in_the_next(mailing: Mailing, letters):
    say(letters, ALICE, "one")
    chats = ChatMailQueue(mailing.client)
    (talk,) = chats.due(mailing.bench.now + WAIT_MS, 10)
    mailing.bench.now += 1
    say(letters, ALICE, "two")
    chats.mark_mailed(talk, talk.last, mailing.bench.now)
    mailing.bench.now += WAIT_MS
    (mail,) = mailing.mail()
    assert text_of(mail).startswith("alice says: two\n\n")


def test_what_was_read_elsewhere_is_not_mailed(mailing: Mailing, letters):
    say(letters, ALICE, "one")
    letters.mark_chat_read(BOB, 1, letters.chat_of(1))
    mailing.bench.now += WAIT_MS
    assert mailing.mail() == []
    assert not mailing.client.exists(keys.CHAT_DUE, keys.CHAT_FIRST, keys.CHAT_LAST)


def test_what_its_writer_has_erased_is_not_mailed(mailing: Mailing, letters):
    say(letters, ALICE, "one")
    letters.forget(ALICE)
    mailing.bench.now += WAIT_MS
    assert mailing.mail() == []


@pytest.mark.parametrize("changes", [{"notify": "none"}, {"signed_off": True}])
def test_who_wants_no_mail_gets_none(mailing: Mailing, letters, changes):
    mailing.change(BOB, lambda record: replace(record, **changes))
    say(letters, ALICE, "one")
    mailing.bench.now += WAIT_MS
    assert mailing.mail() == []
    assert not mailing.client.exists(keys.CHAT_DUE)


def test_who_wants_one_mail_a_day_reads_it_there(mailing: Mailing, letters):
    mailing.change(BOB, lambda record: replace(record, notify="daily"))
    say(letters, ALICE, "good\nluck")
    mailing.bench.now += WAIT_MS
    assert mailing.mail() == []
    mailing.pass_time(DAY, DAY // 24)
    (mail,) = [one for one in mailing.sink.messages if "what happened" in one["Subject"]]
    assert "alice says: good\n    luck\n" in text_of(mail)


def test_all_but_who_said_it_are_told(mailing: Mailing, letters):
    letters.chat(1, CAROL, "from the third", bytes(16), (ALICE, BOB, CAROL))
    mailing.bench.now += WAIT_MS
    assert recipients(mailing.mail()) == ["alice", "bob"]


def test_many_lines_are_counted_and_the_newest_shown(mailing: Mailing, letters):
    for number in range(53):
        say(letters, ALICE, f"line {number:02}")
    mailing.bench.now += WAIT_MS
    (mail,) = mailing.mail()
    assert text_of(mail).startswith("... and 3 earlier lines; to see them, reply with: chat\n")
    assert "line 02" not in text_of(mail)
    assert "line 52" in text_of(mail)


def test_a_line_that_waits_is_work_when_it_is_due(mailing: Mailing, letters):
    wakeup = MailerWakeup(mailing.bench.store, mailing.client, mailing.client, mailing.outbox)
    say(letters, ALICE, "one")
    assert not wakeup.has_work()
    mailing.bench.now += WAIT_MS
    assert wakeup.has_work()


def test_a_line_repeated_is_mailed_once(mailing: Mailing, letters):
    for _ in range(2):
        letters.chat(1, ALICE, "hello", bytes(16), (ALICE, BOB))
    mailing.bench.now += WAIT_MS
    (mail,) = mailing.mail()
    assert text_of(mail).count("hello") == 1
    letters.chat(1, ALICE, "hello", bytes(16), (ALICE, BOB))
    mailing.bench.now += WAIT_MS
    assert mailing.mail() == []


def test_nothing_that_waits_stays_of_who_is_forgotten(mailing: Mailing, letters):
    say(letters, ALICE, "one")
    say(letters, BOB, "two")
    erase_mail(mailing.client, BOB)
    (talk,) = ChatMailQueue(mailing.client).due(mailing.bench.now + WAIT_MS, 10)
    assert talk.account == ALICE


def test_no_text_is_kept_for_the_mail(mailing: Mailing, letters):
    say(letters, ALICE, "a secret")
    for name in mailing.client.scan_iter("{mail}:chat*"):
        assert b"secret" not in b"".join(mailing.client.zrange(name, 0, -1))


def test_a_line_that_was_said_while_a_clock_ran_ahead_is_mailed_when_it_is_right_again(
    mailing: Mailing, letters
):
    right = mailing.bench.now
    mailing.bench.now += 40 * DAY
    say(letters, ALICE, "hello")
    mailing.bench.now = right
    assert MailerWakeup(
        mailing.bench.store, mailing.client, mailing.client, mailing.outbox
    ).has_work()
    (mail,) = mailing.mail_to(BOB)
    assert "alice says: hello" in text_of(mail)
