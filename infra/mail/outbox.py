"""The outbox: e-mails that wait to be sent, in Redis, so that they survive every process.

An e-mail is sent at least once. A mailer leases it for ten minutes. If the mailer is killed before it
notes that the relay has accepted the e-mail, it is sent again under the same Message-ID.

The e-mails that were sent, in a file in the data directory: it does not go back when the data do.

After a restored backup the mailer reads the restored moves again, and the outbox has forgotten what it
sent. The file has only digests of ids and addresses. It may be lost: then those mails are sent once more.
"""

import logging
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec
import redis

from domain.records import AccountId
from infra.mail.email import Email, check_email
from infra.people.accounts.usernames import mailbox
from infra.redis import mail_keys as keys
from infra.redis import scripts
from infra.redis.clients import Clock, time_ms

logger = logging.getLogger(__name__)

KNOWN_SECONDS: Final = 7 * 24 * 3600
"""How long an id is remembered after it was queued: mail servers repeat for 5 days."""

LEASE_MS: Final = 600_000
"""How long a mailer leases an e-mail."""

AHEAD_MS: Final = 24 * 3_600_000
"""How far ahead an e-mail can be due. One that is later was queued by a clock that ran ahead."""

LONGEST_BACKOFF_MS: Final = 300_000
"""The longest back-off of the relay."""

_ENQUEUE: Final = scripts.Script("email_enqueue")
_LEASE_DUE: Final = scripts.Script("email_lease_due")

_STEP: Final = 500


class LeasedEmail(msgspec.Struct, frozen=True):
    """An e-mail to be sent now."""

    key: str
    email: Email
    since: int
    """When it was queued, or could be sent at the earliest, ms."""
    tries: int
    """1 for the first."""


class RelayBackoff(msgspec.Struct, frozen=True, array_like=True):
    """Back-off of the relay, which could not be reached."""

    until: int
    """Milliseconds."""
    tries: int
    """How often it could not be reached in a row."""
    why: str


class OutboxStatus(msgspec.Struct, frozen=True):
    """Outgoing mail at one moment."""

    waiting: int = 0
    """E-mails that are not sent yet."""
    late: int = 0
    """Milliseconds since the first of them was due; 0 if none is due."""
    down: str = ""
    """Why nothing is sent to the relay for now; empty if it works."""


class _OutboxEntry(msgspec.Struct, frozen=True, array_like=True):
    since: int
    letter: Email


_ENCODER: Final = msgspec.msgpack.Encoder()
_ENTRIES: Final = msgspec.msgpack.Decoder(_OutboxEntry)
_BACKOFFS: Final = msgspec.msgpack.Decoder(RelayBackoff)


class Outbox:
    """The e-mails that wait. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis, clock: Clock | None = None) -> None:
        self._client = client
        self._clock = clock

    def now(self) -> int:
        """Return the time by which e-mails are due, ms."""
        return time_ms(self._client, self._clock)

    # adding

    def enqueue(self, email: Email) -> bool:
        """Queue an e-mail; False when one of its id to its address was queued before.

        `InvalidEmailError` for one that can't be sent.
        """
        return self.enqueue_all([email])[0]

    def enqueue_all(self, emails: Sequence[Email]) -> list[bool]:
        """Queue several; after a kill some are queued, and the same call queues the others."""
        for email in emails:
            check_email(email)
        now = self.now() if emails else 0
        replies = scripts.call_all(self._client, [_enqueue_call(email, now) for email in emails])
        return [bool(reply) for reply in replies]

    # sending

    def is_due(self, now: int) -> bool:
        """Return whether there is an e-mail to send, and no back-off of the relay."""
        if self.backoff(now) is not None:
            return False
        with self._client.pipeline(transaction=False) as pipe:
            pipe.zrange(keys.DUE, 0, 0, withscores=True)
            pipe.zrange(keys.DUE, -1, -1, withscores=True)
            first, last = pipe.execute()
        return bool(first) and (first[0][1] <= now or last[0][1] > now + AHEAD_MS)

    def lease_due(self, now: int, count: int) -> list[LeasedEmail]:
        """Lease up to `count` e-mails that are due, the longest due first."""
        names = [keys.DUE, keys.EMAILS, keys.TRIES]
        args: list[scripts.Arg] = [now, count, now + LEASE_MS, now + AHEAD_MS]
        found = scripts.call(self._client, _LEASE_DUE, names, args)
        return [leased for row in found if (leased := self._read(*row))]

    def _read(self, key: bytes, data: bytes, tries: int) -> LeasedEmail | None:
        """Read an e-mail; one that can't be read is dropped, because it would block the others."""
        try:
            entry = _ENTRIES.decode(data)
        except msgspec.MsgspecError:
            logger.exception("ALARM: e-mail %s can't be read, and is dropped", key.decode())
            self._remove([key.decode()])
            return None
        return LeasedEmail(key.decode(), entry.letter, entry.since, tries)

    def retry_at(self, email: LeasedEmail, at: int) -> None:
        """Retry an e-mail at `at`, ms; one that was removed meanwhile is not added again."""
        self._client.zadd(keys.DUE, {email.key: at}, xx=True)

    def release(self, emails: Iterable[LeasedEmail], at: int) -> None:
        """Release leased e-mails that were not tried; they are due at `at`, ms."""
        with self._client.pipeline(transaction=True) as pipe:
            for email in emails:
                pipe.zadd(keys.DUE, {email.key: at}, xx=True)
                pipe.hincrby(keys.TRIES, email.key, -1)
            pipe.execute()

    def remove(self, email: LeasedEmail) -> None:
        """Remove an e-mail that was sent or given up."""
        self._remove([email.key])

    def size(self) -> int:
        """Count the e-mails that wait."""
        return int(self._client.hlen(keys.EMAILS))

    def status(self, now: int) -> OutboxStatus:
        """Return how many e-mails wait at a time in ms, since when, and whether the relay takes them."""
        with self._client.pipeline(transaction=False) as pipe:
            pipe.hlen(keys.EMAILS)
            pipe.zrange(keys.DUE, 0, 0, withscores=True)
            pipe.get(keys.BACKOFF)
            waiting, first, backoff = pipe.execute()
        late = max(0, now - int(first[0][1])) if first else 0
        return OutboxStatus(waiting, late, _BACKOFFS.decode(backoff).why if backoff else "")

    # the relay

    def backoff(self, now: int) -> RelayBackoff | None:
        """Return the back-off of the relay; None if there is none, or it has ended."""
        rest = self.last_backoff()
        # a later end was set by a clock that ran ahead
        lasts = rest is not None and now < rest.until <= now + LONGEST_BACKOFF_MS
        return rest if lasts else None

    def last_backoff(self) -> RelayBackoff | None:
        """Return the last back-off since the relay was reached, ended or not."""
        found: Any = self._client.get(keys.BACKOFF)
        return None if found is None else _BACKOFFS.decode(found)

    def start_backoff(self, rest: RelayBackoff) -> None:
        """Start a back-off of the relay."""
        self._client.set(keys.BACKOFF, _ENCODER.encode(rest))

    def clear_backoff(self) -> None:
        """End the back-off: the relay was reached."""
        self._client.delete(keys.BACKOFF)

    # erasing

    def forget(self, account: AccountId) -> None:
        """Erase all e-mails to an account; the caller must have stopped queueing for it."""
        gone = [key for key, email in self._all() if email.account == account]
        if gone:
            self._remove(gone)

    def _all(self) -> Iterator[tuple[str, Email]]:
        for key, data in self._client.hscan_iter(keys.EMAILS, count=_STEP):
            yield key.decode(), _ENTRIES.decode(data).letter

    def _remove(self, ids: Sequence[str]) -> None:
        with self._client.pipeline(transaction=True) as pipe:
            pipe.zrem(keys.DUE, *ids)
            pipe.hdel(keys.EMAILS, *ids)
            pipe.hdel(keys.TRIES, *ids)
            pipe.execute()


