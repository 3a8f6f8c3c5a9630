"""Mails the messages that players write to each other."""

from collections.abc import Iterator
from typing import Final

from domain.errors import Refusal
from domain.match.events import AccountId
from infra.mail.address_status import recipient_of
from infra.mail.message_queue import MessageMailQueue, QueuedMessage
from infra.mail.progress import DigestItem
from workers.mail.context import BATCH, MailContext
from workers.mail.isolate import isolate_errors

_PAGE: Final = 500


class MessageMailer:
    """Mails messages; one to everybody goes to all accounts."""

    def __init__(self, context: MailContext, written: MessageMailQueue) -> None:
        self._context = context
        self._written = written

    def round(self) -> int:
        """Mail some messages; return how many."""
        notes = self._written.oldest(BATCH)
        for note in notes:
            with isolate_errors("a message"):
                for account in self._readers(note):
                    self._deliver(account, note)
            # crash window: all is in the outbox and comes again, under the same ids
            self._written.done(note)
        return len(notes)

    def _readers(self, note: QueuedMessage) -> Iterator[AccountId]:
        if note.recipients:
            yield from note.recipients
            return
        start = 0
        while names := self._context.accounts.names(start, _PAGE):
            yield from filter(None, map(self._find, names))
            start += len(names)

    def _find(self, name: str) -> AccountId | None:
        """Return an account, or None if it has just been deleted."""
        try:
            return self._context.accounts.id_of(name)
        except Refusal:
            return None

    def _deliver(self, account: AccountId, note: QueuedMessage) -> None:
        context = self._context
        to = recipient_of(context.accounts.record_of(account))
        if to is None or account == note.sender:
            return
        if to.daily:
            item = DigestItem(0, 0, note.sender.hex(), note.at)
            context.progress.add_digest_items(account, [item], context.outbox.now())
        else:
            context.outbox.enqueue_all(context.builder.message(account, note, to.addresses))
