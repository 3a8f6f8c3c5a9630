"""One command line on its way to the handler of its form."""

from collections.abc import Callable
from typing import Final

import msgspec

from domain.match.state import MatchState
from domain.records import AccountId
from domain.rules import AnyRules, latest_rules
from infra.languages.wording import Wording
from infra.people.accounts import Profile
from services.app.accounts import own_profile
from services.app.context import Actor, App
from services.language.answer import Answer
from services.language.parser import CommandLine


def _count_nothing() -> None:
    """Count nothing."""


class Origin(msgspec.Struct, frozen=True):
    """Knowledge of a front end about the sender of a line, apart from the line itself."""

    proven: AccountId | None = None
    """The sender's account, if a token or a seat's address proves it without a password."""
    is_member: bool = False
    """Whether the sender has an account, if it does not prove it for commands."""
    trusted: bool = False
    """Whether the line comes from the operator's own terminal, which needs no proof."""
    signs: bool = False
    """Whether lines leave out userid and password, because `proven` stands for both."""
    count: Callable[[], object] = _count_nothing
    """Counts one line of several in each limit of the front end, or refuses it. The front end itself
    has counted the first."""
    address: str = ""
    """The mail address that the line came from, proven by nothing."""


UNKNOWN: Final = Origin()
"""Anybody."""

LOCAL: Final = Origin(trusted=True)
"""A sender who can read the data itself: usually the operator."""


class Invocation(msgspec.Struct, frozen=True):
    """One command line on its way to the handler of its form."""

    app: App
    via: str
    """The front end's name. It is part of each command id, so that keys of two front ends never meet."""
    key: str
    """The same command sent again carries the same key."""
    seconds: float
    """How long to wait for an outcome."""
    usage: str
    """How the command is written, for refusals."""
    words: Wording
    """Those of the language of the answer."""
    line: CommandLine
    """The sender's words."""
    run_line: Callable[[str, str], Answer]
    """Carries out another line, with a key of its own."""
    origin: Origin = UNKNOWN
    match: tuple[int, MatchState] | None = None
    """Board and state of the match that the line names, if its form is one of a match."""
    identity: Actor | None = None
    """The account that gives the command, if the form requires a proof."""

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
        """Return the profile of an account that has just been proven."""
        return own_profile(self.app, account)

    @property
    def sender(self) -> tuple[str, str]:
        """The userid and the password in the line, if its form has them."""
        return self.line.all("userid")[0], self.line.get("password")
