"""Links that end all mail to an account with one POST and no login (RFC 8058), for the header List-Unsubscribe.

A link has a MAC by the key in the file `accounts-key`, which the mailer and the pages both have. It proves
nothing else: it can end the account's mail only.
"""

import hmac
import re
from functools import cached_property
from pathlib import Path
from typing import Final

from domain.records import AccountId
from infra.people.account_macs import MacKeyError, read_mac_key

_TEXT: Final = re.compile(r"([0-9a-f]{16})-([0-9a-f]{32})")
_MAC_BYTES: Final = 16


class UnsubscribeLinks:
    """Makes and reads the links. `keys` is the folder of keys, `site` the address of the pages, if it is set."""

    def __init__(self, keys: Path, site: str | None) -> None:
        self._keys = keys
        self._site = site

    def url(self, account: AccountId) -> str:
        """Return an account's link; empty without a site, or without the key."""
        if not self._site or self._secret is None:
            return ""
        return f"{self._site}/unsubscribe/{account.hex()}-{self._mac(self._secret, account)}"

    def read(self, text: str) -> AccountId | None:
        """Return the account of a link, by its last part; None for one that this server did not make."""
        found = _TEXT.fullmatch(text)
        if found is None or self._secret is None:
            return None
        account = bytes.fromhex(found[1])
        return account if hmac.compare_digest(found[2], self._mac(self._secret, account)) else None

    @cached_property
    def _secret(self) -> bytes | None:
        try:
            return read_mac_key(self._keys).secret
        except MacKeyError:
            return None

    def _mac(self, secret: bytes, account: AccountId) -> str:
        return hmac.digest(secret, b"unsubscribe\0" + account, "sha256")[:_MAC_BYTES].hex()
