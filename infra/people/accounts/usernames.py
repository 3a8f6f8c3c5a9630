"""Userids: the account of each, and the list of all.

Validation of userids and mail addresses; each is refused with its own code.

Userids that look alike: nobody can take one that a reader would mistake for another player's.

| key | what |
|---|---|
| `{l:<hex>}` | half the SHA-256 of a skeleton: empty while an account has such a userid, `left` for a year after it |

The skeleton of a userid is the same for all that look like it. A new userid claims the key of its skeleton for a
minute, and keeps it once its account exists, so a signup that was killed blocks nobody for long. Accounts that are
older than these keys get theirs from the scrubber; two of them may look alike, and both keep their names.
"""

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

import redis

from domain.errors import Code, Refusal
from domain.records import AccountId
from domain.sentences import Text
from infra.people.accounts.record import MailAddress
from infra.redis import keys, scripts
from infra.sentences import SAY

MOST_ADDRESSES: Final = 5
"""Most mail addresses of one account."""

ADDRESS_LENGTH: Final = 254
"""Most characters of a mail address, because SMTP carries no longer one."""

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{1,19}")  # before lowering: no Kelvin sign

# RFC 5321 without quoted names, comments and address literals, which many programs can't handle
_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ADDRESS: Final = re.compile(
    rf"(?=[^@]{{1,64}}@){_ATOM}(?:\.{_ATOM})*@(?:{_LABEL}\.)+(?![0-9]+\Z){_LABEL}"
)


_SUBADDRESS: Final = re.compile(r"[+-]")


def is_name(text: str) -> bool:
    """Return whether a text has the form of a userid, in upper or lower case."""
    return _NAME.fullmatch(text) is not None


def read_name(text: str) -> str:
    """Return the stored form of a new userid; `bad-name` for a bad one."""
    if not is_name(text):
        raise Refusal(
            Code.BAD_NAME,
            SAY("name-form", name=text[:24]),
        )
    return text.lower()


def read_address(text: str) -> str:
    """Return a plain mail address as it was written; `bad-address` for a bad one."""
    if len(text) > ADDRESS_LENGTH:
        raise _bad_address(SAY("address-length", most=ADDRESS_LENGTH, length=len(text)))
    shown = repr(text if len(text) <= 60 else f"{text[:60]}...")  # noqa: PLR2004 - a line's worth
    if not text.isascii():
        raise _bad_address(SAY("address-ascii", address=shown))
    if not _ADDRESS.fullmatch(text):
        raise _bad_address(SAY("address-form", address=shown))
    return text


