"""Clients of a server: no command is sent twice, much is asked together, and each has its own replies."""

import asyncio
import random
import socketserver
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Timer
from typing import Any

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from infra.redis import autopipeline, clients
from infra.redis import server as server_time
from infra.redis.addresses import redact_url, unix_url
from infra.redis.autopipeline import AutoPipeline, MicroBatcher, raise_errors
from infra.redis.clients import make_async_client, make_client, time_ms
from infra.redis.exchange import begin_exchange
from infra.redis.reads import read_one
from infra.redis.server import COUNTED_SECONDS, ServerTime
from infra.store import locators
from infra.store.channels import LogListener, add_log_news
from infra.valkey.server import EmbeddedServer
from tests.helpers.served import until


class Conversation(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.server.connections += 1
        while request := self.request.recv(65536):
            self.server.received += request
            if b"PING" in request:
                self.request.sendall(b"+PONG\r\n")
            elif self.server.answer is not None:
                self.request.sendall(self.server.answer)
                return


class Listener(socketserver.ThreadingTCPServer):
    """Answers PING, and any other command with `answer` and the connection's end; with None, never."""

    def __init__(self, answer: bytes | None) -> None:
        super().__init__(("127.0.0.1", 0), Conversation)
        self.answer, self.connections, self.received = answer, 0, b""

    @contextmanager
    def running(self) -> Iterator["Listener"]:
        with self, ThreadPoolExecutor(1) as pool:
            pool.submit(self.serve_forever, 0.01)
            try:
                yield self
            finally:
                self.shutdown()


@pytest.mark.parametrize(
    ("answer", "command", "error"),
    [
        (b"", [("INCRBY", "a", 1)], RedisConnectionError),
        (b"", [("INCRBY", "a", 1), ("INCRBY", "b", 1)], RedisConnectionError),
        (b"*2\r\n:1\r\n", [("EVALSHA", "0" * 40, 0)], RedisConnectionError),
        (None, [("INCRBY", "a", 1)], RedisTimeoutError),
    ],
    ids=["broken", "pipeline", "answer", "silent"],
)
def test_a_command_is_sent_once_when_no_answer_comes(monkeypatch, answer, command, error):
    monkeypatch.setattr(clients, "ANSWER_TIMEOUT", 0.1)
    with Listener(answer).running() as listener:
        port = listener.server_address[1]
        with make_client(f"redis://127.0.0.1:{port}") as client:
            if len(command) == 1:
                with pytest.raises(error):
                    client.execute_command(*command[0])
            else:
                with client.pipeline(transaction=False) as pipeline, pytest.raises(error):
                    pipeline.incr("a").incr("b").execute()
            assert listener.connections == 1
            assert listener.received.count(command[0][0].encode()) == len(command)


def in_use(client: Redis) -> int:
    pool: Any = client.connection_pool
    return len(pool._in_use_connections)


def test_what_was_sent_is_done_before_its_replies_are_read(redis_client):
    before = in_use(redis_client)
    pipe: Any = redis_client.pipeline(transaction=False)
    replies = begin_exchange(pipe.incr("a").hget("a", "field").incr("a"))
    until(lambda: redis_client.get("a") == b"2")
    redis_client.set("a", 7)
    one, error, two = replies()
    assert (one, two) == (1, 2)
    assert isinstance(error, ResponseError), "an error is the reply of its command"
    assert in_use(redis_client) == before


@pytest.mark.parametrize("answer", [b"", b":1\r\n"], ids=["broken", "answer"])
def test_a_connection_that_is_lost_in_an_exchange_is_not_used_again(monkeypatch, answer):
    monkeypatch.setattr(clients, "ANSWER_TIMEOUT", 5)
    with (
        Listener(answer).running() as listener,
        make_client(f"redis://127.0.0.1:{listener.server_address[1]}") as client,
    ):
        pipe: Any = client.pipeline(transaction=False)
        replies = begin_exchange(pipe.incr("a").incr("b"))
        with pytest.raises(RedisConnectionError):
            replies()
        assert in_use(client) == 0
        assert listener.received.count(b"INCR") == 2


def test_a_client_is_made_for_each_kind_of_url_and_a_shown_one_has_no_password():
    for url, kind, expected in (
        ("redis://me:word@h:1/2", "", {"host": "h", "port": 1, "db": 2, "password": "word"}),
        ("rediss://h?ssl_ca_certs=/c", "SSL", {"host": "h", "ssl_ca_certs": "/c"}),
        ("unix:///a/b?db=3", "UnixDomainSocket", {"path": "/a/b", "db": 3}),
        ("/a dir/b?c", "UnixDomainSocket", {"path": "/a dir/b?c"}),
    ):
        with make_client(url) as client:
            pool = client.connection_pool
            assert pool.connection_class.__name__ == f"{kind}Connection"
            assert expected.items() <= pool.connection_kwargs.items()
    for url, sentence in (
        ("localhost:6379", "starts with redis://, rediss:// or unix://"),
        ("redis://h?retry_on_timeout=yes", "can't set 'retry_on_timeout'"),
        ("redis://h:port", "the port in a server's URL is a number"),
        ("redis://h/zero", "the database in a server's URL is a number, not 'zero'"),
        ("unix://relative/path?", "has an absolute path"),
        ("unix://", "has an absolute path"),
        ("redis://h?socket_timeout=0", "can't set 'socket_timeout'"),
    ):
        with pytest.raises(ValueError, match=sentence):
            make_client(url)
    with pytest.raises(ValueError, match="negative"):
        make_client("redis://h", blocking_timeout=-1)
    shown = {
        "redis://me:word@h:1/2": "redis://***@h:1/2",
        "redis://h:1": "redis://h:1",
        "unix:///s?db=1": "unix:///s?db=1",
        "unix:///s?password=word": "unix:///s",
    }
    assert {url: redact_url(url) for url in shown} == shown
    assert unix_url("/a b/c?d#e") == "unix:///a%20b/c%3Fd%23e"


def run(url: str, test: Callable[[AutoPipeline], Awaitable[Any]]) -> Any:
    """What a test returns of a pipeline."""

    async def running() -> Any:
        async with make_async_client(url) as client, AutoPipeline(client) as pipe:
            return await test(pipe)

    return asyncio.run(asyncio.wait_for(running(), 60))


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


def test_what_goes_wrong_is_raised_to_all_who_asked_together_and_to_nobody_after():
    async def ask(wanted: Sequence[int]) -> Sequence[int]:
        if 1 in wanted:
            raise OSError("the line is down")
        return [2 * one for one in wanted]

    async def broken() -> None:
        batches = MicroBatcher(ask)
        both = await asyncio.gather(batches.get(1), batches.get(2), return_exceptions=True)
        assert [type(one) for one in both] == [OSError, OSError]
        assert await batches.get(3) == 6

    asyncio.run(asyncio.wait_for(broken(), 30))


@pytest.mark.parametrize("seed", range(5))
def test_no_question_is_forgotten_whenever_it_comes(seed):
    """Also the one that comes at the very moment at which the last answer has been told."""
    chance = random.Random(seed)

    async def ask(wanted: Sequence[int]) -> Sequence[int]:
        for _ in range(chance.randrange(3)):
            await asyncio.sleep(0)
        return wanted

    batches = MicroBatcher(ask)

    async def client(number: int) -> None:
        for _ in range(100):
            assert await batches.get(number) == number
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)

    async def chaos() -> None:
        await asyncio.gather(*map(client, range(4)))

    asyncio.run(asyncio.wait_for(chaos(), 30))


