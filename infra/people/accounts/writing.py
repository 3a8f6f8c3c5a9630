"""Writes accounts' records, and refuses what can't be written."""

import redis
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.people.accounts.access import with_next_mail_turn
from infra.people.accounts.record import (
    Account,
    AccountChange,
    MailAddress,
    Profile,
)
from infra.people.accounts.validation import mailbox
from infra.redis import keys, scripts
from infra.sentences import SAY


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
    """Refuse an account that the operator has suspended."""
    if profile.suspended:
        raise Refusal(Code.SUSPENDED, SAY("suspended", name=profile.name))


def changed_elsewhere() -> Refusal:
    """Return the refusal of a change that another one overtook."""
    return Refusal(Code.BUSY, SAY("account-busy"))
