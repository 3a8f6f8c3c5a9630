"""Rate limits: wrong passwords of a userid, commands of an account.

Rate limits of password attempts, by their source.

Three counts guard a password, each for its own reason:

- attempts of a network in a minute, for any userid, right ones not counted: so nobody can try one
  password with every userid, or keep the processors busy with hashes;
- wrong ones for a userid from one network: so guesses from one place end, and they do not lock out
  the owner, who is elsewhere;
- wrong ones for a userid from all networks, with a much higher limit: so guesses from many networks
  end. It does not apply to a network from which the account has logged in before.

Every front end sets the source of its attempts (`attempts_from`). Without it the source is `LOCAL`: a
terminal with direct access to the data has no limit, because it could read the hashes anyway.

The security log: logins and failed ones, limits that were hit, and changes of accounts.

A line names an account by its id, never by its userid, and a network by a keyed hash. The same network has the same
hash in all processes that share the folder of keys, so that its attempts can be counted; without the key in that folder
nobody can tell which network it is. No line has an address, a password, or the text of a token or a session.

`services.serve.logging` decides where the lines go. Anybody can cause some kinds of lines without logging in: of
these a process writes at most `MOST_A_MINUTE`, and then how many it left out, so that nobody can fill the disk.
"""

import hashlib
import hmac
import logging
import math
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from enum import StrEnum
from hashlib import sha256
from ipaddress import IPv6Network
from pathlib import Path
from typing import Any, Final

import msgspec
import redis
from limits import RateLimitItemPerMinute
from limits.storage import RedisStorage
from limits.strategies import FixedWindowRateLimiter

from domain.errors import Code, Refusal
from domain.records import AccountId
from domain.sentences import Sentence
from infra.people.account_macs import MacKeyError, read_mac_key
from infra.process.metrics import SECURITY_EVENTS
from infra.redis import keys
from infra.redis.confirmed_writes import unconfirmed
from infra.sentences import SAY

LOCAL: Final = "local"
"""The network of a terminal with direct access to the data."""


def _never_gone() -> bool:
    return False


class AttemptSource(msgspec.Struct, frozen=True):
    """The source of attempts."""

    network: str = LOCAL
    strangers: str = ""
    """The network that is counted instead until the account has logged in from `network`, if the
    client could claim any `network`; empty if it can't."""
    means: str = ""
    """The proof of the account in place of a password, for the security log; empty for none."""
    is_abandoned: Callable[[], bool] = _never_gone
    """Returns whether the client has gone."""


_ATTEMPT_SOURCE: Final[ContextVar[AttemptSource]] = ContextVar("source", default=AttemptSource())  # noqa: B039 - frozen


def attempt_source() -> AttemptSource:
    """Return the source of attempts of this task or thread."""
    return _ATTEMPT_SOURCE.get()


@contextmanager
def attempts_from(place: AttemptSource) -> Iterator[None]:
    """Set the source of the attempts inside."""
    before = _ATTEMPT_SOURCE.set(place)
    try:
        yield
    finally:
        _ATTEMPT_SOURCE.reset(before)


LOGGER: Final = "matchpost.security"

MOST_A_MINUTE: Final = 600
"""Lines of a process in a minute that anybody can cause."""

_MINUTE: Final = 60.0
_HASH_BYTES: Final = 8

logger = logging.getLogger(LOGGER)
logger.setLevel(logging.INFO)  # whatever the level of the other lines is
# without this Python would print warnings where no log is set up, as in `matchpost do`
logger.addHandler(logging.NullHandler())


