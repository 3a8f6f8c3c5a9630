"""Mails the daily digests."""

from collections.abc import Sequence

from domain.match.events import AccountId
from infra.mail.address_status import recipient_of
from infra.mail.progress import DigestItem
from workers.mail.context import BATCH, MailContext
from workers.mail.isolate import isolate_errors


class DigestMailer:
    """Mails the digests that are due."""

    def __init__(self, context: MailContext) -> None:
        self._context = context

    def round(self) -> int:
        """Mail some digests; return how many were due."""
        progress, now = self._context.progress, self._context.outbox.now()
        due = progress.digests_due(now, BATCH)
        for account, since in due:
            items = progress.digest_items(account)
            with isolate_errors("a digest"):
                self._send(account, items, since)
            # crash window: it is in the outbox and comes again, under the same id
            progress.mark_digest_sent(account, items, now)
        return len(due)

    def _send(self, account: AccountId, items: Sequence[DigestItem], since: int) -> None:
        to = recipient_of(self._context.accounts.record_of(account))
        if items and to:
            builder = self._context.builder
            self._context.outbox.enqueue_all(builder.digest(account, items, since, to.addresses))
