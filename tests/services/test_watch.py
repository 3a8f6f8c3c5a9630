"""Watched matches: one read a move for all watchers, and nothing is missed."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from redis import Redis

from domain.errors import Code, Refusal
from infra.redis import keys
from infra.redis.autopipeline import AutoPipeline
from infra.redis.clients import make_async_client
from infra.store.async_gateway import AsyncStore
from infra.store.channels import MATCH_NEWS, add_news
from infra.store.layout import Layout
from infra.valkey.server import EmbeddedServer
from services.http.streams.event_stream import EVENTS_KEPT, MatchWatch

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
            add_news(self.client, {board: seq, board + 1_000: 1})
        return seq

    async def subscribed(self) -> None:
        """Wait until the news of matches is heard."""
        await self.until(lambda: self.client.pubsub_channels(MATCH_NEWS))

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
        await rig.subscribed()
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


def test_without_watchers_nothing_looks_and_the_first_is_looked_after(play):
    async def story(rig: Rig) -> None:
        timers: Any = vars(asyncio.get_running_loop())["_scheduled"]
        await asyncio.sleep(0.1)
        # that of the limit of this story
        assert len([timer for timer in timers if not timer.cancelled()]) == 1
        rig.happen(7)
        rig.follow(7)
        await rig.all_have(1)
        rig.happen(7, told=False)
        await rig.all_have(1, 2)

    play(story, 0.02)


def test_a_lost_message_costs_a_look_and_no_event(play):
    async def story(rig: Rig) -> None:
        for _ in range(3):
            rig.follow(7)
        rig.follow(7, 2)
        await rig.subscribed()
        for _ in range(3):
            rig.happen(7, told=False)
        await rig.until(lambda: [rig.seqs(n) for n in range(4)] == [[1, 2, 3]] * 3 + [[2, 3]])
        assert rig.store.looks

    play(story, 0.05)


def test_who_watches_nothing_hears_nothing(play, redis_client):
    async def story(rig: Rig) -> None:
        assert not redis_client.pubsub_channels(MATCH_NEWS)
        rig.follow(7)
        await rig.subscribed()
        rig.tasks.pop().cancel()
        await asyncio.sleep(0)
        rig.happen(8)
        await rig.until(lambda: not redis_client.pubsub_channels(MATCH_NEWS))
        rig.found.clear()
        again = rig.follow(8)
        await rig.subscribed()
        await rig.until(lambda: rig.seqs(again) == [1])

    play(story)


def test_a_lost_connection_is_made_again_for_all_matches(play, redis_client):
    async def story(rig: Rig) -> None:
        one, other = rig.follow(5), rig.follow(6)
        await rig.subscribed()
        before = {one["id"] for one in redis_client.client_list(_type="pubsub")}
        redis_client.client_kill_filter(_type="pubsub")
        await rig.until(
            lambda: {one["id"] for one in redis_client.client_list(_type="pubsub")} - before
        )
        await rig.subscribed()
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
        await rig.subscribed()
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
        await rig.subscribed()
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
