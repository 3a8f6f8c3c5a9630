"""Mail after the data went back and their logs were restored: nothing is lost, and repetitions are known as such."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from redis import Redis

from domain.match.commands import PlayMove, ResignMatch
from infra.mail import keys as mail_keys
from infra.mail.progress import MailerProgress
from infra.redis import keys
from infra.store.closed_shards import ClosedShards, rolled_back
from tests.fakes.memory_objects import MemoryObjects
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


def test_mail_of_restored_moves_has_the_ids_that_it_had_and_what_was_not_sent_is_sent(
    mailing: Mailing, published: Published
):
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
    again, new = sorted(mailing.mail(), key=lambda mail: str(mail["Message-ID"]))
    assert (again["Message-ID"], again["To"]) == (sent["Message-ID"], sent["To"])
    assert text_of(again) == text_of(sent)
    assert new["To"] == HOMES[ALICE]
    assert "a13-d7" in text_of(new)
    mailing.do(ALICE, ResignMatch())
    assert [mail["To"] for mail in mailing.mail()] == [HOMES[BOB]]
    assert mailing.mail() == []


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
