"""The stored form of an account.

Records are maps: a field that an older record lacks is read as its default, and defaults are not
written. A new field therefore needs a default, and a default never changes.

Vacations of accounts, which the drain reads when a match starts.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, Self

import msgspec
import redis
from msgspec.structs import replace

from domain.clocks.vacation import Vacation, running_vacation
from domain.game.engine import RobotLevel
from domain.records import AccountId
from infra.redis import keys


class MailAddress(msgspec.Struct, frozen=True, omit_defaults=True):
    """A mail address of an account."""

    address: str
    """As its owner wrote it."""
    verified: bool = False
    """Whether a mail sent there was answered."""
    bounced: str = ""
    """Why mail was returned from there, in one line; empty while it is delivered."""

    @property
    def usable(self) -> bool:
        """Return whether mail may be sent there."""
        return self.verified and not self.bounced


class AccountRole(StrEnum):
    """The roles that an operator can give to an account."""

    ARBITER = "arbiter"
    """Rules on claims, and writes to everybody."""
    MODERATOR = "moderator"
    """Decides on reports, and on sanctions against players."""
    OPERATOR = "operator"
    """Runs the server: accounts, admission, settings; may all that a moderator may."""


class RatedChoice(StrEnum):
    """The matches that a bot accepts, by whether they are rated."""

    ANY = "any"
    RATED = "rated"
    UNRATED = "unrated"


class BotRules(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The challenges by name that a bot accepts, beside those that `Profile.challenges` lets through."""

    games: tuple[str, ...] = ()
    """Keys of games; empty for all."""
    rated: RatedChoice = RatedChoice.ANY
    least_days: int = 0
    """The fewest days that a turn may take; 0 for any."""
    most_days: int = 0
    """The most days that a turn may take; 0 for any, also without a limit."""
    at_once: int = 10
    """How many matches that others have started may go on at the same time."""


class Profile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An account's record without its password."""

    name: str
    """The userid, in lower case."""
    created: int
    """Milliseconds since 1970 by Redis's clock."""
    language: str = ""
    """Of the pages and the help, such as `de`; empty if none was chosen."""
    addresses: tuple[MailAddress, ...] = ()
    notify: str = "move"
    """When mail is sent: at each `move`, `daily` or `none`."""
    signed_off: bool = False
    """Whether no mail is sent at all, whatever `notify` says."""
    displays: tuple[tuple[str, str], ...] = ()
    """Pairs of a game and the preferred drawing of its board."""
    arbiter: bool = False
    """Whether the account has `AccountRole.ARBITER`; set by an operator only."""
    moderator: bool = False
    """Whether it has `AccountRole.MODERATOR`."""
    operator: bool = False
    """Whether it has `AccountRole.OPERATOR`."""
    challenges: str = "anyone"
    """Whose challenges by name are accepted: of `anyone`, of `known` players, or of `none`."""
    vacations: tuple[tuple[int, int], ...] = ()
    """Pairs of start, ms since 1970, and length in days."""
    robot: RobotLevel | None = None
    """The level of a robot; None for a person or a program of somebody."""
    mail_turn: int = 0
    """How often the addresses of its seats were replaced; `infra.mail.addresses` makes them of it."""
    suspended: bool = False
    """Whether nobody can log in to the account; see `as_of`."""
    suspended_until: int = 0
    """When that ends by itself, ms; 0 for never."""
    receipts: bool = False
    """Whether mail has receipts, and each accepted move by mail is answered by itself."""
    real_name: str = ""
    """The name of the person, noted by an operator who made the account; no other player sees it."""
    owner: AccountId = b""
    """The account to which a bot belongs; empty for all others."""
    bots: tuple[str, ...] = ()
    """The userids of its bots; one whose making was cut off may have no account."""
    rules: BotRules = BotRules()
    """Of a bot: which challenges it accepts."""

    def as_of(self, now: int) -> Self:
        """Return the record at a time, ms: a suspension that has ended is none."""
        ended = 0 < self.suspended_until <= now
        return replace(self, suspended=False, suspended_until=0) if ended else self

    def has(self, role: AccountRole) -> bool:
        """Return whether the account has a role."""
        held: bool = getattr(self, role)
        return held

    @property
    def roles(self) -> tuple[AccountRole, ...]:
        """The roles of the account."""
        return tuple(filter(self.has, AccountRole))


class AccountChange(StrEnum):
    """A change of an account that its owner hears of by mail."""

    ADDRESSES = "addresses"
    PASSWORD = "password"  # noqa: S105 - no password
    FACTORS = "factors"
    """An app for codes or a passkey was added or removed."""
    HOOKS = "hooks"
    """A webhook or a channel was added."""


class Passkey(msgspec.Struct, frozen=True, array_like=True):
    """A passkey of an account; nothing of it is secret."""

    id: bytes
    data: bytes
    """The credential with its public key, as WebAuthn writes it (`attestedCredentialData`)."""
    label: str
    """The browser in which it was made; personal."""
    created: int
    """Milliseconds since 1970 by Redis's clock."""
    count: int = 0
    """How often its device says that it has signed; 0 if it does not count."""


class Account(Profile, frozen=True, kw_only=True, omit_defaults=True):
    """An account's whole record; secret."""

    password: str
    """The argon2id hash, with its parameters and salt."""
    no_password: bool = False
    """Whether that is the hash of a password that nobody knows, because the account was made by a provider."""
    totp: bytes = b""
    """The secret of an app for codes; see `infra.people.accounts.second_factors`, as for the next three."""
    totp_step: int = 0
    recovery: tuple[bytes, ...] = ()
    passkeys: tuple[Passkey, ...] = ()
    factors_changed: int = 0
    """When a second factor was last added, removed or replaced, ms; 0 for never."""
    external: bytes = b""
    """SHA-256 of issuer and `sub`, for an account of the group's provider."""

    @property
    def needs_code(self) -> bool:
        """Whether a password alone doesn't suffice."""
        return bool(self.totp or self.passkeys or self.recovery)

    def __repr__(self) -> str:
        """Return the userid alone, because it may appear in a log."""
        return f"Account({self.name!r})"


def changed_fields(old: Account, new: Account) -> list[str]:
    """Return the names of the fields that differ, but for those that are events of their own."""
    apart = (*AccountRole, "suspended", "suspended_until")
    names = (name for name in old.__struct_fields__ if name not in apart)
    return [name for name in names if getattr(old, name) != getattr(new, name)]


encode: Final = msgspec.msgpack.Encoder().encode
decode: Final = msgspec.msgpack.Decoder(Account).decode
decode_profile: Final = msgspec.msgpack.Decoder(Profile).decode
"""Reads a record without its password."""


def vacations_of(profile: Profile) -> tuple[Vacation, ...]:
    """Return the vacations of an account."""
    return tuple(Vacation(since, days) for since, days in profile.vacations)


def on_vacation(
    client: redis.Redis, accounts: Sequence[AccountId], now: int
) -> Mapping[AccountId, int]:
    """Return until when accounts are on vacation, ms; those that are not are left out."""
    with client.pipeline(transaction=False) as pipe:
        for account in accounts:
            pipe.get(keys.account(account))
        found: list[Any] = pipe.execute()
    absent = {}
    for account, data in zip(accounts, found, strict=True):
        one = running_vacation(vacations_of(decode_profile(data)), now) if data else None
        if one is not None:
            absent[account] = one.until
    return absent
