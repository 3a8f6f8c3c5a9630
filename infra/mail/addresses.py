"""The server's own addresses: each proves what a mail to it may do.

An address ends in 128 bits of an HMAC-SHA256 under the server's secret, so nobody can guess one. The
address of a seat is bound to the account that has the seat, and to how often that account has replaced
such addresses: a new password, a log-out everywhere and the removal of a mail address end them all.
Anybody who has an address may act with it, as with a key: it is in no log and on no page, and is sent
only to its player, in Reply-To and not in From, because forwarded and quoted mails repeat From.

How players are mailed, and the status of their addresses: verified, or undeliverable since a mail was returned.
"""

import hmac
import os
import re
from base64 import b32encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.mail.smtp_client import clean_reply
from infra.mail.verification_codes import VerificationCodes, wrong_code
from infra.people.accounts import Account, Accounts, MailAddress, Profile
from infra.people.accounts.usernames import mailbox
from infra.process.synced_files import create_once

SECRET_BYTES: Final = 32

FILE_NAME: Final = "mail-key"
"""The secret's file, in the data directory."""

_MAC_BYTES: Final = 16

_MAC: Final = "[a-z2-7]{26}"
_SEAT: Final = re.compile(rf"m([1-9][0-9]{{0,14}})-s([0-9])-({_MAC})")
_PROOF: Final = re.compile(rf"(signoff|bounce)-([0-9a-f]{{16}})-({_MAC})")
_CODE: Final = re.compile(r"verify-([0-9a-f]{16})-([a-z2-9]{10})")


class LostKeyError(Exception):
    """The file exists and can't be a secret; the message says which file, and what to do."""


class SeatClaim(msgspec.Struct, frozen=True):
    """The claim of a seat's address, which only `Addresses.proves` verifies."""

    board: int
    seat: int
    mac: str
    """Lower case."""


class CodeReply(msgspec.Struct, frozen=True):
    """The contents of an address that returns a code."""

    account: AccountId
    code: str


class ServerAddresses:
    """Makes and reads the server's addresses; `domain` is the part after the @.

    Reading ignores case, and returns None for another domain or form.
    """

    def __init__(self, secret: bytes, domain: str) -> None:
        self._secret = secret
        self.domain = domain.lower()

    # a seat

    def of(self, board: int, seat: int, account: AccountId, turn: int = 0) -> str:
        """Return the address at which an account plays its seat of a match; `turn` is its `mail_turn`."""
        return f"m{board}-s{seat}-{self._seat_mac(board, seat, account, turn)}@{self.domain}"

    def read(self, address: str) -> SeatClaim | None:
        """Read the address of a seat, without checking who made it."""
        found = self._match(_SEAT, address)
        return found and SeatClaim(int(found[1]), int(found[2]), found[3])

    def proves(self, claim: SeatClaim, account: AccountId, turn: int = 0) -> bool:
        """Return whether this server made the address, for the account that has the seat at a turn."""
        return hmac.compare_digest(
            claim.mac, self._seat_mac(claim.board, claim.seat, account, turn)
        )

    def _seat_mac(self, board: int, seat: int, account: AccountId, turn: int) -> str:
        # without the first turn, so that addresses from before there were turns stay valid
        later = b" %d" % turn if turn else b""
        return self._mac("seat", b"%d %d " % (board, seat) + account + later)

    # the server

    @property
    def server_address(self) -> str:
        """The address outside of matches: for signups, and lines with userid and password."""
        return f"matchpost@{self.domain}"

    @property
    def display_address(self) -> str:
        """The address in From, where nobody reads mail: replies go to the one in Reply-To."""
        return f"noreply@{self.domain}"

    # leaving

    def signoff(self, account: AccountId) -> str:
        """Return the address to which any mail from one of its own addresses stops all mail to an account."""
        return f"signoff-{account.hex()}-{self._mac('signoff', account)}@{self.domain}"

    def read_signoff(self, address: str) -> AccountId | None:
        """Return the account of a sign-off address that this server made."""
        found = self._match(_PROOF, address)
        if found is None or found[1] != "signoff":
            return None
        account = bytes.fromhex(found[2])
        return account if self._verifies(found[3], "signoff", account) else None

    # coming back

    def bounce(self, account: AccountId, address: str) -> str:
        """Return the address to which undeliverable mail for an account's `address` is returned."""
        mac = self._mac("bounce", account + mailbox(address).encode())
        return f"bounce-{account.hex()}-{mac}@{self.domain}"

    def read_bounce(self, address: str) -> AccountId | None:
        """Return the account that a bounce address names; `is_bounce_of` verifies it."""
        found = self._match(_PROOF, address)
        return bytes.fromhex(found[2]) if found and found[1] == "bounce" else None

    def is_bounce_of(self, given: str, account: AccountId, address: str) -> bool:
        """Return whether `given` is the bounce address of an account's address."""
        ours = self.bounce(account, address)
        return hmac.compare_digest(given.lower().encode(errors="replace"), ours.encode())

    # codes

    def code(self, account: AccountId, code: str) -> str:
        """Return the address that returns a code: a reply to it verifies the player's address."""
        return f"verify-{account.hex()}-{code}@{self.domain}"

    def read_code(self, address: str) -> CodeReply | None:
        """Read such an address, without checking the code."""
        found = self._match(_CODE, address)
        return found and CodeReply(bytes.fromhex(found[1]), found[2])

    # ids

    @property
    def fingerprint(self) -> str:
        """Return a text that differs between secrets and reveals nothing of them."""
        return self._mac("fingerprint", b"")

    def mark(self, *parts: object) -> str:
        """Return eight characters for the id of an e-mail, the same for the same parts.

        Another server has another secret, so its board 1 gets other ids.
        """
        return self._mac("id", " ".join(map(str, parts)).encode())[:8]

    def _verifies(self, mac: str, purpose: str, data: bytes) -> bool:
        return hmac.compare_digest(mac, self._mac(purpose, data))

    def _mac(self, purpose: str, data: bytes) -> str:
        # no purpose has a NUL
        digest = hmac.digest(self._secret, purpose.encode() + b"\0" + data, sha256)
        return b32encode(digest[:_MAC_BYTES]).decode().rstrip("=").lower()

    def _match(self, form: re.Pattern[str], address: str) -> re.Match[str] | None:
        local, _, domain = address.lower().rpartition("@")
        return form.fullmatch(local) if domain == self.domain else None


def read_secret(file: Path) -> bytes:
    """Return the secret in `file`, which is made at random if there is no file yet.

    Of several processes that start at once the first makes the secret. Raises `LostKeyError` and
    OSError.
    """
    create_once(file, os.urandom(SECRET_BYTES))
    secret = file.read_bytes()
    if len(secret) != SECRET_BYTES:
        raise LostKeyError(
            f"{file} has {len(secret)} bytes and should have {SECRET_BYTES}; "
            "restore it from a backup, or remove it: replies to older mail are refused then"
        )
    return secret


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
