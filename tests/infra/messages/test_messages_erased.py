"""Erasing what an account wrote and got: all of it is found again, wherever a process was killed."""

import itertools
from collections.abc import Callable

import pytest
from redis import Redis

from infra.people.messages import MessageStore
from infra.redis import keys
from tests.fakes.dying import DyingClient, Killed
from tests.helpers.messages import ALICE, BOB, CAROL, SHARDS, lists, texts
from tests.helpers.proposals import Clock


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


def test_forgetting_erases_what_an_account_wrote_and_got_and_nothing_else(letters, client, new_id):
    write_a_lot(letters, new_id)
    letters.forget(ALICE)
    assert_forgotten(letters, client)
    letters.forget(ALICE)
    assert_forgotten(letters, client)


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


@pytest.mark.parametrize(
    "write",
    [
        lambda letters: letters.send(ALICE, [BOB], "hello", bytes(16)),
        lambda letters: letters.chat(7, ALICE, "hello", bytes(16)),
        lambda letters: letters.broadcast(ALICE, "hello", bytes(16)),
    ],
    ids=["send", "chat", "broadcast"],
)
def test_what_was_being_written_when_the_process_was_killed_is_found(client, letters, write):
    for trips in itertools.count():
        client.script_flush()  # the same trips each time
        try:
            write(MessageStore(DyingClient(client, trips), lambda: SHARDS, Clock()))
        except Killed:
            letters.forget(ALICE)
            assert client.dbsize() == 0
        else:
            break
    assert "hello" in "".join(texts(letters.read(BOB) + letters.chat_of(7)))
    letters.forget(ALICE)
    assert client.dbsize() == 0


def test_erasing_does_not_make_the_rest_live_longer_or_come_twice(letters, client, new_id):
    command = new_id()
    letters.send(ALICE, [BOB], "alice's", new_id())
    letters.send(CAROL, [BOB], "carol's", command)
    client.expire(keys.message_box(BOB), 1000)
    letters.forget(ALICE)
    assert client.ttl(keys.message_box(BOB)) <= 1000
    letters.send(CAROL, [BOB], "carol's", command)
    assert texts(letters.read(BOB)) == ["carol's"]


def test_an_account_that_never_wrote_is_forgotten_too(letters, client, new_id):
    letters.send(BOB, [CAROL], "hello", new_id())
    letters.forget(ALICE)
    assert texts(letters.read(CAROL)) == ["hello"]
    assert set(client.keys()) == {keys.message_box(CAROL).encode(), keys.recipients(BOB).encode()}
