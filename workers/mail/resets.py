"""Mails links for forgotten passwords, to the proven addresses of those who asked."""

from domain.errors import Refusal
from domain.match.events import AccountId
from infra.people.accounts.address_owners import AddressOwners
from infra.people.password_resets import PasswordResets, ResetRequest
from workers.mail.context import BATCH, MailContext
from workers.mail.isolate import isolate_errors


class ResetMailer:
    """Reads the requests for links, and queues the mails."""

    def __init__(self, context: MailContext, resets: PasswordResets, owners: AddressOwners) -> None:
        self._context = context
        self._resets = resets
        self._owners = owners

    def round(self) -> int:
        """Answer some requests; return their number."""
        requests = self._resets.oldest(BATCH)
        for request in requests:
            with isolate_errors("a link for a new password"):
                if self._resets.is_timely(request):
                    self._answer(request)
            # crash window: the mail is in the outbox, and another one follows with another link
            self._resets.done(request)
        return len(requests)

    def _answer(self, request: ResetRequest) -> None:
        for account in self._accounts(request.text):
            profile = self._context.accounts.record_of(account)
            if profile is None or profile.suspended:
                continue
            to = [one.address for one in profile.addresses if one.usable]
            link = self._resets.issue(account) if to else None
            if link is not None:
                builder, now = self._context.builder, self._context.outbox.now()
                self._context.outbox.enqueue_all(builder.reset(account, to, link, now))

    def _accounts(self, text: str) -> list[AccountId]:
        """Return the accounts that a userid or an address names; none for any other text."""
        if "@" in text:
            return self._owners.of(text)
        try:
            return [self._context.accounts.id_of(text)]
        except Refusal:
            return []
