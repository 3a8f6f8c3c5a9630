import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import redis

from infra.redis import autopipeline
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


def test_strings_are_read_by_one_command_and_returned_as_they_were_asked_for(redis_client, valkey):
    redis_client.mset({"a": "1", "b": "2"})
    asked = [("GET", "a"), ("TIME",), ("MGET", "b", "none", "a"), ("GET", "none")]
    redis_client.config_resetstat()
    first, _, *rest = run(valkey.url, lambda pipe: pipe.send_together(asked))
    assert (first, rest) == (b"1", [[b"2", None, b"1"], None])
    stats = redis_client.info("commandstats")
    assert stats["cmdstat_mget"]["calls"] == 1
    assert "cmdstat_get" not in stats


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


class SlowServer:
    """Answers PING at once and STALL never; HELD is answered once `released` is set."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self.held: asyncio.Queue[bytes] = asyncio.Queue()
        self.released = asyncio.Event()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while length := await reader.readline():
                words = [await self._word(reader) for _ in range(int(length[1:]))]
                self.asked.append(words[0])
                if words[0] == b"STALL":
                    await reader.read()  # until the client has had enough
                elif words[0] == b"HELD":
                    self.held.put_nowait(words[0])
                    await self.released.wait()
                writer.write(b"+PONG\r\n")
        finally:
            writer.close()

    async def _word(self, reader: asyncio.StreamReader) -> bytes:
        size = int((await reader.readline())[1:])
        return (await reader.readexactly(size + 2))[:-2]


def run_slow(test: Callable[[AutoPipeline], Awaitable[Any]], slow: SlowServer | None = None) -> Any:
    """What a test returns against a slow server."""
    slow = slow or SlowServer()

    async def running() -> Any:
        async with await asyncio.start_server(slow, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            url = f"redis://127.0.0.1:{port}"
            async with make_async_client(url) as client, AutoPipeline(client) as pipe:
                return await test(pipe)

    return asyncio.run(asyncio.wait_for(running(), 60))


def test_a_slow_answer_fails_nothing_that_was_answered_before_it(monkeypatch):
    monkeypatch.setattr(autopipeline, "ANSWER_TIMEOUT", 1.0)

    async def ask(pipe: AutoPipeline) -> list[Any]:
        words = [[("PING",)], [("PING",), ("PING",)], [("STALL",)], [("PING",)]]
        return await asyncio.gather(*map(pipe.send, words), return_exceptions=True)

    first, second, slow, behind = run_slow(ask)
    assert (first, second) == ([b"PONG"], [b"PONG"] * 2)
    assert isinstance(slow, redis.TimeoutError)
    assert isinstance(behind, redis.TimeoutError)


def test_a_slow_answer_fails_few_of_those_behind_it(monkeypatch):
    monkeypatch.setattr(autopipeline, "ANSWER_TIMEOUT", 1.0)

    async def ask(pipe: AutoPipeline) -> list[Any]:
        words = [("STALL",), *[("PING",)] * 2_000]
        return await asyncio.gather(*(pipe.send([one]) for one in words), return_exceptions=True)

    answers = run_slow(ask)
    assert sum(isinstance(one, Exception) for one in answers) <= 256
    assert answers[-1] == [b"PONG"]


def test_what_has_waited_too_long_to_be_sent_is_not_sent(monkeypatch):
    monkeypatch.setattr(autopipeline, "MOST_SECONDS_UNSENT", 0.1)
    monkeypatch.setattr(autopipeline, "ANSWER_TIMEOUT", 30)
    slow = SlowServer()

    async def ask(pipe: AutoPipeline) -> Any:
        held = []
        for _ in range(autopipeline.CONNECTIONS):
            held.append(pipe.submit([("HELD",)]))
            await slow.held.get()  # so that the next one goes on a connection of its own
        late = pipe.submit([("SET", "never", 1)])
        await asyncio.sleep(0.2)
        slow.released.set()
        assert await asyncio.gather(*held) == [[b"PONG"]] * len(held)
        with pytest.raises(redis.TimeoutError, match="not sent"):
            await late
        return await pipe.send([("PING",)])

    assert run_slow(ask, slow) == [b"PONG"]
    assert b"SET" not in slow.asked
