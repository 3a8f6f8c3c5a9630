"""Writes accounts' records, and refuses what can't be written.

Access to an account without its password, and the end of it.
"""

from typing import Any

import redis
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.accounts.record import (
    Account,
    AccountChange,
    MailAddress,
    Profile,
    decode_profile,
)
from infra.people.accounts.usernames import Usernames, mailbox
from infra.people.calendar_links import CalendarLinks
from infra.people.grants import Grants
from infra.people.hooks import HookOff, Hooks
from infra.people.password_resets import PasswordResets
from infra.people.push_subscriptions import PushSubscriptions
from infra.people.rate_limits import SecurityEvent, note_security
from infra.people.sessions import Sessions
from infra.people.tokens import Tokens
from infra.redis import keys, scripts
from infra.sentences import SAY, day_of


def bots_of(client: redis.Redis, account: AccountId) -> dict[str, AccountId]:
    """Return the bots of an account by userid; none of a deleted account."""
    data: Any = client.get(keys.account(account))
    users = Usernames(client)
    found = {name: users.read(name) for name in (decode_profile(data).bots if data else ())}
    # a name whose bot was never made, or was deleted, may be another's by now
    return {
        name: one[0]
        for name, one in found.items()
        if one and decode_profile(one[1]).owner == account
    }


def end_opened(
    client: redis.Redis, account: AccountId, *, session: str = "", tokens: bool = True
) -> None:
    """End an account's sessions, tokens, grants, calendar address, notifications in browsers and link for a new password.

    Its hooks are switched off. The session of this id stays, and tokens, grants, calendar and hooks stay without `tokens`,
    with the notifications of both. The addresses of seats end by a change of the record: see `with_next_mail_turn`. The
    tokens of its bots end with its own.
    """
    Sessions(client).end_others(account, session)
    if tokens:
        # first, so that no further token is issued by them
        Grants(client).end_all(account)
        for one in (account, *bots_of(client, account).values()):
            Tokens(client).forget(one)
        CalendarLinks(client).forget(account)
        Hooks(client).switch_off(account, HookOff.ACCESS)
        note_security(SecurityEvent.TOKENS_ENDED, account)
    PushSubscriptions(client).lasting(account, unnamed=False)
    PasswordResets(client).forget(account)


def mail_turn_of(profile: Profile | None) -> int:
    """Return the turn of the addresses of an account's seats; 0 for a deleted account."""
    return profile.mail_turn if profile else 0


def with_next_mail_turn(record: Account) -> Account:
    """Return a record whose seats have new addresses, so that no mail so far can be answered."""
    return replace(record, mail_turn=record.mail_turn + 1)


def write_account(
    client: redis.Redis,
    account: AccountId,
    data: bytes,
    new: bytes,
    mac: bytes,
    milliseconds: int = 0,
) -> bool:
    """Replace an account's record that is still `data`, with its MAC; False if it has changed."""
    names = [keys.account(account), keys.account_mac(account)]
    return bool(scripts.call(client, scripts.WRITE_ACCOUNT, names, [data, new, mac, milliseconds]))


def mailboxes(record: Profile) -> set[str]:
    """Return the addresses of a record, as `mailbox` writes them."""
    return {mailbox(one.address) for one in record.addresses}


def with_addresses(old: Account, addresses: tuple[MailAddress, ...]) -> Account:
    """Return a record with other addresses and without a sign-off."""
    new = replace(old, addresses=addresses, signed_off=False)
    # because the mail that went to a removed address has the addresses of seats
    return new if mailboxes(old) <= mailboxes(new) else with_next_mail_turn(new)


def changes_to_mail(old: Account, new: Account) -> list[AccountChange]:
    """Return the changes of a record of which its owner has to hear by mail."""
    changed = {
        AccountChange.ADDRESSES: mailboxes(old) != mailboxes(new),
        AccountChange.PASSWORD: old.password != new.password,
        # what ended with all access is not news
        AccountChange.FACTORS: old.mail_turn == new.mail_turn
        and old.factors_changed != new.factors_changed,
    }
    return [change for change, made in changed.items() if made]


def notify_nobody(_: Profile, __: AccountChange) -> None:
    """Do nothing: for accounts of which no changes are mailed."""


def name_taken(name: str) -> Refusal:
    """Return the refusal of a userid that is taken."""
    return Refusal(Code.NAME_TAKEN, SAY("name-taken", name=name))


def unknown_user(name: str) -> Refusal:
    """Return the refusal of a userid that nobody has."""
    return Refusal(Code.UNKNOWN_USER, SAY("no-user", name=name[:24]))


def refuse_suspended(profile: Profile) -> None:
    """Refuse an account that is suspended, by its record as it is now."""
    if not profile.suspended:
        return
    if profile.suspended_until:
        day = day_of(profile.suspended_until)
        raise Refusal(Code.SUSPENDED, SAY("suspended-until", name=profile.name, day=day))
    raise Refusal(Code.SUSPENDED, SAY("suspended", name=profile.name))


def changed_elsewhere() -> Refusal:
    """Return the refusal of a change that another one overtook."""
    return Refusal(Code.BUSY, SAY("account-busy"))
