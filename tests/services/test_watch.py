"""Watched matches: one read a move for all watchers, nothing is missed; and `matchpost watch` over a connection that breaks."""

import asyncio
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from queue import Queue
from threading import Thread
from typing import IO, Any

import pytest
from redis import Redis

from domain.errors import Code, Refusal
from infra.people.tokens import Scope
from infra.redis import keys
from infra.redis.autopipeline import AutoPipeline
from infra.redis.clients import make_async_client
from infra.settings.settings import load
from infra.store.async_gateway import AsyncStore
from infra.store.channels import add_news, channel_of
from infra.store.layout import Layout
from infra.valkey.server import EmbeddedServer
from services.app.context import App
from services.client import Client
from services.http.streams.event_stream import EVENTS_KEPT, MatchWatch
from tests.helpers.forked import SCRIPT
from tests.helpers.served import Served
from tests.helpers.tcp_proxy import TcpProxy


class Lines:
    """The lines of a stream, read by a thread."""

    def __init__(self, stream: IO[str] | None) -> None:
        assert stream is not None
        self._stream = stream
        self._lines: Queue[str] = Queue()
        self._thread = Thread(target=self._read, daemon=True)
        self._thread.start()

    def next(self) -> str:
        return self._lines.get(timeout=60)

    def rest(self) -> list[str]:
        """The lines up to the end of the stream."""
        self._thread.join(60)
        return [self._lines.get() for _ in range(self._lines.qsize())]

    def _read(self) -> None:
        with self._stream:
            for line in self._stream:
                self._lines.put(line.rstrip("\n"))


class Watching:
    """A running `matchpost watch`, and the lines that it prints."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines = Lines(process.stdout)
        self.notes = Lines(process.stderr)

    def line(self) -> str:
        """The next line on standard output."""
        return self.lines.next()

    def note(self) -> str:
        """The next line on standard error."""
        return self.notes.next()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with an API, where alice and bob have signed up."""
    data = tmp_path_factory.mktemp("watch") / "data"
    with Served(data, {"MATCHPOST_HTTP": "127.0.0.1:0"}) as served:
        served.do("signup alice mad-hatter", "signup bob yes-we-can")
        yield served


@pytest.fixture(scope="module")
def tokens(server: Served) -> dict[str, str]:
    with App(load({"data": server.data})) as parts:
        return {
            name: parts.tokens.issue(
                parts.accounts.id_of(name), "a test", [Scope.PLAY, Scope.READ]
            ).text
            for name in ("alice", "bob")
        }


@pytest.fixture
def proxy(server: Served) -> Iterator[TcpProxy]:
    """A connection to the server that the test can break."""
    host, _, port = server.url.removeprefix("http://").rstrip("/").partition(":")
    with TcpProxy(host, int(port)) as proxy:
        yield proxy


@pytest.fixture
def alice(server: Served, tokens: dict[str, str]) -> Iterator[Client]:
    with Client(server.url, tokens["alice"]) as client:
        yield client


@pytest.fixture
def bob(server: Served, tokens: dict[str, str]) -> Iterator[Client]:
    with Client(server.url, tokens["bob"]) as client:
        yield client