class SecurityEvent(StrEnum):
    """The events of the security log."""

    LOGIN = "login"
    LOGIN_FAILED = "login-failed"
    LIMIT = "limit"
    ACCOUNT_MADE = "account-made"
    ACCOUNT_CHANGED = "account-changed"
    ACCOUNT_DELETED = "account-deleted"
    ACCOUNT_SUSPENDED = "account-suspended"
    ACCOUNT_REINSTATED = "account-reinstated"
    SESSION_MADE = "session-made"
    SESSION_ENDED = "session-ended"
    TOKEN_MADE = "token-made"  # noqa: S105 - no password
    TOKEN_ENDED = "token-ended"  # noqa: S105 - the same
    TOKENS_ENDED = "tokens-ended"
    APP_ALLOWED = "app-allowed"
    GRANT_COPIED = "grant-copied"
    ARBITER_MADE = "arbiter-made"
    ARBITER_DISMISSED = "arbiter-dismissed"
    ROLE_GIVEN = "role-given"
    ROLE_TAKEN = "role-taken"
    RESET_ASKED = "reset-asked"
    PASSWORD_RESET = "password-reset"  # noqa: S105 - no password
    RULING = "ruling"
    BROADCAST = "broadcast"
    TEXT_ERASED = "text-erased"
    SEAT_MAIL = "seat-mail"
    LEFT_OUT = "left-out"


for _event in SecurityEvent:
    SECURITY_EVENTS.labels(_event)  # begins at 0

_BY_ANYBODY: Final = frozenset(
    {SecurityEvent.LOGIN_FAILED, SecurityEvent.LIMIT, SecurityEvent.RESET_ASKED}
)


class NetworkHashes:
    """Keyed hashes of networks, by the key of the accounts' MACs; without it by one of this process."""

    def __init__(self) -> None:
        self._own = secrets.token_bytes(32)
        self._shared = b""
        self._folder: Path | None = None

    def use_folder(self, folder: Path) -> None:
        """Use the key in a folder of keys, as soon as it is there."""
        self._shared, self._folder = b"", folder

    def of(self, network: str) -> str:
        """Return the hash of a network, in hex."""
        if self._folder is not None and not self._shared:
            # the doctor reports a key that is missing
            with suppress(MacKeyError):
                self._shared = read_mac_key(self._folder).secret
        text = b"network" + network.encode(errors="surrogatepass")
        return hmac.digest(self._shared or self._own, text, "sha256")[:_HASH_BYTES].hex()


