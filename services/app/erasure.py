"""Erases what is stored about an account."""

from domain.match.events import AccountId
from infra.mail.erasure import erase_mail
from infra.projections.erasure import erase_projections
from services.app.context import App


def erase_account(app: App, account: AccountId) -> None:
    """Erase everything stored about an account except its record; safe to repeat."""
    for part in (
        app.messages,
        app.tokens,
        app.challenges,
        app.blocks,
        app.follows,
        app.starts,
        app.sessions,
        app.notes,
        app.push_subscriptions,
        app.statements,
    ):
        part.forget(account)
    erase_mail(app.people, account)
    erase_projections(app.people, account)
