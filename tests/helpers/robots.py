"""Robots that are made to act by hand, on a real server whose drains run at once."""

from pathlib import Path

from redis import Redis

from domain.game.engine import RobotLevel
from domain.match.commands import Command, PlayMove, StartMatch
from domain.match.history import EventEnvelope, decode_event
from domain.match.state import ROBOT_ACCOUNTS, position_of
from domain.records import AccountId
from domain.rules import rules_by_id
from infra.redis.keys import Lane
from infra.settings.settings import Settings
from infra.store.failures import RobotFailures
from infra.store.leases import LaneLeases
from services.app.context import App
from services.app.robots import RobotGroup
from tests.helpers.bench import Bench
from tests.helpers.gateways import StoreGateway
from tests.helpers.given import ALICE

EASY, MEDIUM, HARD = (ROBOT_ACCOUNTS[level] for level in RobotLevel)


class RobotBench(Bench):
    """A bench with an `app` for robots; close it."""

    def __init__(self, client: Redis, folder: Path) -> None:
        super().__init__(client, folder / "seeds")
        self.lanes = LaneLeases(client, self._drain_lane)
        self.gateway = StoreGateway(self.store, self.lanes, client)
        self.app = App(
            Settings(data=folder), data=client, queue=client, store=self.store, gateway=self.gateway
        )
        vars(self.app)["lanes"] = self.lanes

    def close(self) -> None:
        self.gateway.close()

    def _drain_lane(self, lane: Lane) -> None:
        del lane
        self.drain()

    def do(self, actor: AccountId, command: Command, board: int = 1) -> None:
        """Send a command that has to be accepted."""
        order = self.send(actor, command, board)
        self.drain()
        outcome = self.outcome(order)
        assert outcome is not None
        assert outcome.accepted, outcome.text

    def begin(
        self, *seats: AccountId, game: str = "pow2", board: int = 1, gather: bool = False
    ) -> None:
        start = StartMatch(rules=f"{game}/1", options=(), seats=seats, gather=gather)
        self.do(next((one for one in seats if one == ALICE), seats[0]), start, board)

    def answer(self, board: int = 1) -> bool:
        return RobotGroup(self.app, lambda: True).answer(board)

    def history(self, board: int = 1) -> list[EventEnvelope]:
        return [decode_event(data) for data in self.store.events(board)]


def failures(bench: RobotBench) -> dict[int, str]:
    """Return why robots can't act, by board."""
    return {board: one.why for board, one in RobotFailures(bench.client).all().items()}


def some_move(bench: RobotBench, board: int = 1) -> PlayMove:
    """Return the first legal move of a match."""
    state = bench.state(board)
    rules = rules_by_id(state.rules)
    return PlayMove(text=next(iter(rules.legal_moves(position_of(state)))))
