"""Mails to new addresses the codes that verify them."""

from domain.match.events import AccountId
from infra.mail.verification_codes import VerificationCodes
from workers.mail.context import BATCH, MailContext
from workers.mail.isolate import isolate_errors


class CodeMailer:
    """Mails codes to the addresses that accounts have entered."""

    def __init__(self, context: MailContext, codes: VerificationCodes) -> None:
        self._context = context
        self._codes = codes

    def round(self) -> int:
        """Mail the codes of some accounts; return the number of accounts."""
        named = self._codes.accounts_to_verify(BATCH)
        for account in named:
            with isolate_errors("a code"):
                self._send(account)
            # crash window: it is in the outbox and comes again
            self._codes.mark_verified_for(account)
        return len(named)

    def _send(self, account: AccountId) -> None:
        profile = self._context.accounts.record_of(account)
        outbox = self._context.outbox
        for one in profile.addresses if profile else ():
            if not one.usable:
                code = self._codes.issue(account, one.address)
                builder = self._context.builder
                outbox.enqueue(builder.code(account, one.address, code, outbox.now()))
