import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence

import pytest

from infra.redis.autopipeline import MOST_IN_FLIGHT, MicroBatcher


class Server:
    """Answers questions when it is told to, with their doubles."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []
        self.open = asyncio.Event()
        self.on_their_way = 0
        self.most_on_their_way = 0

    async def ask(self, wanted: Sequence[int]) -> Sequence[int]:
        self.asked.append(list(wanted))
        self.on_their_way += 1
        self.most_on_their_way = max(self.most_on_their_way, self.on_their_way)
        await self.open.wait()
        self.on_their_way -= 1
        return [2 * one for one in wanted]


def run(test: Callable[[Server], Awaitable[None]]) -> None:
    async def running() -> None:
        await test(Server())

    asyncio.run(asyncio.wait_for(running(), 30))


async def settle() -> None:
    """Let everything that can go on go on."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_a_lone_question_is_asked_at_once():
    async def alone(server: Server) -> None:
        server.open.set()
        assert await MicroBatcher(server.ask).get(1) == 2
        assert server.asked == [[1]]

    run(alone)


def test_what_comes_up_while_others_are_answered_is_asked_together():
    async def together(server: Server) -> None:
        batches = MicroBatcher(server.ask)
        first = []
        for number in range(MOST_IN_FLIGHT):
            first.append(asyncio.create_task(batches.get(number)))
            await settle()
        rest = [asyncio.create_task(batches.get(10 + n)) for n in range(50)]
        await settle()
        server.open.set()
        assert await asyncio.gather(*first, *rest) == [
            2 * one for one in (*range(MOST_IN_FLIGHT), *range(10, 60))
        ]
        assert server.asked[:MOST_IN_FLIGHT] == [[number] for number in range(MOST_IN_FLIGHT)]
        assert len(server.asked) == MOST_IN_FLIGHT + 1
        assert server.most_on_their_way == MOST_IN_FLIGHT

    run(together)


def test_a_batch_has_its_most():
    async def many(server: Server) -> None:
        server.open.set()
        batches = MicroBatcher(server.ask, most=8)
        assert await asyncio.gather(*map(batches.get, range(30))) == [2 * n for n in range(30)]
        assert max(map(len, server.asked)) == 8

    run(many)


def test_what_goes_wrong_is_raised_to_all_who_asked_together_and_to_nobody_after():
    async def broken(server: Server) -> None:
        server.open.set()

        async def ask(wanted: Sequence[int]) -> Sequence[int]:
            if 1 in wanted:
                raise OSError("the line is down")
            return await server.ask(wanted)

        batches = MicroBatcher(ask)
        both = await asyncio.gather(batches.get(1), batches.get(2), return_exceptions=True)
        assert [type(one) for one in both] == [OSError, OSError]
        assert await batches.get(3) == 6

    run(broken)


def test_who_goes_away_keeps_nobody_from_an_answer():
    async def gone(server: Server) -> None:
        batches = MicroBatcher(server.ask)
        tasks = [asyncio.create_task(batches.get(number)) for number in range(3)]
        await settle()
        tasks[1].cancel()
        server.open.set()
        assert await tasks[0] == 0
        assert await tasks[2] == 4
        with pytest.raises(asyncio.CancelledError):
            await tasks[1]

    run(gone)


@pytest.mark.parametrize("seed", range(20))
def test_no_question_is_forgotten_whenever_it_comes(seed):
    """Also the one that comes at the very moment at which the last answer has been told."""

    async def chaos(server: Server) -> None:
        del server
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

        await asyncio.gather(*map(client, range(4)))

    run(chaos)


def test_a_future_of_the_callers_own_has_its_result_from_here_or_from_elsewhere():
    async def own(server: Server) -> None:
        async def ask(wanted: Sequence[int]) -> Sequence[int | None]:
            return [one or None for one in await server.ask(wanted)]

        server.open.set()
        batches = MicroBatcher(ask)
        loop = asyncio.get_running_loop()
        here: asyncio.Future[int] = loop.create_future()
        elsewhere: asyncio.Future[int] = loop.create_future()
        batches.submit(3, here)
        batches.submit(0, elsewhere)
        assert await here == 6
        await settle()
        assert not elsewhere.done()

    run(own)
