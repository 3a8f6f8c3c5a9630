"""Looks up an inbound mail's recipient: each address of the server allows other actions.

The sender of the mail plays no part, because it may be forged.
"""

from typing import Final

import msgspec

from domain.errors import Refusal
from domain.match.history import unpack_snapshot
from domain.records import AccountId
from domain.rules import rules_by_id
from infra.mail.addresses import SeatClaim, ServerAddresses
from infra.people.accounts import read_address
from infra.people.accounts.usernames import mailbox
from services.app.context import App
from services.app.damaged_match import refuse_damaged
from services.mail.mail_commands import SeatPlayer

_NOBODY: Final = frozenset({"mailer-daemon", "postmaster"})
"""Local parts of addresses at which no player reads mail."""

_RECOGNISED: Final = 100
"""How many earlier addresses of a seat are recognised, to be answered with the one that is valid."""


class ServerAddress(msgspec.Struct, frozen=True):
    """The server's address: takes whole command lines, from anybody."""


class DisplayAddress(msgspec.Struct, frozen=True):
    """The address in From of all mail, at which nobody reads."""


class OperatorAddress(msgspec.Struct, frozen=True):
    """An address at which people look for those who run the server (RFC 2142, RFC 5321)."""

    name: str


class SeatAddress(msgspec.Struct, frozen=True):
    """The address of a seat: takes its player's commands in the match."""

    player: SeatPlayer
    address: str
    """The one that is valid now."""
    outdated: bool = False
    """Whether an earlier one was found, which its player has replaced."""


class SignoffAddress(msgspec.Struct, frozen=True):
    """The address that ends all mail to an account."""

    account: AccountId


class BounceAddress(msgspec.Struct, frozen=True):
    """The address to which undeliverable mail for an address of an account is returned."""

    account: AccountId
    address: str


class VerificationAddress(msgspec.Struct, frozen=True):
    """The address to which a reply verifies an address of an account."""

    account: AccountId
    code: str


Recipient = (
    ServerAddress
    | DisplayAddress
    | OperatorAddress
    | SeatAddress
    | SignoffAddress
    | BounceAddress
    | VerificationAddress
)


class RecipientDirectory:
    """Looks addresses up. Errors of the server of the matches pass through."""

    def __init__(self, app: App, addresses: ServerAddresses) -> None:
        self._app = app
        self._addresses = addresses
        self._accounts = app.accounts
        self._fixed: dict[str, Recipient] = {
            addresses.server_address: ServerAddress(),
            addresses.display_address: DisplayAddress(),
            "postmaster": OperatorAddress("postmaster"),  # without a domain, as RFC 5321 asks
            **{
                f"{name}@{addresses.domain}": OperatorAddress(name)
                for name in ("postmaster", "abuse")
            },
        }

    def find(self, address: str) -> Recipient | None:
        """Return the purpose of an address; None if it is unknown or forged.

        Refuses the seat of a match that can't be read as `damaged`.
        """
        if fixed := self._fixed.get(address.lower()):
            return fixed
        if claim := self._addresses.read(address):
            return self._seat(claim)
        if code := self._addresses.read_code(address):
            return VerificationAddress(code.account, code.code)
        if signing := self._addresses.read_signoff(address):
            return SignoffAddress(signing) if self._accounts.record_of(signing) else None
        if bounced := self._addresses.read_bounce(address):
            return self._bounce(address, bounced)
        return None

    def answerable(self, address: str) -> bool:
        """Return whether a player may read mail at an address, and it is not the server's own."""
        try:
            name = read_address(address).rpartition("@")[0].lower()
        except Refusal:
            return False
        return name not in _NOBODY and not self._is_ours(address)

    def own(self, account: AccountId, sender: str) -> list[str]:
        """Return an account's verified addresses, or only `sender` if it is one of them.

        Addresses other than `sender` are left out while mail to them is returned.
        """
        profile = self._accounts.record_of(account)
        proven = [one for one in profile.addresses if one.verified] if profile else []
        same = [one.address for one in proven if mailbox(one.address) == mailbox(sender)]
        return same or [one.address for one in proven if not one.bounced]

    def is_own(self, account: AccountId, sender: str) -> bool:
        """Return whether a sender is one of an account's verified addresses."""
        return mailbox(sender) in map(mailbox, self.own(account, sender))

    def _is_ours(self, address: str) -> bool:
        known = self._addresses
        reads = (known.read, known.read_code, known.read_signoff, known.read_bounce)
        fixed = address.lower() in self._fixed
        return fixed or any(read(address) is not None for read in reads)

    def _seat(self, claim: SeatClaim) -> SeatAddress | None:
        (data,) = self._app.store.snapshots([claim.board])
        with refuse_damaged(self._app.damage, claim.board):
            state = unpack_snapshot(data).state
        if claim.seat >= len(state.seats):
            return None
        account = state.seats[claim.seat]
        profile = self._accounts.record_of(account)
        if profile is None:
            return None
        now = profile.mail_turn
        turns = range(now, max(now - _RECOGNISED, -1), -1)
        turn = next((one for one in turns if self._addresses.proves(claim, account, one)), None)
        if turn is None:
            return None
        options = "".join(f" {option}" for option in state.options)
        player = SeatPlayer(
            claim.board, account, profile.name, rules_by_id(state.rules), options, state
        )
        address = self._addresses.of(claim.board, claim.seat, account, now)
        return SeatAddress(player, address, outdated=turn != now)

    def _bounce(self, given: str, account: AccountId) -> BounceAddress | None:
        profile = self._accounts.record_of(account)
        for one in profile.addresses if profile else ():
            if self._addresses.is_bounce_of(given, account, one.address):
                return BounceAddress(account, one.address)
        return None
