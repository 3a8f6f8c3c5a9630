"""Given new addresses, messages, and players who want one mail a day, who gets which mail."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from redis import Redis

from domain.clocks.time_control import DAY
from domain.match.commands import PlayMove
from infra.mail.account_changes import erase_mail
from infra.mail.addresses import AddressStatus
from infra.mail.progress import DIGEST_ITEMS, DigestItem, MailerProgress, next_digest
from infra.mail.queues import MailingMessageStore
from infra.mail.verification_codes import VerificationCodes
from infra.people.accounts import Accounts
from infra.redis import mail_keys as keys
from tests.fakes.sink import Sink
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.mailing import HOMES, Mailing, recipients, text_of
from workers.mail import notify

HOUR = DAY // 24


COMMAND = bytes(16)


@pytest.fixture
def mailing(redis_client: Redis, tmp_path: Path) -> Iterator[Mailing]:
    with Sink() as sink:
        yield Mailing(redis_client, tmp_path, sink)


@pytest.fixture
def letters(mailing: Mailing) -> MailingMessageStore:
    return MailingMessageStore(mailing.client, lambda: 4)


def daily(mailing: Mailing, *accounts: bytes) -> None:
    for account in accounts:
        mailing.change(account, lambda record: replace(record, notify="daily"))


def test_a_new_address_gets_a_code_and_nothing_else_until_it_is_proven(mailing):
    dora = mailing.accounts.signup("dora", "mad-hatter", ["dora@example.org"])
    (mail,) = mailing.mail()
    assert (mail["To"], mail["Auto-Submitted"]) == ("dora@example.org", "auto-generated")
    assert "verify dora password " in text_of(mail)
    mailing.challenge(ALICE, dora)
    assert recipients(mailing.mail()) == ["alice"]


def test_answering_to_the_code_s_mail_gives_it_back(mailing):
    dora = mailing.accounts.signup("dora", "mad-hatter", ["dora@example.org"])
    (mail,) = mailing.mail()
    reply = mailing.addresses.read_code(mail["Reply-To"].addresses[0].addr_spec)
    assert reply.account == dora
    codes = VerificationCodes(mailing.client, mailing.outbox.now)
    assert AddressStatus(mailing.accounts, codes).prove(dora, reply.code) == "dora@example.org"
    mailing.challenge(ALICE, dora)
    assert recipients(mailing.mail()) == ["alice", "dora"]


def test_a_code_is_sent_again_when_the_address_is_given_again_but_not_all_day(mailing):
    dora = mailing.accounts.signup("dora", "mad-hatter", ["dora@example.org"])
    subjects = []
    for _ in range(7):
        subjects += [mail["Subject"] for mail in mailing.mail()]
        mailing.bench.now += 1
        mailing.accounts.add_addresses_of(dora, ["dora@example.org"])
    assert len(subjects) == 5
    assert len(set(subjects)) == 1


def test_a_message_is_mailed_once_to_each_who_wants_mail(mailing, letters):
    mailing.change(CAROL, lambda record: replace(record, notify="none"))
    for _ in range(2):
        letters.send(ALICE, [BOB, CAROL], "good luck\n-- \nsee you", COMMAND)
    (mail,) = mailing.mail()
    assert (mail["To"], mail["Subject"]) == (HOMES[BOB], "matchpost: alice wrote to you")
    assert "alice writes to you:\n\n  good luck\n  -- \n  see you\n" in text_of(mail)
    assert "message bob password alice YOUR TEXT" in text_of(mail)
    assert mailing.client.exists(keys.MESSAGE_QUEUE) == 0


def test_a_broadcast_goes_on_where_a_job_was_cut_off_and_other_mail_comes_between(
    mailing, letters, monkeypatch
):
    monkeypatch.setattr(notify, "BATCH", 1)
    looked_at: list[str] = []
    find = Accounts.id_of
    monkeypatch.setattr(
        Accounts, "id_of", lambda self, name: looked_at.append(name) or find(self, name)
    )
    letters.broadcast(ALICE, "a new game", COMMAND)
    letters.send(ALICE, [CAROL], "hello", bytes([1]) * 16)
    found = []
    for _ in range(6):
        before = len(mailing.sink.messages)
        mailing.another_mailer().round()
        found.append(recipients(mailing.sink.messages[before:]))
    # a part of the broadcast each time, the message as soon as its turn has come
    assert found == [[], ["carol"], ["bob"], ["carol"], [], []]
    assert looked_at == ["alice", "bob", "carol"]
    assert mailing.client.exists(keys.MESSAGE_QUEUE) == 0


def test_no_line_of_a_message_can_pass_for_a_line_of_ours(mailing, letters):
    letters.send(ALICE, [BOB], "a\u2028To answer, reply with\nb", COMMAND)
    (mail,) = mailing.mail()
    assert [line for line in text_of(mail).splitlines() if line.startswith("To answer")] == [
        "To answer, reply with:"
    ]


def test_where_no_mail_is_sent_no_message_is_kept_twice(mailing, letters):
    mailing.client.delete(keys.CURSOR)
    letters.send(ALICE, [BOB], "hello", COMMAND)
    letters.broadcast(ALICE, "hello", COMMAND)
    assert mailing.client.exists(keys.MESSAGE_QUEUE) == 0
    assert [letter.text for letter in letters.read(BOB)] == ["hello", "hello"]


def test_who_wants_one_mail_a_day_gets_one(mailing):
    daily(mailing, BOB)
    mailing.challenge(board=1)
    mailing.do(ALICE, PlayMove(text="m13-j7"), board=1)
    mailing.challenge(BOB, ALICE, board=2)
    assert recipients(mailing.mail()) == ["alice", "alice"]
    mailing.bench.now = next_digest(mailing.bench.now) - 1
    assert mailing.mail() == []
    mailing.bench.now += 1
    (mail,) = mailing.mail()
    assert (mail["To"], mail["Subject"]) == (HOMES[BOB], "matchpost: what happened in your matches")
    text = text_of(mail)
    assert "since the last e-mail:\n  the match has begun\n  it's your turn\n" in text
    assert f"in an e-mail to\n{mailing.addresses.of(1, 1, BOB)}\n" in text
    assert f"in an e-mail to\n{mailing.addresses.of(2, 0, BOB)}\n" in text
    mailing.bench.now += DAY
    assert mailing.mail() == []


def test_a_digest_tells_of_messages_by_name_only(mailing, letters):
    daily(mailing, BOB)
    letters.send(ALICE, [BOB], "a secret", COMMAND)
    assert mailing.mail() == []
    mailing.bench.now += DAY
    (mail,) = mailing.mail()
    assert (
        "alice has sent you a message; to read it, reply with:\n  messages bob password"
        in text_of(mail)
    )
    assert "secret" not in text_of(mail)


def test_a_digest_killed_before_it_was_noted_is_the_same_the_next_time(mailing):
    daily(mailing, BOB)
    mailing.challenge()
    mailing.mail()
    mailing.bench.now += DAY
    kept = {name: mailing.client.dump(name) for name in (keys.DIGESTS_DUE, keys.digest_items(BOB))}
    assert recipients(mailing.mail()) == ["bob"]
    for name, data in kept.items():
        mailing.client.restore(name, 0, data)
    assert mailing.mail() == []


def test_a_digest_of_many_matches_shows_some_and_counts_the_others(mailing):
    daily(mailing, BOB)
    for board in range(1, 24):
        mailing.challenge(board=board)
    mailing.mail()
    mailing.bench.now += DAY
    (mail,) = mailing.mail()
    assert "\n... and 3 more matches\n" in text_of(mail)


def test_nobody_gets_a_digest_who_wants_no_mail_any_more(mailing):
    daily(mailing, BOB)
    mailing.challenge()
    mailing.mail()
    mailing.change(BOB, lambda record: replace(record, signed_off=True))
    mailing.bench.now += DAY
    assert mailing.mail() == []
    assert mailing.client.exists(keys.DIGESTS_DUE, keys.digest_items(BOB)) == 0


def test_a_digest_that_can_t_be_made_keeps_no_other_up(mailing, caplog):
    daily(mailing, BOB, CAROL)
    progress = MailerProgress(mailing.client)
    progress.add_digest_items(BOB, [DigestItem(1, 1, "no such kind", 5)], mailing.bench.now)
    mailing.challenge(ALICE, BOB, board=1)
    mailing.challenge(ALICE, CAROL, board=2)
    mailing.mail()
    mailing.bench.now += DAY
    assert recipients(mailing.mail()) == ["carol"]
    assert caplog.text.count("ALARM: a digest can't be mailed") == 1
    assert mailing.mail() == []


def test_nothing_of_an_account_stays_when_it_is_forgotten(mailing, letters):
    daily(mailing, BOB)
    mailing.challenge()
    mailing.challenge(BOB, ALICE, board=2)
    mailing.sink.stop()
    mailing.mail()
    letters.send(BOB, [ALICE], "bob was here", bytes(16))
    mailing.client.sadd(keys.ADDRESSES_TO_VERIFY, BOB)
    VerificationCodes(mailing.client, mailing.outbox.now).issue(BOB, HOMES[BOB])
    for _ in range(2):
        erase_mail(mailing.client, BOB)
    left = mailing.client.hvals(keys.EMAILS)
    assert left
    assert not any(HOMES[BOB].encode() in data for data in left)
    for name in (
        keys.digest_items(BOB),
        keys.DIGESTS_DUE,
        keys.MESSAGE_QUEUE,
        keys.codes(BOB),
        keys.ADDRESSES_TO_VERIFY,
    ):
        assert mailing.client.exists(name) == 0, name


def test_only_addresses_that_are_not_good_get_a_code(mailing):
    dora = mailing.accounts.signup("dora", "mad-hatter", ["old@example.org", "new@example.org"])
    mailing.mail()
    old, new = mailing.accounts.record_of(dora).addresses
    addresses = (replace(old, verified=True), new)
    mailing.change(dora, lambda record: replace(record, addresses=addresses))
    mailing.bench.now += 1
    mailing.accounts.add_addresses_of(dora, ["more@example.org"])
    assert recipients(mailing.mail()) == ["more", "new"]


def test_digests_are_sent_at_six_in_the_morning_with_the_newest(redis_client):
    noon = 1_795_100_400_000 - 3 * HOUR
    assert [next_digest(noon + hours * HOUR) - noon for hours in (0, 18)] == [18 * HOUR, 42 * HOUR]
    assert next_digest(noon + 18 * HOUR - 1) == noon + 18 * HOUR
    progress = MailerProgress(redis_client)
    items = [DigestItem(board, 1, "started", board) for board in range(1, 700)]
    progress.add_digest_items(BOB, items, 0)
    assert progress.digest_items(BOB) == items[-DIGEST_ITEMS:]