def _key(email: Email) -> str:
    """Return the key of an e-mail: the same mail to two addresses has two."""
    return sha256(f"{email.id} {mailbox(email.to)}".encode()).hexdigest()[:32]


def _enqueue_call(email: Email, now: int) -> scripts.Call:
    key = _key(email)
    due = max(now, email.not_before)
    entry = _ENCODER.encode(_OutboxEntry(due, email))
    return (
        _ENQUEUE,
        [keys.known_email(key), keys.EMAILS, keys.DUE],
        [key, entry, due, KNOWN_SECONDS],
    )


SENT_FILE: Final = "mail-sent"
"""The file in the data directory."""

KEPT_MS: Final = 7 * 24 * 3_600_000
"""How long it is known that an e-mail was sent: longer than events are mailed after they happened."""

_EXPIRY_MS: Final = 3_600_000


class SentEmails:
    """Notes e-mails by their keys in the outbox. If the file can't be used, none counts as sent."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._expiry = 0
        """When old notes are deleted next, ms."""
        self._failed = False

    @cached_property
    def _notes(self) -> sqlite3.Connection:
        # a machine on which only a mailer runs has no data directory yet
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # a run may be in another thread than the one before
        found = sqlite3.connect(self._file, isolation_level=None, check_same_thread=False)
        found.execute("PRAGMA journal_mode = WAL")
        found.execute("PRAGMA synchronous = NORMAL")  # a power loss may take back the last notes
        found.execute(
            "CREATE TABLE IF NOT EXISTS sent (key TEXT PRIMARY KEY, at INTEGER) WITHOUT ROWID"
        )
        found.execute("CREATE INDEX IF NOT EXISTS by_time ON sent (at)")
        self._file.chmod(0o600)
        return found

    def has(self, key: str) -> bool:
        """Return whether an e-mail was sent."""
        try:
            with closing(self._notes.execute("SELECT 1 FROM sent WHERE key = ?", [key])) as found:
                return found.fetchone() is not None
        except (sqlite3.Error, OSError) as error:
            self._warn(error)
            return False

    def add(self, key: str, now: int) -> None:
        """Note that an e-mail was sent, at `now` in ms."""
        try:
            self._notes.execute("INSERT OR REPLACE INTO sent VALUES (?, ?)", [key, now])
            if now >= self._expiry:
                self._notes.execute("DELETE FROM sent WHERE at < ?", [now - KEPT_MS])
                self._expiry = now + _EXPIRY_MS
        except (sqlite3.Error, OSError) as error:
            self._warn(error)

    def _warn(self, error: Exception) -> None:
        if not self._failed:
            logger.warning(
                "%s can't be used (%s); after a restored backup mails may be sent once more",
                *(self._file, error),
            )
        self._failed = True
