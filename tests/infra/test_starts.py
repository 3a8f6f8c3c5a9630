"""Starts by name that wait: counted one after the other, however many come at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from redis import Redis

from domain.errors import Code, Refusal
from infra.people.pending_starts import MOST_BETWEEN_TWO, MOST_STARTS, PendingStart, PendingStarts
from infra.redis import keys

ALICE, BOB, CAROL = (bytes([number]) * 8 for number in (0xA1, 0xB0, 0xCA))


def command(number: int) -> bytes:
    return number.to_bytes(16, "big")


@pytest.fixture
def starts(redis_client: Redis) -> PendingStarts:
    """The starts of a server on which all three have accounts."""
    for account in (ALICE, BOB, CAROL):
        redis_client.set(keys.account(account), "a record")
    return PendingStarts(redis_client)


def test_a_start_is_kept_as_it_was_asked_for(starts, redis_client):
    before, _ = redis_client.time()
    assert starts.add(ALICE, command(1), [BOB, CAROL]) == ""
    assert starts.add(ALICE, command(2), [BOB]) == ""
    one, two = starts.of(ALICE)
    assert one == PendingStart(command(1), one.at, others=(BOB, CAROL))
    assert two == PendingStart(command(2), two.at, others=(BOB,))
    assert before * 1000 <= one.at <= two.at
    assert starts.of(BOB) == []


def test_a_start_that_an_earlier_version_noted_is_read(starts, redis_client):
    values = {
        command(1).hex(): f"1000:1:{BOB.hex()}:{CAROL.hex()}",
        command(2).hex(): f"2000:0:{BOB.hex()}",
    }
    redis_client.hset(keys.pending_starts(ALICE), mapping=values)
    redis_client.hset(keys.matches_with_robots(ALICE), command(3).hex(), "3000:0")
    one = PendingStart(command(1), 1_000, (BOB, CAROL))
    assert starts.of(ALICE) == [one, PendingStart(command(2), 2_000, (BOB,))]
    assert starts.with_robots.of(ALICE) == [PendingStart(command(3), 3_000, ())]
    assert starts.add(ALICE, command(4), [BOB]) == ""
    assert starts.add(ALICE, command(5), [BOB]) == BOB.hex()


def test_three_against_one_other_and_a_repetition_is_none(starts):
    for number in range(MOST_BETWEEN_TWO):
        assert starts.add(ALICE, command(number), [BOB]) == ""
    assert starts.add(ALICE, command(9), [CAROL, BOB]) == BOB.hex()
    assert starts.add(ALICE, command(0), [BOB]) == ""
    assert starts.add(ALICE, command(9), [CAROL]) == ""
    assert starts.add(BOB, command(9), [ALICE]) == ""
    starts.remove(ALICE, [command(0), command(77)])
    starts.remove(ALICE, [])
    assert starts.add(ALICE, command(10), [BOB]) == ""
    assert len(starts.of(ALICE)) == MOST_BETWEEN_TWO + 1


def test_twenty_of_one_account(starts):
    for number in range(MOST_STARTS):
        other = (number // MOST_BETWEEN_TWO).to_bytes(8, "big")
        assert starts.add(ALICE, command(number), [other]) == ""
    assert starts.add(ALICE, command(MOST_STARTS), [BOB]) == "all"
    assert starts.add(ALICE, command(0), [bytes(8)]) == ""


def test_starts_that_come_at_once_are_never_too_many(starts):
    with ThreadPoolExecutor(16) as pool:
        said = list(pool.map(lambda n: starts.add(ALICE, command(n), [BOB]), range(100)))
    assert said.count("") == MOST_BETWEEN_TWO
    assert said.count(BOB.hex()) == 100 - MOST_BETWEEN_TWO
    assert len(starts.of(ALICE)) == MOST_BETWEEN_TWO


def test_nothing_is_noted_of_an_account_that_is_no_more(starts, redis_client):
    starts.add(ALICE, command(1), [BOB])
    starts.forget(ALICE)
    redis_client.delete(keys.account(ALICE))
    with pytest.raises(Refusal) as caught:
        starts.add(ALICE, command(2), [BOB])
    assert caught.value.code is Code.UNKNOWN_USER
    assert not redis_client.exists(keys.pending_starts(ALICE))
