"""Codes that verify mail addresses: sent to the address, and entered by its owner.

An address is verified for one account, by a mail that was read there while the account had the
address. Until then only the code is sent there; `infra.people.accounts.code_requests` limits how often.
"""

import hmac
import secrets
from collections.abc import Callable
from typing import Any, Final

import msgspec
import redis

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.accounts.usernames import mailbox
from infra.redis import mail_keys as keys
from infra.sentences import SAY

ALPHABET: Final = "abcdefghijkmnpqrstuvwxyz23456789"
"""5 bits each, without characters that look alike."""

CODE_LENGTH: Final = 10

CODE_MS: Final = 7 * 24 * 3_600_000
"""How long a code is valid after it was last sent."""


class _StoredCode(msgspec.Struct, frozen=True, array_like=True):
    code: str
    sent: int
    """Milliseconds."""


_ENCODER: Final = msgspec.msgpack.Encoder()
_CODES: Final = msgspec.msgpack.Decoder(_StoredCode)


class VerificationCodes:
    """The codes on a server. Errors of the server pass through; `clock` is as `Outbox` has it."""

    def __init__(self, client: redis.Redis, clock: Callable[[], int]) -> None:
        self._client = client
        self._clock = clock

    def accounts_to_verify(self, count: int) -> list[AccountId]:
        """Return some accounts with new addresses to verify; `mark_verified_for` removes one.

        Accounts that a killed process was working on come first.
        """
        left: Any = self._client.srandmember(keys.ADDRESSES_IN_WORK, count)
        fresh: Any = self._client.srandmember(keys.ADDRESSES_TO_VERIFY, count)
        for account in fresh:
            # an address that is added from now on puts the account into the set again
            self._client.smove(keys.ADDRESSES_TO_VERIFY, keys.ADDRESSES_IN_WORK, account)
        return list(dict.fromkeys([*left, *fresh]))

    def mark_verified_for(self, account: AccountId) -> None:
        """Note that the codes for an account's new addresses were queued."""
        self._client.srem(keys.ADDRESSES_IN_WORK, account)

    def issue(self, account: AccountId, address: str) -> str:
        """Return the code to send to an address, the last one if it is still valid."""
        before = self._valid_codes(account).get(mailbox(address))
        code = (
            before.code if before else "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
        )
        kept = _ENCODER.encode(_StoredCode(code, self._clock()))
        self._client.hset(keys.codes(account), mailbox(address), kept)
        return code

    def address_of(self, account: AccountId, code: str) -> str | None:
        """Return the address, as `mailbox` writes it, that a code of an account verifies."""
        given = read_code(code).encode()
        found = None
        for address, kept in self._valid_codes(account).items():
            if hmac.compare_digest(kept.code.encode(), given):
                found = address
        return found

    def forget_code(self, account: AccountId, address: str) -> None:
        """Forget the code of an address."""
        self._client.hdel(keys.codes(account), mailbox(address))

    def forget(self, account: AccountId) -> None:
        """Erase all codes of an account; safe to repeat."""
        for name in (keys.ADDRESSES_TO_VERIFY, keys.ADDRESSES_IN_WORK):
            self._client.srem(name, account)
        self._client.delete(keys.codes(account))

    def _valid_codes(self, account: AccountId) -> dict[str, _StoredCode]:
        """Return the valid codes, by address."""
        found: Any = self._client.hgetall(keys.codes(account))
        all_kept = {address.decode(): _CODES.decode(data) for address, data in found.items()}
        oldest = self._clock() - CODE_MS
        return {address: kept for address, kept in all_kept.items() if kept.sent > oldest}


def read_code(text: str) -> str:
    """Return a code in its stored form; people write it as `ABCDE-23456`."""
    return "".join(one for one in text.lower() if one.isascii() and one.isalnum())[:CODE_LENGTH]


def format_code(code: str) -> str:
    """Return a code in a form that is easy to copy by hand."""
    return f"{code[:5]}-{code[5:]}"


def wrong_code() -> Refusal:
    """Return the refusal of a code that verifies no address."""
    return Refusal(
        Code.BAD_ADDRESS,
        SAY("code-wrong"),
    )
