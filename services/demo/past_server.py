"""A server whose commands are received in the past, for as long as it is filled and nothing else runs.

The store stamps a command with the time that it is called at, and a drain decides and commits it as on a
running server. So a history made here is like any other: it is chained, logged, and decided again by an
audit with the same result. A running server never does this, because its store has no clock of its own.
"""

import heapq
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import count
from typing import Final, NamedTuple

import redis
from argon2 import PasswordHasher

from domain.match.commands import CommandEnvelope
from domain.match.decide import decide
from domain.match.decision import Decision, DecisionContext, Rejection
from domain.match.state import MatchState
from domain.records import command_id
from infra.log.key_files import keys_folder
from infra.people.account_macs import AccountMacs
from infra.people.accounts import Accounts
from infra.people.challenges import ChallengeStore
from infra.people.messages import MessageStore
from infra.people.statements import Statements
from infra.redis import scripts
from infra.settings.settings import Settings
from infra.store.gateway import WAIT_SECONDS, OutcomePending, submission_of
from infra.store.outcomes import CommandOutcome, parse
from infra.store.port import Submission
from infra.store.redis_store import RedisStore
from infra.store.store_calls import read_submit_reply, submit_call
from services.app.context import Actor, App
from workers.commands.core import CommandLoop
from workers.commands.drain import BATCH
from workers.commands.handle import CommandHandler, StartContexts
from workers.commands.outcome_publisher import OutcomePublisher

FRONT_END: Final = "demo"
"""The front end in the ids of commands."""

_REPLY_TO: Final = "demo"
"""The channel of the outcomes, on which nobody listens."""

_RANDOM_PASSWORDS: Final = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
"""Cheap, because a password of 32 random bytes can't be guessed whatever its hash costs."""


class FillError(Exception):
    """The server refused a part of its history; the message is a sentence."""


class _TimedSubmission(NamedTuple):
    at: int
    submission: Submission


class PastApp(App):
    """The parts of the server; what has a time of its own gets it from `now`, in ms."""

    def __init__(self, settings: Settings, data: redis.Redis, queue: redis.Redis, now: int) -> None:
        self.now = now
        store = RedisStore(data, settings.durability, settings.queue_cap, clock=self._clock)
        super().__init__(settings, data=data, queue=queue, store=store, gateway=_PastGateway(self))
        self._waiting: list[_TimedSubmission] = []
        self._refused: list[str] = []

    def _clock(self) -> int:
        return self.now

    @cached_property
    def accounts(self) -> Accounts:
        """Players."""
        return Accounts(self.people, _RANDOM_PASSWORDS, macs=self.macs)

    @cached_property
    def macs(self) -> AccountMacs:
        """Makes the MACs of accounts."""
        return AccountMacs(keys_folder(self.settings))

    @cached_property
    def messages(self) -> MessageStore:
        """Messages and chat, of which no mail is sent."""
        return MessageStore(self.people, self._shards, self._clock)

    @cached_property
    def statements(self) -> Statements:
        """Texts of claims and rulings."""
        return Statements(self.people, self._shards, self._clock)

    @cached_property
    def challenges(self) -> ChallengeStore:
        """Open challenges."""
        return ChallengeStore(self.people, self._clock)

    def actor(self, account: bytes, key: str) -> Actor:
        """Return an account as the actor of a command with this key."""
        return Actor(account, FRONT_END, key)

    def add(self, sent: CommandEnvelope) -> None:
        """Add a command, received now; `drain` decides it with the others."""
        self._waiting.append(_TimedSubmission(self.now, submission_of(sent, 0, _REPLY_TO)))
        if len(self._waiting) >= BATCH:
            self.drain()

    def drain(self) -> None:
        """Submit what waits, and decide it; `FillError` if something is refused."""
        if not self._waiting:
            return
        shape = self.store.layout()
        calls = [
            submit_call(shape.shards, one.submission, self.settings.queue_cap, str(one.at))
            for one in self._waiting
        ]
        for reply in scripts.call_all(self.data, calls):
            read_submit_reply(reply)
        self._waiting = []
        while self._loop.run(range(shape.shards), BATCH):
            pass
        if self._refused:
            raise FillError(f"a command of the demo was refused: {self._refused[0]}")

    @cached_property
    def _loop(self) -> CommandLoop:
        contexts = StartContexts(self.seeds, self.data)
        handler = CommandHandler(self.store, contexts, self._decide)
        return CommandLoop(self.store, handler, OutcomePublisher(self.queue))

    def _decide(
        self, sent: CommandEnvelope, state: MatchState, context: DecisionContext
    ) -> Decision | Rejection:
        decision = decide(sent, state, context)
        if isinstance(decision, Rejection):
            self._refused.append(f"match {sent.match}, ply {state.ply}, {sent.command}: {decision}")
        return decision


class _PastGateway:
    """Sends a command of a use case, and decides it at once."""

    def __init__(self, app: PastApp) -> None:
        self._app = app

    def send(
        self, sent: CommandEnvelope, ply: int, seconds: float = WAIT_SECONDS
    ) -> CommandOutcome:
        """Submit a command and return its outcome."""
        del ply, seconds
        self.submit_all([sent])
        stored = self._app.store.outcome(sent.match, sent.id)
        if stored is None:
            raise OutcomePending("the command was not decided")
        return parse(stored)

    def submit_all(self, sents: Sequence[CommandEnvelope]) -> None:
        """Submit commands."""
        for sent in sents:
            self._app.add(sent)
        self._app.drain()


Action = Callable[[], None]


class Timeline:
    """Actions in the order of their times; an action may add later ones."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, int, Action]] = []
        self._numbers = count()

    def at(self, time: int, action: Action) -> None:
        """Add an action at a time, in ms; those of the same time run in the order of these calls."""
        heapq.heappush(self._waiting, (time, next(self._numbers), action))

    def run(self, app: PastApp) -> None:
        """Run all actions, each while the server's time is its own."""
        while self._waiting:
            at, _, action = heapq.heappop(self._waiting)
            app.now = at
            action()
        app.drain()


def demo_command_id(account: bytes, key: str) -> bytes:
    """Return the id of a command of the demo."""
    return command_id(FRONT_END, account, key)
