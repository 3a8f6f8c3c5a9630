"""What accounts are told of letters, on a real server: once, in an order, and until it is erased."""

from redis import Redis

from infra.people.account_notices import UnreadCounter, UnreadCounts
from infra.people.message_notices import MessageNotices
from infra.people.messages import BROADCAST_LIMIT, KEPT_SECONDS, MessageStore
from infra.projections.notices import MOST_NOTICES, NoticeKind, PlayerNotice
from infra.redis import keys
from infra.redis.clients import time_ms
from infra.redis.reads import read_one
from tests.helpers.messages import unread_chat

ALICE, BOB, CAROL = (bytes([number]) * 8 for number in (0xA1, 0xB0, 0xCA))
BOARD, OTHER = 17, 18
START = (0, 0, 0, "")


def accounts(client: Redis, *ids: bytes) -> None:
    for one in ids:
        client.set(keys.account(one), b"a record")


def shown(notices: list[PlayerNotice]) -> list[tuple[int, int, NoticeKind]]:
    return [(one.board, one.seq, one.kind) for one in notices]


def id_(number: int) -> bytes:
    return number.to_bytes(16)


def test_a_line_is_told_to_the_others_once_however_often_it_is_repeated(redis_client):
    accounts(redis_client, ALICE, BOB, CAROL)
    letters = MessageStore(redis_client, lambda: 4)
    for _ in range(2):
        letters.chat(BOARD, ALICE, "hello", id_(1), (ALICE, BOB, CAROL))
    for account in (BOB, CAROL):
        assert shown(read_one(redis_client, letters.notices.since(account, START)).notices) == [
            (BOARD, 0, NoticeKind.CHAT)
        ]
    assert letters.notices.of(ALICE) == []


def test_a_line_that_was_said_and_not_told_is_told_when_it_is_repeated(redis_client):
    accounts(redis_client, ALICE, BOB)
    letters = MessageStore(redis_client, lambda: 4)
    letters.chat(BOARD, ALICE, "hello", id_(1))  # as if killed before anybody was told
    letters.chat(BOARD, ALICE, "hello", id_(1), (ALICE, BOB))
    assert unread_chat(letters, BOB) == {BOARD: 1}
    assert len(letters.chat_of(BOARD)) == 1


def test_times_grow_along_an_accounts_notices(redis_client):
    accounts(redis_client, BOB)
    clock = iter([50, 50, 40, 60]).__next__
    notices = MessageNotices(redis_client, clock)
    for said in range(1, 5):
        notices.notify([BOB], BOARD, said, NoticeKind.CHAT, ALICE)
    assert [one.at for one in notices.of(BOB)] == [50, 51, 52, 60]


def test_a_clock_that_ran_far_ahead_holds_no_later_notice_back(redis_client):
    accounts(redis_client, BOB)
    notices = MessageNotices(redis_client, iter([10_000_000, 5]).__next__)
    for said in (1, 2):
        notices.notify([BOB], BOARD, said, NoticeKind.CHAT, ALICE)
    assert [one.at for one in notices.of(BOB)] == [5, 10_000_000]


def test_the_newest_are_kept_and_it_can_be_seen_that_others_are_gone(redis_client):
    accounts(redis_client, BOB)
    notices = MessageNotices(redis_client, iter(range(1, 1000)).__next__)
    for said in range(1, MOST_NOTICES):
        notices.notify([BOB], BOARD, said, NoticeKind.CHAT, ALICE)
    assert read_one(redis_client, notices.since(BOB, START)).oldest is None
    for said in range(MOST_NOTICES, MOST_NOTICES + 3):
        notices.notify([BOB], BOARD, said, NoticeKind.CHAT, ALICE)
    kept = read_one(redis_client, notices.since(BOB, START))
    assert len(kept.notices) == MOST_NOTICES
    assert kept.oldest == (3, BOARD, 0, NoticeKind.CHAT)


def test_messages_and_broadcasts_are_told(redis_client):
    accounts(redis_client, ALICE, BOB)
    letters = MessageStore(redis_client, lambda: 4)
    letters.send(ALICE, [BOB], "hello", id_(1))
    letters.broadcast(ALICE, "to all", id_(2))
    expected = [(0, 0, NoticeKind.MESSAGE)] * 2
    assert shown(read_one(redis_client, letters.notices.since(BOB, START)).notices) == expected
    assert UnreadCounter(redis_client, letters).counts(BOB) == UnreadCounts({}, 2)


def test_messages_that_are_no_longer_shown_are_not_counted(redis_client):
    accounts(redis_client, ALICE, BOB)
    letters = MessageStore(redis_client, lambda: 4)
    letters.send(ALICE, [BOB], "hello", id_(0))
    for number in range(1, BROADCAST_LIMIT + 3):
        letters.broadcast(ALICE, "to all", id_(number))
    unread = UnreadCounter(redis_client, letters)
    assert unread.counts(BOB).messages == letters.unread(BOB) == BROADCAST_LIMIT + 1
    # the time of a notice is at least a millisecond after the one before, so the last are ahead of now
    later = time_ms(redis_client) + KEPT_SECONDS * 1000 + 1_000
    assert read_one(redis_client, unread.read(BOB, later)).counts == UnreadCounts({}, 0)


def test_what_is_read_is_unread_no_more_and_what_comes_then_is(redis_client):
    accounts(redis_client, ALICE, BOB)
    letters = MessageStore(redis_client, lambda: 4)
    for number in range(3):
        letters.chat(BOARD, ALICE, "hello", id_(number), (BOB,))
    letters.chat(OTHER, ALICE, "hello", id_(9), (BOB,))
    assert UnreadCounter(redis_client, letters).counts(BOB) == UnreadCounts({BOARD: 3, OTHER: 1}, 0)
    letters.mark_chat_read(BOB, BOARD, letters.chat_of(BOARD))
    letters.mark_read(BOB, [])
    assert unread_chat(letters, BOB) == {OTHER: 1}
    letters.chat(BOARD, ALICE, "again", id_(4), (BOB,))
    assert unread_chat(letters, BOB) == {BOARD: 1, OTHER: 1}


def test_nothing_is_told_to_an_account_that_is_no_more(redis_client):
    accounts(redis_client, ALICE)
    MessageStore(redis_client, lambda: 4).chat(BOARD, ALICE, "hello", id_(1), (ALICE, BOB))
    assert not redis_client.exists(keys.message_notices(BOB))


def test_who_is_erased_leaves_no_notice_behind(redis_client):
    accounts(redis_client, ALICE, BOB, CAROL)
    letters = MessageStore(redis_client, lambda: 4)
    letters.chat(BOARD, ALICE, "hello", id_(1), (BOB,))
    letters.chat(BOARD, CAROL, "hello", id_(2), (BOB, ALICE))
    letters.send(ALICE, [BOB], "hello", id_(3))
    letters.broadcast(ALICE, "to all", id_(4))
    letters.forget(ALICE)
    assert shown(read_one(redis_client, letters.notices.since(BOB, START)).notices) == [
        (BOARD, 0, NoticeKind.CHAT)
    ]
    assert UnreadCounter(redis_client, letters).counts(BOB) == UnreadCounts({BOARD: 1}, 0)
    assert not redis_client.exists(keys.message_notices(ALICE))


def test_a_notice_repeats_nothing_of_what_was_written(redis_client):
    accounts(redis_client, ALICE, BOB)
    MessageStore(redis_client, lambda: 4).chat(BOARD, ALICE, "a secret", id_(1), (BOB,))
    assert b"secret" not in b"".join(redis_client.zrange(keys.message_notices(BOB), 0, -1))
