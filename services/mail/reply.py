"""The reply to a mail: its text, its headers and its addresses.

If the player is known, the reply goes to the player's verified addresses. Only if the mail proves no
player does it go to the sender that the mail names.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.languages.wording import IN_ENGLISH, Wording
from infra.mail.addresses import ServerAddresses
from infra.mail.email import (
    Attachment,
    Email,
    Purpose,
    clean_subject,
    is_recipient,
    references,
)
from infra.mail.receipt_attachments import with_receipt_line
from services.language import Answer
from services.mail.mail_commands import MailCommand
from services.mail.parse.message import ParsedMail
from services.mail.sentences import SAY

NO_COMMAND: Final = Refusal(Code.USAGE, SAY("no-command"))
"""The answer to a mail without a command."""

NOT_CONFIRMED: Final = Refusal(Code.BAD_ADDRESS, SAY("not-confirmed"))
"""The answer to an e-mail with a code that was answered in other words."""

NO_OPERATOR: Final = Refusal(Code.NOT_FOUND, SAY("no-operator"))
"""The answer to a mail for the operator, who has set none."""

SIGNATURE: Final = "-- \n"
"""The line below which nothing is a command, if the mail is answered."""

SHORT_LENGTH: Final = 600
"""Characters of the answers in a short reply, at most."""


def short_foot(words: Wording) -> str:
    """Return the text below a reply to a sender of whom nothing is known."""
    return f"{SIGNATURE}{SAY('short-answer').in_language(words)}.\n"


def last_foot(most: int, words: Wording, *, refusals_go_on: bool) -> str:
    """Return the text below the last answer within the limit."""
    said = SAY("last-answer-but", most=most) if refusals_go_on else SAY("last-answer", most=most)
    return f"{SIGNATURE}{said.in_language(words)}.\n"


class CommandResult(msgspec.Struct, frozen=True):
    """A command and its answer."""

    order: MailCommand
    answer: Answer


class MailReply(msgspec.Struct, frozen=True):
    """A reply, before its addresses are known."""

    mail: ParsedMail
    said: tuple[CommandResult, ...]
    sender: str = ""
    """The seat's address that it comes from; empty for the server's own."""
    title: str = ""
    """The subject of the match's mails; empty for a mail to the server."""
    foot: str = ""
    """The text below the answers."""
    attachments: tuple[Attachment, ...] = ()
    shortened: bool = False
    reader: AccountId | None = None
    """The player who alone may read it; None for anybody else."""
    words: Wording = IN_ENGLISH
    """Those of the reader's language."""

    @property
    def refused(self) -> bool:
        """Whether any command of the mail was refused."""
        return any(said.answer.refused for said in self.said)

    @property
    def subject(self) -> str:
        """Return the title, or whether the commands were accepted."""
        if self.title:
            return self.title
        refused = sum(said.answer.refused for said in self.said)
        if not refused:
            said = SAY("done")
        else:
            said = SAY("refused-all") if refused == len(self.said) else SAY("refused-some")
        return said.in_language(self.words)

    @property
    def body(self) -> str:
        """Return the answers, each below its command."""
        several = len(self.said) > 1
        answers = "\n\n".join(
            _quote_and_answer(said, number if several else 0, self.words)
            for number, said in enumerate(self.said, 1)
        )
        if self.shortened and len(answers) > SHORT_LENGTH:
            answers = f"{answers[:SHORT_LENGTH]} ..."
        foot = with_receipt_line(self.foot or SIGNATURE, self.attachments, self.words.code)
        return f"{answers}\n" if foot == SIGNATURE else f"{answers}\n\n{foot}"

    def letters(self, addresses: Sequence[str], domain: str) -> Iterator[Email]:
        """Yield the e-mails of the reply; the same mail gets the same ones, with the same ids."""
        for address in addresses:
            yield Email(
                id=_id(self.mail.id, address, domain),
                to=address,
                subject=self.subject,
                body=self.body,
                headers=tuple(self._headers()),
                purpose=Purpose.ANSWER,
                attachments=self.attachments,
            )

    def _headers(self) -> Iterator[tuple[str, str]]:
        yield "Auto-Submitted", "auto-replied"
        if self.mail.identified:
            yield "In-Reply-To", references([self.mail.id])
            yield "References", references([self.mail.id])
        if self.sender:
            yield "Reply-To", self.sender


def _quote_and_answer(said: CommandResult, line: int, words: Wording) -> str:
    """Return an answer below its command, or below its line where nothing of that may be repeated."""
    shown = said.order.safe_quote if said.answer.refused else said.order.shown
    shown = shown or (SAY("line", number=line).in_language(words) if line else "")
    return f"> {shown}\n{said.answer.text_with_code}" if shown else said.answer.text_with_code


def _id(mail: str, address: str, domain: str) -> str:
    """Return a Message-ID that does not reveal whose mail was answered."""
    digest = sha256(f"{mail} {address}".encode(errors="surrogatepass")).hexdigest()
    return f"answer-{digest[:32]}@{domain}"


def passed_on(
    mail: ParsedMail, name: str, sender: str, to: str, addresses: ServerAddresses
) -> Email:
    """Return a mail to `name` at the server as one to the operator, whose answer goes to its sender."""
    text = "\n".join(mail.lines) or mail.problem or "(no text)"
    back = [("Reply-To", sender)] if is_recipient(sender) else []
    return Email(
        id=_id(mail.id, to, addresses.domain),
        to=to,
        subject=clean_subject(f"{name}: {mail.subject}"),
        body=f"Mail to {name}@{addresses.domain} from {sender or 'nobody'}:\n\n{text}\n",
        headers=(*back, ("Auto-Submitted", "auto-generated")),
    )
