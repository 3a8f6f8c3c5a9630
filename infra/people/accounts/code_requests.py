"""Requests for the codes that verify mail addresses: so many a day, whatever accounts ask.

So nobody can fill the mailbox of a stranger by making accounts with its address, in whatever spelling.
"""

import math
from typing import Any, Final

import redis

from domain.records import AccountId
from domain.sentences import Sentence
from infra.people.accounts.record import Profile
from infra.people.accounts.usernames import folded_mailbox
from infra.people.rate_limits import LOCAL, SecurityEvent, attempt_source, note_security
from infra.redis import mail_keys as keys
from infra.sentences import SAY

CODES_A_DAY: Final = 5
"""Codes for a mailbox within 24 hours, at most."""

NETWORK_CODES_A_DAY: Final = 20
"""Codes that a network may ask for within 24 hours."""

_HOUR: Final = 3600


class CodeRequests:
    """The requests on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def ask(self, account: AccountId, profile: Profile | None) -> None:
        """Have the mailer send codes to the unverified addresses of an account, all of them or none."""
        addresses = profile.addresses if profile else ()
        boxes = [folded_mailbox(one.address) for one in addresses if not one.usable]
        place = attempt_source()
        network = place.strangers or place.network
        limits = [(box, CODES_A_DAY) for box in boxes]
        limits += [(f"network {network}", NETWORK_CODES_A_DAY)] * len(boxes) * (network != LOCAL)
        seconds = next(filter(None, (self._count(*one) for one in limits)), 0)
        if seconds:
            note_security(SecurityEvent.LIMIT, account, limit="codes")
            self._client.set(keys.codes_withheld(account), b"", ex=seconds)
            return
        self._client.delete(keys.codes_withheld(account))
        # crash window: the addresses are stored and no code is sent; adding them again sends one
        self._client.sadd(keys.ADDRESSES_TO_VERIFY, account)

    def withheld(self, account: AccountId) -> Sentence | None:
        """Return why no codes were sent when they were last asked for; None if they were."""
        seconds: Any = self._client.ttl(keys.codes_withheld(account))
        return SAY("codes-withheld", hours=math.ceil(seconds / _HOUR)) if seconds > 0 else None

    def forget(self, account: AccountId) -> None:
        """Forget the request of an account; safe to repeat."""
        self._client.srem(keys.ADDRESSES_TO_VERIFY, account)
        self._client.delete(keys.codes_withheld(account))

    def _count(self, what: str, most: int) -> int:
        """Count a code; return for how many seconds codes are withheld, 0 if this one is sent."""
        name = keys.sent_codes(what)
        with self._client.pipeline(transaction=True) as pipe:
            pipe.incr(name)
            pipe.expire(name, 24 * _HOUR, nx=True)
            pipe.ttl(name)
            count, _, left = pipe.execute()
        return max(1, left) if count > most else 0
