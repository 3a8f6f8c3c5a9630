"""The addresses that mail is answered to: each proves what an answer to it may do.

Behind the name of what it is for stands 128 bits of an HMAC-SHA256 under the server's secret, so
nobody can guess one. An address of a seat is bound to the account that holds the seat, and changes
with it. Whoever has one may act with it, as who has a key: it is in no log and on no page, and is
told only to its player.
"""

import hmac
import os
import re
from base64 import b32encode
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Final

import msgspec

from domain.match.events import AccountId
from infra.accounts.reading import mailbox
from infra.synced_files import sync_folder, write_synced

SECRET_BYTES: Final = 32

FILE_NAME: Final = "mail-key"
"""The secret's file, in the data directory."""

_MAC_BYTES: Final = 16

_MAC: Final = "[a-z2-7]{26}"
_SEAT: Final = re.compile(rf"m([1-9][0-9]{{0,14}})-s([0-9])-({_MAC})")
_PROOF: Final = re.compile(rf"(signoff|bounce)-([0-9a-f]{{16}})-({_MAC})")
_CODE: Final = re.compile(r"verify-([0-9a-f]{16})-([a-z2-9]{10})")


class LostKeyError(Exception):
    """The file of the secret is there and can't be one; the message says which and what to do."""


class Claim(msgspec.Struct, frozen=True):
    """What the address of a seat claims; only `Addresses.proves` knows whether it is so."""

    board: int
    seat: int
    mac: str
    """Lower case."""


class CodeReply(msgspec.Struct, frozen=True):
    """What is read of an address that a code is answered to."""

    account: AccountId
    code: str


class Addresses:
    """Makes and reads the server's addresses; `domain` is what stands after their @.

    Reading takes any case. What is read of another domain, or in another form, is None.
    """

    def __init__(self, secret: bytes, domain: str) -> None:
        self._secret = secret
        self.domain = domain.lower()

    # a seat

    def of(self, board: int, seat: int, account: AccountId) -> str:
        """Return the address at which an account plays its seat of a match."""
        return f"m{board}-s{seat}-{self._seat_mac(board, seat, account)}@{self.domain}"

    def read(self, address: str) -> Claim | None:
        """Read the address of a seat, whoever made it."""
        found = self._matched(_SEAT, address)
        return found and Claim(int(found[1]), int(found[2]), found[3])

    def proves(self, claim: Claim, account: AccountId) -> bool:
        """Whether a claim was made here for the account that holds its seat."""
        return hmac.compare_digest(claim.mac, self._seat_mac(claim.board, claim.seat, account))

    def _seat_mac(self, board: int, seat: int, account: AccountId) -> str:
        return self._mac("seat", b"%d %d " % (board, seat) + account)

    # the server

    @property
    def server_address(self) -> str:
        """The address of no match: for signups, and lines with a userid and its password."""
        return f"matchpost@{self.domain}"

    # leaving

    def signoff(self, account: AccountId) -> str:
        """Return the address to which any mail ends all mail to an account."""
        return f"signoff-{account.hex()}-{self._mac('signoff', account)}@{self.domain}"

    def read_signoff(self, address: str) -> AccountId | None:
        """Return the account of such an address, if it was made here."""
        found = self._matched(_PROOF, address)
        if found is None or found[1] != "signoff":
            return None
        account = bytes.fromhex(found[2])
        return account if self._is(found[3], "signoff", account) else None

    # coming back

    def bounce(self, account: AccountId, address: str) -> str:
        """Return the address that mail to an account's `address` comes back to."""
        mac = self._mac("bounce", account + mailbox(address).encode())
        return f"bounce-{account.hex()}-{mac}@{self.domain}"

    def read_bounce(self, address: str) -> AccountId | None:
        """Return the account that such an address names; `is_bounce_of` knows whether it is so."""
        found = self._matched(_PROOF, address)
        return bytes.fromhex(found[2]) if found and found[1] == "bounce" else None

    def is_bounce_of(self, given: str, account: AccountId, address: str) -> bool:
        """Whether mail to this address of an account comes back to the `given` one."""
        ours = self.bounce(account, address)
        return hmac.compare_digest(given.lower().encode(errors="replace"), ours.encode())

    # codes

    def code(self, account: AccountId, code: str) -> str:
        """Return the address to which an answer gives a code back."""
        return f"verify-{account.hex()}-{code}@{self.domain}"

    def read_code(self, address: str) -> CodeReply | None:
        """Read such an address; the code is still to be compared."""
        found = self._matched(_CODE, address)
        return found and CodeReply(bytes.fromhex(found[1]), found[2])

    # ids

    @property
    def fingerprint(self) -> str:
        """Return what tells this secret from another, and nothing of it."""
        return self._mac("fingerprint", b"")

    def mark(self, *parts: object) -> str:
        """Return eight characters for an id of a letter, the same for the same parts.

        Other data has another secret: board 1 of a new server is not that of the one before.
        """
        return self._mac("id", " ".join(map(str, parts)).encode())[:8]

    def _is(self, mac: str, purpose: str, data: bytes) -> bool:
        return hmac.compare_digest(mac, self._mac(purpose, data))

    def _mac(self, purpose: str, data: bytes) -> str:
        # no purpose has a NUL
        digest = hmac.digest(self._secret, purpose.encode() + b"\0" + data, sha256)
        return b32encode(digest[:_MAC_BYTES]).decode().rstrip("=").lower()

    def _matched(self, form: re.Pattern[str], address: str) -> re.Match[str] | None:
        local, _, domain = address.lower().rpartition("@")
        return form.fullmatch(local) if domain == self.domain else None


def read_secret(file: Path) -> bytes:
    """Return the secret that `file` has, made by chance if there is no file yet.

    Several processes may come at once: the first one's secret is everybody's. Raises
    `LostKeyError` and OSError.
    """
    if not file.exists():
        _make_secret(file)
    secret = file.read_bytes()
    if len(secret) != SECRET_BYTES:
        raise LostKeyError(
            f"{file} has {len(secret)} bytes and should have {SECRET_BYTES}; "
            "restore it from a backup, or remove it: replies to older mail are refused then"
        )
    return secret


def _make_secret(file: Path) -> None:
    """Write a new secret, whole or not at all, and sync it."""
    draft = file.with_name(f"{file.name}.{token_hex(8)}")
    write_synced(draft, os.urandom(SECRET_BYTES))
    try:
        os.link(draft, file)  # which never replaces another process's file
    except FileExistsError:
        return
    finally:
        draft.unlink()
    sync_folder(file.parent)
