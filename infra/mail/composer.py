"""The port for the texts of mails; `services.mail.composing` implements it."""

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
    """The text of an e-mail."""

    subject: str
    body: str


class Told(msgspec.Struct, frozen=True):
    """A command's events in a match, for the mail to one player."""

    account: AccountId
    board: int
    seat: Seat
    seq: int
    """Of the command's first event."""
    kinds: tuple[Kind, ...]
    history: tuple[bytes, ...]
    """The match's events up to the command's last."""
    said: tuple[Letter, ...] = ()
    """Lines of chat by others since the last mail."""


class Composer(Protocol):
    """Writes the texts of mails."""

    def told(self, told: Told) -> Text:
        """Write the mail about events of a match."""
        ...

    def digest(self, account: AccountId, items: Sequence[Item]) -> Text:
        """Write a daily digest."""
        ...

    def message(self, account: AccountId, note: Note) -> Text:
        """Write the mail with a message of another player."""
        ...

    def chat(self, account: AccountId, board: int, said: Sequence[Letter]) -> Text:
        """Write the mail with lines of chat by others."""
        ...

    def code(self, account: AccountId, code: str) -> Text:
        """Write the mail with the code that verifies an address."""
        ...
