"""More and more running matches on one server: what a move, a list, a page and a second of the scheduler cost.

The matches are written in bulk, as their commits would have left them. What is measured is the work itself, one after
the other in this process: processor time of the process and of the server, and the server's commands. The wall clock of
a busy machine says little of it.
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

import redis

from bench.harness import SHARDS, BenchEnvironment, new_store
from bench.lists import used
from bench.processor import Cost
from bench.published import write_keys
from bench.report import Report
from bench.seeded import Plan, account, begin_projections, fill, next_move
from infra.durability.durability import Mode
from infra.health.heartbeats import Heartbeat, Role
from infra.projections.match_lists import MatchFilter
from infra.redis.keys import all_lanes, inbox
from infra.redis.reads import read_one
from infra.settings.settings import Settings
from infra.store.gateway import submission_of
from infra.store.leases import LaneLeases
from infra.store.outcomes import parse
from infra.store.redis_store import RedisStore
from infra.store.server_clock import ServerClockRecord
from services.app.context import App
from services.cli.scheduler import make_ticks
from services.http.app import make_app
from workers.clock_check import ClockCheck
from workers.commands.drain import Drain
from workers.projections.worker import ProjectionWorker
from workers.scheduler import Scheduler

_GAME: Final = "pow2"
_MATCHES_OF_A_PLAYER: Final = 4
_WARM_UP: Final = 10
_ROWS: Final = 50
_DAY: Final = 86_400_000


def run(bench: BenchEnvironment, counts: Sequence[int], plies: int, repeats: int) -> Report:
    """Measure with each number of matches; the rate is moves a second of one processor with the most."""
    found: dict[int, dict[str, Any]] = {}
    with bench.server("running") as server, server.client() as client:
        settings = Settings(
            data=bench.folder,
            redis_url=server.url,
            queue_url=server.url,
            store=(bench.folder / "log").absolute().as_uri(),
            keys=write_keys(bench.folder / "keys"),
            address_rate=1_000_000_000,
        )
        store = new_store(client, 1)
        began = store.now() - 2 * _DAY
        begin_projections(client)
        empty = used(client)
        for before, count in pairwise([0, *sorted(dict.fromkeys(counts))]):
            players = max(4, 2 * count // _MATCHES_OF_A_PLAYER)
            # all begin within a day, so that none is due
            plan = Plan(before + 1, count, plies, False, players, began, max(1, _DAY // count))
            task = bench.progress.add_task(f"{count} matches", total=count - before)
            since = time.perf_counter()
            for done in fill(client, server.url, bench.folder / "log", plan):
                bench.progress.advance(task, done)
            bench.progress.remove_task(task)
            seconds = time.perf_counter() - since
            found[count] = {
                "seconds to write them": round(seconds, 1),
                "bytes a match": round((used(client) - empty) / count),
                **_measure(settings, client, plan, repeats),
            }
    most = found[max(found)]["a move"]
    rate = 1e6 / (most["us of the process"] + most["us of the server"])
    details = {
        "plies of each": plies,
        "by matches": {str(count): one for count, one in found.items()},
        "most to least": _growth([found[count] for count in sorted(found)]),
        **bench.disk(),
    }
    return Report(rate=rate, unit="moves", peers={}, details=details)


def _measure(
    settings: Settings, client: redis.Redis, plan: Plan, repeats: int
) -> dict[str, dict[str, float]]:
    """Return what each kind of work costs."""
    chance = random.Random(plan.last)  # noqa: S311 - a workload, not a secret
    boards = chance.sample(range(plan.first, plan.last + 1), repeats + _WARM_UP)
    players = [account(chance.randrange(plan.players)) for _ in range(repeats + _WARM_UP)]
    found: dict[str, dict[str, float]] = {}
    with App(settings) as parts:
        side = ProjectionWorker(parts.store, client)
        while side.round():
            pass

        def move(board: int) -> None:
            _move(parts, plan, board)

        def listed(read: Callable[[bytes], object]) -> dict[str, float]:
            return _cost(client, read, players)

        found["a move"] = _cost(client, move, boards)
        found["the lists after a move"] = _fed(client, side, parts, plan, chance, repeats)
        lists = parts.lists
        found["a player's matches"] = listed(
            lambda one: lists.of(one, MatchFilter.ALL, None, 0, _ROWS)
        )
        found["those that wait"] = listed(lists.waiting)
        found["boards of a home page"] = listed(
            lambda one: read_one(client, lists.read_boards(one))
        )
        found["a game's, newest"] = listed(lambda _: lists.playing(_GAME, 0, _ROWS))
        found["a game's, from the middle"] = listed(
            lambda _: lists.playing(_GAME, plan.last // 2, _ROWS)
        )
        found.update(asyncio.run(_pages(parts, client, boards, plan)))
        found.update(_scheduler(parts, client, repeats))
        found["a match that is due"] = _due(client, settings.durability)
    return found


def _cost(
    client: redis.Redis, work: Callable[[Any], object], each: Sequence[Any]
) -> dict[str, float]:
    """Return what the work costs with each of some arguments, the first of which are not counted."""
    for one in each[:_WARM_UP]:
        work(one)
    cost = Cost(client)
    for one in each[_WARM_UP:]:
        work(one)
    return _without_seconds(cost.of_each(len(each) - _WARM_UP))


def _without_seconds(cost: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in cost.items() if name != "seconds"}


def _move(parts: App, plan: Plan, board: int) -> None:
    """Make the next move of a match: submit it, and drain its lane as a job does."""
    order = next_move(plan, board)
    parts.store.submit([submission_of(order, 0, "reply:bench")])
    _drain(parts)
    stored = parts.store.outcome(board, order.id)
    if stored is None or not parse(stored).accepted:
        raise RuntimeError(f"a move was not accepted: {stored!r}")


def _drain(parts: App) -> int:
    lanes = LaneLeases(parts.queue, lambda _: None)
    (lane,) = all_lanes(1)
    return Drain(parts.store, lanes, parts.queue, lane, data=parts.data, gate=parts.gate).run()


def _fed(
    client: redis.Redis,
    side: ProjectionWorker,
    parts: App,
    plan: Plan,
    chance: random.Random,
    repeats: int,
) -> dict[str, float]:
    """Return what reading a move costs the projection worker, one at a time."""
    boards = chance.sample(
        range(plan.first, plan.last + 1), min(4 * repeats, plan.last - plan.first)
    )
    while side.round():
        pass
    total: dict[str, float] = {}
    done = 0
    for board in boards:
        if parts.store.outcome(board, next_move(plan, board).id) is not None:
            continue
        _move(parts, plan, board)
        cost = Cost(client)
        side.round()
        for name, value in cost.of_each(1).items():
            total[name] = total.get(name, 0) + value
        done += 1
        if done == repeats // 2:
            break
    return _without_seconds({name: round(value / done, 2) for name, value in total.items()})


async def _pages(
    parts: App, client: redis.Redis, boards: Sequence[int], plan: Plan
) -> dict[str, dict[str, float]]:
    """Return what pages cost the server and a web process, to a visitor who is not logged in."""
    app: Any = make_app(parts)
    found = {}
    paths = {
        "the page of a match": [f"/m/{board}" for board in boards],
        "the page of a game": ["/games/pow2"] * len(boards),
        "playing now": ["/playing"] * len(boards),
        "a game's matches, first page": ["/games/pow2/matches"] * len(boards),
        "a game's matches, from the middle": [
            f"/games/pow2/matches?page={max(1, plan.last // 2 // _ROWS)}"
        ]
        * len(boards),
    }
    async with _Lifespan(app):
        for name, some in paths.items():
            for path in some[:_WARM_UP]:
                await _get(app, path)
            cost = Cost(client)
            for path in some[_WARM_UP:]:
                await _get(app, path)
            found[name] = _without_seconds(cost.of_each(len(some) - _WARM_UP))
    return found


class _Lifespan:
    """Starts an ASGI application, and ends it."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._to: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._from: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def __aenter__(self) -> None:
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        self._task = asyncio.create_task(self._app(scope, self._to.get, self._from.put))
        await self._say("startup")

    async def __aexit__(self, *_: object) -> None:
        await self._say("shutdown")
        await self._task

    async def _say(self, what: str) -> None:
        await self._to.put({"type": f"lifespan.{what}"})
        answer = await self._from.get()
        if answer["type"] != f"lifespan.{what}.complete":
            raise RuntimeError(f"the application did not end its {what}: {answer}")


