"""Messages, broadcasts and chat: kept in order, added once."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from redis.exceptions import ResponseError

from domain.errors import Code
from infra.people.messages import (
    BOX_LIMIT,
    BROADCAST_LIMIT,
    CHAT_LIMIT,
    KEPT_SECONDS,
    MOST_RECIPIENTS,
    STRANGERS_A_DAY,
    MessageKind,
    MessageStore,
    PlayerMessage,
)
from infra.people.texts import TEXT_LIMIT, read_text
from infra.redis import keys
from tests.helpers.examples import refused
from tests.helpers.messages import ALICE, BOB, CAROL, SHARDS, lists, texts

DAY = 24 * 3600 * 1000
SOME_TIME = 1_700_000_000_000


# messages


def test_a_message_is_in_the_box_of_each_recipient_and_of_nobody_else(letters, new_id):
    letters.send(ALICE, [BOB, CAROL], "hello", new_id())
    expected = [PlayerMessage(SOME_TIME, ALICE, "hello", MessageKind.MESSAGE)]
    assert letters.read(BOB) == expected
    assert letters.read(CAROL) == expected
    assert letters.read(ALICE) == []


def test_the_newest_letter_comes_first_and_a_count_leaves_out_the_oldest(letters, new_id):
    for text in ("one", "two", "three"):
        letters.send(ALICE, [BOB], text, new_id())
    assert texts(letters.read(BOB)) == ["three", "two", "one"]
    assert texts(letters.read(BOB, 2)) == ["three", "two"]
    assert letters.read(BOB, 0) == []
    assert letters.read(BOB, -1) == []


def test_a_recipient_named_again_and_again_gets_one_letter(letters, new_id):
    letters.send(ALICE, [BOB] * (MOST_RECIPIENTS + 1), "hello", new_id())
    assert texts(letters.read(BOB)) == ["hello"]


def test_the_count_of_letters_to_strangers_ends_after_a_day_and_goes_with_the_account(
    letters, client, new_id
):
    client.set(keys.account(ALICE), b"a record")
    for _ in range(STRANGERS_A_DAY):
        letters.send(ALICE, [BOB], "hello", new_id(), [BOB])
    assert 0 < client.ttl(keys.strangers(ALICE)) <= 24 * 3600
    client.expire(keys.strangers(ALICE), 7201)
    sentence = refused(Code.TOO_MANY, letters.send, ALICE, [BOB], "hello", new_id(), [BOB])
    assert sentence.endswith("try again in 3 hours")
    letters.send(ALICE, [BOB], "an answer", new_id())
    letters.forget(ALICE)
    assert not client.exists(keys.strangers(ALICE))


def test_a_letter_to_oneself_arrives(letters, new_id):
    letters.send(ALICE, [ALICE], "buy milk", new_id())
    assert texts(letters.read(ALICE)) == ["buy milk"]


def test_a_command_repeated_adds_nothing(letters, clock, new_id):
    command = new_id()
    letters.send(ALICE, [BOB], "hello", command)
    letters.send(CAROL, [BOB], "hello", new_id())
    clock.now += 5
    letters.send(ALICE, [BOB], "hello", command)
    assert [letter.sender for letter in letters.read(BOB)] == [CAROL, ALICE]


def test_a_message_that_reached_some_reaches_the_others_when_it_is_repeated(letters, new_id):
    command = new_id()
    letters.send(ALICE, [BOB], "hello", command)
    letters.send(ALICE, [BOB, CAROL], "hello", command)
    assert texts(letters.read(BOB)) == texts(letters.read(CAROL)) == ["hello"]


def test_an_id_that_has_been_pushed_out_may_come_again(letters, new_id):
    command = new_id()
    letters.send(ALICE, [BOB], "first", command)
    for _ in range(BOX_LIMIT):
        letters.send(ALICE, [BOB], "more", new_id())
    letters.send(ALICE, [BOB], "first", command)
    assert texts(letters.read(BOB, 2)) == ["first", "more"]


def test_a_box_keeps_the_newest(letters, client, new_id):
    for number in range(BOX_LIMIT + 3):
        letters.send(ALICE, [BOB], f"letter {number}", new_id())
    found = letters.read(BOB, 2 * BOX_LIMIT)
    assert len(found) == BOX_LIMIT
    assert (found[0].text, found[-1].text) == (f"letter {BOX_LIMIT + 2}", "letter 3")
    assert client.llen(keys.message_box(BOB)) == 2 * BOX_LIMIT


@pytest.mark.parametrize("count", [0, MOST_RECIPIENTS + 1])
def test_a_message_to_nobody_or_to_too_many_is_refused(letters, client, new_id, count):
    many = [os.urandom(8) for _ in range(count)]
    sentence = refused(Code.BAD_REQUEST, letters.send, ALICE, many, "hello", new_id())
    assert str(count) in sentence
    assert client.dbsize() == 0


def test_a_message_goes_to_as_many_as_are_allowed(letters, new_id):
    many = [os.urandom(8) for _ in range(MOST_RECIPIENTS)]
    letters.send(ALICE, many, "hello", new_id())
    assert all(texts(letters.read(account)) == ["hello"] for account in many)


# broadcasts


def test_a_broadcast_is_read_by_everybody_between_their_own_letters(letters, clock, new_id):
    letters.send(ALICE, [BOB], "before", new_id())
    clock.now += 1
    letters.broadcast(CAROL, "to all", new_id())
    clock.now += 1
    letters.send(ALICE, [BOB], "after", new_id())
    assert texts(letters.read(BOB)) == ["after", "to all", "before"]
    assert letters.read(ALICE) == [
        PlayerMessage(SOME_TIME + 1, CAROL, "to all", MessageKind.BROADCAST)
    ]
    assert texts(letters.read(BOB, 2)) == ["after", "to all"]


def test_the_newest_broadcasts_are_kept_and_a_repeated_one_adds_nothing(letters, new_id):
    command = new_id()
    for number in range(BROADCAST_LIMIT + 1):
        letters.broadcast(CAROL, f"news {number}", command if number == 1 else new_id())
    letters.broadcast(CAROL, "news 1", command)
    found = letters.read(BOB, 100)
    assert len(found) == BROADCAST_LIMIT
    assert (found[0].text, found[-1].text) == (f"news {BROADCAST_LIMIT}", "news 1")


# time


def test_without_a_clock_the_server_tells_the_time(client, new_id):
    letters = MessageStore(client, lambda: SHARDS)
    before = client.time()
    letters.send(ALICE, [BOB], "hello", new_id())
    (letter,) = letters.read(BOB)
    after = client.time()
    assert before[0] * 1000 + before[1] // 1000 <= letter.at
    assert letter.at <= after[0] * 1000 + after[1] // 1000


def test_times_in_a_box_grow_even_where_the_clock_stands_or_goes_back(letters, clock, new_id):
    for step in (0, 0, -50):
        clock.now += step
        letters.send(ALICE, [BOB], f"{step}", new_id())
    ats = [letter.at for letter in letters.read(BOB)]
    assert ats == [SOME_TIME + 2, SOME_TIME + 1, SOME_TIME]


def test_a_letter_is_shown_for_ninety_days(letters, clock, new_id):
    letters.send(ALICE, [BOB], "hello", new_id())
    letters.broadcast(ALICE, "to all", new_id())
    clock.now += 90 * DAY - 1
    assert len(letters.read(BOB)) == letters.unread(BOB) == 2
    clock.now += 1
    assert letters.read(BOB) == []
    assert letters.unread(BOB) == 0


def test_a_new_letter_drops_those_too_old_to_be_shown(letters, client, clock, new_id):
    for text in ("old", "older than it looks", "young"):
        letters.send(ALICE, [BOB], text, new_id())
        clock.now += 40 * DAY
    letters.send(ALICE, [BOB], "new", new_id())
    assert texts(letters.read(BOB)) == ["new", "young", "older than it looks"]
    assert b"old:" not in (kept := lists(client)[keys.message_box(BOB)])
    assert kept.count(b"message") == 3


def test_boxes_go_ninety_days_after_the_last_letter_and_what_leads_to_them_later(
    letters, client, new_id
):
    letters.send(ALICE, [BOB], "hello", new_id())
    letters.broadcast(ALICE, "to all", new_id())
    letters.mark_read(BOB, letters.read(BOB))
    for name in (keys.message_box(BOB), keys.BROADCAST, keys.read_marks(BOB)):
        assert KEPT_SECONDS - 60 < client.ttl(name) <= KEPT_SECONDS
    assert client.ttl(keys.recipients(ALICE)) > 2 * KEPT_SECONDS - 60


# unread


def test_letters_are_unread_until_they_are_marked(letters, new_id):
    assert letters.unread(BOB) == 0
    letters.send(ALICE, [BOB], "one", new_id())
    letters.broadcast(ALICE, "two", new_id())
    assert letters.unread(BOB) == 2
    letters.mark_read(BOB, letters.read(BOB))
    assert letters.unread(BOB) == 0
    letters.send(ALICE, [BOB], "three", new_id())
    assert letters.unread(BOB) == 1
    assert letters.unread(CAROL) == 1  # the broadcast


def test_a_letter_that_comes_while_others_are_read_stays_unread(letters, new_id):
    letters.send(ALICE, [BOB], "one", new_id())
    seen = letters.read(BOB)
    letters.send(ALICE, [BOB], "two", new_id())
    letters.broadcast(ALICE, "three", new_id())
    letters.mark_read(BOB, seen)
    assert letters.unread(BOB) == 2


def test_marking_the_newest_marks_those_before_it(letters, new_id):
    for text in ("one", "two", "three"):
        letters.send(ALICE, [BOB], text, new_id())
    letters.mark_read(BOB, letters.read(BOB, 1))
    assert letters.unread(BOB) == 0


def test_marks_never_go_back(letters, new_id):
    letters.send(ALICE, [BOB], "one", new_id())
    early = letters.read(BOB)
    letters.send(ALICE, [BOB], "two", new_id())
    letters.mark_read(BOB, letters.read(BOB))
    letters.mark_read(BOB, early)
    letters.mark_read(BOB, [])
    assert letters.unread(BOB) == 0


# chat


def test_what_is_said_at_a_board_is_given_the_oldest_first(letters, clock, new_id):
    letters.chat(7, ALICE, "good luck", new_id())
    clock.now += 10
    letters.chat(7, BOB, "have fun", new_id())
    letters.chat(7 + SHARDS, BOB, "elsewhere", new_id())
    assert letters.chat_of(7) == [
        PlayerMessage(SOME_TIME, ALICE, "good luck", MessageKind.CHAT),
        PlayerMessage(SOME_TIME + 10, BOB, "have fun", MessageKind.CHAT),
    ]
    assert texts(letters.chat_of(7, 1)) == ["have fun"]
    assert letters.chat_of(7, 0) == []
    assert letters.chat_of(8) == []
    assert letters.read(ALICE) == []


def test_chat_lives_in_the_slot_of_its_match_and_as_long(letters, client, clock, new_id):
    letters.chat(7, ALICE, "good luck", new_id())
    clock.now += 400 * DAY
    letters.chat(7, BOB, "a slow match", new_id())
    assert client.ttl("{s03.2p}:m:7:chat") == -1
    assert texts(letters.chat_of(7)) == ["good luck", "a slow match"]


def test_the_newest_lines_are_kept_and_a_repeated_one_adds_nothing(letters, new_id):
    command = new_id()
    for number in range(CHAT_LIMIT + 1):
        letters.chat(7, ALICE, f"line {number}", command if number == 1 else new_id())
    letters.chat(7, ALICE, "line 1", command)
    found = letters.chat_of(7, 2 * CHAT_LIMIT)
    assert len(found) == CHAT_LIMIT
    assert (found[0].text, found[-1].text) == ("line 1", f"line {CHAT_LIMIT}")


def test_letters_written_at_once_are_each_there_once(redis_client):
    letters = MessageStore(redis_client, lambda: SHARDS)
    commands = [number.to_bytes(16) for number in range(40)] * 3
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda command: letters.send(ALICE, [BOB], command.hex(), command), commands))
    found = letters.read(BOB, 200)
    assert sorted(texts(found)) == sorted({command.hex() for command in commands})
    assert len({letter.at for letter in found}) == 40


# texts


@pytest.mark.parametrize(
    "text",
    ["a", "x" * TEXT_LIMIT, "two\nlines\tand a tab", "Grüße, 你好 🙂", "{}:%d\\", "\U0010ffff" * 9],
)
def test_a_text_is_read_as_it_was_written(letters, new_id, text):
    letters.send(ALICE, [BOB], text, new_id())
    letters.chat(7, ALICE, text, new_id())
    assert texts(letters.read(BOB)) == texts(letters.chat_of(7)) == [text]


def test_blanks_around_a_text_are_left_out():
    assert read_text(" \n hello \t") == "hello"
    assert read_text(" " * TEXT_LIMIT + "hello") == "hello"


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_a_text_says_something(text):
    assert "empty" in refused(Code.BAD_REQUEST, read_text, text)


def test_a_text_that_is_too_long_is_refused():
    sentence = refused(Code.TOO_LONG, read_text, "x" * (TEXT_LIMIT + 1))
    assert str(TEXT_LIMIT + 1) in sentence


@pytest.mark.parametrize("code", [0, 0x0D, 0x1B, 0x7F, 0x85, 0x9B, 0xD800, 0xDFFF])
def test_control_characters_and_halves_of_characters_are_refused(code):
    sentence = refused(Code.BAD_REQUEST, read_text, f"secret{chr(code)}words")
    assert f"character 7 of the text is U+{code:04X}" in sentence
    assert "secret" not in sentence
    assert "words" not in sentence


@pytest.mark.parametrize(
    "code",
    [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200B, 0x2060, 0xFEFF, 0xE0001, 0xE0041],
)
def test_a_text_keeps_no_character_that_nobody_sees(code):
    assert read_text(f"pay{chr(code)}pal\u2028ok\u2029{chr(code)}") == "paypal\nok"
    assert "empty" in refused(Code.BAD_REQUEST, read_text, f" {chr(code)} ")


@pytest.mark.parametrize(
    "text",
    [
        "\U0001f469\u200d\U0001f469\u200d\U0001f467",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u05e9\u05dc\u05d5\u05dd\u200f!",
        "(\u200eabc)",
    ],
)
def test_emoji_persian_and_marks_of_hebrew_stay_as_they_are(text):
    assert read_text(text) == text


def test_what_is_refused_is_not_written(letters, client, new_id):
    refused(Code.BAD_REQUEST, letters.send, ALICE, [BOB], "\x1b[2J", new_id())
    refused(Code.BAD_REQUEST, letters.broadcast, ALICE, " ", new_id())
    refused(Code.TOO_LONG, letters.chat, 7, ALICE, "x" * 9999, new_id())
    assert client.dbsize() == 0


def test_an_error_of_the_server_does_not_repeat_the_text(letters, client, new_id):
    client.set(keys.message_box(BOB), "no list")
    with pytest.raises(ResponseError) as caught:
        letters.send(ALICE, [BOB], "hush", new_id())
    assert "WRONGTYPE" in str(caught.value)
    assert "hush" not in repr(caught.value)
