"""What a test of the path needs: a store, lanes whose wake-ups are kept, and drains by hand."""

from collections.abc import Callable
from pathlib import Path

from redis import Redis

from domain.aggregates import Decider
from domain.match.commands import Command, CommandEnvelope, StartMatch
from domain.match.decide import decide
from domain.match.history import unpack_snapshot
from domain.match.state import MatchState
from infra.durability.durability import Mode
from infra.redis.cluster import ClusterClient
from infra.redis.keys import Lane
from infra.store.gateway import submission_of
from infra.store.layout import Layout, Numbering
from infra.store.leases import LaneLeases
from infra.store.outcomes import CommandOutcome, parse
from infra.store.port import SubmitResult
from infra.store.redis_store import RedisStore
from infra.store.seed_chains import SeedChains
from tests.helpers.given import ALICE, BOB, sent
from tests.helpers.lanes import LANE
from workers.commands.drain import Drain


class Bench:
    """One lane over four shards."""

    def __init__(self, client: Redis, seeds: Path, queue: Redis | None = None) -> None:
        """`queue` is a client of the queue's own server, which a cluster needs."""
        self.client = client
        self.queue = client if queue is None else queue
        self.folder = seeds
        self.woken: list[Lane] = []
        self.store = RedisStore(client, Mode.FSYNC)
        by_shard = isinstance(client, ClusterClient)
        numbering = Numbering.SHARD if by_shard else Numbering.SERVER
        self.store.create(Layout(shards=4, lanes=1, numbering=numbering))
        self.lanes = LaneLeases(self.queue, self.woken.append)
        self.seeds = SeedChains(self.store, seeds)
        self._numbers = 0

    def drain(self, stopping: Callable[[], bool] = lambda: False, decider: Decider = decide) -> int:
        """Drain the lane as a job would; gives the number of outcomes."""
        return Drain(
            self.store,
            self.lanes,
            self.queue,
            LANE,
            stopping,
            decider,
            seeds=self.seeds,
            data=self.client,
        ).run()

    def order(self, actor: bytes, command: Command, board: int = 1) -> CommandEnvelope:
        self._numbers += 1
        return sent(actor, command, self._numbers, board)

    def submit(self, order: CommandEnvelope, channel: str = "reply:test") -> SubmitResult:
        (answer,) = self.store.submit([submission_of(order, 0, channel)])
        return answer

    def start(self, *boards: int) -> None:
        """Begin pow2 matches of alice and bob."""
        for board in boards:
            start = StartMatch(rules="pow2/1", options=(), seats=(ALICE, BOB))
            self.submit(self.order(ALICE, start, board))
        self.drain()

    def send(self, actor: bytes, command: Command, board: int = 1) -> CommandEnvelope:
        order = self.order(actor, command, board)
        self.submit(order)
        return order

    def outcome(self, order: CommandEnvelope) -> CommandOutcome | None:
        stored = self.store.outcome(order.match, order.id)
        return None if stored is None else parse(stored)

    def state(self, board: int = 1) -> MatchState:
        return unpack_snapshot(self.store.snapshots([board])[0]).state
