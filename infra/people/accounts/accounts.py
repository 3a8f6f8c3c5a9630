"""Creates, verifies, changes and deletes accounts; the package explains the order of writes."""

import os
import secrets
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import redis
from argon2 import PasswordHasher
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.state import BOT_PREFIX, is_bot, robot_level
from domain.records import SERVER_ACCOUNT, AccountId
from infra.people.account_macs import AccountMacs
from infra.people.accounts.address_owners import AddressOwners
from infra.people.accounts.code_requests import CodeRequests
from infra.people.accounts.passwords import (
    Passwords,
    RecentPasswords,
    check_password,
    unmatchable_hash,
)
from infra.people.accounts.record import (
    Account,
    AccountChange,
    AccountRole,
    MailAddress,
    Profile,
    changed_fields,
    decode,
    decode_profile,
    encode,
)
from infra.people.accounts.second_factors import (
    Factors,
    factors_of,
    with_code_used,
    without_factors,
    without_passkeys,
)
from infra.people.accounts.usernames import (
    Usernames,
    merge_addresses,
    read_addresses,
    read_name,
    replace_addresses,
)
from infra.people.accounts.writing import (
    bots_of,
    changed_elsewhere,
    changes_to_mail,
    end_opened,
    name_taken,
    notify_nobody,
    refuse_suspended,
    unknown_user,
    with_addresses,
    with_next_mail_turn,
    write_account,
)
from infra.people.password_resets import PasswordResets
from infra.people.rate_limits import (
    PASSWORDS_A_MINUTE,
    LoginRateLimit,
    PasswordAttempts,
    SecurityEvent,
    attempt_source,
    note_security,
)
from infra.redis import keys
from infra.redis.clients import time_ms
from infra.redis.reads import Read, read_one, read_strings
from infra.sentences import SAY

ID_BYTES: Final = 8

UNCLAIMED_SECONDS: Final = 3600
"""How long a record lasts before a name points to it, because nobody could delete it."""


_Record = TypeVar("_Record", bound=Profile)


