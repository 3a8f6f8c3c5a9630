"""Conditional moves are seen by nobody else until they are played."""

import logging
from collections.abc import Callable
from typing import Any

import pytest
from redis import Redis

from domain.match.commands import MakeOffer, PlayMove
from domain.match.conditional_moves import ConditionalMove
from infra.redis import keys
from infra.store.outcomes import parse
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB
from tests.workers.stored_replies import FORTH, ON_OUT, OUT, lay


def everything(client: Redis) -> dict[str, bytes]:
    """What is in each key of a server."""
    readers: dict[bytes, Callable[[bytes], object]] = {
        b"string": client.get,
        b"hash": client.hgetall,
        b"list": lambda name: client.lrange(name, 0, -1),
        b"set": client.smembers,
        b"zset": lambda name: client.zrange(name, 0, -1, withscores=True),
        b"stream": client.xrange,
    }
    return {
        name.decode(): repr((name, readers[client.type(name)](name))).encode()
        for name in client.scan_iter()
    }


def holders(client: Redis, text: str) -> set[str]:
    """The names of the keys that hold a text."""
    return {name for name, value in everything(client).items() if text.encode() in value}


def test_a_reply_is_nowhere_but_in_its_own_key_until_it_is_played(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    announced: Any = bench.client.pubsub()
    announced.psubscribe("*")
    announced.get_message(timeout=60)
    bench.start(1)
    own = keys.conditional_moves(1, 1)
    lay(bench.store, 1, ON_OUT)
    assert holders(bench.client, FORTH) == {own}
    for who, command in (
        (ALICE, MakeOffer(kind="draw")),
        (BOB, PlayMove(text="a1-a5")),
        (ALICE, PlayMove(text="m13-m5")),
    ):
        bench.send(who, command)
        assert holders(bench.client, FORTH) == {own}
        bench.drain()
        assert holders(bench.client, FORTH) == {own}
    bench.send(ALICE, PlayMove(text=OUT))
    heard = heard_on(announced)
    # four outcomes, two changes of the match, and after each batch a change of the log
    assert len(heard) == 10
    assert FORTH.encode() not in b"".join(heard)
    assert FORTH not in caplog.text
    bench.drain()
    assert own not in holders(bench.client, FORTH)
    assert keys.events(1, 1) in holders(bench.client, FORTH)
    announced.close()


def heard_on(announced: Any) -> list[bytes]:
    """All that was announced until now."""
    found = []
    while message := announced.get_message(ignore_subscribe_messages=True, timeout=0.05):
        found.append(message["data"])
    return found


def test_a_reply_that_can_not_come_to_be_played_any_more_leaves_no_trace(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    bench.start(1)
    lay(bench.store, 1, ON_OUT)
    order = bench.send(ALICE, PlayMove(text="m13-j7"))
    bench.drain()
    assert holders(bench.client, FORTH) == set()
    stored = bench.store.outcome(1, order.id)
    assert stored is not None
    assert parse(stored).sentence == ""
    assert FORTH not in caplog.text


def test_what_became_of_a_dropped_reply_is_told_in_its_own_key_only(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    bench.start(1)
    lay(bench.store, 1, ConditionalMove(1, None, "a13-m1"))
    bench.send(ALICE, PlayMove(text=OUT))
    bench.drain()
    assert holders(bench.client, "a13-m1") == {keys.conditional_moves(1, 1)}
    assert "a13-m1" not in caplog.text
