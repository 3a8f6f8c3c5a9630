"""What is known of a player's own addresses: proven, or bad since a mail came back."""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.accounts import Account, Accounts, Address
from infra.accounts.reading import mailbox
from infra.mail.codes import Codes, wrong_code
from infra.mail.relay import fit_reply

_TRIES: Final = 5


class Standing:
    """Changes what accounts hold of their addresses. Errors of the server pass through."""

    def __init__(self, accounts: Accounts, codes: Codes) -> None:
        self._accounts = accounts
        self._codes = codes

    def prove(self, account: AccountId, code: str) -> str:
        """Take a code back; gives the address it proves, or refuses it as `bad-address`.

        Nothing else than the code is asked: it was sent to that address alone.
        """
        address = self._codes.address_of(account, code)
        if address is None:
            raise wrong_code()
        proven = self._set(account, address, lambda one: replace(one, verified=True, bounced=""))
        self._codes.used(account, address)
        if proven is None:
            raise wrong_code()
        return proven

    def bounced(self, account: AccountId, address: str, why: str) -> bool:
        """Note that mail to an address came back; nothing is sent there until it is proven anew.

        `why` is what another server said. False when the account has no such address any more.
        """
        said = fit_reply(why) or "it came back"
        return self._set(account, address, lambda one: replace(one, bounced=said)) is not None

    def _set(
        self, account: AccountId, address: str, change: Callable[[Address], Address]
    ) -> str | None:
        """Change one address of an account; gives it as its owner wrote it."""
        written: list[str] = []

        def changed(record: Account) -> Account:
            mine = [one.address for one in record.addresses if _same(one, address)]
            written[:] = mine
            addresses = (change(one) if _same(one, address) else one for one in record.addresses)
            return replace(record, addresses=tuple(addresses))

        self._change(account, changed)
        return written[0] if written else None

    def _change(self, account: AccountId, change: Callable[[Account], Account]) -> None:
        """Change a record, again if it was changed elsewhere at the same moment."""
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


def _same(one: Address, address: str) -> bool:
    return mailbox(one.address) == mailbox(address)
