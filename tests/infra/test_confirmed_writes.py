"""What belongs to accounts under durability `replicated`, on a server with a real replica."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import WatchError

from domain.errors import Refusal
from infra.durability.durability import Mode
from infra.people.rate_limits import LoginRateLimit
from infra.people.tokens import Scope
from infra.redis.confirmed_writes import ConfirmingRedis, UnconfirmedWriteError
from infra.redis.reads import read_all, read_strings
from infra.settings.settings import Settings
from infra.store.layout import Layout
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from services.app.context import App
from services.language import LOCAL, Language
from tests.helpers.replicas import COUNTED, Pair

PASSWORD = "yes-we-can"


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    with Pair(tmp_path, COUNTED) as pair:
        RedisStore(pair.client, Mode.REPLICATED).create(Layout(shards=4, lanes=1))
        yield pair


@pytest.fixture
def app(pair: Pair, redis_client: Redis, tmp_path: Path) -> Iterator[App]:
    settings = Settings(
        data=tmp_path / "data", redis_url=pair.primary.url, durability=Mode.REPLICATED
    )
    with App(settings, queue=redis_client) as made:
        yield made


class Counter:
    """A confirmation that is counted, and fails on demand."""

    def __init__(self) -> None:
        self.asked = 0
        self.works = True

    def __call__(self) -> bool:
        self.asked += 1
        return self.works


def test_reads_are_not_confirmed_and_a_pipeline_is_once(redis_client: Redis) -> None:
    counter = Counter()
    client = ConfirmingRedis(redis_client, counter)
    assert client.get("a") is None
    assert list(client.hscan_iter("h")) == []
    with client.pipeline(transaction=False) as pipe:
        pipe.get("a")
        pipe.zrange("z", 0, -1)
        assert pipe.execute() == [None, []]
    assert counter.asked == 0
    client.set("a", "1")
    assert counter.asked == 1
    for transaction in (True, False):
        with client.pipeline(transaction=transaction) as pipe:
            pipe.get("a")
            pipe.set("a", "2")
            pipe.set("b", "2")
            pipe.execute()
    assert counter.asked == 3
    client.eval("return 1", 0)
    assert counter.asked == 4


def test_counts_of_attempts_are_not_confirmed(redis_client: Redis) -> None:
    counter = Counter()
    limit = LoginRateLimit(ConfirmingRedis(redis_client, counter))
    limit.count("alice")
    limit.give_back("alice")
    assert counter.asked == 0


def test_on_a_cluster_each_command_goes_to_its_node_and_is_confirmed_once(
    cluster_client: Redis,
) -> None:
    counter = Counter()
    client = ConfirmingRedis(cluster_client, counter)
    with client.pipeline(transaction=False) as pipe:
        for number in range(20):
            pipe.set(f"{{{number}}}", number)
        pipe.execute()
    assert counter.asked == 1
    reads = (read_strings([f"{{{number}}}"], list) for number in range(20))
    assert read_all(client, *reads) == [[b"%d" % number] for number in range(20)]
    limit = LoginRateLimit(client, most=1)
    limit.count("alice")
    with pytest.raises(Refusal):
        limit.count("alice")
    assert counter.asked == 1


def test_a_write_that_is_not_confirmed_is_an_error_and_one_that_was_not_made_is_none(
    redis_client: Redis,
) -> None:
    counter = Counter()
    client = ConfirmingRedis(redis_client, counter)
    counter.works = False
    with pytest.raises(UnconfirmedWriteError, match="look whether it is there"):
        client.set("a", "1")
    with client.pipeline() as pipe:
        pipe.set("a", "2")
        with pytest.raises(UnconfirmedWriteError):
            pipe.execute()
    assert redis_client.get("a") == b"2"
    asked = counter.asked
    with client.pipeline() as pipe:
        pipe.watch("a")
        redis_client.set("a", "3")
        pipe.multi()
        pipe.set("a", "4")
        with pytest.raises(WatchError):
            pipe.execute()
    assert (counter.asked, redis_client.get("a")) == (asked, b"3")


def test_under_other_modes_nothing_is_added(valkey: EmbeddedServer, tmp_path: Path) -> None:
    for mode in (Mode.FSYNC, Mode.MANAGED, Mode.NONE):
        with App(Settings(data=tmp_path, redis_url=valkey.url, durability=mode)) as one:
            assert one.people is one.data


@pytest.mark.long
def test_what_was_answered_survives_a_failover(pair: Pair, app: App, redis_client: Redis) -> None:
    alice = app.accounts.signup("alice", PASSWORD)
    bob = app.accounts.signup("bob", PASSWORD)
    app.tokens.issue(alice, "t", [Scope.READ])
    session = app.sessions.open(alice)
    app.blocks.add(alice, bob)
    pair.primary.kill()
    with pair.replica.client() as replica:
        replica.replicaof("NO", "ONE")
        settings = Settings(
            data=app.settings.data, redis_url=pair.replica.url, durability=Mode.MANAGED
        )
        with App(settings, queue=redis_client) as other:
            assert other.sessions.check(session.text) is not None
            assert [one.label for one in other.tokens.list_of(alice)] == ["t"]
            assert other.blocks.of(alice) == [bob]
            replica.config_set("min-replicas-to-write", 0)
            assert other.accounts.verify("alice", PASSWORD) == alice


@pytest.mark.long
def test_a_replica_that_hangs_leaves_no_account_that_seems_safe(pair: Pair, app: App) -> None:
    alice = app.accounts.signup("alice", PASSWORD)
    os.kill(pair.replica.pid or 0, signal.SIGSTOP)
    try:
        assert app.accounts.record_of(alice) is not None, "reads do not wait"
        with pytest.raises(UnconfirmedWriteError, match="not confirmed by enough replicas"):
            Language(app, origin=LOCAL).do(f"signup bob {PASSWORD}")
    finally:
        os.kill(pair.replica.pid or 0, signal.SIGCONT)
    assert "carol" in str(Language(app, origin=LOCAL).do(f"signup carol {PASSWORD}"))
