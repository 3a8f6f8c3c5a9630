import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import redis

from infra.redis.autopipeline import AutoPipeline, raise_errors
from infra.redis.clients import make_async_client
from infra.valkey.server import EmbeddedServer


def run(url: str, test: Callable[[AutoPipeline], Awaitable[Any]]) -> Any:
    async def running() -> Any:
        async with make_async_client(url) as client, AutoPipeline(client) as pipe:
            return await test(pipe)

    return asyncio.run(asyncio.wait_for(running(), 30))


def test_each_gets_the_replies_to_its_own_commands_in_their_order(redis_client, valkey):
    async def count(pipe: AutoPipeline) -> list[list[int]]:
        asked = [
            pipe.send([("INCRBY", f"counter {i}", i), ("INCR", f"counter {i}")]) for i in range(500)
        ]
        return await asyncio.gather(*asked)

    assert run(valkey.url, count) == [[i, i + 1] for i in range(500)]
    assert redis_client.get("counter 499") == b"500"


def test_what_is_asked_at_one_moment_shares_connections(redis_client, valkey):
    async def connections(pipe: AutoPipeline) -> int:
        await asyncio.gather(*(pipe.send([("PING",)]) for _ in range(100)))
        (listed,) = await pipe.send([("CLIENT", "LIST", "TYPE", "normal")])
        return len(listed.splitlines())

    before = len(redis_client.client_list())
    assert run(valkey.url, connections) <= before + 2


def test_an_error_is_a_reply_of_who_asked_and_of_nobody_else(redis_client, valkey):
    async def ask(pipe: AutoPipeline) -> list[list[Any]]:
        words = [("SET", "text", "a"), ("INCR", "text"), ("GET", "text")]
        return await asyncio.gather(pipe.send(words), pipe.send([("PING",)]))

    (stored, error, text), pong = run(valkey.url, ask)
    assert (stored, text, pong) == (b"OK", b"a", [b"PONG"])
    assert redis_client.get("text") == b"a"
    assert isinstance(error, redis.ResponseError)
    with pytest.raises(redis.ResponseError, match="not an integer"):
        raise_errors([stored, error, text])


def test_nothing_is_asked_where_there_is_nothing_to_ask(valkey):
    assert run(valkey.url, lambda pipe: pipe.send([])) == []


def test_a_server_that_ends_is_told_to_who_asked_and_its_successor_is_used(tmp_path):
    async def outlive(pipe: AutoPipeline) -> None:
        assert await pipe.send([("SET", "kept", 1)]) == [b"OK"]
        waits = pipe.submit([("BLPOP", "never", 20)])
        await asyncio.sleep(0.1)
        server.kill()
        with pytest.raises((redis.RedisError, OSError)):
            await waits
        with pytest.raises((redis.RedisError, OSError)):
            await pipe.send([("PING",)])
        server.stop()
        server.start()
        assert await pipe.send([("GET", "kept")]) == [b"1"]

    with EmbeddedServer(tmp_path) as server:
        run(server.url, outlive)
