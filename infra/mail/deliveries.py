"""What is kept of mail that came in: which was taken, and how many answers an address was sent.

| key | what |
|---|---|
| `{mail}:taken:<mail>` | set while the same mail is not carried out again: 30 days |
| `answers:told/<hash>/<most>/1/hour` | answers to an address within an hour; written by `limits` |
"""

from hashlib import sha256
from typing import Final

import redis
from limits import RateLimitItemPerHour
from limits.storage import RedisStorage
from limits.strategies import FixedWindowRateLimiter

from infra.accounts.reading import mailbox

TAKEN_SECONDS: Final = 30 * 24 * 3600
"""How long the same mail is a repetition; a mail server gives up after five days."""

ANSWERS: Final = 20
"""Answers that an address is sent within an hour, at most."""

REFUSALS: Final = 200
"""Answers of one hour to a player's own mails that say that something was not done: as many as a
person could need, and an end to a robot that answers each of them."""

_PREFIX: Final = "answers"


def _taken(mail: str) -> str:
    """Name the mark that a mail was taken."""
    return f"{{mail}}:taken:{mail}"


class Deliveries:
    """The mails that were taken. Errors of the server pass through; safe for several threads.

    A mark is a convenience: who is told that a mail is new carries it out by keys that make a
    repetition harmless.
    """

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def taken(self, mail: str) -> bool:
        """Whether a mail was taken, by a key of `key_of`."""
        return bool(self._client.exists(_taken(mail)))

    def take(self, mail: str) -> None:
        """Note that a mail was carried out and answered."""
        self._client.set(_taken(mail), b"", ex=TAKEN_SECONDS)


def key_of(recipient: str, id_: str) -> str:
    """Return what stands for a mail in keys: the same mail to two recipients is two."""
    return sha256(f"{mailbox(recipient)} {id_}".encode(errors="surrogatepass")).hexdigest()[:32]


class AnswerLimit:
    """Counts the answers to an address in Redis, within an hour from the first of them."""

    def __init__(self, client: redis.Redis, most: int = ANSWERS) -> None:
        # the scheme is all that is read of the URL: the connections are our client's own
        storage = RedisStorage(
            "redis://", connection_pool=client.connection_pool, key_prefix=_PREFIX
        )
        self._limiter = FixedWindowRateLimiter(storage)
        self._item = RateLimitItemPerHour(most, namespace="told")

    def admits(self, address: str) -> bool:
        """Count an answer; False when the address was sent too many in this hour."""
        return self._limiter.hit(self._item, _hidden(address))

    def is_spent(self, address: str) -> bool:
        """Whether the address is sent no other answer in this hour."""
        return self._limiter.get_window_stats(self._item, _hidden(address)).remaining <= 0


def _hidden(address: str) -> str:
    return sha256(mailbox(address).encode(errors="surrogatepass")).hexdigest()[:32]
