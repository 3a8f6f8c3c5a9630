"""Actions whose effect outlasts a session need a password that was given recently.

A token and a mail address outlast the session or token that made them. So a stranger at an open
browser, or with a lost token, must not be able to make either.
"""

from typing import Final

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from services.app.accounts import authenticate, own_profile
from services.app.context import App
from services.app.sentences import SAY

FRESH_MS: Final = 10 * 60_000
"""How long a password counts as given recently."""


def is_fresh(now: int, proven: int) -> bool:
    """Return whether the password was given recently: `proven` is when, in ms like `now`."""
    return now - proven < FRESH_MS


def check_recent_password(app: App, account: AccountId, password: str, proven: int) -> None:
    """Check the password, which may be left out soon after it was given at `proven`, in ms.

    `password-needed` without it; a wrong one is refused as in `authenticate`.
    """
    if password:
        authenticate(app, own_profile(app, account).name, password)
    elif not is_fresh(app.store.now(), proven):
        raise Refusal(Code.PASSWORD_NEEDED, SAY("password-again"))
