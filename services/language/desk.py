"""What the command language works with, behind every door."""

from collections.abc import Callable
from typing import Final, Protocol

import msgspec

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from domain.rules import AnyRules, current
from infra.accounts import Accounts, Profile
from infra.blocks import Blocks
from infra.damage import Damage
from infra.drafts import Drafts
from infra.gateway import Gateway
from infra.letters import Letters
from infra.limits import CommandLimit
from infra.mail.standing import Standing
from infra.projections.head_to_head import HeadToHead
from infra.projections.history import History
from infra.projections.lists import Lists
from infra.projections.ratings import Ratings
from infra.projections.scores import Scores
from infra.projections.standings import Standings
from infra.starts import Starts
from infra.store.port import Store
from infra.words import Words
from services.language.answer import Answer
from services.language.parsing import Line


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
    def words(self) -> Words:
        """Texts that the server keeps for draws."""
        ...

    @property
    def pace(self) -> CommandLimit:
        """How fast an account may give commands."""
        ...

    @property
    def letters(self) -> Letters:
        """What players write to each other."""
        ...

    @property
    def blocks(self) -> Blocks:
        """Whom players want nothing of."""
        ...

    @property
    def starts(self) -> Starts:
        """Starts by name that the others may not have taken up yet."""
        ...

    @property
    def standing(self) -> Standing:
        """What is known of players' own addresses."""
        ...

    @property
    def damage(self) -> Damage:
        """Matches that can't be read."""
        ...

    @property
    def drafts(self) -> Drafts:
        """Moves that wait to be confirmed."""
        ...

    @property
    def lists(self) -> Lists:
        """Who plays what."""
        ...

    @property
    def history(self) -> History:
        """Finished matches."""
        ...

    @property
    def standings(self) -> Standings:
        """Who has won how often."""
        ...

    @property
    def ratings(self) -> Ratings:
        """How strong everybody is."""
        ...

    @property
    def head_to_head(self) -> HeadToHead:
        """How two players did against each other."""
        ...

    @property
    def scores(self) -> Scores:
        """Leaderboards of the puzzles."""
        ...

    @property
    def gateway(self) -> Gateway:
        """The way in for commands."""
        ...

    def forget(self, account: AccountId) -> None:
        """Erase what is kept of an account beside its record; doing it twice is harmless."""
        ...

    def ready(self) -> None:
        """Make sure that what is written is kept as promised; `DurabilityError` when it can't be."""
        ...

    @property
    def durable(self) -> bool:
        """Whether an outcome may be called accepted; else it is only ever pending."""
        ...


def _uncounted() -> None:
    """Count nothing."""


class Origin(msgspec.Struct, frozen=True):
    """What a way in knows of the sender of its lines, beside what stands in them."""

    proven: AccountId | None = None
    """Whose they are, where that is proven without a password: by a token, or a seat's address."""
    trusted: bool = False
    """Whether they were given at the operator's own terminal, where no proof is asked for."""
    count: Callable[[], None] = _uncounted
    """Counts one line of several in each limit of the way in, or refuses it; the way in itself has
    counted the first."""


UNKNOWN: Final = Origin()
"""Anybody."""

LOCAL: Final = Origin(trusted=True)
"""Whoever has the data before them: the operator, as a rule."""


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
    line: Line
    """The sender's words."""
    again: Callable[[str, str], Answer]
    """Carries out another line, by a key of its own."""
    origin: Origin = UNKNOWN

    @property
    def rules(self) -> AnyRules:
        """The newest rules of the game, in a command that names one."""
        return current(self.line.get("game").lower())

    def account(self) -> AccountId:
        """Return who gives the command, once password and pace are known good."""
        return self.admitted(self.desk.accounts.verify(*self.sender))

    def admitted(self, account: AccountId) -> AccountId:
        """Return an account that is proven, once its pace is known good."""
        self.desk.pace.check(account)
        return account

    def profile(self, account: AccountId) -> Profile:
        """Return what is known of an account that has just been verified."""
        found = self.desk.accounts.record_of(account)
        if found is None:
            raise Refusal(Code.UNKNOWN_USER, "the account was deleted at this moment")
        return found

    @property
    def sender(self) -> tuple[str, str]:
        """Userid and password of who gives the command, where its form has them."""
        return self.line.all("userid")[0], self.line.get("password")