def read_addresses(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the mail addresses of one command; `bad-address` for a bad, a repeated or too many."""
    read = tuple(read_address(text) for text in texts)
    seen: set[str] = set()
    for address in read:
        if mailbox(address) in seen:
            raise _bad_address(SAY("address-twice", address=address))
        seen.add(mailbox(address))
    check_count(len(read))
    return read


def check_count(count: int) -> None:
    """Refuse, as `bad-address`, more addresses than an account may have."""
    if count > MOST_ADDRESSES:
        raise _bad_address(SAY("addresses", most=MOST_ADDRESSES, count=count))


def mailbox(address: str) -> str:
    """Return an address with its domain in lower case, because case is ignored there."""
    local, _, domain = address.rpartition("@")
    return f"{local}@{domain.lower()}"


def folded_mailbox(address: str) -> str:
    """Return what the spellings of one mailbox have in common, for counts of mail to it.

    Many providers ignore case, dots, and what follows a `+` or `-`. Two mailboxes may share a count.
    """
    local, _, domain = address.lower().rpartition("@")
    return f"{_SUBADDRESS.split(local, 1)[0].replace('.', '') or local}@{domain}"


def merge_addresses(old: Sequence[MailAddress], new: Sequence[str]) -> tuple[MailAddress, ...]:
    """Return the old addresses as they are, then the new ones that are not among them."""
    known = {mailbox(one.address) for one in old}
    added = [MailAddress(text) for text in new if mailbox(text) not in known]
    check_count(len(old) + len(added))
    return (*old, *added)


def replace_addresses(old: Sequence[MailAddress], new: Sequence[str]) -> tuple[MailAddress, ...]:
    """Return the new addresses; those verified before stay verified."""
    verified = {mailbox(one.address) for one in old if one.verified}
    return tuple(MailAddress(text, mailbox(text) in verified) for text in new)


def _bad_address(text: Text) -> Refusal:
    return Refusal(Code.BAD_ADDRESS, text)


class Usernames:
    """The userids on a server."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def find(self, name: str) -> AccountId | None:
        """Return the account a userid points to, which may be deleted."""
        if not is_name(name):
            return None
        found: Any = self._client.get(keys.user(name.lower()))
        return found if found is None else AccountId(found)

    def read(self, name: str) -> tuple[AccountId, bytes] | None:
        """Return the account of a userid, with its record as stored now."""
        account = self.find(name)
        found: Any = account and self._client.get(keys.account(account))
        return None if account is None or found is None else (account, bytes(found))

    def claim(self, name: str, account: AccountId) -> bool:
        """Claim a userid for an account whose record is written; False if another has it."""
        while not self._client.set(keys.user(name), account, nx=True):
            holder = self.find(name)
            if holder is not None and self._exists(holder):
                return False
            if holder is not None:
                self.release(name, holder)  # a deletion was killed
        # crash window: the name is not in the list until its first login
        self.add(name)
        return True

    def add(self, name: str) -> None:
        """Add a userid to the list; safe to repeat."""
        self._client.zadd(keys.USERS, {name: 0}, nx=True)

    def release(self, name: str, account: AccountId) -> None:
        """Free the userid of a deleted account, unless another account has it now."""
        self._remove([name])
        # crash window: the name still points nowhere, and the next claim comes back here
        scripts.compare_and_set(self._client, keys.user(name), account)

    def names(self, start: int, count: int) -> list[str]:
        """Return `count` userids in alphabetical order, from index `start`."""
        while True:
            listed = self._range(start, count)
            living = self._existing(listed)
            if len(living) == len(listed):
                return listed
            self._remove([name for name in listed if name not in living])

    def starting(self, text: str, count: int) -> list[str]:
        """Return up to `count` userids that begin with a text, in alphabetical order."""
        begin = text.lower().encode("ascii", "replace")
        found: Any = self._client.zrange(
            keys.USERS, b"[" + begin, b"[" + begin + b"\xff", bylex=True, offset=0, num=count
        )
        listed = [name.decode() for name in found]
        living = self._existing(listed)
        return [name for name in listed if name in living]

    def after(self, name: str, count: int) -> list[str]:
        """Return the next `count` userids after one; some may have no account any longer."""
        begin = b"(" + name.encode() if name else b"-"
        found: Any = self._client.zrange(keys.USERS, begin, b"+", bylex=True, offset=0, num=count)
        return [one.decode() for one in found]

    def count(self) -> int:
        """Return the length of the list."""
        return int(self._client.zcard(keys.USERS))

    def _range(self, start: int, count: int) -> list[str]:
        if start < 0 or count < 1:  # because Redis would count from the end
            return []
        found: Any = self._client.zrange(keys.USERS, start, start + count - 1)
        return [name.decode() for name in found]

    def _remove(self, names: Sequence[str]) -> None:
        """Remove userids without an account from the list."""
        self._client.zrem(keys.USERS, *names)
        # a signup in between is added back; a later one adds itself
        for name in self._existing(names):
            self.add(name)

    def _existing(self, names: Sequence[str]) -> set[str]:
        """Return the userids that have an account."""
        with self._client.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.get(keys.user(name))
            held = {
                name: account
                for name, account in zip(names, pipe.execute(), strict=True)
                if account is not None
            }
            for account in held.values():
                pipe.exists(keys.account(account))
            return {name for name, exists in zip(held, pipe.execute(), strict=True) if exists}

    def _exists(self, account: AccountId) -> bool:
        return bool(self._client.exists(keys.account(account)))


REST_SECONDS: Final = 365 * 24 * 3600
"""How long the userid of a deleted account can't be taken."""

_CLAIM_SECONDS: Final = 60
_LEFT: Final = b"left"
_ALIKE: Final = str.maketrans("01i_", "oll-")


def skeleton(name: str) -> str:
    """Return what all userids that look like this one have in common."""
    # between digits a mark stays, because team1-11 is not team11-1
    bare = re.sub(r"(?<!\d)[-_]+|[-_]+(?!\d)", "", name.lower())
    return bare.translate(_ALIKE).replace("rn", "m")


class Lookalikes:
    """The skeletons of the userids on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def claim(self, name: str) -> bool:
        """Claim what a userid looks like, for a minute; False if another one looks like it."""
        return bool(self._client.set(_key(name), b"", nx=True, ex=_CLAIM_SECONDS))

    def keep(self, name: str) -> None:
        """Keep a claim as long as the account exists."""
        self._client.persist(_key(name))

    def release(self, name: str) -> None:
        """End a claim."""
        self._client.delete(_key(name))

    def add(self, name: str) -> None:
        """Add the userid of an account that exists; safe to repeat."""
        self._client.set(_key(name), b"", nx=True)

    def rest(self, name: str) -> None:
        """Let the userid of a deleted account rest, and all that look like it."""
        self._client.set(_key(name), _LEFT, ex=REST_SECONDS)

    def rests(self, name: str) -> bool:
        """Return whether a userid rests."""
        found: Any = self._client.get(_key(name))
        return bool(found == _LEFT)


def _key(name: str) -> str:
    return keys.lookalike(sha256(skeleton(name).encode()).digest())
