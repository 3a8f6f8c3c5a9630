"""Private notes: kept beside an account, and gone with it."""

import pytest
from redis import Redis

from domain.errors import Code, Refusal
from infra.people.account_lists import MOST_NOTES, Notes, notes_key
from infra.people.texts import TEXT_LIMIT
from infra.redis import keys

ALICE, BOB = bytes([0xA1]) * 8, bytes([0xB0]) * 8


@pytest.fixture
def notes(redis_client: Redis) -> Notes:
    """The notes of a server on which Alice and Bob have accounts."""
    for account in (ALICE, BOB):
        redis_client.set(keys.account(account), "a record")
    return Notes(redis_client)


def test_a_note_is_its_writers_alone(notes):
    notes.put(ALICE, 12, "  watch m5\nand ä  ")
    assert notes.get(ALICE, 12) == "watch m5\nand ä"
    assert notes.get(ALICE, 13) == ""
    assert notes.get(BOB, 12) == ""


def test_a_newer_note_replaces_the_older_and_an_empty_one_takes_it_away(notes, redis_client):
    notes.put(ALICE, 12, "one")
    notes.put(ALICE, 12, "two")
    assert notes.get(ALICE, 12) == "two"
    notes.put(ALICE, 12, " \n ")
    assert notes.get(ALICE, 12) == ""
    assert not redis_client.exists(notes_key(ALICE))


@pytest.mark.parametrize(
    ("text", "code"), [("x" * (TEXT_LIMIT + 1), Code.TOO_LONG), ("a\x00b", Code.BAD_REQUEST)]
)
def test_what_is_no_text_is_refused_and_the_note_stays(notes, text, code):
    notes.put(ALICE, 12, "one")
    with pytest.raises(Refusal) as caught:
        notes.put(ALICE, 12, text)
    assert caught.value.code is code
    assert notes.get(ALICE, 12) == "one"


def test_there_are_only_so_many_and_the_old_ones_can_still_be_changed(notes, redis_client):
    redis_client.hset(notes_key(ALICE), mapping={str(board): "x" for board in range(MOST_NOTES)})
    with pytest.raises(Refusal) as caught:
        notes.put(ALICE, MOST_NOTES, "one more")
    assert caught.value.code is Code.TOO_MANY
    notes.put(ALICE, 0, "another")
    assert notes.get(ALICE, 0) == "another"


def test_nothing_is_noted_for_an_account_that_is_no_more(notes, redis_client):
    redis_client.delete(keys.account(ALICE))
    with pytest.raises(Refusal) as caught:
        notes.put(ALICE, 12, "one")
    assert caught.value.code is Code.UNKNOWN_USER
    assert not redis_client.exists(notes_key(ALICE))


def test_all_notes_of_an_account_are_erased_and_no_others(notes):
    notes.put(ALICE, 12, "one")
    notes.put(BOB, 12, "two")
    notes.forget(ALICE)
    notes.forget(ALICE)
    assert notes.get(ALICE, 12) == ""
    assert notes.get(BOB, 12) == "two"
