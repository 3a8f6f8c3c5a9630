"""A desk without a server: matches in memory, and a gateway whose wake-ups drain at once."""

import itertools
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from argon2 import PasswordHasher
from redis import Redis

from infra.people.accounts import Accounts
from infra.people.messages import MessageStore
from infra.people.rate_limits import CommandRateLimit
from infra.projections.cases import OpenCases
from infra.projections.finished_matches import FinishedMatches
from infra.projections.head_to_head import HeadToHeadQuery
from infra.projections.match_lists import MatchLists
from infra.projections.ratings import RatingsQuery
from infra.projections.standings import StandingsQuery
from infra.projections.tournaments import Tournaments
from infra.redis.keys import Lane
from infra.settings.settings import Settings
from infra.store.layout import Layout
from infra.store.leases import LaneLeases
from infra.store.seed_chains import SeedChains
from services.app.context import App
from services.language import LOCAL, Answer, Language
from tests.fakes.memory_store import MemoryObjects, MemoryStore, memory_client
from tests.helpers.gateways import StoreGateway
from tests.helpers.side import catch_up
from workers.commands.drain import Drain

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
PASSWORDS = {"alice": "mad-hatter", "bob": "yes-we-can", "carol": "sing-along"}


def _up_to_now(query: Callable[[Redis], object]) -> Any:
    """A query that knows everything there is."""

    def caught_up(app: "FakeApp") -> object:
        catch_up(app.store, app.client)
        return query(app.client)

    return property(caught_up)


class FakeApp(App):
    """Everything the language works with; `awake` is whether commands are decided at all."""

    def __init__(self, *, durable: bool = True) -> None:
        self.client = memory_client()
        self.awake = True
        ticks = itertools.count(1_700_000_000_000)
        store = MemoryStore(lambda: next(ticks))
        store.create(Layout(shards=4, lanes=1))
        self._folder = TemporaryDirectory()
        folder = Path(self._folder.name)
        self.keys = folder / "keys"
        self._seeds = SeedChains(store, folder)
        self._lanes = LaneLeases(self.client, self._drain)
        self._commands = StoreGateway(store, self._lanes, self.client)
        super().__init__(
            Settings(data=folder),
            data=self.client,
            queue=self.client,
            store=store,
            accounts=Accounts(self.client, CHEAP),
            gateway=self._commands,
            pace=CommandRateLimit(1_000_000),
        )
        self.durable = durable
        self.objects = MemoryObjects()
        self.messages = MessageStore(self.client, lambda: 4)

    def _drain(self, lane: Lane) -> None:
        if self.awake:
            Drain(self.store, self._lanes, self.client, lane, seeds=self._seeds).run()

    lists = _up_to_now(MatchLists)
    tournaments = _up_to_now(Tournaments)
    cases = _up_to_now(OpenCases)
    history = _up_to_now(FinishedMatches)
    standings = _up_to_now(StandingsQuery)
    ratings = _up_to_now(RatingsQuery)
    head_to_head = _up_to_now(HeadToHeadQuery)

    def close(self) -> None:
        super().close()
        self._commands.close()
        self.client.close()
        self._folder.cleanup()


class Terminal:
    """A terminal at the desk, where alice, bob and carol have signed up."""

    def __init__(self, app: FakeApp) -> None:
        self.app = app
        self.language = Language(app, origin=LOCAL)
        for name, password in PASSWORDS.items():
            app.accounts.signup(name, password)

    def do(self, line: str, key: str | None = None, seconds: float = 5.0) -> Answer:
        return self.language.do(line, key, seconds)

    def accepted(self, line: str, key: str | None = None) -> Answer:
        """Carry out a line that must be accepted; gives the answer."""
        answer = self.do(line, key)
        assert answer.code == "", answer
        return answer

    def challenge(self, options: str = "") -> int:
        """Start a match of alice and bob, who accepts it; gives its board number."""
        return self.begin(f"pow2 challenge alice bob {options}")

    def begin(self, line: str) -> int:
        """Start a match whose other players accept it; gives its board number."""
        answer = self.do(line)
        assert answer.code == "", answer
        game, _, *names = line.split()
        board = int(answer.sentence.split()[1].rstrip(",#"))
        others = [name for name in names[1:] if name in PASSWORDS]
        return self.accept(board, *others, game=game) if others else board

    def accept(self, board: int, *names: str, game: str = "pow2") -> int:
        """Have invited players accept a match; gives its board number."""
        for name in names:
            answer = self.move_in(game, board, name, "accept")
            assert answer.code == "", answer
        return board

    def move_in(self, game: str, board: int, name: str, text: str) -> Answer:
        """Play a move in a match of any game."""
        return self.do(f"{game} move {board} {name} {PASSWORDS[name]} {text}")

    def move(self, board: int, name: str, text: str, key: str | None = None) -> Answer:
        """Play a move, or what stands in its place."""
        return self.do(f"pow2 move {board} {name} {PASSWORDS[name]} {text}", key)