@contextmanager
def watch(server: Served, proxy: TcpProxy, *words: str, token: str = "") -> Iterator[Watching]:
    env = {**server.env, "MATCHPOST_URL": proxy.url, "MATCHPOST_TOKEN": token}
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # for the child to inherit
    process = subprocess.Popen(
        [SCRIPT, "watch", *words],
        env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    signal.signal(signal.SIGINT, before)
    watching = Watching(process)
    try:
        assert watching.note() == f"{proxy.url}: connected"
        yield watching
    finally:
        process.kill()
        process.wait(60)
        watching.lines.rest()
        watching.notes.rest()


def new_match(alice: Client) -> int:
    return int(alice.post("/api/matches", {"game": "pow2", "players": ["alice", "bob"]})["board"])


def after_date(line: str) -> str:
    date, time, zone, text = line.split(" ", 3)
    assert (len(date), len(time), zone) == (10, 5, "UTC")
    return text


@pytest.mark.long
def test_a_guest_follows_a_match_to_its_end_over_a_break(server, proxy, alice, bob):
    board = new_match(alice)
    with watch(server, proxy, str(board), "--until-over") as watching:
        alice.move(board, "m13-j7")
        assert after_date(watching.line()) == (
            f"match {board}, #1: Light (alice) played m13-j7; it is Dark's turn (bob)"
        )
        proxy.refuse()
        assert watching.note().startswith(f"{proxy.url}: the connection is lost (")
        bob.move(board, "a13-d7")
        alice.command(board, {"do": "offer", "kind": "draw"})
        proxy.accept()
        assert watching.note() == f"{proxy.url}: connected"
        assert after_date(watching.line()).startswith(
            f"match {board}, #2: Dark (bob) played a13-d7"
        )
        assert after_date(watching.line()) == f"match {board}, #2: Light (alice) offers a draw"
        bob.command(board, {"do": "resign"})
        assert after_date(watching.line()) == f"match {board}, #2: Dark (bob) resigned"
        assert "the match is over: Light (alice) won" in watching.line()
        assert watching.process.wait(60) == 0
        assert watching.lines.rest() == []


def test_an_account_follows_its_news_over_a_break_until_a_ctrl_c(server, proxy, alice, bob, tokens):
    with watch(server, proxy, token=tokens["bob"]) as watching:
        board = new_match(alice)
        assert after_date(watching.line()).startswith(
            f"challenged: match {board}, #0: Light (alice) challenges Dark (bob) to "
        )
        proxy.refuse()
        assert watching.note().startswith(f"{proxy.url}: the connection is lost (")
        alice.move(board, "m13-j7")
        alice.post(f"/api/matches/{board}/chat", {"text": "good luck"})
        proxy.accept()
        assert watching.note() == f"{proxy.url}: connected"
        assert after_date(watching.line()) == (
            f"your-turn: match {board}, #1: Light (alice) played m13-j7; it is Dark's turn (bob)"
        )
        assert after_date(watching.line()) == f"chat: somebody wrote in the chat of match {board}"
        bob.move(board, "a13-d7")
        alice.command(board, {"do": "resign"})
        assert after_date(watching.line()).startswith(f"over: match {board}, #2: the match is over")
        watching.process.send_signal(signal.SIGINT)
        assert watching.process.wait(60) == 0
        assert watching.lines.rest() == []


SHARDS = 4

NEVER = 1_000.0
"""Seconds until a look that must not matter in a test."""


class CountingStore(AsyncStore):
    """A store that counts what is read, and fails so many times."""

    def __init__(self, pipe: AutoPipeline) -> None:
        super().__init__(pipe, Layout(SHARDS, 1), 1_000)
        self.reads: list[tuple[int, int]] = []
        self.looks: list[Sequence[int]] = []
        self.failures = 0
        self.error: Exception = OSError("the line is down")

    async def events(self, board: int, start: int) -> list[bytes]:
        self.reads.append((board, start))
        if self.failures:
            self.failures -= 1
            raise self.error
        return await super().events(board, start)

    async def event_counts(self, boards: Sequence[int]) -> list[int]:
        self.looks.append(boards)
        if self.failures:
            self.failures -= 1
            raise self.error
        return await super().event_counts(boards)


class Rig:
    """Matches in Redis, and a watch of them."""

    def __init__(self, client: Redis, store: CountingStore, watch: MatchWatch) -> None:
        self.client, self.store, self.watch = client, store, watch
        self.found: dict[int, list[tuple[int, bytes]]] = {}
        self.tasks: list[asyncio.Task[None]] = []

    def happen(self, board: int, *, told: bool = True) -> int:
        """Add an event to a match, as a commit does, and publish it unless the message is lost."""
        seq = int(self.client.rpush(keys.events(board % SHARDS, board), b"event"))
        self.client.lset(keys.events(board % SHARDS, board), -1, f"{board}:{seq}")
        if told:
            add_news(self.client, board, seq)
        return seq

    async def subscribed(self, *boards: int) -> None:
        """Wait until the channels of these matches, and no others, are heard."""
        wanted = {channel_of(board).encode() for board in boards}
        await self.until(lambda: set(self.client.pubsub_channels("board:*")) == wanted)

    def follow(self, board: int, start: int = 1) -> int:
        """Watch a match, and keep what comes; gives the watcher's number."""
        number = len(self.tasks)
        self.found[number] = []
        self.tasks.append(asyncio.create_task(self._follow(number, board, start)))
        return number

    async def _follow(self, number: int, board: int, start: int) -> None:
        async for seq, data in self.watch.events(board, start, NEVER):
            assert data == f"{board}:{seq}".encode()
            self.found[number].append((seq, data))

    def seqs(self, number: int) -> list[int]:
        return [seq for seq, _ in self.found[number]]

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(20):
            while not condition():  # noqa: ASYNC110 - it is about Redis, too
                await asyncio.sleep(0.01)

    async def all_have(self, *seqs: int) -> None:
        await self.until(lambda: all(self.seqs(one) == [*seqs] for one in self.found))


@pytest.fixture
def play(redis_client: Redis, valkey: EmbeddedServer) -> Callable[..., None]:
    """Run a story with a watch that looks so often."""

    @asynccontextmanager
    async def opened(look_seconds: float) -> AsyncIterator[Rig]:
        async with (
            make_async_client(valkey.url, max_connections=2) as client,
            AutoPipeline(client) as pipe,
        ):
            store = CountingStore(pipe)
            async with MatchWatch(store, client, look_seconds, 0.01) as watch:
                rig = Rig(redis_client, store, watch)
                yield rig
                for task in rig.tasks:
                    task.cancel()
                await asyncio.gather(*rig.tasks, return_exceptions=True)

    def run(story: Callable[[Rig], Coroutine[Any, Any, None]], look_seconds: float = NEVER) -> None:
        async def whole() -> None:
            async with opened(look_seconds) as rig:
                await story(rig)

        asyncio.run(asyncio.wait_for(whole(), 60))

    return run


def test_a_thousand_watchers_of_a_match_cost_one_read_a_move(play, redis_client):
    async def story(rig: Rig) -> None:
        rig.happen(7)
        for _ in range(1_000):
            rig.follow(7)
        await rig.subscribed(7)
        await rig.all_have(1)
        rig.store.reads.clear()
        ranges = lranges(redis_client)
        for seq in (2, 3, 4):
            rig.happen(7)
            await rig.all_have(*range(1, seq + 1))
        assert rig.store.reads == [(7, 2), (7, 3), (7, 4)]
        assert lranges(redis_client) - ranges == 3
        assert rig.store.looks == []

    play(story)


def lranges(client: Redis) -> int:
    found: dict[str, Any] = client.info("commandstats")
    return int(found.get("cmdstat_lrange", {"calls": 0})["calls"])


def test_a_lost_message_costs_a_look_and_no_event(play):
    async def story(rig: Rig) -> None:
        for _ in range(3):
            rig.follow(7)
        rig.follow(7, 2)
        await rig.subscribed(7)
        for _ in range(3):
            rig.happen(7, told=False)
        await rig.until(lambda: [rig.seqs(n) for n in range(4)] == [[1, 2, 3]] * 3 + [[2, 3]])
        assert rig.store.looks

    play(story, 0.05)


def test_a_lost_connection_is_made_again_with_all_its_matches(play, redis_client):
    async def story(rig: Rig) -> None:
        one, other = rig.follow(5), rig.follow(6)
        await rig.subscribed(5, 6)
        before = {one["id"] for one in redis_client.client_list(_type="pubsub")}
        redis_client.client_kill_filter(_type="pubsub")
        await rig.until(
            lambda: {one["id"] for one in redis_client.client_list(_type="pubsub")} - before
        )
        await rig.subscribed(5, 6)
        rig.happen(5)
        rig.happen(6)
        await rig.until(lambda: rig.seqs(one) == [1] and rig.seqs(other) == [1])

    play(story)


@pytest.mark.parametrize(
    "error", [OSError("the line is down"), Refusal(Code.UNAVAILABLE, "the archive can't be read")]
)
def test_a_read_that_fails_is_repeated(play, error):
    async def story(rig: Rig) -> None:
        rig.store.error = error
        rig.follow(7)
        await rig.subscribed(7)
        await rig.until(lambda: rig.store.reads)
        rig.store.failures = 4
        rig.happen(7)
        await rig.all_have(1)
        assert rig.store.failures == 0

    play(story, 0.05)


def test_who_is_slow_or_late_misses_nothing(play):
    async def story(rig: Rig) -> None:
        for _ in range(5):
            rig.happen(7)
        early = rig.follow(7)
        await rig.subscribed(7)
        await rig.until(lambda: rig.seqs(early) == [1, 2, 3, 4, 5])
        slow = rig.watch.events(7, 1, NEVER)
        assert (await anext(slow))[0] == 1
        many = EVENTS_KEPT + 20
        for _ in range(many):
            rig.happen(7)
        late = rig.follow(7, 4)
        await rig.until(lambda: rig.seqs(early) == [*range(1, many + 6)])
        await rig.until(lambda: rig.seqs(late) == [*range(4, many + 6)])
        rest = [(await anext(slow))[0] for _ in range(many + 4)]
        assert rest == [*range(2, many + 6)]
        await slow.aclose()

    play(story)
