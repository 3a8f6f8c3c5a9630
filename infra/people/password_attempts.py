"""Rate limits of password attempts, by their source.

Three counts guard a password, each for its own reason:

- attempts of a network in a minute, for any userid, right ones not counted: so nobody can try one
  password with every userid, or keep the processors busy with hashes;
- wrong ones for a userid from one network: so guesses from one place end, and they do not lock out
  the owner, who is elsewhere;
- wrong ones for a userid from all networks, with a much higher limit: so guesses from many networks
  end. It does not apply to a network from which the account has logged in before.

Every front end sets the source of its attempts (`infra.people.attempt_source`). Without it the source is `LOCAL`: a
terminal with direct access to the data has no limit, because it could read the hashes anyway.
"""

from hashlib import sha256
from typing import Any, Final

import msgspec
import redis

from domain.match.events import AccountId
from infra.people.attempt_source import LOCAL, attempt_source
from infra.people.rate_limits import WINDOW_MINUTES, LoginRateLimit, NetworkRateLimit
from infra.redis import keys
from infra.sentences import SAY

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
            pipe.zadd(name, {_hashed(account, network): self._client.time()[0]})
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
        found: Any = self._client.zscore(keys.networks(account), _hashed(account, network))
        return found is not None


def _hashed(account: AccountId, network: str) -> bytes:
    """Return a hash of a network, so that the stored data have no addresses."""
    return sha256(account + network.encode(errors="surrogatepass")).digest()[:16]
