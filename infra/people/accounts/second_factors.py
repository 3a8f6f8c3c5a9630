"""Second factors of an account: an app that shows codes (RFC 6238), passkeys, and recovery codes.

All are fields of the account's record, so they change with it in one step, have its MAC, and go with it. A passkey lets
somebody in by itself, because the device has asked for a finger, a face or a PIN. The others only add to a password.

| field | what |
|---|---|
| `totp` | the secret that the app shares with the server, sealed by a key outside of Redis where there is one |
| `totp_step` | the half minute of the last code that was taken, so that none is taken twice |
| `recovery` | SHA-256 of the recovery codes that are left; each has 73 random bits |
| `passkeys` | public keys |
| `factors_changed` | when one was last added, removed or replaced |
"""

import hmac
import os
import re
import secrets
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

import msgspec
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.account_macs import AccountMacs
from infra.people.accounts.record import Account, Passkey
from infra.sentences import SAY

RECOVERY_CODES: Final = 10
"""How many recovery codes are made at once."""

MOST_PASSKEYS: Final = 10
"""Most passkeys of an account."""

SETTLING_DAYS: Final = 7
"""How long after a change of its second factors a mailed link alone still opens an account, for its owner to undo it."""

STEP_MS: Final = 30_000
"""How long an app shows a code."""

_DIGITS: Final = 6
_SECRET_BYTES: Final = 20
_NONCE_BYTES: Final = 12
_OPEN, _SEALED = b"\x00", b"\x01"
_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"
_GROUPS, _GROUP_LENGTH = 3, 5
_APP_CODE: Final = re.compile(r"[0-9]{6}", re.ASCII)


class Factors(msgspec.Struct, frozen=True):
    """The second factors of an account, without anything secret."""

    app: bool
    recovery: int
    """How many recovery codes are left."""
    passkeys: tuple[Passkey, ...]
    provided: bool
    """Whether the account was made by a sign-in at the group's provider."""
    has_password: bool
    """Whether somebody has chosen its password."""
    changed: int
    """When one was last added, removed or replaced, ms; 0 for never."""

    @property
    def any(self) -> bool:
        """Whether a password alone doesn't suffice."""
        return self.app or bool(self.passkeys) or self.recovery > 0


def factors_of(record: Account) -> Factors:
    """Return what a page may show of an account's second factors."""
    return Factors(
        app=bool(record.totp),
        recovery=len(record.recovery),
        passkeys=record.passkeys,
        provided=bool(record.external),
        has_password=not record.no_password,
        changed=record.factors_changed,
    )


def new_secret() -> bytes:
    """Return 160 random bits, as RFC 4226 wants them."""
    return os.urandom(_SECRET_BYTES)


def seal(macs: AccountMacs, account: AccountId, secret: bytes) -> bytes:
    """Return a secret as it is stored; as it is if this process has no key outside of Redis."""
    key = macs.sealing_key()
    if not key:
        return _OPEN + secret
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - slow to import

    nonce = os.urandom(_NONCE_BYTES)
    return _SEALED + nonce + AESGCM(key).encrypt(nonce, secret, account)


def unseal(macs: AccountMacs, account: AccountId, stored: bytes) -> bytes:
    """Return a secret; `unavailable` if this process lacks the key that sealed it."""
    if stored[:1] == _OPEN:
        return stored[1:]
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - as above
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

    nonce, sealed = stored[1 : 1 + _NONCE_BYTES], stored[1 + _NONCE_BYTES :]
    try:
        return AESGCM(macs.sealing_key()).decrypt(nonce, sealed, account)
    except (InvalidTag, ValueError):
        raise Refusal(Code.UNAVAILABLE, SAY("codes-unreadable")) from None


def app_code(secret: bytes, step: int) -> str:
    """Return the code that an app shows in a half minute, counted since 1970."""
    from cryptography.hazmat.primitives.hashes import SHA1  # noqa: PLC0415 - as above
    from cryptography.hazmat.primitives.twofactor.hotp import HOTP  # noqa: PLC0415

    return HOTP(secret, _DIGITS, SHA1()).generate(step).decode()  # noqa: S303 - what apps know


def step_of_code(secret: bytes, code: str, now: int, after: int = 0) -> int | None:
    """Return the half minute of a code, of this one and the two beside it; None for a wrong or an earlier code.

    `now` is in ms; codes of the half minute `after` and before it are not taken again.
    """
    typed = _typed(code)
    if not _APP_CODE.fullmatch(typed):
        return None
    at = now // STEP_MS
    near = [step for step in (at, at - 1, at + 1) if step > after]
    return next(
        (s for s in near if hmac.compare_digest(app_code(secret, s).encode(), typed.encode())), None
    )


def _typed(code: str) -> str:
    return re.sub(r"[\s-]", "", code).lower()


def with_code_used(
    macs: AccountMacs, account: AccountId, record: Account, code: str, now: int
) -> Account | None:
    """Return a record in which a code of the app or a recovery code is used; None for a wrong one."""
    if record.totp and _APP_CODE.fullmatch(_typed(code)):
        secret = unseal(macs, account, record.totp)
        step = step_of_code(secret, code, now, record.totp_step)
        return None if step is None else replace(record, totp_step=step)
    digest = _digest(code)
    left = tuple(one for one in record.recovery if not hmac.compare_digest(one, digest))
    return replace(record, recovery=left) if len(left) < len(record.recovery) else None


def new_recovery_codes() -> list[str]:
    """Return ten codes, such as `k7tm4-qzpw2-xh3ab`."""
    return [_recovery_code() for _ in range(RECOVERY_CODES)]


def _recovery_code() -> str:
    letters = [secrets.choice(_LETTERS) for _ in range(_GROUPS * _GROUP_LENGTH)]
    starts = range(0, len(letters), _GROUP_LENGTH)
    return "-".join("".join(letters[at : at + _GROUP_LENGTH]) for at in starts)


def digests(codes: Sequence[str]) -> tuple[bytes, ...]:
    """Return recovery codes as they are stored."""
    return tuple(map(_digest, codes))


def _digest(code: str) -> bytes:
    return sha256(_typed(code).encode()).digest()


def without_passkeys(record: Account) -> Account:
    """Return a record without what lets somebody in by itself.

    Recovery codes stay, so that a password alone suffices no sooner than before.
    """
    return replace(record, passkeys=()) if record.passkeys else record


def without_idle_codes(record: Account) -> Account:
    """Return a record whose recovery codes are gone if there is nothing that they could replace."""
    return record if record.totp or record.passkeys else replace(record, recovery=())


def without_factors(record: Account) -> Account:
    """Return a record that a password alone opens."""
    none = {"totp": b"", "totp_step": 0, "passkeys": (), "recovery": (), "factors_changed": 0}
    return replace(record, **none)
