"""Mail after the data went back and their logs were restored: nothing is lost, and repetitions are known as such."""

import stat
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from pathlib import Path

import pytest
from msgspec.structs import replace
from redis import Redis

from domain.match.commands import PlayMove, ResignMatch
from infra.mail.outbox import KEPT_MS, LEASE_MS, Outbox, SentEmails
from infra.mail.progress import MailerProgress
from infra.redis import keys, mail_keys
from infra.store.closed_shards import ClosedShards, rolled_back
from tests.fakes.memory_store import MemoryObjects
from tests.fakes.sink import Sink
from tests.helpers.given import ALICE, BOB
from tests.helpers.mailing import HOMES, Mailing, text_of
from tests.helpers.rollback import Copy, copy_of, publish, put_back, restorer

SHARD = 1


@pytest.fixture
def mailing(redis_client: Redis, tmp_path: Path) -> Iterator[Mailing]:
    with Sink() as sink:
        yield Mailing(redis_client, tmp_path, sink)


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


def test_mail_of_restored_moves_is_not_sent_again_and_what_was_not_sent_is(
    mailing: Mailing, published: Published
):
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
    mailing: Mailing, published: Published, damage: Callable[[Path], object], tmp_path: Path
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


def test_a_mailer_that_was_killed_after_the_relay_took_a_mail_sends_it_once(
    mailing: Mailing, monkeypatch: pytest.MonkeyPatch
):
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


def test_notes_of_what_was_sent_are_deleted_after_a_week(tmp_path: Path):
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
    for name, (life, value) in copy.items():
        if name.startswith(b"{s"):
            client.restore(name, life, value)


def test_where_the_marks_of_mail_did_not_go_back_nothing_is_sent_twice(
    mailing: Mailing, published: Published, caplog: pytest.LogCaptureFixture
):
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
    cursor = MailerProgress(mailing.client).cursor()
    assert cursor is not None
    assert cursor[SHARD] == end
    mailing.do(BOB, PlayMove(text="a13-d7"))
    assert [mail["To"] for mail in mailing.mail()] == [HOMES[ALICE]]


def test_another_move_in_the_place_of_one_that_was_lost_is_mailed(
    mailing: Mailing, published: Published
):
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


def test_digests_have_restored_moves_once(mailing: Mailing, published: Published):
    mailing.challenge()
    mailing.work()
    copy = copy_of(mailing.client)
    mailing.do(ALICE, PlayMove(text="m13-j7"))
    published.publish()
    put_back(mailing.client, copy)
    published.restore()
    mailing.change(BOB, lambda record: replace(record, notify="daily"))
    mailing.work()
    mailing.work()
    items = MailerProgress(mailing.client).digest_items(BOB)
    assert [(one.board, one.seq) for one in items] == [(1, 2)]
    assert mailing.client.zscore(mail_keys.DIGESTS_DUE, BOB)


def test_moves_of_an_account_that_the_backup_lacks_are_mailed_to_the_others(
    mailing: Mailing, published: Published
):
    mailing.client.delete(keys.account(ALICE))
    copy = copy_of(mailing.client)
    mailing.challenge()
    published.publish()
    put_back(mailing.client, copy)
    published.restore()
    assert [mail["To"] for mail in mailing.mail()] == [HOMES[BOB]]


def test_e_mails_are_noted_on_a_machine_without_a_data_directory(tmp_path: Path) -> None:
    SentEmails(tmp_path / "new" / "mail-sent").add("one", 1)
    assert SentEmails(tmp_path / "new" / "mail-sent").has("one")
