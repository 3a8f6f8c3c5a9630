"""Mails arbiters that a case waits for a ruling: a claim, or an appeal.

Arbiters get it at once, also those who want a digest, because a player waits. Those who play in the
match get the mail of its players. The arbiter who has ruled before gets the mail of an appeal, too.
"""

from domain.match.events import AccountId, Appealed, Claimed
from infra.mail.address_status import recipient_of
from infra.mail.email import Email
from infra.projections.projection import Fact
from workers.mail.context import MailContext


def mail_arbiters(context: MailContext, fact: Fact) -> None:
    """Mail all arbiters who do not play in the match; nothing for any other event."""
    event = fact.event
    if not isinstance(event.body, Claimed | Appealed):
        return
    history: tuple[bytes, ...] = ()
    for account in context.accounts.arbiters():
        if account in (*fact.setup.seats, event.actor):
            continue
        # read once, and only if there is an arbiter
        history = history or tuple(context.store.events(event.match)[: event.seq])
        mails = _mails(context, account, event.match, history)
        if mails:
            context.outbox.enqueue_all(mails)


def _mails(
    context: MailContext, account: AccountId, board: int, history: tuple[bytes, ...]
) -> list[Email]:
    to = recipient_of(context.accounts.record_of(account))
    return context.builder.case(account, board, history, to.addresses) if to else []
