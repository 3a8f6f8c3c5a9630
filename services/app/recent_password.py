"""What outlasts a session needs a password that was given a moment ago.

A token and a mail address stay when the session or token is over that made them, and so a stranger
at an open browser, or with a token that was lost, must not be able to make either.
"""

from typing import Final

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from services.app.accounts import authenticate, own_profile
from services.app.context import App

FRESH_MS: Final = 10 * 60_000
"""How long a password counts that was given once."""


def is_fresh(now: int, proven: int) -> bool:
    """Return whether the password was given a moment ago: `proven` is when, in ms like `now`."""
    return now - proven < FRESH_MS


def check_recent_password(app: App, account: AccountId, password: str, proven: int) -> None:
    """Check the password, which may be left out a moment after it was given at `proven`, in ms.

    `password-needed`, and for a wrong one as `authenticate`.
    """
    if password:
        authenticate(app, own_profile(app, account).name, password)
    elif not is_fresh(app.store.now(), proven):
        raise Refusal(
            Code.PASSWORD_NEEDED, "give your password too: you gave it more than ten minutes ago"
        )
