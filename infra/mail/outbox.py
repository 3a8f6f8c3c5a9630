"""The outbox: e-mails that wait to be sent, in Redis, so that they survive every process.

An e-mail is sent at least once. A mailer leases it for ten minutes. If the mailer is killed before it
notes that the relay has accepted the e-mail, it is sent again under the same Message-ID.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec
import redis

from domain.match.events import AccountId
from infra import scripts
from infra.accounts.reading import mailbox
from infra.clients import Clock, time_ms
from infra.mail import keys
from infra.mail.letter import Letter, check_letter

logger = logging.getLogger(__name__)

KNOWN_SECONDS: Final = 7 * 24 * 3600
"""How long an id is remembered after it was queued: mail servers repeat for 5 days."""

TAKEN_MS: Final = 600_000
"""How long a mailer leases an e-mail."""

AHEAD_MS: Final = 24 * 3_600_000
"""How far ahead an e-mail can be due. One that is later was queued by a clock that ran ahead."""

LONGEST_REST_MS: Final = 300_000
"""The longest back-off of the relay."""

_ENQUEUE: Final = scripts.Script("email_enqueue")
_LEASE_DUE: Final = scripts.Script("email_lease_due")

_STEP: Final = 500


class Taken(msgspec.Struct, frozen=True):
    """An e-mail to be sent now."""

    key: str
    letter: Letter
    since: int
    """When it was queued, or could be sent at the earliest, ms."""
    tries: int
    """1 for the first."""


class Rest(msgspec.Struct, frozen=True, array_like=True):
    """Back-off of the relay, which could not be reached."""

    until: int
    """Milliseconds."""
    tries: int
    """How often it could not be reached in a row."""
    why: str


class _Entry(msgspec.Struct, frozen=True, array_like=True):
    since: int
    letter: Letter


_ENCODER: Final = msgspec.msgpack.Encoder()
_ENTRIES: Final = msgspec.msgpack.Decoder(_Entry)
_RESTS: Final = msgspec.msgpack.Decoder(Rest)


class Outbox:
    """The e-mails that wait. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis, clock: Clock | None = None) -> None:
        self._client = client
        self._clock = clock

    def now(self) -> int:
        """Return the time by which e-mails are due, ms."""
        return time_ms(self._client, self._clock)

    # adding

    def put(self, email: Letter) -> bool:
        """Queue an e-mail; False when one of its id to its address was queued before.

        `UnfitLetterError` for one that can't be sent.
        """
        return self.put_all([email])[0]

    def put_all(self, emails: Sequence[Letter]) -> list[bool]:
        """Queue several; after a kill some are queued, and the same call queues the others."""
        for email in emails:
            check_letter(email)
        now = self.now() if emails else 0
        replies = scripts.call_all(self._client, [_put_call(email, now) for email in emails])
        return [bool(reply) for reply in replies]

    # sending

    def is_due(self, now: int) -> bool:
        """Return whether there is an e-mail to send, and no back-off of the relay."""
        if self.rest(now) is not None:
            return False
        with self._client.pipeline(transaction=False) as pipe:
            pipe.zrange(keys.DUE, 0, 0, withscores=True)
            pipe.zrange(keys.DUE, -1, -1, withscores=True)
            first, last = pipe.execute()
        return bool(first) and (first[0][1] <= now or last[0][1] > now + AHEAD_MS)

    def take(self, now: int, count: int) -> list[Taken]:
        """Lease up to `count` e-mails that are due, the longest due first."""
        names = [keys.DUE, keys.LETTERS, keys.TRIES]
        args: list[scripts.Arg] = [now, count, now + TAKEN_MS, now + AHEAD_MS]
        found = scripts.call(self._client, _LEASE_DUE, names, args)
        return [taken for row in found if (taken := self._read(*row))]

    def _read(self, key: bytes, data: bytes, tries: int) -> Taken | None:
        """Read an e-mail; one that can't be read is dropped, because it would block the others."""
        try:
            entry = _ENTRIES.decode(data)
        except msgspec.MsgspecError:
            logger.exception("ALARM: e-mail %s can't be read, and is dropped", key.decode())
            self._remove([key.decode()])
            return None
        return Taken(key.decode(), entry.letter, entry.since, tries)

    def later(self, email: Taken, at: int) -> None:
        """Retry an e-mail at `at`, ms; one that was removed meanwhile is not added again."""
        self._client.zadd(keys.DUE, {email.key: at}, xx=True)

    def give_back(self, emails: Iterable[Taken], at: int) -> None:
        """Release leased e-mails that were not tried; they are due at `at`, ms."""
        with self._client.pipeline(transaction=True) as pipe:
            for email in emails:
                pipe.zadd(keys.DUE, {email.key: at}, xx=True)
                pipe.hincrby(keys.TRIES, email.key, -1)
            pipe.execute()

    def done(self, email: Taken) -> None:
        """Remove an e-mail that was sent or given up."""
        self._remove([email.key])

    def waiting(self) -> int:
        """Count the e-mails that wait."""
        return int(self._client.hlen(keys.LETTERS))

    def first_due(self) -> int | None:
        """Return when the first e-mail is or was due, ms; None if none waits."""
        found: Any = self._client.zrange(keys.DUE, 0, 0, withscores=True)
        return int(found[0][1]) if found else None

    # the relay

    def rest(self, now: int) -> Rest | None:
        """Return the back-off of the relay; None if there is none, or it has ended."""
        rest = self.last_rest()
        # a later end was set by a clock that ran ahead
        lasts = rest is not None and now < rest.until <= now + LONGEST_REST_MS
        return rest if lasts else None

    def last_rest(self) -> Rest | None:
        """Return the last back-off since the relay was reached, ended or not."""
        found: Any = self._client.get(keys.REST)
        return None if found is None else _RESTS.decode(found)

    def lay_in(self, rest: Rest) -> None:
        """Start a back-off of the relay."""
        self._client.set(keys.REST, _ENCODER.encode(rest))

    def go_on(self) -> None:
        """End the back-off: the relay was reached."""
        self._client.delete(keys.REST)

    # erasing

    def forget(self, account: AccountId) -> None:
        """Erase all e-mails to an account; by then no more may be queued for it."""
        gone = [key for key, email in self._all() if email.account == account]
        if gone:
            self._remove(gone)

    def _all(self) -> Iterator[tuple[str, Letter]]:
        for key, data in self._client.hscan_iter(keys.LETTERS, count=_STEP):
            yield key.decode(), _ENTRIES.decode(data).letter

    def _remove(self, ids: Sequence[str]) -> None:
        with self._client.pipeline(transaction=True) as pipe:
            pipe.zrem(keys.DUE, *ids)
            pipe.hdel(keys.LETTERS, *ids)
            pipe.hdel(keys.TRIES, *ids)
            pipe.execute()


def _key(email: Letter) -> str:
    """Return the key of an e-mail: the same mail to two addresses has two."""
    return sha256(f"{email.id} {mailbox(email.to)}".encode()).hexdigest()[:32]


def _put_call(email: Letter, now: int) -> scripts.Call:
    key = _key(email)
    due = max(now, email.not_before)
    entry = _ENCODER.encode(_Entry(due, email))
    return _ENQUEUE, [keys.known(key), keys.LETTERS, keys.DUE], [key, entry, due, KNOWN_SECONDS]
