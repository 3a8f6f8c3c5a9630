"""Hashes of passwords, and a cache of those that were right a short time ago.

The rules for new passwords, the same wherever one is chosen.

`common_passwords.txt.gz` has the passwords that are tried first, one a line, in lower case and sorted: the 10,000
most frequent of ten ASCII characters and more among ten million that were published in 2015 for research, without
rights reserved (CC0). The order of frequency is that of SecLists (Daniel Miessler, MIT License).
"""

import gzip
import hashlib
import hmac
import os
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError
from cachetools import TTLCache

from domain.errors import Code, Refusal
from domain.rules import game_keys
from infra.people.rate_limits import attempt_source
from infra.sentences import SAY

HASHES_AT_ONCE: Final = 2
"""An argon2 hash takes 64 MiB and four threads; more at once would starve the moves."""

HASHES_WAITING: Final = 20
"""Passwords that may wait for a hash; it takes about 0.1 s, so the last waits for a second."""

RECENT_SECONDS: Final = 600.0
"""How long a password that was right needs no hash."""

MOST_RECENT: Final = 10_000
"""Most entries of the cache; about 2 MiB."""


class Passwords:
    """Makes and verifies argon2id hashes, at most `HASHES_AT_ONCE` at a time.

    At most `HASHES_WAITING` more wait for their turn: the next is refused as `busy`, because each
    keeps a thread. So is one whose client has gone when its turn comes.
    """

    def __init__(self, hasher: PasswordHasher) -> None:
        self._hasher = hasher
        self._hashing = threading.BoundedSemaphore(HASHES_AT_ONCE)
        self._slots = threading.BoundedSemaphore(HASHES_AT_ONCE + HASHES_WAITING)
        self._unmatchable = unmatchable_hash(hasher)

    def hash(self, password: str) -> str:
        """Return a hash, with a new salt, of a password that `check_password` accepts."""
        with self.waiting_slot(), self._hashing_slot():
            return self._hasher.hash(password)

    def matches(self, stored: str, password: str) -> bool:
        """Return whether a password has this hash; the caller has a `place`."""
        with self._hashing_slot():
            try:
                return self._hasher.verify(stored, _bytes(password))
            except VerificationError:
                return False

    def match_nobody(self, password: str) -> None:
        """Take as long as `matches`, for a userid without a hash."""
        self.matches(self._unmatchable, password)

    @contextmanager
    def waiting_slot(self) -> Iterator[None]:
        """Occupy a place in the queue for hashes; `busy` if it is full."""
        if not self._slots.acquire(blocking=False):
            raise Refusal(Code.BUSY, SAY("passwords-busy"))
        try:
            yield
        finally:
            self._slots.release()

    @contextmanager
    def _hashing_slot(self) -> Iterator[None]:
        with self._hashing:
            if attempt_source().is_abandoned():
                raise Refusal(Code.BUSY, "the client has gone")
            yield

    def is_outdated(self, stored: str) -> bool:
        """Return whether the hash was made with other parameters than those in use."""
        return self._hasher.check_needs_rehash(stored)


class RecentPasswords:
    """Remembers, in this process only, the passwords that were right in the last ten minutes.

    An entry is a hash over network, stored hash and password, with a random key of this process. So no
    password is kept, and an entry is void once the stored hash has changed. Thread-safe.
    """

    def __init__(self, timer: Callable[[], float] = time.monotonic) -> None:
        self._key = os.urandom(32)
        self._lock = threading.Lock()
        self._seen: TTLCache[bytes, None] = TTLCache(MOST_RECENT, RECENT_SECONDS, timer)

    def add(self, stored: str, password: str, network: str) -> None:
        """Remember that the password was right, and its network."""
        digest = self._digest(stored, password, network)
        with self._lock:
            self._seen[digest] = None

    def has(self, stored: str, password: str, network: str) -> bool:
        """Return whether the password was right for this hash a short time ago, from this network."""
        digest = self._digest(stored, password, network)
        # the time of the look-up depends on the digest only, which nobody can choose
        with self._lock:
            return digest in self._seen

    def _digest(self, stored: str, password: str, network: str) -> bytes:
        # a hash of argon2 has no NUL, and that of the network has a fixed length
        place = hashlib.sha256(_bytes(network)).digest()
        return hmac.digest(self._key, place + stored.encode() + b"\0" + _bytes(password), "sha256")


def _bytes(password: str) -> bytes:
    """Return the bytes of any text; half a surrogate pair is allowed, and matches no password."""
    return password.encode(errors="surrogatepass")


def unmatchable_hash(hasher: PasswordHasher) -> str:
    """Return a hash that no password matches and that takes as long as those of `hasher`."""
    salt, digest = (
        b64encode(os.urandom(length)).decode().rstrip("=")
        for length in (hasher.salt_len, hasher.hash_len)
    )
    costs = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v=19${costs}${salt}${digest}"


PASSWORD_LENGTHS: Final = range(10, 129)
"""Of new passwords."""

SHORTEST_PASSWORD: Final = 6
"""Fewest characters of any password, because older accounts keep theirs."""

_BESIDE_NAMES: Final = 6
"""Fewest characters that a new password has beside the userid and the words that are known here."""

_SHORTEST_WORD: Final = 4
"""Fewest letters of a game's name that counts as such a word."""


def check_password(password: str, name: str) -> None:
    """Refuse a bad new password of a userid as `bad-password`; the sentence does not repeat it."""
    # that includes half a surrogate pair, which print and mail can't carry
    if not password.isprintable():
        raise Refusal(Code.BAD_PASSWORD, SAY("password-form"))
    if password != password.strip():  # some forms and programs drop it
        raise Refusal(Code.BAD_PASSWORD, SAY("password-ends"))
    if (length := len(password)) not in PASSWORD_LENGTHS:
        least, most = PASSWORD_LENGTHS[0], PASSWORD_LENGTHS[-1]
        raise Refusal(
            Code.BAD_PASSWORD, SAY("password-length", least=least, most=most, length=length)
        )
    folded = rest = password.lower()
    for word in (name.lower(), *_known_words()):
        rest = rest.replace(word, "")
    if len(rest) < _BESIDE_NAMES:
        raise Refusal(Code.BAD_PASSWORD, SAY("password-name"))
    if folded in _common_passwords():
        raise Refusal(Code.BAD_PASSWORD, SAY("password-common"))


@cache
def _known_words() -> tuple[str, ...]:
    """Return words that anybody would try on such a server, the longest first."""
    games = {key for key in game_keys() if len(key) >= _SHORTEST_WORD}
    return tuple(sorted({"matchpost", "password", *games}, key=lambda one: (-len(one), one)))


@cache
def _common_passwords() -> frozenset[str]:
    """Return the list, read when it is first asked for; about 1 MB."""
    packed = files("infra.people.accounts").joinpath("common_passwords.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode("ascii").splitlines())
