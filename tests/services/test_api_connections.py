"""Connections that sit there: deadlines, sizes and numbers, over real sockets."""

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from services.http import connections
from services.http.connections import (
    ConnectionLimits,
    JoinedWrites,
    QuietServer,
    limits_for,
    server_config,
)
from services.http.requests import network_of
from services.http.streams import limits
from tests.helpers.api import Api, code_of, until
from tests.helpers.doctor import value

HURRIED = ConnectionLimits(
    head_seconds=0.4, body_seconds=0.4, head_bytes=8_192, connections=12, by_address=6
)
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /api/do HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api"), bounds=HURRIED) as api:
        api.http.close()  # its connection would count
        yield api


def connected(api: Api, source: str = "127.0.0.1") -> socket.socket:
    url = httpx.URL(api.url)
    return socket.create_connection((url.host, url.port), timeout=20, source_address=(source, 0))


def all_of(connection: socket.socket) -> bytes:
    """Everything that comes until the other side closes; empty where it just does."""
    said = b""
    try:
        while part := connection.recv(65_536):
            said += part
    except ConnectionError:
        pass
    return said


def is_put_out(connection: socket.socket, drop: bytes) -> bool:
    """Whether a connection ends on which something comes again and again."""
    try:
        for _ in range(200):
            time.sleep(0.02)
            connection.sendall(drop)
    except ConnectionError:
        return True
    return False


def healthy(api: Api, source: str = "127.0.0.9") -> bool:
    transport = httpx.HTTPTransport(local_address=source)
    with httpx.Client(transport=transport, timeout=20) as http:
        return http.get(f"{api.url}/healthz").status_code == 200


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"", b""),
        (HEALTH + b"X-Slow: ", b"HTTP/1.1 408 "),
        (POST + b"Content-Length: 10\r\n\r\nhelp", b"HTTP/1.1 408 "),
    ],
    ids=["nothing", "a head without end", "a body that never comes"],
)
def test_a_connection_on_which_nothing_more_comes_is_answered_and_put_out(api, sent, said):
    with closing(connected(api)) as slow:
        slow.sendall(sent)
        assert all_of(slow)[: len(said) or None] == said


def test_drops_put_no_deadline_off(api):
    for sent, drop in ((HEALTH, b"X-A: b\r\n"), (HEALTH + b"\r\n", b"\r\n")):
        with closing(connected(api)) as slow:
            slow.sendall(sent)
            if sent.endswith(b"\r\n\r\n"):
                assert slow.recv(65_536).startswith(b"HTTP/1.1 200 ")
            assert is_put_out(slow, drop)


def test_a_request_that_waits_for_its_answer_is_not_put_out(api):
    player, other = api.players()
    with api.client() as http:
        body = {"game": "pow2", "players": [player.name, other.name]}
        board = http.post("/api/matches", json=body, headers=player.headers).json()["board"]
        path, move = f"/api/matches/{board}/commands?wait=1", {"do": "move", "move": "m13-j7"}
        with api.asleep():
            late = http.post(path, json=move, headers=player.headers)
    assert late.status_code == 202


@pytest.mark.parametrize(
    "sent",
    [
        HEALTH + b"X-Long: " + b"a" * 4_000_000,
        HEALTH + b"X-Line: aaaaaaaaaaaaaaaaaaaa\r\n" * 100_000,
        POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"X-Line: aaaaaaaaaaaa\r\n" * 100_000,
    ],
    ids=["one line without end", "lines without end", "trailers without end"],
)
def test_a_head_too_large_is_refused_and_not_read_on(api, sent):
    with closing(connected(api)) as endless:
        try:
            endless.sendall(sent)
        except ConnectionError:
            return  # it was put out while it still sent
        assert all_of(endless)[:13] in (b"HTTP/1.1 431 ", b"")


