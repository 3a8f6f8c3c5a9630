"""Sends the answers to mails: to whom, how many, with which attachments, and not at all where another mail says the same."""

import logging
from typing import TypeAlias

import redis
from msgspec.structs import replace

from domain.match.events import AccountId, Moved
from domain.match.leaves import decode_event
from infra.mail.address_status import recipient_of
from infra.mail.addresses import ServerAddresses
from infra.mail.email import Attachment
from infra.mail.outbox import Outbox
from infra.mail.processed import (
    REFUSALS_AN_HOUR,
    REPLIES_AN_HOUR,
    ReplyRateLimit,
    StrangerReplyLimit,
)
from infra.mail.receipt_attachments import receipt_attachments
from infra.people.accounts.address_owners import AddressOwners
from infra.projections.command_notices import notices_by_player, setup_of
from services.app.context import App
from services.language import Language
from services.mail.parse.authentication import vouches
from services.mail.parse.message import ParsedMail
from services.mail.recipients import RecipientDirectory
from services.mail.reply import CommandResult, MailReply, last_foot, short_foot

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
        setup, last = setup_of(events[0]), own[-1].body
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
        shape, proofs = self._app.store.layout(), self._app.proofs
        shards = dict.fromkeys(shape.shard_of(one.board) for one in decided)
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
