"""The port for the texts of mails; `services.mail.notification_texts` implements it."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from domain.match.history import EventEnvelope
from domain.records import AccountId
from domain.rules import Seat
from domain.sentences import ENGLISH
from infra.mail.progress import DigestItem
from infra.mail.queues import QueuedMessage
from infra.people.messages import PlayerMessage
from infra.projections.notices import NoticeKind, TournamentNotice


class EmailText(msgspec.Struct, frozen=True):
    """The text of an e-mail."""

    subject: str
    body: str
    language: str = ENGLISH.code
    html: str = ""
    """The same in HTML, with the picture `PICTURE` where the text has a drawn board; empty for none."""
    drawing: bytes = b""
    """The picture as `EmailDelivery` paints it."""


class MatchUpdate(msgspec.Struct, frozen=True):
    """A command's events in a match, for the mail to one player."""

    account: AccountId
    board: int
    seat: Seat
    seq: int
    """Of the command's first event."""
    kinds: tuple[NoticeKind, ...]
    history: tuple[bytes, ...]
    """The match's events up to the command's last."""
    chat: tuple[PlayerMessage, ...] = ()
    """Lines of chat by others since the last mail."""


class TournamentUpdate(msgspec.Struct, frozen=True):
    """The notices of a command in a tournament to one account."""

    account: AccountId
    first: EventEnvelope
    """The command's first event."""
    notices: tuple[TournamentNotice, ...]


class Composer(Protocol):
    """Writes the texts of mails."""

    def match_update(self, update: MatchUpdate) -> EmailText:
        """Write the mail about events of a match."""
        ...

    def tournament_update(self, update: TournamentUpdate) -> EmailText | None:
        """Write the mail about events of a tournament; None if the account may not see it."""
        ...

    def digest(self, account: AccountId, items: Sequence[DigestItem]) -> EmailText:
        """Write a daily digest."""
        ...

    def message(self, account: AccountId, note: QueuedMessage) -> EmailText:
        """Write the mail with a message of another player."""
        ...

    def chat(self, account: AccountId, board: int, said: Sequence[PlayerMessage]) -> EmailText:
        """Write the mail with lines of chat by others."""
        ...

    def case(self, account: AccountId, board: int, history: Sequence[bytes]) -> EmailText:
        """Write the mail to an arbiter about the claim or the appeal that is the last event."""
        ...

    def reset(self, account: AccountId, link: str) -> EmailText:
        """Write the mail with the link for a new password."""
        ...

    def code(self, account: AccountId, code: str) -> EmailText:
        """Write the mail with the code that verifies an address."""
        ...
