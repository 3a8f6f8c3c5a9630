"""Actions whose effect outlasts a session need a password that was given recently.

A token, what an app was let do, and a mail address outlast the session or token that made them. So a stranger at
an open browser, or with a lost token, must not be able to make one of them.

A forgotten password: a link that is mailed to a proven address, and the new password.

Nobody learns from it which userids and addresses there are: see `infra.people.password_resets`.
"""

import secrets
from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.state import is_bot
from domain.records import AccountId
from infra.people.accounts.second_factors import SETTLING_DAYS
from infra.people.password_resets import PasswordResets
from services.app.account_rows import AccountRow, check_row
from services.app.accounts import authenticate, own_profile, refuse_robot, sign_up
from services.app.acts import TERMINAL, Act, record_act
from services.app.context import App
from services.app.roles import require_operator
from services.app.sentences import SAY

FRESH_MS: Final = 10 * 60_000
"""How long a password counts as given recently."""


_DAY: Final = 86_400_000


def is_fresh(now: int, proven: int) -> bool:
    """Return whether the password was given recently: `proven` is when, in ms like `now`."""
    return now - proven < FRESH_MS


def check_recent_password(app: App, account: AccountId, password: str, proven: int) -> None:
    """Check the password, which may be left out soon after it was given at `proven`, in ms.

    `password-needed` without it; a wrong one is refused as in `authenticate`.
    """
    if password:
        authenticate(app, own_profile(app, account).name, password, proven=True)
    elif not is_fresh(app.store.now(), proven):
        raise Refusal(Code.PASSWORD_NEEDED, SAY("password-again"))


def can_reset(app: App) -> bool:
    """Return whether this server mails links: it has a relay, and knows its own address."""
    return bool(app.settings.relay and app.settings.site)


def ask_reset(app: App, text: str) -> None:
    """Ask for a link to the addresses of a userid, or of the accounts with a proven address."""
    if not can_reset(app):
        raise Refusal(Code.UNAVAILABLE, SAY("no-mail-here"))
    if not text:
        raise Refusal(Code.BAD_REQUEST, SAY("reset-empty"))
    _resets(app).request(text)


def check_link(app: App, text: str) -> AccountId:
    """Return the account of a link; `not-found` for one that is not valid."""
    account = _resets(app).account_of(text)
    profile = None if account is None else app.accounts.record_of(account)
    if account is None or profile is None or profile.suspended:
        raise _outdated()
    return account


def link_needs_code(app: App, text: str) -> bool:
    """Return whether the account of a link has a second factor that holds; `not-found` as in `check_link`.

    One that was changed within `SETTLING_DAYS` may be a thief's, so it doesn't hold against the mailbox.
    """
    factors = app.accounts.factors_of(check_link(app, text))
    return factors.any and app.store.now() - factors.changed >= SETTLING_DAYS * _DAY


def reset_password(app: App, text: str, new: str, code: str = "") -> AccountId:
    """Replace the password of a link's account, and end all its sessions, tokens and passkeys.

    Where a second factor holds the link alone doesn't suffice, because others may read a mailbox: `code-needed`,
    `wrong-code`. One that doesn't hold ends. Those refusals and `bad-password` leave the link valid; `not-found` for one
    that was used, or has expired.
    """
    app.ready()
    needs_code = link_needs_code(app, text)
    hashed = app.accounts.hash_new(check_link(app, text), new)
    if needs_code:
        app.accounts.use_code(check_link(app, text), code)
    account = _resets(app).use(text)
    if account is None:
        raise _outdated()
    # crash window: the link has ended and the password is the old one; another link can be asked for
    app.accounts.reset_password(account, hashed, keep=needs_code)
    return account


_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"
"""Letters and digits that nobody takes for another."""

_GROUPS, _GROUP_LENGTH = 3, 4


def made_up_password() -> str:
    """Return a password that is easy to copy by hand, such as `k7tm-4qzp-w2xh`: 59 random bits."""
    letters = [secrets.choice(_LETTERS) for _ in range(_GROUPS * _GROUP_LENGTH)]
    starts = range(0, len(letters), _GROUP_LENGTH)
    return "-".join("".join(letters[at : at + _GROUP_LENGTH]) for at in starts)


def make_account(
    app: App, userid: str, *, by: AccountId = TERMINAL, row: AccountRow | None = None
) -> str:
    """Make an account for somebody, as an operator, and return its password.

    `row` has what else is known of it. Refused as `sign_up` and `check_row` do.
    """
    require_operator(app, by)
    row = row or AccountRow(userid)
    check_row(row)
    password = made_up_password()
    account = sign_up(app, userid, password, row.email.split(), by_operator=True)
    if row.name or row.language:
        # crash window: the account is there without them, and nobody has its password
        app.accounts.change_of(
            account,
            lambda record: replace(record, real_name=row.name, language=row.language.lower()),
        )
    record_act(app, by, Act.ACCOUNT_MADE, account)
    return password


MOST_AT_ONCE: Final = 100
"""Accounts that are made by one request."""


class MadeAccount(NamedTuple):
    """An account that was made, or why it was not."""

    userid: str
    password: str = ""
    """Shown once; empty if the account was not made."""
    refusal: Refusal | None = None


def make_accounts(
    app: App, userids: Sequence[str], *, by: AccountId = TERMINAL
) -> list[MadeAccount]:
    """Make accounts for others, as an operator; one that is refused harms no other.

    `not-an-operator`, and `too-many` before any is made.
    """
    require_operator(app, by)
    if len(userids) > MOST_AT_ONCE:
        raise Refusal(Code.TOO_MANY, SAY("too-many-names", most=MOST_AT_ONCE))
    made = []
    for userid in userids:
        try:
            made.append(MadeAccount(userid.lower(), make_account(app, userid, by=by)))
        except Refusal as reason:
            made.append(MadeAccount(userid, refusal=reason))
    return made


def replace_lost_password(app: App, userid: str, *, by: AccountId = TERMINAL) -> str:
    """Replace a password that was lost, as an operator, and return the new one.

    All sessions and tokens end, and second factors too, because they may be lost as well; mail to the proven addresses says so. `unknown-user`; `not-wanted` for a robot.
    """
    app.ready()
    require_operator(app, by)
    account = app.accounts.id_of(userid)
    refuse_robot(account, userid)
    if is_bot(account):
        raise Refusal(Code.NOT_WANTED, SAY("bot-password", name=userid.lower()))
    password = made_up_password()
    hashed = app.accounts.hash_new(account, password, is_counted=False)
    app.accounts.reset_password(account, hashed, keep=False)
    record_act(app, by, Act.PASSWORD_REPLACED, account)
    return password


def _resets(app: App) -> PasswordResets:
    return PasswordResets(app.people)


def _outdated() -> Refusal:
    return Refusal(Code.NOT_FOUND, SAY("link-used"))