def asked_for(client: Redis) -> int:
    return client.info("commandstats").get("cmdstat_time", {"calls": 0})["calls"]


def test_the_time_is_asked_for_once_and_then_counted(redis_client, monkeypatch):
    redis_client.config_resetstat()
    passed = [100.0]
    monkeypatch.setattr(server_time.time, "monotonic", lambda: passed[0])
    time = ServerTime()
    first = read_one(redis_client, time.read())
    passed[0] += COUNTED_SECONDS - 1
    assert read_one(redis_client, time.read()) == first + (COUNTED_SECONDS - 1) * 1000
    assert asked_for(redis_client) == 1
    passed[0] += 1
    found = read_one(redis_client, time.read())
    assert asked_for(redis_client) == 2
    assert first <= found <= time_ms(redis_client)


def publish(client: Redis, *shards: int) -> None:
    with client.pipeline(transaction=False) as pipe:
        add_log_news(pipe, shards)
        pipe.execute()


def test_the_shards_of_all_messages_are_returned_together_and_a_lost_connection_is_made_again(
    redis_client,
):
    listener = LogListener(redis_client)
    listener.wait(5)  # for the confirmation
    publish(redis_client, 3, 17)
    publish(redis_client, 3, 5)
    heard: set[int] = set()
    while len(heard) < 3:  # a message may come a moment later
        heard |= listener.wait(60)
    assert heard == {3, 5, 17}
    assert listener.wait(0) == set()
    redis_client.client_kill_filter(_type="pubsub")
    assert listener.wait(60) == set()
    heard = set()
    while not heard:
        # again, because the server may count a subscriber that it is about to let go
        publish(redis_client, 2)
        heard = listener.wait(0.1)
    assert heard == {2}
    listener.close()


@pytest.mark.parametrize("wait", [LogListener.wait, LogListener.hears])
def test_a_listener_that_is_stopped_ends_a_wait_in_another_thread_and_begins_none(
    redis_client, wait
):
    listener = LogListener(redis_client)
    listener.wait(5)  # for the confirmation
    timer = Timer(0.2, listener.stop)
    timer.start()
    began = time.monotonic()
    assert not wait(listener, 60)
    assert 0.1 < time.monotonic() - began < 30
    timer.join()
    assert not wait(listener, 60)
    listener.close()
    assert time.monotonic() - began < 30


def test_a_listener_hears_news_that_its_next_wait_returns(redis_client):
    listener = LogListener(redis_client)
    listener.wait(5)  # for the confirmation
    assert not listener.hears(0)
    publish(redis_client, 3)
    assert listener.hears(60)
    assert listener.wait(0) == {3}
    assert not listener.hears(0)
    redis_client.client_kill_filter(_type="pubsub")
    assert listener.hears(60), "`wait` has to make another connection"
    assert listener.wait(0) == set()
    listener.close()


INDEXES = st.lists(st.integers(0, 1 << 50), max_size=50)


@given(INDEXES, INDEXES)
def test_locators_are_appended_to_each_other_and_come_back(first, more) -> None:
    assert locators.decode(locators.encode(first)) == first
    assert locators.encode(first + more) == locators.encode(first) + locators.encode(more)


def test_an_index_has_seven_bits_a_byte_the_lowest_first() -> None:
    given = {0: b"\x00", 127: b"\x7f", 128: b"\x80\x01", 300: b"\xac\x02"}
    assert {index: locators.encode([index]) for index in given} == given
    with pytest.raises(ValueError, match="cut off"):
        locators.decode(locators.encode([5, 300])[:-1])


def test_a_subscription_to_the_logs_is_no_news_of_them(redis_client):
    news = LogListener(redis_client)
    assert not any(news.hears(0.05) for _ in range(4))
    add_log_news(redis_client, [3])
    assert news.hears(60)
    assert news.wait(0) == {3}
    news.close()
