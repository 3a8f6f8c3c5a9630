"""What outlasts a session asks for the password, or for who has given it a moment ago.

A token and a mail address stay when the session is over that made them. Who finds a browser open, or
a token somewhere, must not be able to make either.
"""

from typing import Final

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.accounts import Accounts

FRESH_MS: Final = 10 * 60_000
"""How long after the password was given it is not asked for again."""


def is_fresh(now: int, proven: int) -> bool:
    """Whether the password was given a moment ago: `proven` is when, in ms like `now`."""
    return now - proven < FRESH_MS


def confirm(accounts: Accounts, account: AccountId, password: str, *, fresh: bool) -> None:
    """Let who is fresh go on, and who gives the password.

    `password-needed` without one, and otherwise as `Accounts.verify`.
    """
    if password:
        accounts.verify(_name(accounts, account), password)
    elif not fresh:
        raise Refusal(
            Code.PASSWORD_NEEDED, "give your password too: you gave it more than ten minutes ago"
        )


def _name(accounts: Accounts, account: AccountId) -> str:
    (name,) = accounts.name_of([account])
    if name is None:
        raise Refusal(Code.UNKNOWN_USER, "the account was deleted at this moment")
    return name
