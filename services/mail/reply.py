"""The reply to a mail: its text, its headers and its addresses.

If the player is known, the reply goes to the player's verified addresses. Only if the mail proves no
player does it go to the sender that the mail names.

Sends the answers to mails: to whom, how many, with which attachments, and not at all where another mail says the same.
"""

import logging
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final, TypeAlias

import msgspec
import redis
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.events import Moved
from domain.match.history import decode_event
from domain.records import AccountId
from infra.languages.wording import IN_ENGLISH, Wording
from infra.mail.addresses import ServerAddresses, recipient_of
from infra.mail.email import (
    Attachment,
    Email,
    Purpose,
    clean_subject,
    is_recipient,
    references,
)
from infra.mail.outbox import Outbox
from infra.mail.processed import (
    REFUSALS_AN_HOUR,
    REPLIES_AN_HOUR,
    ReplyRateLimit,
    StrangerReplyLimit,
)
from infra.mail.receipt_attachments import receipt_attachments, with_receipt_line
from infra.people.accounts.address_owners import AddressOwners
from infra.people.masthead import Masthead
from infra.projections.notice_fold import notices_by_player, setup_of_history
from services.app.context import App
from services.language import Answer, Language
from services.mail.mail_commands import MailCommand
from services.mail.parse.message import ParsedMail, vouches
from services.mail.recipients import RecipientDirectory
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
    masthead: Masthead = Masthead()
    """Whose name is in the subject, and in the signature."""

    @property
    def refused(self) -> bool:
        """Whether any command of the mail was refused."""
        return any(said.answer.refused for said in self.said)

    @property
    def subject(self) -> str:
        """Return the title, or whether the commands were accepted."""
        if self.title:
            return self.title
        site = self.masthead.name
        refused = sum(said.answer.refused for said in self.said)
        if not refused:
            said = SAY("done", site=site)
        else:
            is_whole = refused == len(self.said)
            said = SAY("refused-all", site=site) if is_whole else SAY("refused-some", site=site)
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
        foot = self.masthead.signed(self.foot or SIGNATURE)
        foot = with_receipt_line(foot, self.attachments, self.words.code)
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


logger = logging.getLogger(__name__)

AddressedReply: TypeAlias = tuple[MailReply, list[str]]
"""An answer, and the addresses to send it to."""


class ReplySender:
    """Sends answers. `authserv` is the server that is believed about senders."""

    def __init__(
        self,
        app: App,
        client: redis.Redis,
        addresses: ServerAddresses,
        language: Language,
        authserv: str | None,
    ) -> None:
        self._app = app
        self._language = language
        self._addresses = addresses
        self._directory = RecipientDirectory(app, addresses)
        self._limit = ReplyRateLimit(client)
        self._refusals = ReplyRateLimit(client, REFUSALS_AN_HOUR)
        self._strangers = StrangerReplyLimit(client)
        self._owners = AddressOwners(client)
        self._authserv = authserv
        self._outbox = Outbox(client)

    def answer(self, reply: AddressedReply) -> None:
        """Queue an answer to its addresses, as far as these may get one."""
        mail_reply, addresses = reply
        mail_reply = replace(mail_reply, masthead=self._app.mastheads.recent())
        attached = self._attachments(mail_reply)
        for address in addresses:
            answerable = self._directory.answerable(address)
            foot = self._foot(mail_reply, address) if answerable else None
            if foot is None:
                logger.info(
                    "an answer was not sent: there were too many, or nobody reads mail at the address"
                )
                continue
            complete = replace(mail_reply, foot=foot or mail_reply.foot, attachments=attached)
            self._outbox.enqueue_all(list(complete.letters([address], self._addresses.domain)))

    def to_player(self, reply: MailReply, account: AccountId, sender: str) -> list[str]:
        """Return the addresses that an answer to a player goes to; none if another mail says it all.

        That is the mail of what the command led to, or for a move the next of its match, in which it stands.
        """
        profile = self._app.accounts.record_of(account)
        mailed = recipient_of(profile)
        if mailed and not mailed.receipts and not mailed.daily and self._app.settings.relay:
            (said, *others) = reply.said
            told = not others and self._is_mailed(said, account)
            if told and self._directory.is_own(account, sender):
                logger.info("an answer was not sent: another mail says the same")
                return []
        return self._directory.own(account, sender)

    def _is_mailed(self, said: CommandResult, account: AccountId) -> bool:
        """Return whether the mails of a match say what a command led to, and that it was accepted."""
        if said.answer.code or len(said.answer.decided) != 1:
            return False
        (decided,) = said.answer.decided
        events = [decode_event(data) for data in self._app.store.events(decided.board)]
        own = [event for event in events if event.command.hex() == decided.id]
        if not own:
            return False
        setup, last = setup_of_history(events[: own[-1].seq]), own[-1].body
        moved = said.order.plain_move and all(isinstance(event.body, Moved) for event in own)
        follows = last.next if moved and isinstance(last, Moved) else None
        # a player whose turn it is again hears of that by the answer alone
        if follows is not None and setup.seats[follows] != account:
            return True
        return account in notices_by_player(setup, events, own)

    def to_sender(self, reply: MailReply, sender: str) -> AddressedReply:
        """Return an answer to the sender that a mail names, who may never have sent it.

        One of whom nothing is known gets a few short answers, and none if the server in front could vouch.
        """
        if not self._directory.answerable(sender):
            return reply, []
        if self._owners.of(sender) or self.is_vouched(reply.mail, sender):
            return reply, [sender]
        if self._authserv or not self._strangers.admits(sender):
            return reply, []
        return replace(reply, shortened=True, foot=short_foot(reply.words)), [sender]

    def is_vouched(self, mail: ParsedMail, sender: str) -> bool:
        """Return whether the mail server in front shows that a mail is its sender's."""
        return bool(self._authserv) and vouches(mail.results, self._authserv or "", sender)

    def _attachments(self, reply: MailReply) -> tuple[Attachment, ...]:
        """Return the receipts of the commands of a mail, and the latest checkpoints of their logs."""
        decided = [one for said in reply.said for one in said.answer.decided]
        profile = self._app.accounts.record_of(reply.reader) if reply.reader else None
        if not decided or reply.shortened or not (profile and profile.receipts):
            return ()
        receipts = [one for said in reply.said for one in self._language.receipts(said.answer)]
        store, proofs = self._app.store, self._app.proofs
        shards = dict.fromkeys(store.shard_of(one.board) for one in decided)
        return receipt_attachments(receipts, list(map(proofs.checkpoint_if_any, shards)))

    def _foot(self, reply: MailReply, address: str) -> str | None:
        """Count an answer and return the text below it; None if too many were sent.

        A refusal is reported even then, because the player would think that the move was played.
        """
        if self._limit.admits(address):
            if not self._limit.is_spent(address):
                return ""
            return last_foot(REPLIES_AN_HOUR, reply.words, refusals_go_on=bool(reply.sender))
        if reply.sender and reply.refused and self._refusals.admits(address):
            spent = self._refusals.is_spent(address)
            last = last_foot(REFUSALS_AN_HOUR, reply.words, refusals_go_on=False)
            return last if spent else ""
        return None
