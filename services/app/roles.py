"""Roles: operators, moderators and arbiters, and what needs one."""

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.accounts import AccountRole
from infra.people.acts import TERMINAL, Act
from services.app.context import App
from services.app.sentences import SAY


def has_role(app: App, account: AccountId | None, *roles: AccountRole) -> bool:
    """Return whether an account has one of some roles, and is not suspended; nobody has any."""
    profile = app.accounts.record_of(account) if account else None
    return profile is not None and not profile.suspended and any(map(profile.has, roles))


def require_operator(app: App, account: AccountId) -> None:
    """Refuse anybody else as `not-an-operator`; `TERMINAL` is one."""
    if account != TERMINAL and not has_role(app, account, AccountRole.OPERATOR):
        raise Refusal(Code.NOT_AN_OPERATOR, SAY("operators-only"))


def require_moderator(app: App, account: AccountId) -> None:
    """Refuse anybody but moderators and operators as `not-a-moderator`; `TERMINAL` is one."""
    if account != TERMINAL and not has_role(
        app, account, AccountRole.MODERATOR, AccountRole.OPERATOR
    ):
        raise Refusal(Code.NOT_A_MODERATOR, SAY("moderators-only"))


def read_role(text: str) -> AccountRole:
    """Return the role of a name; `bad-option` for none."""
    if text not in set(AccountRole):
        raise Refusal(Code.BAD_OPTION, SAY("no-role", role=text[:24]))
    return AccountRole(text)


def holders_of(app: App, by: AccountId, role: AccountRole) -> list[str]:
    """Return the userids of those who have a role, sorted, as an operator; `not-an-operator`."""
    require_operator(app, by)
    return sorted(filter(None, app.accounts.name_of(app.accounts.holders(role))))


def set_role(app: App, by: AccountId, userid: str, role: AccountRole, *, held: bool) -> AccountId:
    """Set whether an account has a role, as an operator; return the account.

    `not-an-operator`, `unknown-user`, and `not-wanted` for a robot, or for the only operator that is left, unless
    at the terminal, where another can be appointed.
    """
    app.ready()
    require_operator(app, by)
    if role is AccountRole.OPERATOR and not held and by != TERMINAL:
        left = app.accounts.holders(AccountRole.OPERATOR)
        if left == [app.accounts.id_of(userid)]:
            raise Refusal(Code.NOT_WANTED, SAY("last-operator", name=userid.lower()))
    account = app.accounts.set_role(userid, role, held=held)
    app.acts.append(by, Act.ROLE_GIVEN if held else Act.ROLE_TAKEN, account, role)
    return account
