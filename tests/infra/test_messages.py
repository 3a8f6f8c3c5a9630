"""Messages, broadcasts and chat, and what accounts are told of them: once, in an order, and until they are erased."""

import itertools
import os
import random
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import ResponseError

from domain.errors import Code
from infra.people import messages
from infra.people.account_notices import UnreadCounter, UnreadCounts
from infra.people.message_notices import MessageNotices
from infra.people.messages import MessageKind, MessageStore, PlayerMessage
from infra.people.texts import TEXT_LIMIT, read_text
from infra.projections.notices import MOST_NOTICES, NoticeKind
from infra.redis import keys
from infra.redis.clients import time_ms
from infra.redis.reads import read_one
from tests.fakes.dying import DyingClient, Killed
from tests.helpers.examples import refused
from tests.helpers.messages import ALICE, BOB, CAROL, SHARDS, lists, texts, unread_chat
from tests.helpers.proposals import Clock

DAY = 24 * 3600 * 1000


@pytest.fixture
def letters(client: Redis, clock: Clock) -> MessageStore:
    return MessageStore(client, lambda: SHARDS, clock)


class Model:
    """Messages in plain lists: each once, the newest few, in an order, for ninety days."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.lists: dict[object, list[tuple[bytes, PlayerMessage]]] = defaultdict(list)
        self.marks: dict[tuple[bytes, str], int] = defaultdict(int)

    def add(self, name: object, limit: int, command: bytes, sender: bytes, text: str) -> None:
        kind = name if name == "broadcast" else "chat" if isinstance(name, int) else "message"
        found = self.lists[name]
        if command in [one for one, _ in found]:
            return
        at = max(self.clock.now, found[-1][1].at + 1 if found else 0)
        found.append((command, PlayerMessage(at, sender, text, MessageKind(kind))))
        oldest = 0 if kind == "chat" else self.clock.now - 90 * DAY
        self.lists[name] = [one for one in found[-limit:] if one[1].at > oldest]

    def send(self, to: list[bytes], *rest: Any) -> None:
        for account in dict.fromkeys(to):
            self.add(account, *rest)

    def newest(self, name: object, count: int) -> list[PlayerMessage]:
        return [one for _, one in self.lists[name][-count:]] if count > 0 else []

    def read(self, account: bytes, count: int) -> list[PlayerMessage]:
        found = self.newest(account, count) + self.newest("broadcast", count)
        shown = [one for one in found if one.at > self.clock.now - 90 * DAY]
        return sorted(shown, key=lambda one: -one.at)[: max(count, 0)]

    def unread(self, account: bytes, limit: int) -> int:
        found = self.newest(account, limit) + self.newest("broadcast", limit)
        shown = [one for one in found if one.at > self.clock.now - 90 * DAY]
        return sum(one.at > self.marks[account, one.kind] for one in shown)

    def mark(self, account: bytes, shown: list[PlayerMessage]) -> None:
        for one in shown:
            self.marks[account, one.kind] = max(self.marks[account, one.kind], one.at)

    def compare(self, letters: MessageStore, count: int, limit: int) -> None:
        for account in (ALICE, BOB, CAROL):
            assert letters.read(account, count) == self.read(account, count)
            assert letters.unread(account) == self.unread(account, limit)
        for board in (7, 8, 7 + SHARDS):
            assert letters.chat_of(board, count) == self.newest(board, count)


@pytest.mark.parametrize("seed", range(2))
def test_messages_are_those_of_a_plain_model(letters, clock, monkeypatch, seed):
    """Also where a command comes again, a clock stands or goes back, and marks come late."""
    box, to_all, chat = 6, 4, 5
    for name, limit in (("BOX_LIMIT", box), ("BROADCAST_LIMIT", to_all), ("CHAT_LIMIT", chat)):
        monkeypatch.setattr(messages, name, limit)
    chance, model, accounts = random.Random(seed), Model(clock), (ALICE, BOB, CAROL)
    seen: list[tuple[bytes, list[PlayerMessage]]] = []
    for step in range(150):
        clock.now += chance.choice([0, 0, -50, 5, 3, 20 * DAY if step % 9 == 0 else 1])
        sender, command = chance.choice(accounts), chance.randrange(40).to_bytes(16)
        match chance.choice(["send", "send", "broadcast", "chat", "mark"]):
            case "send":
                to = chance.choices(accounts, k=chance.randint(1, 4))
                letters.send(sender, to, f"to {step}", command)
                model.send(to, box, command, sender, f"to {step}")
            case "broadcast":
                letters.broadcast(sender, f"all {step}", command)
                model.add("broadcast", to_all, command, sender, f"all {step}")
            case "chat":
                board = chance.choice([7, 8, 7 + SHARDS])
                letters.chat(board, sender, f"line {step}", command)
                model.add(board, chat, command, sender, f"line {step}")
            case _ if seen:
                account, shown = chance.choice(seen[-6:])
                letters.mark_read(account, shown)
                model.mark(account, shown)
        model.compare(letters, chance.choice([-1, 0, 1, 3, 20]), box)
        seen.append((sender, letters.read(sender, chance.choice([0, 1, 20]))))


def test_the_count_of_letters_to_strangers_ends_after_a_day_and_goes_with_the_account(
    letters, client, new_id
):
    client.set(keys.account(ALICE), b"a record")
    for _ in range(messages.STRANGERS_A_DAY):
        letters.send(ALICE, [BOB], "hello", new_id(), [BOB])
    assert 0 < client.ttl(keys.strangers(ALICE)) <= 24 * 3600
    client.expire(keys.strangers(ALICE), 7201)
    sentence = refused(Code.TOO_MANY, letters.send, ALICE, [BOB], "hello", new_id(), [BOB])
    assert sentence.endswith("try again in 3 hours")
    letters.send(ALICE, [BOB], "an answer", new_id())
    letters.forget(ALICE)
    assert not client.exists(keys.strangers(ALICE))


def test_boxes_have_their_limits_and_go_ninety_days_after_the_last_letter(letters, client, new_id):
    for number in range(messages.BOX_LIMIT + 1):
        letters.send(ALICE, [BOB], f"letter {number}", new_id())
    assert client.llen(keys.message_box(BOB)) == 2 * messages.BOX_LIMIT
    for number in range(messages.BROADCAST_LIMIT + 1):
        letters.broadcast(CAROL, f"news {number}", new_id())
    assert client.llen(keys.BROADCAST) == 2 * messages.BROADCAST_LIMIT
    letters.mark_read(BOB, letters.read(BOB))
    for name in (keys.message_box(BOB), keys.BROADCAST, keys.read_marks(BOB)):
        assert (
            messages.KEPT_SECONDS - 60 < client.ttl(name) <= messages.KEPT_SECONDS == 90 * 24 * 3600
        )
    assert client.ttl(keys.recipients(ALICE)) > 2 * messages.KEPT_SECONDS - 60


def test_a_new_letter_drops_those_too_old_to_be_shown(letters, client, clock, new_id):
    for text in ("old", "older than it looks", "young", "new"):
        letters.send(ALICE, [BOB], text, new_id())
        clock.now += 40 * DAY
    assert b"old:" not in (kept := lists(client)[keys.message_box(BOB)])
    assert kept.count(b"message") == 3


def test_chat_lives_in_the_slot_of_its_match_and_as_long(letters, client, clock, new_id):
    for number in range(messages.CHAT_LIMIT + 1):
        letters.chat(7, ALICE, f"line {number}", new_id())
    clock.now += 400 * DAY
    letters.chat(7, BOB, "a slow match", new_id())
    assert client.ttl("{s03.2p}:m:7:chat") == -1
    found = letters.chat_of(7, 2 * messages.CHAT_LIMIT)
    assert (len(found), found[0].text, found[-1].text) == (
        messages.CHAT_LIMIT,
        "line 2",
        "a slow match",
    )


KEPT_TEXTS = [
    *("a", "x" * TEXT_LIMIT, "two\nlines\tand a tab", "Grüße, 你好 🙂", "{}:%d\\", "\U0010ffff" * 9),
    # emoji, Persian, and marks of Hebrew
    *("\U0001f469\u200d\U0001f469\u200d\U0001f467", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"),
    *("\u05e9\u05dc\u05d5\u05dd\u200f!", "(\u200eabc)"),
]  # fmt: skip


def test_a_text_is_read_as_it_was_written_without_blanks_around_it(letters, new_id):
    for text in KEPT_TEXTS:
        letters.send(ALICE, [BOB], text, new_id())
        letters.chat(7, ALICE, text, new_id())
        assert texts(letters.read(BOB, 1)) == texts(letters.chat_of(7, 1)) == [text]
        assert read_text(f" \n {' ' * TEXT_LIMIT}{text} \t") == text


def test_a_text_says_something_in_characters_that_can_be_seen():
    for text in ("", "  \n\t "):
        assert "empty" in refused(Code.BAD_REQUEST, read_text, text)
    sentence = refused(Code.TOO_LONG, read_text, "x" * (TEXT_LIMIT + 1))
    assert str(TEXT_LIMIT + 1) in sentence
    for code in (0, 0x0D, 0x1B, 0x7F, 0x85, 0x9B, 0xD800, 0xDFFF):
        sentence = refused(Code.BAD_REQUEST, read_text, f"secret{chr(code)}words")
        assert f"character 7 of the text is U+{code:04X}" in sentence
        assert "secret" not in sentence
        assert "words" not in sentence
    unseen = (0x200B, 0x2060, 0xFEFF, 0xE0001, 0xE0041)
    for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), *unseen):
        assert read_text(f"pay{chr(code)}pal\u2028ok\u2029{chr(code)}") == "paypal\nok"
        assert "empty" in refused(Code.BAD_REQUEST, read_text, f" {chr(code)} ")


def test_what_is_refused_is_not_written(letters, client, new_id):
    refused(Code.BAD_REQUEST, letters.send, ALICE, [BOB], "\x1b[2J", new_id())
    refused(Code.BAD_REQUEST, letters.broadcast, ALICE, " ", new_id())
    refused(Code.TOO_LONG, letters.chat, 7, ALICE, "x" * 9999, new_id())
    for count in (0, messages.MOST_RECIPIENTS + 1):
        many = [os.urandom(8) for _ in range(count)]
        sentence = refused(Code.BAD_REQUEST, letters.send, ALICE, many, "hello", new_id())
        assert str(count) in sentence
    assert client.dbsize() == 0
    letters.send(ALICE, many[1:], "hello", new_id())
    assert all(texts(letters.read(account)) == ["hello"] for account in many[1:])


def test_an_error_of_the_server_does_not_repeat_the_text(letters, client, new_id):
    client.set(keys.message_box(BOB), "no list")
    with pytest.raises(ResponseError) as caught:
        letters.send(ALICE, [BOB], "hush", new_id())
    assert "WRONGTYPE" in str(caught.value)
    assert "hush" not in repr(caught.value)


def write_a_lot(letters: MessageStore, new_id: Callable[[], bytes]) -> None:
    for number in range(3):
        letters.send(ALICE, [BOB, CAROL, ALICE], f"alice's letter {number}", new_id())
        letters.send(BOB, [ALICE, CAROL], f"bob's letter {number}", new_id())
        letters.broadcast(ALICE, f"alice's news {number}", new_id())
        letters.broadcast(BOB, f"bob's news {number}", new_id())
        for board in (7, 8):
            letters.chat(board, ALICE, f"alice's line {number}", new_id())
            letters.chat(board, BOB, f"bob's line {number}", new_id())
    letters.mark_read(ALICE, letters.read(ALICE))


def assert_forgotten(letters: MessageStore, client: Redis) -> None:
    """Nothing of Alice's is left, and everything of Bob's but his letters to her."""
    assert not [name for name, kept in lists(client).items() if b"alice" in kept or ALICE in kept]
    assert not list(client.scan_iter(f"*{ALICE.hex()}*"))
    assert sorted(texts(letters.read(CAROL, 100))) == sorted(
        f"bob's {what} {number}" for what in ("letter", "news") for number in range(3)
    )
    for board in (7, 8):
        assert texts(letters.chat_of(board)) == [f"bob's line {number}" for number in range(3)]


def test_forgetting_is_finished_by_doing_it_again_wherever_it_was_killed(client, clock, new_id):
    letters = MessageStore(client, lambda: SHARDS, clock)
    for trips in itertools.count():
        client.flushdb()
        write_a_lot(letters, new_id)
        client.script_flush()  # the same trips each time
        try:
            MessageStore(DyingClient(client, trips), lambda: SHARDS, clock).forget(ALICE)
        except Killed:
            assert lists(client)[keys.message_box(ALICE)]
            letters.forget(ALICE)
            assert_forgotten(letters, client)
        else:
            break
    assert_forgotten(letters, client)
    assert trips > 10


def test_what_was_being_written_when_the_process_was_killed_is_found(client, letters):
    for call in ("send", "chat", "broadcast"):
        to = {"send": (ALICE, [BOB]), "chat": (7, ALICE), "broadcast": (ALICE,)}[call]
        for trips in itertools.count():
            client.script_flush()  # the same trips each time
            killed = MessageStore(DyingClient(client, trips), lambda: SHARDS, Clock())
            try:
                getattr(killed, call)(*to, "hello", bytes(16))
            except Killed:
                letters.forget(ALICE)
                assert client.dbsize() == 0
            else:
                break
        assert "hello" in "".join(texts(letters.read(BOB) + letters.chat_of(7)))
        letters.forget(ALICE)
        assert client.dbsize() == 0


BOARD, OTHER = 17, 18
START = (0, 0, 0, "")


@pytest.fixture
def notified(server: Redis) -> MessageStore:
    return MessageStore(server, lambda: SHARDS)


def told(letters: MessageStore, account: bytes) -> list[tuple[int, int, NoticeKind]]:
    found = read_one(letters._client, letters.notices.since(account, START)).notices
    return [(one.board, one.seq, one.kind) for one in found]


def id_(number: int) -> bytes:
    return number.to_bytes(16)


def test_a_line_is_told_to_the_others_once_however_often_it_is_repeated(notified, server):
    notified.chat(BOARD, ALICE, "a secret", id_(1))  # as if killed before anybody was told
    for _ in range(2):
        notified.chat(BOARD, ALICE, "a secret", id_(1), (ALICE, BOB, CAROL))
    for account in (BOB, CAROL):
        assert told(notified, account) == [(BOARD, 0, NoticeKind.CHAT)]
    assert unread_chat(notified, BOB) == {BOARD: 1}
    assert notified.notices.of(ALICE) == []
    assert len(notified.chat_of(BOARD)) == 1
    assert b"secret" not in b"".join(server.zrange(keys.message_notices(BOB), 0, -1))


def test_times_grow_along_an_accounts_notices_of_which_the_newest_are_kept(server):
    clock = iter([50, 50, 40, 60, 10_000_000, 70]).__next__
    notices = MessageNotices(server, clock)
    for said in range(1, 7):
        notices.notify([CAROL], BOARD, said, NoticeKind.CHAT, ALICE)
    times = [one.at for one in notices.of(CAROL)]
    assert times == [50, 51, 52, 60, 70, 10_000_000], "a clock ahead holds none back"
    notices = MessageNotices(server, iter(range(1, 1000)).__next__)
    for said in range(1, MOST_NOTICES + 3):
        if said == MOST_NOTICES:
            assert read_one(server, notices.since(BOB, START)).oldest is None
        notices.notify([BOB], BOARD, said, NoticeKind.CHAT, ALICE)
    kept = read_one(server, notices.since(BOB, START))
    assert len(kept.notices) == MOST_NOTICES
    assert kept.oldest == (3, BOARD, 0, NoticeKind.CHAT)


def test_messages_and_broadcasts_are_told_and_counted_while_they_are_shown(notified, server):
    notified.send(ALICE, [BOB], "hello", id_(0))
    for number in range(1, messages.BROADCAST_LIMIT + 3):
        notified.broadcast(ALICE, "to all", id_(number))
    assert set(told(notified, BOB)) == {(0, 0, NoticeKind.MESSAGE)}
    unread = UnreadCounter(server, notified)
    assert unread.counts(BOB) == UnreadCounts({}, notified.unread(BOB))
    assert notified.unread(BOB) == messages.BROADCAST_LIMIT + 1
    # the time of a notice is at least a millisecond after the one before, so the last are ahead of now
    later = time_ms(server) + messages.KEPT_SECONDS * 1000 + 1_000
    assert read_one(server, unread.read(BOB, later)).counts == UnreadCounts({}, 0)


def test_what_is_read_is_unread_no_more_and_what_comes_then_is(notified, server):
    for number in range(3):
        notified.chat(BOARD, ALICE, "hello", id_(number), (BOB,))
    notified.chat(OTHER, ALICE, "hello", id_(9), (BOB,))
    assert UnreadCounter(server, notified).counts(BOB) == UnreadCounts({BOARD: 3, OTHER: 1}, 0)
    notified.mark_chat_read(BOB, BOARD, notified.chat_of(BOARD))
    notified.mark_read(BOB, [])
    assert unread_chat(notified, BOB) == {OTHER: 1}
    notified.chat(BOARD, ALICE, "again", id_(4), (BOB,))
    assert unread_chat(notified, BOB) == {BOARD: 1, OTHER: 1}


def test_who_is_erased_leaves_no_notice_behind_and_gets_none(notified, server):
    notified.chat(BOARD, ALICE, "hello", id_(1), (BOB,))
    notified.chat(BOARD, CAROL, "hello", id_(2), (BOB, ALICE))
    notified.send(ALICE, [BOB], "hello", id_(3))
    notified.broadcast(ALICE, "to all", id_(4))
    notified.forget(ALICE)
    assert told(notified, BOB) == [(BOARD, 0, NoticeKind.CHAT)]
    assert UnreadCounter(server, notified).counts(BOB) == UnreadCounts({BOARD: 1}, 0)
    assert not server.exists(keys.message_notices(ALICE))
    server.delete(keys.account(ALICE))
    notified.chat(BOARD, BOB, "hello", id_(5), (ALICE, BOB))
    assert not server.exists(keys.message_notices(ALICE))
