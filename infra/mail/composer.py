"""What the mailer needs of who writes its mails; `services.mail.composing` is the one."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from domain.match.events import AccountId
from domain.rules import Seat
from infra.letters import Letter
from infra.mail.progress import Item
from infra.mail.written import Note
from infra.projections.notices import Kind


class Text(msgspec.Struct, frozen=True):
    """What a mail says."""

    subject: str
    body: str


class Told(msgspec.Struct, frozen=True):
    """What a player is told of a command in a match."""

    account: AccountId
    board: int
    seat: Seat
    seq: int
    """Of the command's first event."""
    kinds: tuple[Kind, ...]
    history: tuple[bytes, ...]
    """The match's events up to the command's last."""
    said: tuple[Letter, ...] = ()
    """What others said in the match since the last mail."""


class Composer(Protocol):
    """Writes the texts of mails."""

    def told(self, told: Told) -> Text:
        """Write what a player is told of a match."""
        ...

    def digest(self, account: AccountId, items: Sequence[Item]) -> Text:
        """Write what a player is told once a day."""
        ...

    def message(self, account: AccountId, note: Note) -> Text:
        """Write what another player wrote."""
        ...

    def chat(self, account: AccountId, board: int, said: Sequence[Letter]) -> Text:
        """Write what others said in a match."""
        ...

    def code(self, account: AccountId, code: str) -> Text:
        """Write the code that proves an address."""
        ...
