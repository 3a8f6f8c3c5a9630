"""Attempts at passwords: from where they come, and how many there may be.

Three counts guard a password, and each has its own purpose:

- of a network in a minute, whoever's password is tried, right ones not counted: so nobody tries one
  password for every userid, and nobody keeps the processors busy with hashes;
- of wrong ones for a userid from a network: so guesses from one place end, and nobody locks out the
  owner, who is somewhere else;
- of wrong ones for a userid from everywhere, a much higher one: so guesses spread over many networks
  end. It does not concern a network from which the account has logged in before.

Every way in says where its attempts come from (`coming_from`). What says nothing is `LOCAL`: a
terminal with direct access to the data, which could read the hashes anyway, has no rate.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from typing import Any, Final

import msgspec
import redis

from domain.match.events import AccountId
from infra import keys
from infra.limits import WINDOW_MINUTES, CommandLimit, LoginLimit

LOCAL: Final = "local"
"""The network of a terminal with direct access to the data."""

PASSWORDS_A_MINUTE: Final = 20
"""Wrong passwords and new accounts of one network."""

FROM_EVERYWHERE: Final = 100
"""Wrong passwords for a userid within `WINDOW_MINUTES`, from networks that it has not used."""

_KNOWN_NETWORKS: Final = 20
"""Networks of an account that are remembered."""

_KNOWN_SECONDS: Final = 90 * 24 * 3600


def _stays() -> bool:
    return False


class Source(msgspec.Struct, frozen=True):
    """Where attempts come from."""

    network: str = LOCAL
    strangers: str = ""
    """The network that counts instead while the account has not logged in from `network`, where
    whoever asks could name any; empty for none."""
    left: Callable[[], bool] = _stays
    """Whether nobody waits for the answer any more."""


_SOURCE: Final[ContextVar[Source]] = ContextVar("source", default=Source())  # noqa: B039 - frozen


def source() -> Source:
    """Return where the attempts of this task or thread come from."""
    return _SOURCE.get()


@contextmanager
def coming_from(place: Source) -> Iterator[None]:
    """Count what is tried inside as coming from a place."""
    before = _SOURCE.set(place)
    try:
        yield
    finally:
        _SOURCE.reset(before)


class Counted(msgspec.Struct, frozen=True):
    """An attempt that was counted."""

    name: str
    network: str
    known: bool
    """Whether the account has logged in from the network before."""


class PasswordAttempts:
    """The three counts. The wrong ones are in Redis; a minute's are in this process."""

    def __init__(self, client: redis.Redis, wrong: LoginLimit | None, a_minute: int) -> None:
        self._client = client
        self._wrong = wrong or LoginLimit(client)
        self._everywhere = LoginLimit(client, FROM_EVERYWHERE, WINDOW_MINUTES, "everywhere")
        self._rate = CommandLimit(a_minute, what="passwords from your network")

    def count(self, name: str, account: AccountId | None) -> Counted:
        """Count an attempt before it is made: guesses that come all at once are stopped as well.

        `too-fast` or `too-many-attempts` where there were too many.
        """
        place = source()
        known = self._knows(account, place.network)
        network = place.network if known else place.strangers or place.network
        self.spend(network)
        self._wrong.count(name, network)
        if not known:
            self._everywhere.count(name)
        return Counted(name, network, known)

    def spend(self, network: str | None = None) -> None:
        """Count what takes a hash; `too-fast` when there was too much in this minute."""
        network = source().network if network is None else network
        if network != LOCAL:
            self._rate.check(network.encode(errors="surrogatepass"))

    def give_back(self, counted: Counted) -> None:
        """Take an attempt back that was right, or was not made."""
        self._wrong.give_back(counted.name, counted.network)
        if counted.network != LOCAL:
            self._rate.give_back(counted.network.encode(errors="surrogatepass"))
        if not counted.known:
            self._everywhere.give_back(counted.name)

    def remember(self, account: AccountId) -> None:
        """Remember that an account has logged in from where this comes from."""
        network, name = source().network, keys.networks(account)
        if network == LOCAL:
            return
        with self._client.pipeline(transaction=False) as pipe:
            pipe.zadd(name, {_hidden(account, network): self._client.time()[0]})
            pipe.zremrangebyrank(name, 0, -_KNOWN_NETWORKS - 1)
            pipe.expire(name, _KNOWN_SECONDS)
            pipe.execute()

    def forget(self, name: str, account: AccountId) -> None:
        """Forget what is kept of an account that is erased; wrong ones from elsewhere expire."""
        self._client.delete(keys.networks(account))
        for network in {LOCAL, source().network, source().strangers or LOCAL}:
            self._wrong.forget(name, network)
        self._everywhere.forget(name)

    def _knows(self, account: AccountId | None, network: str) -> bool:
        if network == LOCAL:
            return True
        if account is None:
            return False
        found: Any = self._client.zscore(keys.networks(account), _hidden(account, network))
        return found is not None


def _hidden(account: AccountId, network: str) -> bytes:
    """Return what stands for a network: who lists the keys reads no addresses in them."""
    return sha256(account + network.encode(errors="surrogatepass")).digest()[:16]
