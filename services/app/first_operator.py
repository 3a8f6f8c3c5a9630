"""The first operator: the player who opens the link that `matchpost serve` prints, and confirms it."""

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.accounts import AccountRole
from infra.people.first_operator import FirstOperatorLink
from services.app.accounts import own_profile
from services.app.acts import Act, record_act
from services.app.context import App
from services.app.sentences import SAY


def check_first_link(app: App, text: str) -> None:
    """Refuse a link that was used, was replaced by a later start, or came too late, as `not-found`."""
    if not FirstOperatorLink(app.people).is_valid(text) or _has_operator(app):
        raise _over()


def become_first_operator(app: App, account: AccountId, text: str) -> None:
    """Make an account the first operator by the link, which ends; `not-found` as `check_first_link`."""
    app.ready()
    check_first_link(app, text)
    name = own_profile(app, account).name
    if not FirstOperatorLink(app.people).use(text):
        raise _over()
    # crash window: the link has ended and nobody is an operator; the next start prints another
    app.accounts.set_role(name, AccountRole.OPERATOR, held=True)
    record_act(app, account, Act.FIRST_OPERATOR, account)


def _has_operator(app: App) -> bool:
    return bool(app.accounts.holders(AccountRole.OPERATOR))


def _over() -> Refusal:
    return Refusal(Code.NOT_FOUND, SAY("first-link-over"))