async def _get(app: Any, path: str) -> None:
    """Ask for a page; RuntimeError unless it is answered with 200."""
    where, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": where,
        "raw_path": where.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"bench.example")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    if sent[0]["status"] != 200:  # noqa: PLR2004 - OK
        raise RuntimeError(f"{path} was answered with {sent[0]['status']}")


def _scheduler(parts: App, client: redis.Redis, repeats: int) -> dict[str, dict[str, float]]:
    """Return what a second of the scheduler costs: most of them, and one in which all that it ever does is due."""
    first: list[dict[str, float]] = []
    second: list[dict[str, float]] = []
    for _ in range(max(4, repeats // 10)):
        heartbeat = Heartbeat(Role.SCHEDULER, "bench")
        ticks = make_ticks(parts, heartbeat, ClockCheck(ServerClockRecord(parts.data)))
        # the second one looks again at logs in which it found nothing
        for costs in first, [], second:
            cost = Cost(client)
            for tick in ticks:
                tick()
            costs.append(_without_seconds(cost.of_each(1)))
        heartbeat.remove(parts.queue)
    return {"a second": _mean(second[1:]), "a second in which all is due": _mean(first[1:])}


def _due(client: redis.Redis, mode: Mode) -> dict[str, float]:
    """Return what a match costs the scheduler that is due, when all are; what it sends is not decided."""
    later = RedisStore(client, mode, clock=lambda: _now() + 30 * _DAY)
    Scheduler(later, LaneLeases(client, lambda _: None), clock=later.now).tick()
    _empty_inboxes(client)
    cost = Cost(client)
    Scheduler(later, LaneLeases(client, lambda _: None), clock=later.now).tick()
    sent = later.inbox_size(range(SHARDS))
    found = cost.of_each(sent)
    _empty_inboxes(client)
    return _without_seconds(found)


def _empty_inboxes(client: redis.Redis) -> None:
    client.delete(*map(inbox, range(SHARDS)))


def _now() -> int:
    return time.time_ns() // 1_000_000


def _mean(costs: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: round(sum(one[name] for one in costs) / len(costs), 2) for name in costs[0]}


def _growth(figures: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return by how much each cost is higher with the most matches than with the fewest."""
    least, most = figures[0], figures[-1]
    return {
        what: {
            name: round(value / least[what][name], 2)
            for name, value in cost.items()
            if least[what][name]
        }
        for what, cost in most.items()
        if isinstance(cost, dict)
    }
