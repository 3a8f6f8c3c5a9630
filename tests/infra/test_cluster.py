"""A cluster: each command goes to the node of its key, also while slots move, and is never sent twice in doubt."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any, Protocol

import pytest
import redis

from infra.redis import autopipeline, clients, scripts
from infra.redis.autopipeline import open_pipeline
from infra.redis.clients import make_client
from infra.redis.cluster import ClusterClient
from tests.helpers.clusters import Cluster, Node
from tests.helpers.slots import SLOT, TAG, move_at_once, moving, owner

ONE, TWO = f"{TAG}:one", f"{TAG}:two"
EVERYWHERE = ("{a}", "{b}", "{c}")
"""Keys of all three nodes."""


class Way(Protocol):
    """A way to send commands."""

    def send(self, *commands: tuple[Any, ...]) -> list[Any]:
        """Send commands together, and return the replies, errors included."""
        ...


class ByClient:
    def __init__(self, client: redis.Redis) -> None:
        self.client = client

    def send(self, *commands: tuple[Any, ...]) -> list[Any]:
        pipe: Any
        with self.client.pipeline(transaction=False) as pipe:
            for words in commands:
                pipe.execute_command(*words)
            return list(pipe.execute(raise_on_error=False))


class ByLoop:
    def __init__(self, url: str, runner: asyncio.Runner) -> None:
        self._runner = runner
        self._opening = open_pipeline(url)
        self._pipe = runner.run(self._opening.__aenter__())

    def send(self, *commands: tuple[Any, ...]) -> list[Any]:
        return self._runner.run(self._pipe.send(commands))

    def close(self) -> None:
        self._runner.run(self._opening.__aexit__(None, None, None))


@pytest.fixture
def empty(cluster: Cluster) -> Cluster:
    """The cluster, empty."""
    cluster.flush()
    return cluster


@pytest.fixture
def client(empty: Cluster) -> Iterator[redis.Redis]:
    with make_client(empty.url) as made:
        yield made


@pytest.fixture(params=["client", "event loop"])
def way(request: pytest.FixtureRequest, empty: Cluster) -> Iterator[Way]:
    """A way to send commands, which knows the map of slots."""
    if request.param == "client":
        yield ByClient(request.getfixturevalue("client"))
        return
    with asyncio.Runner() as runner:
        loop = ByLoop(empty.url, runner)
        loop.send(("GET", TAG))
        yield loop
        loop.close()


def calls(node: Node, command: str) -> int:
    """Return how often a node has run a command."""
    with node.client() as client:
        found: Any = client.info("commandstats").get(f"cmdstat_{command}", {})
    return int(found.get("calls", 0))


def test_replies_come_in_the_order_of_the_commands(way: Way) -> None:
    sets = [("SET", f"{{{number}}}", str(number)) for number in range(50)]
    assert len(way.send(*sets)) == 50
    found = way.send(*(("GET", key) for _, key, _ in sets))
    assert found == [str(number).encode() for number in range(50)]
    # an error is the reply of its own command
    first, error, last = way.send(("SET", "{a}", "x"), ("INCR", "{a}"), ("SET", "{b}", "y"))
    assert first in (True, b"OK")
    assert last in (True, b"OK")
    assert isinstance(error, redis.ResponseError)
    # a command without a key is sent to no node by chance
    with pytest.raises(ValueError, match="has no key"):
        way.send(("DBSIZE",))


def test_a_barrier_is_sent_to_all_nodes_and_confirms_no_more_than_the_weakest(client, empty):
    assert client.execute_command("WAITAOF", 1, 0, 0)[0] == 1
    assert [calls(node, "waitaof") for node in empty.primaries] == [1, 1, 1]
    (weak,) = (node for node in empty.primaries if _serves(node, "{a}"))
    with weak.client() as alone:
        alone.config_set("appendonly", "no")
        try:
            *_, confirmed = ByClient(client).send(
                ("SET", "{b}", 1), ("SET", "{a}", 2), ("WAITAOF", 1, 0, 50)
            )
            assert isinstance(confirmed, redis.ResponseError) or confirmed[0] == 0
        finally:
            alone.config_set("appendonly", "yes")
            alone.execute_command("SET", "{a}", 3)
            assert alone.execute_command("WAITAOF", 1, 0, 5_000)[0] == 1


def _serves(node: Node, key: str) -> bool:
    with node.client() as client:
        try:
            client.get(key)
        except redis.ResponseError:
            return False
    return True


def test_a_slot_that_has_moved_is_followed(way: Way, empty: Cluster) -> None:
    home = owner(empty)
    way.send(("SET", ONE, 1))
    target = next(node for node in empty.primaries if node is not home)
    move_at_once(empty, target)
    try:
        assert way.send(("INCR", ONE), ("INCR", "{a}"), ("INCR", ONE)) == [2, 1, 3]
        assert empty.errors()["MOVED"] == 2
        assert way.send(("INCR", ONE)) == [4]
        assert empty.errors()["MOVED"] == 2, "it has learned where the slot is"
    finally:
        move_at_once(empty, home)


def test_keys_of_a_slot_on_its_way_are_found_on_both_nodes(way: Way, empty: Cluster) -> None:
    way.send(("SET", ONE, 10), ("SET", TWO, 20))
    with moving(empty) as slot:
        slot.move(TWO)
        assert way.send(("INCR", ONE), ("INCR", TWO), ("INCR", "{a}")) == [11, 21, 1]
        assert way.send(("SETNX", f"{TAG}:new", "x")) in ([True], [1])
        slot.move(ONE)
        assert way.send(("INCR", ONE), ("INCR", TWO)) == [12, 22]
        slot.end()
        assert way.send(("INCR", ONE), ("INCR", TWO)) == [13, 23]
        with make_client(empty.url) as fresh:  # which knows nothing yet
            assert fresh.get(f"{TAG}:new") == b"x"


def test_the_barrier_follows_a_write_to_the_node_that_took_it(client, empty):
    client.set(TWO, 20)
    with moving(empty) as slot:
        slot.move(TWO)
        before = calls(slot.target, "waitaof")
        number, confirmed = ByClient(client).send(("INCR", TWO), ("WAITAOF", 1, 0, 0))
        assert (number, confirmed[0]) == (21, 1)
        assert calls(slot.target, "waitaof") == before + 1


def test_a_command_with_keys_on_both_nodes_waits_for_the_end_of_the_move_but_not_forever(
    way, empty, monkeypatch
):
    way.send(("SET", ONE, "1"), ("SET", TWO, "2"))
    with moving(empty) as slot:
        slot.move(TWO)
        with monkeypatch.context() as patched:
            for module in ("cluster", "autopipeline"):
                patched.setattr(f"infra.redis.{module}.REDIRECT_SECONDS", 0.1)
            with pytest.raises(redis.ConnectionError, match="come to rest"):
                way.send(("MGET", ONE, TWO))
        before = empty.errors().get("TRYAGAIN", 0)
        replies: list[Any] = []
        asking = threading.Thread(target=lambda: replies.extend(way.send(("MGET", ONE, TWO))))
        asking.start()
        empty.wait_until(lambda: empty.errors().get("TRYAGAIN", 0) > before + 2)
        slot.move(ONE)
        asking.join(30)
        assert replies == [[b"1", b"2"]]


def test_a_transaction_follows_its_slot(client: redis.Redis, empty: Cluster) -> None:
    def change() -> list[Any]:
        with client.pipeline(transaction=True) as pipe:
            pipe.incr(ONE)
            pipe.incr(ONE)
            return list(pipe.execute())

    assert change() == [1, 2]
    with moving(empty) as slot:
        assert change() == [3, 4]
        slot.move(ONE)
        assert change() == [5, 6], "by ASK"
        slot.end()
        assert change() == [7, 8], "by MOVED"
        assert calls(slot.target, "exec") == 2
    with client.pipeline(transaction=True) as pipe:
        pipe.incr("{a}")
        pipe.incr("{b}")
        with pytest.raises(ValueError, match="one slot"):
            pipe.execute()


def test_a_script_that_one_node_does_not_know_is_sent_to_that_node_alone(client, empty):
    def mark(value: str) -> list[Any]:
        return scripts.call_all(
            client, [(scripts.CLAIM, [key], [value, 60_000, 60_000]) for key in EVERYWHERE]
        )

    assert mark("1") == [1, 1, 1]
    client.delete(*[EVERYWHERE[0]])
    with empty.primaries[0].client() as alone:
        alone.script_flush()
    before = [calls(node, "eval") for node in empty.primaries]
    mark("2")
    after = [calls(node, "eval") for node in empty.primaries]
    assert after == [before[0] + 1, *before[1:]]


def test_a_cluster_whose_slots_are_not_all_served_is_an_error_of_the_connection(way, empty):
    with owner(empty).client() as alone:
        alone.execute_command("CLUSTER", "DELSLOTS", SLOT)
        try:
            with pytest.raises(redis.ConnectionError, match="does not serve all slots"):
                way.send(("GET", ONE))
        finally:
            alone.execute_command("CLUSTER", "ADDSLOTS", SLOT)
            empty.wait_until(empty.whole)
    assert way.send(("SET", ONE, 1))[0] in (True, b"OK")


def test_a_cluster_that_is_away_is_an_error_of_the_connection() -> None:
    for url in ("redis+cluster://127.0.0.1:1", "redis+sentinel://127.0.0.1:1/matches"):
        with make_client(url) as away, pytest.raises(redis.ConnectionError):
            away.get("x")

    async def ask() -> None:
        async with open_pipeline("redis+cluster://127.0.0.1:1") as pipe:
            await pipe.send([("GET", "x")])

    with pytest.raises(redis.ConnectionError):
        asyncio.run(ask())


def test_a_command_without_an_answer_is_not_sent_again(empty, monkeypatch):
    monkeypatch.setattr(clients, "ANSWER_TIMEOUT", 0.5)
    (node,) = (one for one in empty.primaries if _serves(one, "{a}"))
    with make_client(empty.url) as client:
        way = ByClient(client)
        assert way.send(("INCR", "{a}"), ("INCR", "{b}")) == [1, 1]
        os.kill(node.pid, signal.SIGSTOP)
        try:
            with pytest.raises((redis.TimeoutError, redis.ConnectionError)):
                way.send(("INCR", "{a}"), ("INCR", "{b}"))
            assert way.send(("INCR", "{b}")) == [3], "the others are served meanwhile"
        finally:
            os.kill(node.pid, signal.SIGCONT)
        empty.wait_until(empty.whole)
        assert way.send(("INCR", "{a}")) == [3]


def test_an_event_loop_sends_no_command_again_that_was_not_answered(empty, monkeypatch):
    monkeypatch.setattr(autopipeline, "ANSWER_TIMEOUT", 0.5)
    (node,) = (one for one in empty.primaries if _serves(one, "{a}"))

    async def ask() -> None:
        async with open_pipeline(empty.url) as pipe:
            assert await pipe.send([("INCR", "{a}"), ("INCR", "{b}")]) == [1, 1]
            os.kill(node.pid, signal.SIGSTOP)
            try:
                lost = asyncio.create_task(pipe.send([("INCR", "{a}")]))
                for number in range(2, 8):
                    # the map is read again meanwhile, and nobody waits for that
                    assert await pipe.send([("INCR", "{b}")]) == [number]
                with pytest.raises((redis.TimeoutError, redis.ConnectionError)):
                    await lost
                assert await pipe.send([("INCR", "{b}")]) == [8]
            finally:
                os.kill(node.pid, signal.SIGCONT)
            await asyncio.to_thread(empty.wait_until, empty.whole)
            assert await pipe.send([("INCR", "{a}")]) == [3]

    asyncio.run(ask())


def test_the_replies_to_a_lost_exchange_are_not_those_of_the_next(client: redis.Redis) -> None:
    assert isinstance(client, ClusterClient)
    client.set("{a}", "old")
    for node in client.slots.primaries():
        node.client_kill_filter(_type="normal", skipme=True)
    end = time.monotonic() + 30
    while True:
        try:
            assert client.get("{a}") == b"old"
            break
        except redis.ConnectionError:
            assert time.monotonic() < end
