"""Accounts: who a userid is, and whether a password is theirs.

An account is two keys that may live in different slots of a cluster: the record, which holds all
personal data, and the name, which points to it. The record is written first and the name claimed
after it, so a name never points to nothing; of two signups that race for a name one claims it,
and the other takes its record back. Killed in between, it leaves a record that no name leads to.

Everything else knows a player by account id only: 64 random bits.
"""

import os
import re
import threading
from base64 import b64encode
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import redis
from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from domain.errors import Code, Refusal
from domain.match.events import THE_SERVER, AccountId
from infra import keys, scripts

ID_BYTES: Final = 8

PASSWORD_LENGTHS: Final = range(6, 129)

HASHES_AT_ONCE: Final = 2
"""An argon2 hash takes 64 MiB and four threads; more at once would starve the moves."""

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{1,19}")  # before lowering: no Kelvin sign
_REPLACE: Final = scripts.Script("replace")


class Account(msgspec.Struct, frozen=True):
    """An account's record."""

    name: str
    password: str
    """The argon2id hash, with its parameters and salt."""
    created: int
    """Milliseconds since 1970 by Redis's clock."""
    language: str = ""
    """In which help is given, such as `de`; empty for English."""


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(Account)


def read_name(text: str) -> str:
    """Give the stored form of a userid; `bad-name` when it can't be one."""
    if not _NAME.fullmatch(text):
        raise Refusal(
            Code.BAD_NAME,
            f"{text[:24]!r} is no userid: a letter, then 1 to 19 letters, digits, - or _",
        )
    return text.lower()


def check_password(password: str) -> None:
    """Refuse, as `bad-password`, what can't be a password; the sentence does not repeat it."""
    if len(password) not in PASSWORD_LENGTHS:
        raise Refusal(
            Code.BAD_PASSWORD,
            f"a password has {PASSWORD_LENGTHS[0]} to {PASSWORD_LENGTHS[-1]} characters, "
            f"not {len(password)}",
        )
    # also what print and mail can't carry, such as half of a surrogate pair
    if " " in password or not password.isprintable():
        raise Refusal(Code.BAD_PASSWORD, "a password has no blanks and no control characters")


class Accounts:
    """The accounts in Redis. Errors of the server pass through; safe for several threads."""

    def __init__(self, client: redis.Redis, hasher: PasswordHasher | None = None) -> None:
        self._client = client
        self._hasher = hasher or PasswordHasher()
        self._hashing = threading.BoundedSemaphore(HASHES_AT_ONCE)
        self._dummy = _no_hash(self._hasher)

    def signup(self, name: str, password: str) -> AccountId:
        """Make an account; refused as `bad-name`, `bad-password` or `name-taken`."""
        name = read_name(name)
        check_password(password)
        if self._client.exists(keys.user(name)):
            raise _taken(name)
        record = _ENCODER.encode(Account(name, self._hash(password), self._now()))
        account = self._write_new(record)
        # crash window: the record is there and no name leads to it; nobody will ever see it
        if not self._client.set(keys.user(name), account, nx=True):
            self._client.delete(keys.account(account))
            raise _taken(name)
        return account

    def verify(self, name: str, password: str) -> AccountId:
        """Give the account whose password this is; `unknown-user` or `wrong-password` otherwise.

        An unknown userid takes as long as a wrong password.
        """
        return self._verified(name, password)[0]

    def change_password(self, name: str, old: str, new: str) -> AccountId:
        """Replace a password; refused as `verify` does, or as `bad-password` for the new one.

        `busy` when it was being changed elsewhere at the same moment.
        """
        check_password(new)
        account, data = self._verified(name, old)
        if not self._replace(account, data, new):
            raise Refusal(
                Code.BUSY, "the password was changed elsewhere at the same moment; try again"
            )
        return account

    def set_language(self, name: str, password: str, language: str) -> AccountId:
        """Choose the language of an account's help; refused as `verify` does, or as `busy`."""
        account, data = self._verified(name, password)
        new = _ENCODER.encode(msgspec.structs.replace(_DECODER.decode(data), language=language))
        if not scripts.call(self._client, _REPLACE, [keys.account(account)], [data, new]):
            raise Refusal(
                Code.BUSY, "the account was changed elsewhere at the same moment; try again"
            )
        return account

    def language_of(self, account: AccountId) -> str:
        """Give the language an account has chosen; empty for English, and for no account."""
        found: Any = self._client.get(keys.account(account))
        return _DECODER.decode(found).language if found else ""

    def id_of(self, name: str) -> AccountId:
        """Give the account of a userid; `unknown-user` when there is none."""
        account = self._find(name)
        if account is None:
            raise _unknown(name)
        return account

    def name_of(self, accounts: Sequence[AccountId]) -> list[str | None]:
        """Give the accounts' userids, None for an account that is no more."""
        with self._client.pipeline(transaction=False) as pipe:
            for account in accounts:
                pipe.get(keys.account(account))
            return [data and _DECODER.decode(data).name for data in pipe.execute()]

    def _find(self, name: str) -> AccountId | None:
        if not _NAME.fullmatch(name):
            return None
        found: Any = self._client.get(keys.user(name.lower()))
        return found if found is None else AccountId(found)

    def _verified(self, name: str, password: str) -> tuple[AccountId, bytes]:
        """Give the account and its record, as stored now."""
        account = self._find(name)
        found: Any = account and self._client.get(keys.account(account))
        if account is None or found is None:
            self._matches(self._dummy, password)
            raise _unknown(name)
        data = bytes(found)
        record = _DECODER.decode(data)
        if not self._matches(record.password, password):
            raise Refusal(Code.WRONG_PASSWORD, f"this is not the password of {record.name}")
        if self._hasher.check_needs_rehash(record.password):
            # a change that comes in between wins: it has replaced what we read
            data = self._replace(account, data, password) or data
        return account, data

    def _replace(self, account: AccountId, data: bytes, password: str) -> bytes | None:
        """Store a new hash; give the new record, None when it is not as we read it any more."""
        record = _DECODER.decode(data)
        new = _ENCODER.encode(msgspec.structs.replace(record, password=self._hash(password)))
        done = scripts.call(self._client, _REPLACE, [keys.account(account)], [data, new])
        return new if done else None

    def _write_new(self, record: bytes) -> AccountId:
        """Store a record under an id of its own."""
        while True:
            account = os.urandom(ID_BYTES)
            if account != THE_SERVER and self._client.set(keys.account(account), record, nx=True):
                return account

    def _now(self) -> int:
        seconds, micros = self._client.time()
        return int(seconds) * 1000 + int(micros) // 1000

    def _hash(self, password: str) -> str:
        with self._hashing:
            return self._hasher.hash(password)

    def _matches(self, stored: str, password: str) -> bool:
        with self._hashing:
            try:
                # surrogates can't be in a password, but must not break the answer
                return self._hasher.verify(stored, password.encode(errors="replace"))
            except VerificationError:
                return False


def _no_hash(hasher: PasswordHasher) -> str:
    """Give a hash that no password has, and that takes as long to check as those of `hasher`."""
    salt, digest = (
        b64encode(os.urandom(length)).decode().rstrip("=")
        for length in (hasher.salt_len, hasher.hash_len)
    )
    costs = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v=19${costs}${salt}${digest}"


def _taken(name: str) -> Refusal:
    return Refusal(Code.NAME_TAKEN, f"the userid {name!r} is taken; choose another")


def _unknown(name: str) -> Refusal:
    return Refusal(
        Code.UNKNOWN_USER, f"there is no user {name[:24]!r}; `signup userid password` makes one"
    )
