"""Inbound mail: which mails were processed, and how many replies were sent to an address.

| key | what |
|---|---|
| `{mail}:taken:<mail>` | mark that a mail was processed, kept 30 days |
| `answers:sent/<hash>/<most>/1/hour` | replies to an address within an hour; written by `limits` |
| `answers:unproven/<hash>/<most>/1/day` | replies within a day to senders of whom nothing is known |
"""

from hashlib import sha256
from typing import Final

import redis
from limits import RateLimitItemPerDay, RateLimitItemPerHour
from limits.strategies import FixedWindowRateLimiter

from infra.people.accounts.usernames import folded_mailbox, mailbox
from infra.people.rate_limits import CountStorage

PROCESSED_SECONDS: Final = 30 * 24 * 3600
"""How long the mark of a processed mail is kept; a mail server gives up after five days."""

REPLIES_AN_HOUR: Final = 20
"""Replies to an address within an hour, at most."""

REFUSALS_AN_HOUR: Final = 200
"""Replies within an hour to a player's own mails that report a refusal: more than a person needs, and
few enough to stop a loop with an auto-responder."""

REPLIES_TO_STRANGERS: Final = (3, 20, 100)
"""Replies within a day to senders of whom nothing is known, at most: to one mailbox, one domain, and all."""

_PREFIX: Final = "answers"


def _processed_key(mail: str) -> str:
    """Return the key of the mark that a mail was processed."""
    return f"{{mail}}:taken:{mail}"


class ProcessedMail:
    """Marks of processed mails. Errors of the server pass through; thread-safe.

    A mark only saves work: a mail that is processed twice uses the same command ids.
    """

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def is_processed(self, mail: str) -> bool:
        """Return whether a mail was processed, by its key from `key_of`."""
        return bool(self._client.exists(_processed_key(mail)))

    def mark_processed(self, mail: str) -> None:
        """Note that a mail was processed and answered."""
        self._client.set(_processed_key(mail), b"", ex=PROCESSED_SECONDS)


def key_of(recipient: str, id_: str) -> str:
    """Return the key of a mail; the same mail to two recipients has two."""
    return sha256(f"{mailbox(recipient)} {id_}".encode(errors="surrogatepass")).hexdigest()[:32]


class ReplyRateLimit:
    """Counts the replies to an address in Redis, within an hour from the first."""

    def __init__(self, client: redis.Redis, most: int = REPLIES_AN_HOUR) -> None:
        self._limiter = FixedWindowRateLimiter(CountStorage(client, _PREFIX))
        self._item = RateLimitItemPerHour(most, namespace="sent")

    def admits(self, address: str) -> bool:
        """Count a reply; False when too many were sent to the address in this hour."""
        return self._limiter.hit(self._item, _hashed(address))

    def is_spent(self, address: str) -> bool:
        """Return whether the address has had its last reply of this hour."""
        return self._limiter.get_window_stats(self._item, _hashed(address)).remaining <= 0


class StrangerReplyLimit:
    """Counts the replies to senders of whom nothing is known, so that forged senders get nearly nothing."""

    def __init__(self, client: redis.Redis) -> None:
        self._limiter = FixedWindowRateLimiter(CountStorage(client, _PREFIX))
        self._items = [
            RateLimitItemPerDay(one, namespace="unproven") for one in REPLIES_TO_STRANGERS
        ]

    def admits(self, address: str) -> bool:
        """Count a reply; False when there were too many today."""
        whose = (folded_mailbox(address), address.rpartition("@")[2].lower(), "")
        return all(
            self._limiter.hit(item, _hashed(one))
            for item, one in zip(self._items, whose, strict=True)
        )


def _hashed(address: str) -> str:
    return sha256(mailbox(address).encode(errors="surrogatepass")).hexdigest()[:32]
