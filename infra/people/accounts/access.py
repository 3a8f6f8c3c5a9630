"""Access to an account without its password, and the end of it."""

import redis
from msgspec.structs import replace

from domain.match.events import AccountId
from infra.people.accounts.record import Account, Profile
from infra.people.password_resets import PasswordResets
from infra.people.push_subscriptions import PushSubscriptions
from infra.people.security_log import SecurityEvent, note_security
from infra.people.sessions import Sessions
from infra.people.tokens import Tokens


def end_opened(
    client: redis.Redis, account: AccountId, *, session: str = "", tokens: bool = True
) -> None:
    """End an account's sessions, tokens, notifications in browsers and link for a new password.

    The session of this id stays, and tokens stay without `tokens`, with the notifications of both. The
    addresses of seats end by a change of the record: see `with_next_mail_turn`.
    """
    Sessions(client).end_others(account, session)
    if tokens:
        Tokens(client).forget(account)
        note_security(SecurityEvent.TOKENS_ENDED, account)
    PushSubscriptions(client).lasting(account, unnamed=False)
    PasswordResets(client).forget(account)


def mail_turn_of(profile: Profile | None) -> int:
    """Return the turn of the addresses of an account's seats; 0 for a deleted account."""
    return profile.mail_turn if profile else 0


def with_next_mail_turn(record: Account) -> Account:
    """Return a record whose seats have new addresses, so that no mail so far can be answered."""
    return replace(record, mail_turn=record.mail_turn + 1)
