"""What the command language works with, behind every door."""

from typing import Protocol

import msgspec

from domain.match.commands import Sent
from domain.rules import AnyRules
from infra.accounts import Accounts
from infra.outcomes import Outcome
from infra.scores import Scores
from infra.store.port import Store


class Sender(Protocol):
    """The way in for commands; `services.post.Post` is the one."""

    def send(self, sent: Sent, ply: int, seconds: float) -> Outcome:
        """Hand a command in and give its outcome; raises `Refusal` and `Pending`."""
        ...


class Desk(Protocol):
    """What a door has at hand. Each part may be made when first asked for: help needs none."""

    @property
    def store(self) -> Store:
        """Matches."""
        ...

    @property
    def accounts(self) -> Accounts:
        """Players."""
        ...

    @property
    def scores(self) -> Scores:
        """Leaderboards of the puzzles."""
        ...

    @property
    def post(self) -> Sender:
        """The way in for commands."""
        ...

    def ready(self) -> None:
        """Make sure that what is written is kept as promised; `DurabilityError` when it can't be."""
        ...

    @property
    def durable(self) -> bool:
        """Whether an outcome may be called accepted; else it is only ever pending."""
        ...


class Call(msgspec.Struct, frozen=True):
    """One command line on its way to the handler of its form."""

    desk: Desk
    door: str
    """Its name is part of each command id: keys of different doors don't meet."""
    key: str
    """Whoever repeats a command with its key means the same command."""
    seconds: float
    """How long to wait for an outcome."""
    form: str
    """How the command is written, for who wrote it otherwise."""
    language: str
    """In which help is given, such as `de`; empty for English."""
    words: tuple[str, ...]
    """What stands after the command."""
    game: AnyRules | None = None
    """The game that the command names."""

    @property
    def rules(self) -> AnyRules:
        """The newest rules of the game, in a command that names one."""
        assert self.game is not None
        return self.game
