"""Mails the messages that players write to each other."""

from domain.errors import Refusal
from domain.match.events import AccountId
from infra.mail.address_status import recipient_of
from infra.mail.message_queue import MessageMailQueue, QueuedMessage
from infra.mail.progress import DigestItem
from workers.mail.context import BATCH, MailContext
from workers.mail.isolate import isolate_errors


class MessageMailer:
    """Mails messages; one to everybody goes to all accounts, some in each round."""

    def __init__(self, context: MailContext, written: MessageMailQueue) -> None:
        self._context = context
        self._written = written

    def round(self) -> int:
        """Mail some messages, and a broadcast to some players; return how many."""
        notes = self._written.oldest(BATCH)
        personal = [note for note in notes if note.recipients]
        for note in personal:
            with isolate_errors("a message"):
                for account in note.recipients:
                    self._deliver(account, note)
            # crash window: all is in the outbox and comes again, under the same ids
            self._written.done(note)
        broadcasts = [note for note in notes if not note.recipients][:1]
        for note in broadcasts:
            self._mail_part(note)
        return len(personal) + len(broadcasts)

    def _mail_part(self, note: QueuedMessage) -> None:
        """Mail a broadcast to the next players; the others come in later rounds, after all other mail."""
        names = self._context.accounts.names_after(note.after, BATCH)
        for account in filter(None, map(self._find, names)):
            with isolate_errors("a message"):
                self._deliver(account, note)
        # crash window: these are in the outbox and come again, under the same ids
        if len(names) < BATCH:
            self._written.done(note)
        else:
            self._written.go_on(note, names[-1])

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