class LineBudget:
    """How many lines may still be written in this minute. Thread-safe."""

    def __init__(
        self, most: int = MOST_A_MINUTE, timer: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._timer = timer
        self._lock = threading.Lock()
        self._end = 0.0
        self._count = 0

    def take(self) -> tuple[bool, int]:
        """Return whether a line may be written, and how many were left out in the minute before."""
        with self._lock:
            left_out = 0
            if (now := self._timer()) >= self._end:
                left_out = max(0, self._count - self._most)
                self._end, self._count = now + _MINUTE, 0
            self._count += 1
            return self._count <= self._most, left_out


NETWORKS: Final = NetworkHashes()
_BUDGET: Final = LineBudget()


def note_security(
    event: SecurityEvent,
    account: AccountId | None = None,
    network: str = "",
    budget: LineBudget | None = None,
    **fields: str | int | list[str],
) -> None:
    """Write a line about an event; `network` is that of the client, if it is not the source of attempts.

    `budget` is that of the lines that anybody can cause, without it the one of this process.
    """
    SECURITY_EVENTS.labels(event).inc()
    if event in _BY_ANYBODY:
        allowed, left_out = (budget or _BUDGET).take()
        if left_out:
            _write(SecurityEvent.LEFT_OUT, lines=left_out)
        if not allowed:
            return
    named: dict[str, str | int | list[str]] = {}
    if account is not None:
        named["account"] = account.hex()
    if (network := network or attempt_source().network) != LOCAL:
        named["network"] = NETWORKS.of(network)
    if means := attempt_source().means:
        named["means"] = means
    _write(event, **named, **fields)


def _write(event: SecurityEvent, **fields: str | int | list[str]) -> None:
    logger.info(event.value, extra={"fields": fields})


WRONG_PASSWORDS: Final = 10
"""Wrong passwords of a userid in a window, at most."""

WINDOW_MINUTES: Final = 15
"""How long a window lasts after its first attempt."""

COMMANDS_A_MINUTE: Final = 300


_ROUNDING: Final = 1e-6
"""More than sums of times are wrong by, in seconds."""

_MOST_ACCOUNTS: Final = 10_000
"""Most accounts that are counted at once; beyond it those are forgotten that have spent least."""

_WIDE_PREFIX: Final = 48
"""Prefix bits of what one customer of a provider may have of IPv6, with 65,536 networks in it."""

_WIDE_FACTOR: Final = 10
"""How many times the budget of one network those of a wide one have together."""


class CountStorage(RedisStorage):
    """Counts of the library `limits`, on the server or the cluster of a client; they are not confirmed."""

    DEPENDENCIES = {"redis": RedisStorage.DEPENDENCIES["redis"]}  # noqa: RUF012 - as in `limits`
    """Without another client of Redis, which `limits` would import at each start, too."""

    def __init__(self, client: redis.Redis, prefix: str) -> None:
        self._client = unconfirmed(client)
        # the URL and the pool are not used, because all commands go by `get_connection`
        super().__init__("redis://", connection_pool=client.connection_pool, key_prefix=prefix)

    def get_connection(self, readonly: bool = False) -> Any:  # noqa: FBT001, FBT002, ARG002 - as in `limits`
        """Return the client, whose arguments have other names than those that `limits` declares."""
        return self._client


class LoginRateLimit:
    """Counts wrong passwords in Redis for each userid, existing or not.

    Attempts from a named network are counted separately. `namespace` separates counts of different
    purposes.

    An attempt is counted before it is made, and uncounted if the password was right; so at most
    `most` passwords are tried in a window, however many come at once. A window is the life of a key
    in Redis, so no other clock matters. Thread-safe.
    """

    def __init__(
        self,
        client: redis.Redis,
        most: int = WRONG_PASSWORDS,
        minutes: int = WINDOW_MINUTES,
        namespace: str = "tried",
    ) -> None:
        self._storage = CountStorage(client, keys.LOGINS)
        self._limiter = FixedWindowRateLimiter(self._storage)
        self._item = RateLimitItemPerMinute(most, minutes, namespace=namespace)

    def count(self, name: str, network: str = "") -> None:
        """Count an attempt; `too-many-attempts` if there were too many."""
        # a refused one stays counted: uncounted after the window's end, it would allow another
        # guess in the next
        if not self._limiter.hit(self._item, _hashed(name, network)):
            minutes = self._minutes_left(name, network)
            raise Refusal(
                Code.TOO_MANY_ATTEMPTS,
                SAY("too-many-attempts", name=name[:24], minutes=minutes),
                minutes * int(_MINUTE),
            )

    def give_back(self, name: str, network: str = "") -> None:
        """Uncount an attempt that was right; wrong ones stay counted.

        If the window has ended meanwhile, the next one allows one more.
        """
        self._storage.incr(self._key(name, network), self._item.get_expiry(), -1)

    def forget(self, name: str, network: str = "") -> None:
        """Erase the attempts for a userid."""
        self._storage.clear(self._key(name, network))

    def _minutes_left(self, name: str, network: str) -> int:
        # the library converts Redis's seconds from now to the time of this process
        left = self._storage.get_expiry(self._key(name, network)) - time.time()
        return max(1, math.ceil(left / _MINUTE))

    def _key(self, name: str, network: str) -> str:
        return self._item.key_for(_hashed(name, network))


class RateBudget(msgspec.Struct, frozen=True):
    """The rest of a rate after a request."""

    most: int
    """Requests a minute, and at once."""
    left: int
    full_in: int
    """Seconds until all of it is back, if nothing more comes."""


class _Spent(msgspec.Struct):
    """The part of its rate that an account has spent."""

    full_at: float
    """When all of it is back, in seconds of the timer."""
    noted_until: float = -math.inf
    """Until when the security log has it that there were too many."""


class CommandRateLimit:
    """Counts an account's commands in the memory of this process. Thread-safe.

    An account may give `a_minute` at once, and what it has spent comes back evenly, all of it within a
    minute; what is refused spends nothing. `what` names the counted thing in a refusal, `setting` is the
    setting that has the limit. The security log has the first refusal of a minute, by account if
    `by_account`.
    """

    def __init__(
        self,
        a_minute: int = COMMANDS_A_MINUTE,
        timer: Callable[[], float] = time.monotonic,
        *,
        what: Sentence | None = None,
        setting: str = "command_rate",
        by_account: bool = True,
    ) -> None:
        self._most = a_minute
        self._what = what or SAY("commands")
        self._setting = setting
        self._by_account = by_account
        self._timer = timer
        self._lock = threading.Lock()
        self._accounts: dict[AccountId, _Spent] = {}

    def check(self, account: AccountId, weight: int = 1) -> RateBudget:
        """Count a command, and return what is left; `too-fast` if the account has spent its rate.

        `weight` is the cost of an expensive one.
        """
        now = self._timer()
        with self._lock:
            spent = self._spent(account, now)
            full_at = max(now, spent.full_at) + min(weight, self._most) * _MINUTE / self._most
            wait = full_at - now - _MINUTE
            if wait <= _ROUNDING:
                spent.full_at = full_at
                left = int(-wait * self._most / _MINUTE + _ROUNDING)
                return RateBudget(self._most, left, math.ceil(full_at - now))
            is_noted = now < spent.noted_until
            if not is_noted:
                spent.noted_until = now + _MINUTE
        if not is_noted:
            named = account if self._by_account else None
            note_security(SecurityEvent.LIMIT, named, limit=self._setting)
        seconds = math.ceil(wait - _ROUNDING)
        raise Refusal(
            Code.TOO_FAST,
            SAY("minute-rate", most=self._most, what=self._what, seconds=seconds),
            seconds,
        )

    def give_back(self, account: AccountId) -> None:
        """Uncount a command."""
        with self._lock:
            if account in self._accounts:
                self._accounts[account].full_at -= _MINUTE / self._most

    def _spent(self, account: AccountId, now: float) -> _Spent:
        spent = self._accounts.pop(account, None)
        if spent is None:
            if len(self._accounts) >= _MOST_ACCOUNTS:
                self._forget(now)
            spent = _Spent(now)
        self._accounts[account] = spent  # at the end, because the silent are forgotten first
        return spent

    def _forget(self, now: float) -> None:
        """Forget whose rate is whole, or else who has spent least: new ones must not push out heavy ones."""
        kept = [one for one in self._accounts.items() if one[1].full_at > now]
        kept.sort(key=lambda one: one[1].full_at)
        self._accounts = dict(kept[max(0, len(kept) - _MOST_ACCOUNTS // 2) :])


class NetworkRateLimit:
    """Counts a network's requests as `CommandRateLimit` does, and those of IPv6 by the wide network, too."""

    def __init__(self, a_minute: int, *, setting: str, what: Sentence | None = None) -> None:
        self._limits = [
            CommandRateLimit(most, what=what, setting=setting, by_account=False)
            for most in (a_minute, _WIDE_FACTOR * a_minute)
        ]

    def check(self, network: str, weight: int = 1) -> RateBudget:
        """Count a request, and return what is left; `too-fast` if there were too many."""
        pairs = zip(self._limits, _counted_networks(network), strict=False)
        return min(
            (limit.check(counted, weight) for limit, counted in pairs), key=lambda one: one.left
        )

    def give_back(self, network: str) -> None:
        """Uncount a request."""
        for limit, counted in zip(self._limits, _counted_networks(network), strict=False):
            limit.give_back(counted)


def _counted_networks(network: str) -> list[bytes]:
    """Return a network, and for one of IPv6 also the wide one that it is in."""
    counted = [network.encode(errors="surrogatepass")]
    with suppress(ValueError):  # an IPv4 address, or the name of another source
        counted.append(str(IPv6Network(network).supernet(new_prefix=_WIDE_PREFIX)).encode())
    return counted


def _hashed(name: str, network: str) -> str:
    """Return a hash of userid and network, so that the keys have no names."""
    hashed = f"{name.lower()}\0{network}" if network else name.lower()
    digest = hashlib.sha256(hashed.encode(errors="surrogatepass"))
    return digest.hexdigest()[:32]


PASSWORDS_A_MINUTE: Final = 20
"""Wrong passwords and new accounts of one network."""

FROM_EVERYWHERE: Final = 100
"""Wrong passwords for a userid within `WINDOW_MINUTES`, from networks that it has not used."""

_KNOWN_NETWORKS: Final = 20
"""Networks of an account that are remembered."""

_KNOWN_SECONDS: Final = 90 * 24 * 3600


class PasswordAttempt(msgspec.Struct, frozen=True):
    """A counted attempt."""

    name: str
    network: str
    network_known: bool
    """Whether the account has logged in from the network before."""


class PasswordAttempts:
    """The three counts. Wrong passwords are counted in Redis, those of a minute in this process."""

    def __init__(self, client: redis.Redis, wrong: LoginRateLimit | None, a_minute: int) -> None:
        self._client = client
        self._wrong = wrong or LoginRateLimit(client)
        self._everywhere = LoginRateLimit(client, FROM_EVERYWHERE, WINDOW_MINUTES, "everywhere")
        self._rate = NetworkRateLimit(
            a_minute, what=SAY("network-passwords"), setting="password_rate"
        )

    def count(self, name: str, account: AccountId | None) -> PasswordAttempt:
        """Count an attempt before it is made, so that simultaneous guesses are stopped as well.

        `too-fast` or `too-many-attempts` if there were too many.
        """
        place = attempt_source()
        known = self._is_known(account, place.network)
        network = place.network if known else place.strangers or place.network
        self.spend(network)
        self._wrong.count(name, network)
        if not known:
            self._everywhere.count(name)
        return PasswordAttempt(name, network, known)

    def spend(self, network: str | None = None) -> None:
        """Count work that takes a hash; `too-fast` if there was too much in this minute."""
        network = attempt_source().network if network is None else network
        if network != LOCAL:
            self._rate.check(network)

    def give_back(self, counted: PasswordAttempt) -> None:
        """Uncount an attempt that was right, or was not made."""
        self._wrong.give_back(counted.name, counted.network)
        if counted.network != LOCAL:
            self._rate.give_back(counted.network)
        if not counted.network_known:
            self._everywhere.give_back(counted.name)

    def remember(self, account: AccountId) -> None:
        """Remember that an account has logged in from this source."""
        network, name = attempt_source().network, keys.networks(account)
        if network == LOCAL:
            return
        with self._client.pipeline(transaction=False) as pipe:
            pipe.zadd(name, {_place_of(account, network): self._client.time()[0]})
            pipe.zremrangebyrank(name, 0, -_KNOWN_NETWORKS - 1)
            pipe.expire(name, _KNOWN_SECONDS)
            pipe.execute()

    def forget(self, name: str, account: AccountId) -> None:
        """Erase the counts of an account; wrong attempts from other networks expire."""
        self._client.delete(keys.networks(account))
        for network in {LOCAL, attempt_source().network, attempt_source().strangers or LOCAL}:
            self._wrong.forget(name, network)
        self._everywhere.forget(name)

    def _is_known(self, account: AccountId | None, network: str) -> bool:
        if network == LOCAL:
            return True
        if account is None:
            return False
        found: Any = self._client.zscore(keys.networks(account), _place_of(account, network))
        return found is not None


def _place_of(account: AccountId, network: str) -> bytes:
    """Return a hash of a network, so that the stored data have no addresses."""
    return sha256(account + network.encode(errors="surrogatepass")).digest()[:16]
