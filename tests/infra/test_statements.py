"""Statements: kept outside the log under the digests that events have, and gone with their authors."""

from hashlib import sha256

import pytest
from redis import Redis

from domain.errors import Code, Refusal
from infra.people.statements import MOST_STATEMENTS, Statements
from infra.people.texts import TEXT_LIMIT
from infra.redis import keys

ALICE, BOB = bytes([0xA1]) * 8, bytes([0xB0]) * 8
ONE, OTHER = bytes([1]) * 16, bytes([2]) * 16


@pytest.fixture
def statements(redis_client: Redis) -> Statements:
    """The statements of a server on which Alice and Bob have accounts."""
    for account in (ALICE, BOB):
        redis_client.set(keys.account(account), "a record")
    return Statements(redis_client, lambda: 4, lambda: 1_000)


def test_a_statement_is_bound_to_its_event_by_salt_and_digest(statements):
    put = statements.put(12, ALICE, "  he moved\nafter the bell ä ", ONE)
    assert put.text == "he moved\nafter the bell ä"
    assert len(put.salt) == 16
    assert put.digest == sha256(put.salt + put.text.encode()).digest()
    assert statements.of_match(12) == [put]
    assert statements.of_match(13) == []


def test_a_repeated_command_has_the_same_salt_and_another_one_another(statements):
    first = statements.put(12, ALICE, "same", ONE)
    assert statements.put(12, ALICE, "same", ONE) == first
    assert statements.put(12, ALICE, "same", OTHER).digest != first.digest
    assert len(statements.of_match(12)) == 2


@pytest.mark.parametrize(("account", "text"), [(ALICE, "another"), (BOB, "same")])
def test_a_key_is_not_used_for_another_text(statements, account, text):
    statements.put(12, ALICE, "same", ONE)
    with pytest.raises(Refusal) as caught:
        statements.put(12, account, text, ONE)
    assert caught.value.code is Code.ID_REUSED


@pytest.mark.parametrize(
    ("text", "code"), [("x" * (TEXT_LIMIT + 1), Code.TOO_LONG), (" \n", Code.BAD_REQUEST)]
)
def test_what_is_no_text_is_refused_and_nothing_is_stored(statements, redis_client, text, code):
    with pytest.raises(Refusal) as caught:
        statements.put(12, ALICE, text, ONE)
    assert caught.value.code is code
    assert len(statements.of_match(12)) == 0
    assert not redis_client.exists(keys.statement_boards(ALICE))


def test_an_account_has_only_so_many_in_a_match_and_takes_no_room_of_others(statements):
    for number in range(MOST_STATEMENTS):
        statements.put(12, ALICE, "one", number.to_bytes(16))
    with pytest.raises(Refusal) as caught:
        statements.put(12, ALICE, "one", b"x" * 16)
    assert caught.value.code is Code.TOO_MANY
    assert statements.put(12, ALICE, "one", (0).to_bytes(16)).text == "one"
    assert statements.put(13, ALICE, "one", b"x" * 16).text == "one"
    assert statements.put(12, BOB, "one", b"y" * 16).text == "one"


def test_a_statement_of_a_refused_command_is_removed(statements):
    statements.put(12, ALICE, "one", ONE)
    kept = statements.put(12, ALICE, "two", OTHER)
    statements.remove(12, ONE)
    statements.remove(12, ONE)
    assert statements.of_match(12) == [kept]


def test_all_statements_of_an_account_are_erased_and_no_others(statements, redis_client):
    statements.put(12, ALICE, "one", ONE)
    statements.put(17, ALICE, "two", OTHER)
    kept = statements.put(12, BOB, "three", OTHER)
    statements.forget(ALICE)
    statements.forget(ALICE)
    assert statements.of_match(12) == [kept]
    assert statements.of_match(17) == []
    assert not redis_client.exists(keys.statement_boards(ALICE))


def test_nothing_is_stored_for_an_account_that_was_deleted(statements, redis_client):
    redis_client.delete(keys.account(ALICE))
    with pytest.raises(Refusal) as caught:
        statements.put(12, ALICE, "one", ONE)
    assert caught.value.code is Code.UNKNOWN_USER
    assert len(statements.of_match(12)) == 0
