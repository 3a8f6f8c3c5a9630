"""Rate limits: wrong passwords of a userid, commands of an account."""

import hashlib
import math
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from ipaddress import IPv6Network
from typing import Any, Final

import msgspec
import redis
from limits import RateLimitItemPerMinute
from limits.storage import RedisStorage
from limits.strategies import FixedWindowRateLimiter

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from domain.sentences import Sentence
from infra.people.security_log import SecurityEvent, note_security
from infra.redis import keys
from infra.redis.confirmed_writes import unconfirmed
from infra.sentences import SAY

WRONG_PASSWORDS: Final = 10
"""Wrong passwords of a userid in a window, at most."""

WINDOW_MINUTES: Final = 15
"""How long a window lasts after its first attempt."""

COMMANDS_A_MINUTE: Final = 300

_MINUTE: Final = 60.0

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
