"""How players are mailed, and the status of their addresses: verified, or undeliverable since a mail was returned."""

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.mail.smtp_client import clean_reply
from infra.mail.verification_codes import VerificationCodes, wrong_code
from infra.people.accounts import Account, Accounts, MailAddress, Profile
from infra.people.accounts.validation import mailbox

_TRIES: Final = 5


class AddressStatus:
    """Changes the status of accounts' addresses. Errors of the server pass through."""

    def __init__(self, accounts: Accounts, codes: VerificationCodes) -> None:
        self._accounts = accounts
        self._codes = codes

    def prove(self, account: AccountId, code: str) -> str:
        """Verify an address by its code; return the address, or refuse as `bad-address`.

        The code is enough, because it was sent to that address alone.
        """
        address = self._codes.address_of(account, code)
        if address is None:
            raise wrong_code()
        proven = self._set(account, address, lambda one: replace(one, verified=True, bounced=""))
        self._codes.forget_code(account, address)
        if proven is None:
            raise wrong_code()
        return proven

    def mark_bounced(self, account: AccountId, address: str, why: str) -> bool:
        """Note that mail to an address was returned; nothing is sent there until it is verified again.

        `why` is the other server's reply. False if the account no longer has the address.
        """
        said = clean_reply(why) or "it came back"
        return self._set(account, address, lambda one: replace(one, bounced=said)) is not None

    def _set(
        self, account: AccountId, address: str, change: Callable[[MailAddress], MailAddress]
    ) -> str | None:
        """Change one address of an account; return it as its owner wrote it."""
        written: list[str] = []

        def changed(record: Account) -> Account:
            mine = [one.address for one in record.addresses if _same(one, address)]
            written[:] = mine
            addresses = (change(one) if _same(one, address) else one for one in record.addresses)
            return replace(record, addresses=tuple(addresses))

        self._change(account, changed)
        return written[0] if written else None

    def _change(self, account: AccountId, change: Callable[[Account], Account]) -> None:
        """Change a record; retry if it was changed elsewhere at the same moment."""
        for last in [*[False] * (_TRIES - 1), True]:
            try:
                self._accounts.change_of(account, change)
            except Refusal as refusal:
                if refusal.code == Code.UNKNOWN_USER:
                    return
                if refusal.code != Code.BUSY or last:
                    raise
            else:
                return


def _same(one: MailAddress, address: str) -> bool:
    return mailbox(one.address) == mailbox(address)


class Recipient(msgspec.Struct, frozen=True):
    """A player who wants mail."""

    addresses: tuple[str, ...]
    daily: bool
    """Whether the player wants one digest a day."""
    receipts: bool = False
    """Whether the player wants receipts."""


def recipient_of(profile: Profile | None) -> Recipient | None:
    """Return how to mail a player; None for one who wants no mail, has no address, or is deleted."""
    if profile is None or not wants_mail(profile):
        return None
    addresses = tuple(one.address for one in profile.addresses if one.usable)
    daily = profile.notify == "daily"
    return Recipient(addresses, daily, profile.receipts) if addresses else None


def wants_mail(profile: Profile) -> bool:
    """Return whether a player wants any mail."""
    return not profile.signed_off and profile.notify != "none"
