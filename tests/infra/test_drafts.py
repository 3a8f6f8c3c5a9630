"""Moves laid ready: one a player and match, the newest, and a repeated command lays none twice."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest
from redis import Redis

from infra.people.drafts import KEPT_SECONDS, Draft, Drafts
from infra.redis import keys
from tests.fakes.memory_store import memory_client

SHARDS = 4
ALICE, BOB = (bytes([number]) * 8 for number in (0xA1, 0xB0))
SOME_TIME = 1_700_000_000_000


@pytest.fixture(params=["fake", "valkey"])
def client(request: pytest.FixtureRequest) -> Iterator[Redis]:
    if request.param == "valkey":
        yield request.getfixturevalue("redis_client")
    else:
        with memory_client() as fake:
            yield fake


@pytest.fixture
def drafts(client: Redis) -> Drafts:
    ticks = count(SOME_TIME)
    return Drafts(client, lambda: SHARDS, lambda: next(ticks))


@pytest.fixture
def new_id() -> Callable[[], bytes]:
    numbers = count(1)
    return lambda: next(numbers).to_bytes(16)


def test_a_move_laid_ready_is_its_players_at_its_board(drafts, new_id):
    drafts.put(7, ALICE, "a1-b2", 3, new_id())
    assert drafts.get(7, ALICE) == Draft("a1-b2", 3, SOME_TIME)
    assert drafts.get(7, BOB) is None
    assert drafts.get(7 + SHARDS, ALICE) is None


def test_a_newer_move_takes_the_place_of_the_one_before(drafts, new_id):
    drafts.put(7, ALICE, "a1-b2", 3, new_id())
    drafts.put(7, BOB, "h8", 3, new_id())
    drafts.put(7, ALICE, "c3", 5, new_id())
    assert drafts.get(7, ALICE) == Draft("c3", 5, SOME_TIME + 2)
    assert drafts.get(7, BOB) == Draft("h8", 3, SOME_TIME + 1)


def test_a_draft_that_is_dropped_is_gone_and_others_stay(drafts, new_id):
    drafts.put(7, ALICE, "a1-b2", 3, new_id())
    drafts.put(7, BOB, "h8", 3, new_id())
    drafts.drop(7, ALICE)
    drafts.drop(7, ALICE)
    assert drafts.get(7, ALICE) is None
    assert drafts.get(7, BOB) == Draft("h8", 3, SOME_TIME + 1)


def test_a_repeated_command_changes_nothing(drafts, new_id):
    command = new_id()
    for _ in range(2):
        drafts.put(7, ALICE, "a1-b2", 3, command)
    assert drafts.get(7, ALICE) == Draft("a1-b2", 3, SOME_TIME)


def test_a_command_repeated_late_does_not_replace_a_newer_move(drafts, new_id):
    early = new_id()
    drafts.put(7, ALICE, "a1-b2", 3, early)
    for text in ("c3", "d4"):
        drafts.put(7, ALICE, text, 3, new_id())
    drafts.put(7, ALICE, "a1-b2", 3, early)
    assert drafts.get(7, ALICE) == Draft("d4", 3, SOME_TIME + 2)


def test_a_command_repeated_late_does_not_bring_back_a_dropped_move(drafts, new_id):
    command = new_id()
    drafts.put(7, ALICE, "a1-b2", 3, command)
    drafts.drop(7, ALICE)
    drafts.put(7, ALICE, "a1-b2", 3, command)
    assert drafts.get(7, ALICE) is None


def test_only_the_newest_commands_are_remembered(drafts, client, new_id):
    for _ in range(50):
        drafts.put(7, ALICE, "a1-b2", 3, new_id())
    assert client.hlen(keys.drafts(3, 7)) == 2
    assert client.hstrlen(keys.drafts(3, 7), f"{ALICE.hex()}:ids") == 8 * 16


def test_drafts_live_in_the_slot_of_their_match_for_thirty_days_after_the_newest(
    drafts, client, new_id
):
    drafts.put(7, ALICE, "a1-b2", 3, new_id())
    client.expire("{s03.2p}:m:7:draft", 5)
    drafts.put(7, BOB, "h8", 3, new_id())
    assert KEPT_SECONDS - 60 < client.ttl("{s03.2p}:m:7:draft") <= KEPT_SECONDS


def test_without_a_clock_the_server_tells_the_time(client, new_id):
    drafts = Drafts(client, lambda: SHARDS)
    before = client.time()
    drafts.put(7, ALICE, "a1-b2", 3, new_id())
    draft = drafts.get(7, ALICE)
    after = client.time()
    assert before[0] * 1000 + before[1] // 1000 <= draft.at
    assert draft.at <= after[0] * 1000 + after[1] // 1000
