"""The guarantees of the port about a server's clock that is set, asked of every adapter."""

import pytest
from redis import Redis

from infra.durability.durability import Mode
from infra.store.layout import Layout
from infra.store.port import MOST_AHEAD_MS, Store
from infra.store.redis_store import RedisStore
from tests.fakes.memory_store import MemoryStore
from tests.helpers.writes import BOARD, moved, queue, submission

BEGIN = 1_795_100_400_000
SECOND = 1_000


class Clock:
    """The server's clock, which a test sets."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "valkey"])
def store(request: pytest.FixtureRequest, clock: Clock) -> Store:
    if request.param == "memory":
        made: Store = MemoryStore(clock)
    else:
        client: Redis = request.getfixturevalue("redis_client")
        made = RedisStore(client, Mode.FSYNC, clock=clock)
    made.create(Layout(shards=4, lanes=1))
    return made


def test_nothing_is_received_before_the_last_watermark_though_the_clock_steps_back(
    store: Store, clock: Clock
) -> None:
    promised = store.watermark().at
    assert promised == BEGIN
    clock.now -= 90 * SECOND
    (entry,) = queue(store, 1)
    assert entry.received == promised
    assert store.watermark().at == promised
    store.commit([moved(entry, 1, before=0)])
    clock.now = BEGIN + 1
    store.submit([submission(2)])
    (entry,) = store.read_inbox([entry.shard], 10)
    assert entry.received == BEGIN + 1, "the clock is there again"


def test_no_command_is_received_before_one_that_waits_in_its_inbox(
    store: Store, clock: Clock
) -> None:
    (first,) = queue(store, 1)
    clock.now -= 90 * SECOND
    store.submit([submission(2, board=BOARD)])
    promised = store.watermark().at
    store.commit([moved(first, 1, before=0)])
    (second,) = store.read_inbox([first.shard], 10)
    assert promised <= second.received == first.received


def test_the_watermark_goes_on_when_the_clock_is_there_again(store: Store, clock: Clock) -> None:
    promised = store.watermark().at
    clock.now -= 90 * SECOND
    assert store.watermark().at == promised
    clock.now = BEGIN + 60 * SECOND
    (entry,) = queue(store, 1)
    store.commit([moved(entry, 1, before=0)])
    assert store.watermark().at == BEGIN + 60 * SECOND


def test_a_clock_that_ran_far_ahead_is_believed_when_it_is_put_right(
    store: Store, clock: Clock
) -> None:
    clock.now = BEGIN + MOST_AHEAD_MS + 1
    store.watermark()
    store.submit([submission(1)])
    clock.now = BEGIN
    store.submit([submission(2)])
    received = [entry.received for entry in store.read_inbox([0, 1, 2, 3], 10)]
    assert received == [BEGIN + MOST_AHEAD_MS + 1, BEGIN], "no turn loses more than that"
