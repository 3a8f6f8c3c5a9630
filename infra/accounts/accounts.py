"""The accounts themselves: made, checked, changed and erased; the package says in which order."""

import os
from collections.abc import Callable, Sequence
from typing import Any, Final

import redis
from argon2 import PasswordHasher
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.events import THE_SERVER, AccountId
from infra import keys, scripts
from infra.accounts.passwords import Passwords, RecentPasswords
from infra.accounts.reading import (
    check_password,
    mailbox,
    merged,
    read_addresses,
    read_name,
    replaced,
)
from infra.accounts.record import Account, Address, Profile, decode, decode_profile, encode
from infra.accounts.users import Users
from infra.attempts import PASSWORDS_A_MINUTE, PasswordAttempts, source
from infra.limits import LoginLimit
from infra.mail.keys import NAMED
from infra.sessions import Sessions
from infra.tokens import Tokens

ID_BYTES: Final = 8

UNCLAIMED_SECONDS: Final = 3600
"""How long a record lasts that no name leads to: nobody could ask for it to be erased."""

_REPLACE: Final = scripts.Script("replace")
_REMOVE: Final = scripts.Script("remove")


def _nobody(_: Profile) -> None:
    """Tell nobody."""


class Accounts:
    """The accounts in Redis. Errors of the server pass through; safe for several threads.

    Every method that takes a userid with its password is refused as `unknown-user`,
    `wrong-password`, `too-many-attempts`, `too-fast` or `busy` (too many passwords wait), and one
    that changes the account also as `busy`, when it was being changed elsewhere at the same moment.
    """

    def __init__(
        self,
        client: redis.Redis,
        hasher: PasswordHasher | None = None,
        *,
        recent: RecentPasswords | None = None,
        limit: LoginLimit | None = None,
        password_rate: int = PASSWORDS_A_MINUTE,
        readdressed: Callable[[Profile], None] = _nobody,
    ) -> None:
        """`readdressed` tells the owner of a record that its addresses are no longer these."""
        self._client = client
        self._users = Users(client)
        self._passwords = Passwords(hasher or PasswordHasher())
        self._recent = recent or RecentPasswords()
        self._readdressed = readdressed
        self._attempts = PasswordAttempts(client, limit, password_rate)

    def signup(self, name: str, password: str, addresses: Sequence[str] = ()) -> AccountId:
        """Make an account; `bad-name`, `bad-password`, `bad-address` or `name-taken`."""
        name = read_name(name)
        check_password(password)
        read = tuple(Address(text) for text in read_addresses(addresses))
        if self._users.read(name) is not None:
            raise _taken(name)
        self._attempts.spend()
        hashed = self._passwords.hash(password)
        record = Account(name=name, password=hashed, created=self._now(), addresses=read)
        account = self._write_new(encode(record))
        # crash window: the record is there and no name leads to it; it expires
        if not self._users.claim(name, account):
            self._client.delete(keys.account(account))
            raise _taken(name)
        # crash window: the account is there and expires; its first login makes it stay
        self._client.persist(keys.account(account))
        if read:
            self._ask_for_codes(account)
        return account

    def verify(self, name: str, password: str) -> AccountId:
        """Return the account whose password this is.

        An unknown userid takes as long as a wrong password.
        """
        return self._verified(name, password)[0]

    def change(self, name: str, password: str, change: Callable[[Account], Account]) -> AccountId:
        """Change a record, whole or not at all; `change` may refuse, and leaves the name alone."""
        account, data = self._verified(name, password)
        self._store(account, data, change)
        return account

    def change_of(self, account: AccountId, change: Callable[[Account], Account]) -> None:
        """Change the record of who has proven otherwise who they are; as `change` does it.

        `unknown-user` when the account is no more.
        """
        found: Any = self._client.get(keys.account(account))
        if found is None:
            raise Refusal(Code.UNKNOWN_USER, "the account is no more")
        self._store(account, found, change)

    def add_addresses_of(self, account: AccountId, addresses: Sequence[str]) -> None:
        """Add mail addresses, and end a sign-off; `bad-address` for a bad one or too many.

        Those the account has already stay as they are, so that a repetition does no harm.
        """
        read = read_addresses(addresses)
        self._change_addresses(account, lambda old: merged(old, read))

    def change_addresses_of(self, account: AccountId, addresses: Sequence[str]) -> None:
        """Replace all mail addresses, maybe by none, and end a sign-off; `bad-address`."""
        read = read_addresses(addresses)
        self._change_addresses(account, lambda old: replaced(old, read))

    def _change_addresses(
        self, account: AccountId, change: Callable[[Sequence[Address]], tuple[Address, ...]]
    ) -> None:
        self.change_of(
            account, lambda a: replace(a, addresses=change(a.addresses), signed_off=False)
        )
        self._ask_for_codes(account)

    def change_password(
        self, name: str, old: str, new: str, *, session: str = "", tokens: bool = False
    ) -> AccountId:
        """Replace a password, and end what the old one opened: see `end_access`.

        `bad-password` when the new one can't be one.
        """
        check_password(new)
        account = self.verify(name, old)
        # before the change: if that is the last thing done, nobody is left to do this after it
        self.end_access(account, session=session, tokens=tokens)
        self.change(name, old, lambda a: replace(a, password=self._passwords.hash(new)))
        # what the old password has opened meanwhile
        self.end_access(account, session=session, tokens=tokens)
        return account

    def end_access(self, account: AccountId, *, session: str = "", tokens: bool = False) -> None:
        """End all sessions of an account but the one of this id, and where asked all its tokens."""
        Sessions(self._client).end_others(account, session)
        if tokens:
            Tokens(self._client).forget(account)

    def set_arbiter(self, name: str, yes: bool) -> AccountId:  # noqa: FBT001 - there are but two
        """Make an account an arbiter, or one no more: the operator's word, with no password."""
        found = self._users.read(name)
        if found is None:
            raise _unknown(name)
        self._store(*found, lambda a: replace(a, arbiter=yes))
        return found[0]

    def delete(self, name: str, password: str, erase: Callable[[AccountId], None]) -> AccountId:
        """Erase an account for good and free its userid; gives the id that it had.

        `erase` erases what other stores hold under the account id. It is called twice and must bear
        repetition. Killed anywhere, the account is either whole and its password good, or it is no
        more, and the same command again erases what is left.
        """
        account = self._users.find(name)
        if account is None or self._client.exists(keys.account(account)):
            account = self._erase_record(name, password, erase)
        # crash window: the name leads nowhere; no password opens it, and anybody may finish this
        erase(account)  # also what was sent here while the record could still be found
        self._client.srem(NAMED, account)
        self._attempts.forget(name, account)
        self._users.release(name.lower(), account)
        return account

    def record_of(self, account: AccountId) -> Profile | None:
        """Return what others may see of an account; None for one that is no more."""
        found: Any = self._client.get(keys.account(account))
        return None if found is None else decode_profile(found)

    def language_of(self, account: AccountId) -> str:
        """Return the language an account has chosen; empty for English, and for no account."""
        profile = self.record_of(account)
        return profile.language if profile else ""

    def id_of(self, name: str) -> AccountId:
        """Return the account of a userid; `unknown-user` when there is none."""
        found = self._users.read(name)
        if found is None:
            raise _unknown(name)
        return found[0]

    def name_of(self, accounts: Sequence[AccountId]) -> list[str | None]:
        """Return the accounts' userids, None for an account that is no more."""
        with self._client.pipeline(transaction=False) as pipe:
            for account in accounts:
                pipe.get(keys.account(account))
            return [data and decode_profile(data).name for data in pipe.execute()]

    def names(self, start: int, count: int) -> list[str]:
        """Give `count` userids in alphabetical order, from the one with index `start`.

        Fewer only at the end of the list. An account older than the list is in it once it has
        logged in.
        """
        return self._users.names(start, count)

    def count(self) -> int:
        """Count the userids that `names` lists; one that is no more may be in for a while."""
        return self._users.count()

    def _ask_for_codes(self, account: AccountId) -> None:
        """Have the addresses of an account that are not proven sent a code each."""
        # crash window: the addresses are there and nobody was asked; giving them again asks
        self._client.sadd(NAMED, account)

    def _erase_record(
        self, name: str, password: str, erase: Callable[[AccountId], None]
    ) -> AccountId:
        account, data = self._verified(name, password)
        erase(account)
        # crash window: only what is under the id is gone; the account is whole
        if not scripts.call(self._client, _REMOVE, [keys.account(account)], [data]):
            raise _changed()
        return account

    def _verified(self, name: str, password: str) -> tuple[AccountId, bytes]:
        """Return the account and its record, as stored now."""
        found = self._users.read(name)
        if found is not None and self._is_recent(decode(found[1]).password, password):
            return found
        with self._passwords.place():
            counted = self._attempts.count(name, found and found[0])
            try:
                self._check(name, found, password)
            except Refusal as reason:
                if reason.code == Code.BUSY:  # nothing was tried
                    self._attempts.give_back(counted)
                raise
        assert found is not None
        self._attempts.give_back(counted)
        self._attempts.remember(found[0])
        return found[0], self._welcome(*found, password)

    def _is_recent(self, stored: str, password: str) -> bool:
        """Return whether the password was found right lately, and where it comes from as well.

        What comes from elsewhere is counted, so that nobody finds the password by guesses beyond the
        limits while its owner plays.
        """
        place = source()
        return not place.strangers and self._recent.has(stored, password, place.network)

    def _check(self, name: str, found: tuple[AccountId, bytes] | None, password: str) -> None:
        """Refuse a password that is not that of who was found; of nobody it takes as long."""
        if found is None:
            self._passwords.match_nobodys(password)
            raise _unknown(name)
        if not self._passwords.matches(decode(found[1]).password, password):
            raise Refusal(Code.WRONG_PASSWORD, f"this is not the password of {name.lower()}")

    def _welcome(self, account: AccountId, data: bytes, password: str) -> bytes:
        """Bring up to date what is kept of an account whose password was right; give its record."""
        if self._passwords.is_outdated(decode(data).password):
            new = encode(replace(decode(data), password=self._passwords.hash(password)))
            # a change that comes in between wins: it has replaced what we read
            data = new if self._replace(account, data, new) else data
        # what a signup that was killed has not come to
        self._client.persist(keys.account(account))
        self._users.enlist(decode(data).name)
        self._recent.add(decode(data).password, password, source().network)
        return data

    def _store(self, account: AccountId, data: bytes, change: Callable[[Account], Account]) -> None:
        """Store a changed record, if it is still as it was read; `busy` otherwise."""
        old = decode(data)
        new = change(old)
        if not self._replace(account, data, encode(new)):
            raise _changed()
        # crash window: the addresses are others, and nobody was told at the old ones
        if _mailboxes(old) != _mailboxes(new):
            self._readdressed(old)

    def _replace(self, account: AccountId, data: bytes, new: bytes) -> bool:
        # a record that was deleted meanwhile is not as it was read, and so does not come back
        return bool(scripts.call(self._client, _REPLACE, [keys.account(account)], [data, new]))

    def _write_new(self, record: bytes) -> AccountId:
        """Store a record, for a while, under an id of its own."""
        while True:
            account = os.urandom(ID_BYTES)
            if account != THE_SERVER and self._client.set(
                keys.account(account), record, nx=True, ex=UNCLAIMED_SECONDS
            ):
                return account

    def _now(self) -> int:
        seconds, micros = self._client.time()
        return int(seconds) * 1000 + int(micros) // 1000


def _mailboxes(record: Profile) -> set[str]:
    return {mailbox(one.address) for one in record.addresses}


def _taken(name: str) -> Refusal:
    return Refusal(Code.NAME_TAKEN, f"the userid {name!r} is taken; choose another")


def _unknown(name: str) -> Refusal:
    return Refusal(
        Code.UNKNOWN_USER, f"there is no user {name[:24]!r}; `signup userid password` makes one"
    )


def _changed() -> Refusal:
    return Refusal(Code.BUSY, "the account was changed elsewhere at the same moment; try again")