class Written:
    """A transport that keeps what is written to it."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        self.parts.append(data)

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True


def test_head_and_body_of_an_answer_are_written_together():
    async def write(*parts: bytes, close: bool = False) -> Written:
        written = Written()
        joined = JoinedWrites(written)
        for part in parts:
            joined.write(part)
        if close:
            joined.close()
        await asyncio.sleep(0)
        assert written.closed == close
        return written

    async def write_whole(before: bytes, whole: bytes) -> Written:
        written = Written()
        joined = JoinedWrites(written)
        joined.write(before)
        joined.write_whole(whole)
        return written

    assert asyncio.run(write(b"head", b"body")).parts == [b"headbody"]
    assert asyncio.run(write(b"head", b"body", close=True)).parts == [b"headbody"]
    assert asyncio.run(write()).parts == []
    assert asyncio.run(write_whole(b"other", b"headbody")).parts == [b"other", b"headbody"]
    # what is long is not held back, so that the transport can say when it has enough
    long = b"a" * 70_000
    assert asyncio.run(write(b"head", long, b"end")).parts == [b"head" + long, b"end"]


def test_silent_sockets_over_the_limit_leave_others_served(api):
    began = time.monotonic()
    with ExitStack() as stack:
        silent = [stack.enter_context(closing(connected(api))) for _ in range(40)]
        # on a busy machine the first are closed before the last come
        rounds = 1 + int((time.monotonic() - began) / HURRIED.head_seconds)
        assert healthy(api)
        refused = [said for one in silent if (said := all_of(one))]
    most = 40 - HURRIED.by_address
    assert max(1, 40 - HURRIED.by_address * rounds) <= len(refused) <= most
    assert all(said.startswith(b"HTTP/1.1 503 ") for said in refused)
    assert all(b"retry-after: 60" in said for said in refused)
    assert healthy(api, "127.0.0.1")


def test_the_connections_of_a_process_are_bounded_whoever_opens_them(api):
    with ExitStack() as stack:
        silent = [
            stack.enter_context(closing(connected(api, f"127.0.1.{n}"))) for n in range(1, 31)
        ]
        refused = [said for one in silent if (said := all_of(one))]
    assert len(refused) == 30 - HURRIED.connections

    def has_room() -> bool:
        try:
            return healthy(api)
        except httpx.TransportError:  # it closed before the request was read
            return False

    until(has_room)


def test_a_network_is_an_address_or_half_of_one_of_ipv6():
    assert network_of("203.0.113.7") == "203.0.113.7"
    assert network_of("::ffff:203.0.113.7") == "203.0.113.7"
    assert network_of("2001:db8::1") == network_of("2001:db8::2:1") == "2001:db8::/64"
    assert network_of("nonsense") == ""


@pytest.fixture
def few_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    monkeypatch.setattr(limits.StreamLimits.__init__, "__defaults__", (3, 2, 5))
    with Api(tmp_path) as api:
        yield api


def test_streams_over_the_limits_are_refused_and_make_room_when_they_end(few_streams):
    one, other = few_streams.players()
    board = few_streams.match(one, other)
    path, kind = f"/api/matches/{board}/events", {"Accept": "text/event-stream"}
    before = value("matchpost_streams_open")
    with ExitStack() as stack:

        def opened(*player) -> None:
            lines = stack.enter_context(few_streams.stream(path, *player))
            next(lines)
            stack.callback(lines.close)  # it would end with the last who knows it

        opened(one)
        opened(one)
        refused = one.get(path, headers=kind)
        assert (refused.status_code, code_of(refused)) == (429, "too-fast")
        assert "of your account" in refused.json()["detail"]
        opened()
        crowded = few_streams.http.get(path, headers=kind)
        assert (crowded.status_code, code_of(crowded)) == (429, "too-fast")
        assert crowded.headers["Retry-After"]
        transport = httpx.HTTPTransport(local_address="127.0.0.9")
        elsewhere = httpx.Client(base_url=few_streams.url, transport=transport, timeout=20)
        stack.enter_context(elsewhere)
        for _ in range(2):
            answer = stack.enter_context(elsewhere.stream("GET", path, headers=kind))
            assert answer.status_code == 200
            lines = answer.iter_lines()
            next(lines)
            stack.callback(lines.close)
        full = elsewhere.get(path, headers=kind)
        assert (full.status_code, code_of(full)) == (503, "busy")
        assert full.headers["Retry-After"]
        assert value("matchpost_streams_open") - before == value("matchpost_streams_limit") == 5
    until(lambda: value("matchpost_streams_open") == before)
    with few_streams.stream(path, one) as lines:
        assert next(lines).event


def test_few_files_are_shared_and_many_are_not_all_used():
    assert limits_for(1_024).connections < 1_024
    assert limits_for(1_024).by_address < limits_for(1_024).connections
    assert limits_for(1_000_000) == ConnectionLimits()


def test_a_server_that_rests_has_no_timer_and_each_answer_its_date(monkeypatch):
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            while (await receive())["type"] != "lifespan.shutdown":
                await send({"type": "lifespan.startup.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def story(server: QuietServer, listening: socket.socket) -> None:
        serving = asyncio.create_task(server.serve([listening]))
        async with asyncio.timeout(20):
            while not server.started:  # noqa: ASYNC110 - uvicorn tells nobody
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
            timers: Any = vars(asyncio.get_running_loop())["_scheduled"]
            # that of the limit of this story
            assert len([timer for timer in timers if not timer.cancelled()]) == 1
            reader, writer = await asyncio.open_connection(*listening.getsockname())
            for second in (1_000_000_000, 1_000_000_001):
                at = float(second)
                monkeypatch.setattr(connections, "time", SimpleNamespace(time=lambda: at))  # noqa: B023
                writer.write(HEALTH + b"\r\n")
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readuntil(b"0\r\n\r\n")
                assert f"date: Sun, 09 Sep 2001 01:46:4{second % 10} GMT".encode() in head
            writer.close()
            server.handle_exit(0, None)
            await serving

    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = server_config(app, ConnectionLimits(), behind_proxy=False)
        asyncio.run(story(QuietServer(config), listening))