class Accounts:
    """The accounts in Redis. Errors of the server pass through; thread-safe.

    Every method that takes a userid with its password is refused as `unknown-user`,
    `wrong-password`, `too-many-attempts`, `too-fast` or `busy` (too many passwords wait). One that
    changes the account is also refused as `busy` if it was changed elsewhere at the same moment.
    """

    def __init__(
        self,
        client: redis.Redis,
        hasher: PasswordHasher | None = None,
        *,
        recent: RecentPasswords | None = None,
        limit: LoginRateLimit | None = None,
        password_rate: int = PASSWORDS_A_MINUTE,
        notify: Callable[[Profile, AccountChange], None] = notify_nobody,
        macs: AccountMacs | None = None,
    ) -> None:
        """`notify` is called with the old record after its addresses or its password were changed."""
        self._client = client
        self._users = Usernames(client)
        self._passwords = Passwords(hasher or PasswordHasher())
        self._recent = recent or RecentPasswords()
        self._notify = notify
        self.macs = macs or AccountMacs()
        self._attempts = PasswordAttempts(client, limit, password_rate)
        self._codes = LoginRateLimit(client, namespace="codes")
        self._owners = AddressOwners(client)
        self.codes = CodeRequests(client)

    def signup(
        self, name: str, password: str, addresses: Sequence[str] = (), *, is_counted: bool = True
    ) -> AccountId:
        """Create an account; `bad-name`, `bad-password`, `bad-address` or `name-taken`.

        It is counted for its network, unless an operator makes it.
        """
        name = read_name(name)
        check_password(password, name)
        read = tuple(MailAddress(text) for text in read_addresses(addresses))
        if self._users.read(name) is not None:
            raise name_taken(name)
        if is_counted:
            self._attempts.spend()
        hashed = self._passwords.hash(password)
        record = Account(name=name, password=hashed, created=time_ms(self._client), addresses=read)
        account = self._claim(record)
        # crash window: the account exists and expires; its first login makes it permanent
        self._persist(account)
        note_security(SecurityEvent.ACCOUNT_MADE, account)
        if read:
            self.codes.ask(account, record)
        return account

    def make_bot(self, name: str, owner: AccountId) -> AccountId:
        """Create a bot of an account, without a password; `bad-name`, `name-taken`."""
        name = read_name(name)
        if self._users.read(name) is not None:
            raise name_taken(name)
        self._attempts.spend()
        record = Account(
            name=name,
            password=unmatchable_hash(PasswordHasher()),
            no_password=True,
            created=time_ms(self._client),
            notify="none",
            owner=owner,
        )
        account = self._claim(record, BOT_PREFIX)
        # crash window: the account exists, expires, and is in no list of players
        self._users.add(name)
        self._persist(account)
        note_security(SecurityEvent.ACCOUNT_MADE, account)
        return account

    def bots_of(self, account: AccountId) -> dict[str, AccountId]:
        """Return the bots of an account by userid; none of a deleted account."""
        return bots_of(self._client, account)

    def _claim(self, record: Account, prefix: bytes = b"") -> AccountId:
        """Store a new record, and let its name point to it; `name-taken`."""
        account = self._write_new(encode(record), prefix)
        # crash window: the record exists and no name points to it; it expires
        if not self._users.claim(record.name, account):
            self._client.delete(keys.account(account), keys.account_mac(account))
            raise name_taken(record.name)
        return account

    def signup_provided(self, name: str, external: bytes) -> AccountId:
        """Create an account that is opened by the group's provider; `bad-name`, `name-taken`.

        `external` is what `Account.external` has; it leads to this account from now on.
        """
        account = self.signup(name, secrets.token_urlsafe(32))
        # crash window: an account that nobody can open; its userid is taken until an operator erases it
        self.change_of(account, lambda a: replace(a, external=external, no_password=True))
        self._client.set(keys.external(external), account)
        return account

    def of_external(self, external: bytes) -> AccountId | None:
        """Return the account that belongs to somebody at the group's provider; None if there is none."""
        account: Any = self._client.get(keys.external(external))
        found: Any = None if account is None else self._client.get(keys.account(account))
        return account if found and decode(found).external == external else None

    def verify(
        self, name: str, password: str, code: str = "", *, proven: bool = False
    ) -> AccountId:
        """Return the account of a userid, if the password is right.

        An unknown userid takes as long as a wrong password. An account with a second factor needs a code, too
        (`code-needed`, `wrong-code`), unless it is `proven`: its session or token was.
        """
        return self._verified_record(name, password, code, proven=proven)[0]

    def passwordless_record(self, account: AccountId) -> Account:
        """Return the whole record of an account, for what proves it otherwise; `unknown-user`, `suspended`."""
        found: Any = self._client.get(keys.account(account))
        if found is None:
            raise Refusal(Code.UNKNOWN_USER, SAY("account-deleted"))
        record = self._now_of(decode(found))
        refuse_suspended(record)
        return record

    def factors_of(self, account: AccountId) -> Factors:
        """Return what may be shown of an account's second factors; `unknown-user`."""
        found: Any = self._client.get(keys.account(account))
        if found is None:
            raise Refusal(Code.UNKNOWN_USER, SAY("account-deleted"))
        return factors_of(decode(found))

    def use_code(self, account: AccountId, code: str) -> None:
        """Use a code of the app or a recovery code up; `code-needed`, `wrong-code`, `too-many-attempts`."""
        found: Any = self._client.get(keys.account(account))
        if found is None:
            raise Refusal(Code.UNKNOWN_USER, SAY("account-deleted"))
        self._use_code(account, found, code)

    def _use_code(self, account: AccountId, data: bytes, code: str) -> bytes:
        """Use a code up, and return the changed record."""
        record = decode(data)
        if not code.strip():
            raise Refusal(Code.CODE_NEEDED, SAY("code-needed", name=record.name))
        self._codes.count(record.name, account.hex())
        used = with_code_used(self.macs, account, record, code, time_ms(self._client))
        if used is None:
            note_security(SecurityEvent.LOGIN_FAILED, account, why=Code.WRONG_CODE)
            raise Refusal(Code.WRONG_CODE, SAY("wrong-code"))
        new = encode(used)
        # of two that send a code at once one uses it
        if not self._write(account, data, new):
            raise changed_elsewhere()
        self._codes.give_back(record.name, account.hex())
        return new

    def change(self, name: str, password: str, change: Callable[[Account], Account]) -> AccountId:
        """Change a record, whole or not at all; `change` may refuse, and must keep the name."""
        account, data = self._verified_record(name, password)
        self._store(account, data, change)
        return account

    def change_of(self, account: AccountId, change: Callable[[Account], Account]) -> None:
        """Change the record of an account that was authenticated otherwise; see `change`.

        `unknown-user` for a deleted account.
        """
        found: Any = self._client.get(keys.account(account))
        if found is None:
            raise Refusal(Code.UNKNOWN_USER, SAY("account-deleted"))
        self._store(account, found, change)

    def add_addresses_of(self, account: AccountId, addresses: Sequence[str]) -> None:
        """Add mail addresses, and end a sign-off; `bad-address` for a bad one or too many.

        Those the account has already stay as they are, so that a repetition does no harm.
        """
        read = read_addresses(addresses)
        self._change_addresses(account, lambda old: merge_addresses(old, read))

    def change_addresses_of(self, account: AccountId, addresses: Sequence[str]) -> None:
        """Replace all mail addresses, maybe by none, and end a sign-off; `bad-address`."""
        read = read_addresses(addresses)
        self._change_addresses(account, lambda old: replace_addresses(old, read))

    def _change_addresses(
        self, account: AccountId, change: Callable[[Sequence[MailAddress]], tuple[MailAddress, ...]]
    ) -> None:
        self.change_of(account, lambda old: with_addresses(old, change(old.addresses)))
        PasswordResets(self._client).forget(account)
        self.codes.ask(account, self.record_of(account))

    def change_password(
        self,
        name: str,
        old: str,
        new: str,
        *,
        session: str = "",
        tokens: bool = True,
        proven: bool = False,
    ) -> AccountId:
        """Replace a password, and end what the old one opened: see `end_opened`. Passkeys end with tokens.

        `bad-password` for a new one that can't be a password; `proven` as in `verify`.
        """
        check_password(new, name)
        account, data = self._verified_record(name, old, proven=proven)
        # before the change, because a process killed after it could not do this
        end_opened(self._client, account, session=session, tokens=tokens)
        hashed = self._passwords.hash(new)

        def changed(record: Account) -> Account:
            kept = without_passkeys(record) if tokens else record
            return with_next_mail_turn(replace(kept, password=hashed))

        self._store(account, data, changed)
        # those that the old password has opened meanwhile
        end_opened(self._client, account, session=session, tokens=tokens)
        return account

    def hash_new(self, account: AccountId, password: str, *, is_counted: bool = True) -> str:
        """Return the hash of a new password; `bad-password`, or `too-fast` after too many that are counted."""
        profile = self.record_of(account)
        check_password(password, profile.name if profile else "")
        if is_counted:
            self._attempts.spend()
        return self._passwords.hash(password)

    def reset_password(
        self, account: AccountId, hashed: str, *, keep: bool = True, session: str = ""
    ) -> None:
        """Replace a password without the old one, and end all that it opened, tokens and passkeys too.

        Codes are needed as before, unless nothing is to be kept of them: for an owner who has lost those as well.
        """
        left = without_passkeys if keep else without_factors

        def changed(record: Account) -> Account:
            return with_next_mail_turn(replace(left(record), password=hashed, no_password=False))

        # as in `change_password`
        end_opened(self._client, account, session=session)
        self.change_of(account, changed)
        end_opened(self._client, account, session=session)
        note_security(SecurityEvent.PASSWORD_RESET, account)

    def end_access(self, account: AccountId) -> None:
        """End all that `end_opened` ends, passkeys, and the addresses of the account's seats; `unknown-user`."""
        end_opened(self._client, account)
        # last, because a thief who goes on changing the account could hinder it
        self.change_of(account, lambda a: with_next_mail_turn(without_passkeys(a)))
        # what a passkey has opened meanwhile
        end_opened(self._client, account)

    def set_role(self, name: str, role: AccountRole, *, held: bool) -> AccountId:
        """Set whether an account has a role, and return the account; an operator needs no password.

        `unknown-user`; `not-wanted` for a robot or a bot.
        """
        found = self._users.read(name)
        if found is None:
            raise unknown_user(name)
        if held and (robot_level(found[0]) or is_bot(found[0])):
            raise Refusal(Code.NOT_WANTED, SAY("robot-role", name=name.lower()))
        # crash window: the index has an account without the role; `holders` leaves it out
        index = keys.ROLES[role]
        if held:
            self._client.sadd(index, found[0])
        self._store(*found, lambda a: replace(a, **{role: held}))
        _note_role(found[0], role, held=held)
        if not held:
            self._client.srem(index, found[0])
        return found[0]

    def holders(self, role: AccountRole) -> list[AccountId]:
        """Return the accounts that have a role, sorted by id."""
        members: Any = self._client.smembers(keys.ROLES[role])
        profiles = [(account, self.record_of(account)) for account in sorted(members)]
        return [account for account, profile in profiles if profile and profile.has(role)]

    def delete(
        self,
        name: str,
        password: str | None,
        erase: Callable[[AccountId], None],
        *,
        proven: bool = False,
    ) -> AccountId:
        """Delete an account and free its userid; return the id that it had.

        A bot has no password, and is deleted by its owner: None.

        `erase` erases the data of other stores under the account id. It is called twice, because
        something may be added until the record is deleted. After a kill the account is either whole
        and its password valid, or it is deleted, and the same command again erases the rest.
        """
        account = self._users.find(name)
        if account is None or self._client.exists(keys.account(account)):
            account = self._erase_record(name, password, erase, proven=proven)
        # crash window: the name points nowhere; no password opens it, and anybody may finish this
        erase(account)  # also what was added while the record still existed
        self.codes.forget(account)
        for index in keys.ROLES.values():
            self._client.srem(index, account)
        self._attempts.forget(name, account)
        self._users.release(name.lower(), account)
        note_security(SecurityEvent.ACCOUNT_DELETED, account)
        return account

    def record_of(self, account: AccountId) -> Profile | None:
        """Return the public part of an account's record; None for a deleted account."""
        found: Any = self._client.get(keys.account(account))
        return None if found is None else self._now_of(decode_profile(found))

    def _now_of(self, record: _Record) -> _Record:
        """Return a record as it is now; the server is asked for the time only where an end is set."""
        return record.as_of(time_ms(self._client)) if record.suspended_until else record

    def language_of(self, account: AccountId) -> str:
        """Return an account's language; empty if none was chosen, and for no account."""
        profile = self.record_of(account)
        return profile.language if profile else ""

    def id_of(self, name: str) -> AccountId:
        """Return the account of a userid; `unknown-user` when there is none."""
        found = self._users.read(name)
        if found is None:
            raise unknown_user(name)
        return found[0]

    def name_of(self, accounts: Sequence[AccountId]) -> list[str | None]:
        """Return the accounts' userids, None for a deleted account."""
        return read_one(self._client, self.read_names(accounts))

    @staticmethod
    def read_names(accounts: Sequence[AccountId]) -> Read[list[str | None]]:
        """Return the read of `name_of`."""
        return read_strings(
            list(map(keys.account, accounts)),
            lambda found: [data and decode_profile(data).name for data in found],
        )

    def names(self, start: int, count: int) -> list[str]:
        """Return `count` userids in alphabetical order, from index `start`.

        Fewer only at the end of the list. An account older than the list is added at its next login.
        """
        return self._users.names(start, count)

    def names_starting(self, text: str, count: int) -> list[str]:
        """Return up to `count` userids that begin with a text, in alphabetical order."""
        return self._users.starting(text, count)

    def names_after(self, name: str, count: int) -> list[str]:
        """Return the next `count` userids after one in alphabetical order, the first ones after an empty text.

        Fewer only at the end of the list; some may have no account any longer.
        """
        return self._users.after(name, count)

    def count(self) -> int:
        """Return the length of the list; a deleted account may be in it for a while."""
        return self._users.count()

    def _erase_record(
        self, name: str, password: str | None, erase: Callable[[AccountId], None], *, proven: bool
    ) -> AccountId:
        if password is None:
            found = self._users.read(name)
            if found is None:
                raise unknown_user(name)
            account, data = found
        else:
            account, data = self._verified_record(name, password, proven=proven)
        erase(account)
        # crash window: only data under the id are erased; the account is whole
        if not self._write(account, data, b""):
            raise changed_elsewhere()
        self._owners.changed(account, decode(data))
        if external := decode(data).external:
            # crash window: it leads to a record that is gone, which is as if it led nowhere
            self._client.delete(keys.external(external))
        return account

    def _verified_record(
        self, name: str, password: str, code: str = "", *, proven: bool = False
    ) -> tuple[AccountId, bytes]:
        """Verify a password, and a code where one is needed; return the account and its record, as stored now."""
        account, data = self._record_by_password(name, password)
        if proven or not decode(data).needs_code:
            return account, data
        return account, self._use_code(account, data, code)

    def _record_by_password(self, name: str, password: str) -> tuple[AccountId, bytes]:
        found = self._users.read(name)
        if found is not None and self._is_recent(decode(found[1]), password):
            return found
        try:
            with self._passwords.waiting_slot():
                self._count_and_check(name, found, password)
        except Refusal as reason:
            note_security(SecurityEvent.LOGIN_FAILED, found and found[0], why=reason.code)
            raise
        assert found is not None
        note_security(SecurityEvent.LOGIN, found[0])
        self._attempts.remember(found[0])
        return found[0], self._after_login(*found, password)

    def _is_recent(self, record: Account, password: str) -> bool:
        """Return whether the password was right a short time ago, from the same network.

        Attempts from other networks are counted, so that nobody can guess the password beyond the
        limits while its owner plays.
        """
        place = attempt_source()
        if place.strangers or self._now_of(record).suspended:
            return False
        return self._recent.has(record.password, password, place.network)

    def _count_and_check(
        self, name: str, found: tuple[AccountId, bytes] | None, password: str
    ) -> None:
        """Count an attempt, and uncount it if the password was right, or was not tried."""
        counted = self._attempts.count(name, found and found[0])
        try:
            self._check(name, found, password)
        except Refusal as reason:
            if reason.code == Code.BUSY:  # nothing was tried
                self._attempts.give_back(counted)
            raise
        self._attempts.give_back(counted)

    def _check(self, name: str, found: tuple[AccountId, bytes] | None, password: str) -> None:
        """Refuse a wrong password, and a suspended account; an unknown userid takes as long."""
        if found is None:
            self._passwords.match_nobody(password)
            raise unknown_user(name)
        if not self._passwords.matches(decode(found[1]).password, password):
            raise Refusal(Code.WRONG_PASSWORD, SAY("wrong-password", name=name.lower()))
        refuse_suspended(self._now_of(decode(found[1])))

    def _after_login(self, account: AccountId, data: bytes, password: str) -> bytes:
        """Rehash, persist and index an account whose password was right; return its record."""
        if self._passwords.is_outdated(decode(data).password):
            new = encode(replace(decode(data), password=self._passwords.hash(password)))
            # a change in between wins, because it has replaced the record that was read
            data = new if self._write(account, data, new) else data
        # the steps that a killed signup did not reach
        self._persist(account)
        self._users.add(decode(data).name)
        self._owners.changed(account, new=decode(data))
        self._recent.add(decode(data).password, password, attempt_source().network)
        return data

    def _store(self, account: AccountId, data: bytes, change: Callable[[Account], Account]) -> None:
        """Store a changed record; `busy` if it is not as it was read, or was deleted meanwhile."""
        old = decode(data)
        new = change(old)
        if not self._write(account, data, encode(new)):
            raise changed_elsewhere()
        if changed := changed_fields(old, new):
            note_security(SecurityEvent.ACCOUNT_CHANGED, account, changed=changed)
        self._owners.changed(account, old, new)
        # crash window: the record is changed, and no mail says so
        for what in changes_to_mail(old, new):
            self._notify(old, what)

    def _write(self, account: AccountId, data: bytes, new: bytes, milliseconds: int = 0) -> bool:
        """Replace a record that is still `data` together with its MAC; an empty `new` deletes both."""
        return write_account(
            self._client, account, data, new, self.macs.mac(account, new), milliseconds
        )

    def _persist(self, account: AccountId) -> None:
        """Let a record and its MAC last."""
        with self._client.pipeline(transaction=True) as pipe:
            pipe.persist(keys.account(account))
            pipe.persist(keys.account_mac(account))
            pipe.execute()

    def _write_new(self, record: bytes, prefix: bytes = b"") -> AccountId:
        """Store a record under a new id; it expires unless a name is claimed. `prefix` begins the id of a bot."""
        while True:
            account = prefix + os.urandom(ID_BYTES - len(prefix))
            if account == SERVER_ACCOUNT or is_bot(account) != bool(prefix):
                continue
            member: Any = account  # redis-py types it as text only
            # the rest of a bot's id is short, and the id of a deleted account never comes back
            if prefix and self._client.sismember(keys.ERASED_ACCOUNTS, member):
                continue
            if self._write(account, b"", record, 1000 * UNCLAIMED_SECONDS):
                return account


def _note_role(account: AccountId, role: AccountRole, *, held: bool) -> None:
    if role is AccountRole.ARBITER:
        note_security(
            SecurityEvent.ARBITER_MADE if held else SecurityEvent.ARBITER_DISMISSED, account
        )
    else:
        note_security(
            SecurityEvent.ROLE_GIVEN if held else SecurityEvent.ROLE_TAKEN, account, role=role
        )
