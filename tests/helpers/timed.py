"""A bench whose server and keepers live in a time of the test's own."""

from pathlib import Path

import pytest
from redis import Redis

from domain.clocks.time_control import DAY, TimeControl
from domain.match.commands import StartMatch
from domain.match.events import Flagged, Nagged
from domain.match.history import EventEnvelope, decode_event, unpack_snapshot
from domain.match.state import next_due
from infra.durability.durability import Mode
from infra.store.layout import Layout
from infra.store.leases import LaneLeases
from infra.store.redis_store import RedisStore
from infra.store.seed_chains import SeedChains
from tests.helpers.api import Api
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB
from workers.commands.drain import Drain
from workers.scheduler import Scheduler

HOUR = DAY // 24
SHORT = TimeControl(nag=1, forfeit=3)
FLAG = TimeControl(nag=0, forfeit=3)
"""The same without a reminder."""
BEGIN = 1_795_100_400_000
"""Thursday 2026-11-19 15:00 UTC, in ms."""


class TimedStore(RedisStore):
    """A store that stamps with the test's time."""


class TimedBench(Bench):
    """A bench at `now`, ms; keepers on it are `ahead` of the server's clock, ms."""

    make_store: type[TimedStore] = TimedStore
    mode = Mode.FSYNC

    def __init__(self, client: Redis, seeds: Path, shape: Layout = Layout(4, 1)) -> None:  # noqa: B008 - frozen
        super().__init__(client, seeds)
        self.now = BEGIN
        self.ahead = 0
        client.flushall()
        self.store = self.make_store(client, self.mode, clock=lambda: self.now)
        self.store.create(shape)
        self.lanes = LaneLeases(client, self.woken.append)
        self.seeds = SeedChains(self.store, seeds)

    def keeper(self) -> Scheduler:
        """A keeper that knows nothing yet."""
        return Scheduler(
            self.store, self.lanes, lambda: self.now + self.ahead, lambda: self.now / 1000
        )

    def challenge(self, terms: TimeControl, *boards: int) -> None:
        """Begin pow2 matches of alice and bob with clocks."""
        for board in boards:
            start = StartMatch(rules="pow2/1", options=(), seats=(ALICE, BOB), terms=terms)
            self.submit(self.order(ALICE, start, board))
        self.drain()

    def pump(self) -> int:
        """Run the drains that were asked for; gives the number of outcomes."""
        done = 0
        while self.woken:
            done += Drain(
                self.store, self.lanes, self.client, self.woken.pop(), seeds=self.seeds
            ).run()
        return done

    def tick(self, keeper: Scheduler, after: int) -> None:
        """Tick at a time since the beginning, in ms, and run the drains that it asks for."""
        self.now = BEGIN + after
        keeper.tick()
        self.pump()

    def kept(self, board: int = 1) -> list[tuple[type, int]]:
        """Reminders and flags of a match, each with when it came, in ms since the beginning."""
        return [(type(one.body), one.at - BEGIN) for one in self.envelopes(board, Nagged | Flagged)]

    def envelopes(self, board: int, kind: object) -> list[EventEnvelope]:
        found = map(decode_event, self.store.events(board))
        return [one for one in found if isinstance(one.body, kind)]

    def waits(self) -> int:
        return self.store.inbox_size(range(self.store.layout().shards))


def act_when_due(api: Api, board: int) -> int:
    """Have a scheduler act on a server at the time when a match is due; gives that time."""
    with api.server.client(blocking_timeout=5) as client:
        (data,) = api.parts.store.snapshots([board])
        later = next_due(unpack_snapshot(data).state)
        store = RedisStore(client, Mode.FSYNC, clock=lambda: later)
        Scheduler(store, LaneLeases(client, [].append), lambda: later).tick()
    return later


def alarms(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was logged for a person to see to."""
    return [message for message in caplog.messages if message.startswith("ALARM")]
