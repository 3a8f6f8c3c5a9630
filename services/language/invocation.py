"""One command line on its way to the handler of its form."""

from collections.abc import Callable
from typing import Final

import msgspec

from domain.match.events import AccountId
from domain.match.state import MatchState
from domain.rules import AnyRules, latest_rules
from infra.people.accounts import Profile
from services.app.accounts import own_profile
from services.app.actor import Actor
from services.app.context import App
from services.language.answer import Answer
from services.language.parser import CommandLine


def _count_nothing() -> None:
    """Count nothing."""


class Origin(msgspec.Struct, frozen=True):
    """What a way in knows of the sender of its lines, beside what stands in them."""

    proven: AccountId | None = None
    """Whose they are, where that is proven without a password: by a token, or a seat's address."""
    trusted: bool = False
    """Whether they were given at the operator's own terminal, where no proof is asked for."""
    count: Callable[[], None] = _count_nothing
    """Counts one line of several in each limit of the way in, or refuses it; the way in itself has
    counted the first."""


UNKNOWN: Final = Origin()
"""Anybody."""

LOCAL: Final = Origin(trusted=True)
"""Whoever has the data before them: the operator, as a rule."""


class Invocation(msgspec.Struct, frozen=True):
    """One command line on its way to the handler of its form."""

    app: App
    via: str
    """Its name is part of each command id: keys of different doors don't meet."""
    key: str
    """Whoever repeats a command with its key means the same command."""
    seconds: float
    """How long to wait for an outcome."""
    usage: str
    """How the command is written, for who wrote it otherwise."""
    language: str
    """In which help is given, such as `de`; empty for English."""
    line: CommandLine
    """The sender's words."""
    run_line: Callable[[str, str], Answer]
    """Carries out another line, by a key of its own."""
    origin: Origin = UNKNOWN
    match: tuple[int, MatchState] | None = None
    """Board and state of the match that the line names, where its form is one of a match."""
    identity: Actor | None = None
    """The account that gives the command, where the form asks for a proof."""

    @property
    def rules(self) -> AnyRules:
        """The newest rules of the game, in a command that names one."""
        return latest_rules(self.line.get("game").lower())

    @property
    def board(self) -> int:
        """The board of the match."""
        assert self.match is not None
        return self.match[0]

    @property
    def state(self) -> MatchState:
        """The match, as it stood when the line came."""
        assert self.match is not None
        return self.match[1]

    @property
    def actor(self) -> Actor:
        """The account that gives the command, proven before the handler was called."""
        assert self.identity is not None
        return self.identity

    def account(self) -> AccountId:
        """Return the id of the account that gives the command."""
        return self.actor.account

    def profile(self, account: AccountId) -> Profile:
        """Return what is known of an account that has just been verified."""
        return own_profile(self.app, account)

    @property
    def sender(self) -> tuple[str, str]:
        """Userid and password of who gives the command, where its form has them."""
        return self.line.all("userid")[0], self.line.get("password")
