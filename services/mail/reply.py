"""The answer to a mail: what it says, and to whom it may go.

An answer goes to addresses that the player has proven, whenever it is known who the player is. Only
what nobody has proven anything for goes to where the mail says that it came from.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from infra.mail.email import Email, Purpose, references
from services.language import Answer
from services.mail.mail_commands import MailCommand
from services.mail.parse.message import ParsedMail

NO_COMMAND: Final = Refusal(
    Code.USAGE,
    "the mail asks for nothing; a command is its subject, or stands at the top of its text, one a "
    "line, and `help` lists them",
)
"""What a mail without a command is told."""


LAST_REPLY: Final = (
    "-- \nThis is the last of {most} answers that an address is sent within an hour. Until the hour is\n"
    "over your moves are played without an answer{but}.\n"
)
"""What the last answer says before there are none."""


class CommandResult(msgspec.Struct, frozen=True):
    """A command with what it is answered."""

    order: MailCommand
    answer: Answer


class MailReply(msgspec.Struct, frozen=True):
    """An answer before it is known where it goes to."""

    mail: ParsedMail
    said: tuple[CommandResult, ...]
    sender: str = ""
    """The address of ours that it comes from, if not the server's own."""
    title: str = ""
    """What all mails of the match are called, if it is of one: so they stay together."""
    foot: str = ""
    """What is told below the answers."""

    @property
    def refused(self) -> bool:
        """Whether something was not done that the mail asked for."""
        return any(said.answer.refused for said in self.said)

    @property
    def subject(self) -> str:
        """Return the title, or say at a glance whether all is well."""
        refused = sum(said.answer.refused for said in self.said)
        if not refused:
            return self.title or "matchpost: done"
        every = refused == len(self.said)
        return self.title or f"matchpost: {'not accepted' if every else 'not all accepted'}"

    @property
    def body(self) -> str:
        """Return the answers, each below its command."""
        answers = "\n\n".join(_quote_and_answer(said) for said in self.said)
        return f"{answers}\n\n{self.foot}" if self.foot else f"{answers}\n"

    def letters(self, addresses: Sequence[str], domain: str) -> Iterator[Email]:
        """Return the letters of the answer; the same mail is answered by the same ones."""
        for address in addresses:
            yield Email(
                id=_id(self.mail.id, address, domain),
                to=address,
                subject=self.subject,
                body=self.body,
                headers=tuple(self._headers()),
                purpose=Purpose.ANSWER,
            )

    def _headers(self) -> Iterator[tuple[str, str]]:
        yield "Auto-Submitted", "auto-replied"
        if self.mail.identified:
            yield "In-Reply-To", references([self.mail.id])
            yield "References", references([self.mail.id])
        if self.sender:
            yield "Reply-To", self.sender


def _quote_and_answer(said: CommandResult) -> str:
    shown = said.order.safe_quote if said.answer.refused else said.order.shown
    return f"> {shown}\n{said.answer.text_with_code}" if shown else said.answer.text_with_code


def _id(mail: str, address: str, domain: str) -> str:
    """Return a Message-ID from which nobody reads whose mail was answered."""
    digest = sha256(f"{mail} {address}".encode(errors="surrogatepass")).hexdigest()
    return f"answer-{digest[:32]}@{domain}"
