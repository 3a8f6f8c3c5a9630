"""Sessions of browsers that have logged in.

| key | what |
|---|---|
| `{w:<hex>}` | a session's record; half the SHA-256 of its text |
| `{a:<hex>}:sessions` | hash: session's id -> SHA-256 of its text |

A session is 256 random bits in a cookie; their SHA-256 is stored, so a reader of the store can't use
it. The record and the entry in the account's list are in different slots of a cluster, and change as
those of `infra.people.tokens`: the record is written for an hour, listed if the account still exists, and
then kept for as long as a session lasts, which the first use of a day renews; a session ends by deleting its record,
at once and everywhere.
An entry without a record is removed by any reader. A session is valid only while its account exists.

Durable as `infra.people.messages` is.

The common part of sessions and tokens: secrets of an account, of which only the SHA-256 is stored.

A secret is two keys in different slots of a cluster: a record, found by the SHA-256 of the text, and a
field of a hash under the account, id -> SHA-256. A record is written before its field and deleted before
it, so a field without a record means a secret that has ended, and every reader may remove it.
"""

import hmac
import os
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any, Final, NamedTuple

import msgspec
import redis
from msgspec.structs import asdict, replace

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.account_index import index_under_account
from infra.people.rate_limits import SecurityEvent, note_security
from infra.redis import keys
from infra.redis.clients import Clock, time_ms
from infra.redis.reads import Read, read_nothing, read_one, read_strings
from infra.redis.server import ServerTime
from infra.sentences import SAY

_ID_BYTES: Final = 8
_ID: Final = re.compile(r"[0-9a-f]{16}")
_DIGEST_BYTES: Final = 32


def new_id() -> str:
    """Return 64 random bits in hex."""
    return os.urandom(_ID_BYTES).hex()


def body_of(digest: bytes, data: bytes | None) -> bytes | None:
    """Return a record without its digest; None for no record, and for that of another text."""
    # the key has half the digest; compared in constant time, because the other half is secret
    if data is None or not hmac.compare_digest(data[:_DIGEST_BYTES], digest):
        return None
    return data[_DIGEST_BYTES:]


class SecretIndex:
    """The secrets of one kind; `record` and `index` name the two keys."""

    def __init__(
        self,
        client: redis.Redis,
        record: Callable[[bytes], str],
        index: Callable[[AccountId], str],
    ) -> None:
        self._client = client
        self._record = record
        self._index = index

    def add(self, account: AccountId, id_: str, digest: bytes, most: int) -> bool:
        """Add a secret; False when the account has `most`, `unknown-user` when it was deleted."""
        return index_under_account(self._client, account, self._index(account), id_, digest, most)

    def of(self, account: AccountId) -> dict[str, bytes]:
        """Return the SHA-256 of an account's secrets by their ids."""
        found: Any = self._client.hgetall(self._index(account))
        return {id_.decode(): digest for id_, digest in found.items()}

    def remove(self, account: AccountId, ids: Iterable[str]) -> None:
        """Remove secrets that have ended; others may have been added since they were read."""
        if removed := list(ids):
            self._client.hdel(self._index(account), *removed)

    def end(self, account: AccountId, id_: str) -> bool:
        """End a secret at once and everywhere; False when the account has none of this id."""
        valid = _ID.fullmatch(id_)
        digest: Any = self._client.hget(self._index(account), id_) if valid else None
        if digest is None:
            return False
        ended = self._client.delete(self._record(digest))
        # crash window: its record is deleted and its field is not
        self.remove(account, [id_])
        return bool(ended)

    def forget(self, account: AccountId) -> None:
        """Erase all secrets of an account; safe to repeat."""
        found = self.of(account)
        with self._client.pipeline(transaction=False) as pipe:
            for digest in found.values():
                pipe.delete(self._record(digest))
            pipe.execute()
        # crash window: until here every record can still be found
        self.remove(account, found)


LASTS_SECONDS: Final = 30 * 24 * 3600
"""How long a session lasts at most after the login."""

IDLE_DAYS: Final = 14
"""How many whole days (UTC) without use end a session."""

MOST_SESSIONS: Final = 20
"""Most sessions of one account; another one ends the oldest."""

UNLISTED_SECONDS: Final = 3600
"""How long a record lasts before it is listed, because nobody could end it."""

LABEL_LENGTH: Final = 60

_DAY: Final = 24 * 3_600_000
_RANDOM_BYTES: Final = 32
_TEXT: Final = re.compile(r"[A-Za-z0-9_-]{43}")


class Session(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session without its text. Times are ms since 1970 by Redis's clock.

    Stored as a map: a new field needs a default, and a default never changes.
    """

    account: AccountId
    id: str
    """64 random bits in hex, independent of the text."""
    label: str
    """The browser's description of itself; personal."""
    created: int
    last_used: int | None = None
    """Start of the last day (UTC) on which it was used; None if only on that of the login."""


class FreshSession(Session, frozen=True, kw_only=True):
    """A new session, with its text."""

    text: str
    """For the browser's cookie; stored nowhere."""

    def __repr__(self) -> str:
        """Return the id without the text, because it may appear in a log."""
        return f"{type(self).__name__}({self.id!r})"


class SessionCheck(NamedTuple):
    """A session that lasts, with its account."""

    session: Session
    record: bytes
    """The account's, as stored."""
    now: int
    """The server's time, ms."""


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(Session).decode

SessionsByDigest = Mapping[bytes, Session]
"""Sessions by the SHA-256 of their texts."""


def record_key(digest: bytes) -> str:
    """Return the key of the session whose text has this SHA-256."""
    return f"{{w:{digest[:16].hex()}}}"


def list_key(account: AccountId) -> str:
    """Return the key of the hash of an account's sessions."""
    return f"{keys.account(account)}:sessions"


class Sessions:
    """The sessions on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis, clock: Clock | None = None) -> None:
        self._client = client
        self._clock = clock
        self._time = ServerTime(clock)
        self._index = SecretIndex(client, record_key, list_key)

    def open(self, account: AccountId, label: str = "") -> FreshSession:
        """Open a session for an account that was authenticated; `label` describes the browser.

        `unknown-user` for a deleted account, and `busy` if all its sessions were ended at the same
        moment. After a kill there may be a session whose text nobody has.
        """
        self._make_room(account)
        session = Session(
            account=account,
            id=new_id(),
            label="".join(filter(str.isprintable, label))[:LABEL_LENGTH],
            created=self._now(),
        )
        text = urlsafe_b64encode(os.urandom(_RANDOM_BYTES)).decode().rstrip("=")
        self._keep(_digest(text), session)
        note_security(SecurityEvent.SESSION_MADE, account, session=session.id)
        return FreshSession(text=text, **asdict(session))

    def check(self, text: str) -> SessionCheck | None:
        """Return the session of a text; None if there is none, or it has ended. Two round trips."""
        found = read_one(self._client, self.read_account(read_one(self._client, self.read(text))))
        self.note_use(text, found)
        return found

    @staticmethod
    def read(text: str) -> Read[Session | None]:
        """Return the read of the session of a text, whose account may have been deleted."""
        if not _TEXT.fullmatch(text):
            return read_nothing(None)
        digest = _digest(text)
        return read_strings([record_key(digest)], lambda found: _unpack(digest, found[0]))

    def read_account(self, session: Session | None) -> Read[SessionCheck | None]:
        """Return the read of a session with its account; None for none, or a deleted account."""
        if session is None:
            return read_nothing(None)
        now = self._time.read()

        def parse(found: list[Any]) -> SessionCheck | None:
            account, *time = found
            return None if account is None else SessionCheck(session, account, now.parse(time))

        return Read(now.queue, parse, [keys.account(session.account)])

    def note_use(self, text: str, found: SessionCheck | None) -> None:
        """Store the first use of a day, unless the session was ended meanwhile."""
        if found is None:
            return
        session, today = found.session, found.now - found.now % _DAY
        if today > (session.last_used or session.created):
            digest = _digest(text)
            data = digest + _encode(replace(session, last_used=today))
            self._client.set(record_key(digest), data, xx=True, px=_left(session, found.now))

    def list_of(self, account: AccountId) -> list[Session]:
        """Return the sessions of an account that last, the newest first."""
        listed = self._index.of(account)
        found = self._read(listed.values())
        # the others have expired, or a process was killed while it ended them
        self._index.remove(account, [id_ for id_, one in listed.items() if one not in found])
        return sorted(found.values(), key=lambda one: (one.created, one.id), reverse=True)

    def end(self, account: AccountId, id_: str) -> bool:
        """End a session of the account, at once and everywhere; False when it has none of this id."""
        ended = self._index.end(account, id_)
        if ended:
            note_security(SecurityEvent.SESSION_ENDED, account, session=id_)
        return ended

    def end_others(self, account: AccountId, id_: str) -> None:
        """End all sessions of an account but one."""
        for session in self.list_of(account):
            if session.id != id_:
                self.end(account, session.id)

    def forget(self, account: AccountId) -> None:
        """Erase all sessions of an account; safe to repeat."""
        self._index.forget(account)

    def _make_room(self, account: AccountId) -> None:
        for oldest in self.list_of(account)[MOST_SESSIONS - 1 :]:
            self.end(account, oldest.id)

    def _keep(self, digest: bytes, session: Session) -> None:
        """Store and list a new session."""
        name = record_key(digest)
        self._client.set(name, digest + _encode(session), ex=UNLISTED_SECONDS)
        # crash window: the record exists for an hour, and nobody has its text
        try:
            self._list(session, digest)
        except Refusal:
            self._client.delete(name)
            raise
        # crash window: it is listed, and expires within the hour
        if not self._client.pexpire(name, _left(session, session.created)):
            raise _ended_elsewhere()
        # the list is useless once the last session has ended
        self._client.expire(list_key(session.account), LASTS_SECONDS)

    def _list(self, session: Session, digest: bytes) -> None:
        if not self._index.add(session.account, session.id, digest, MOST_SESSIONS):
            raise Refusal(Code.TOO_MANY, SAY("sessions", most=MOST_SESSIONS))

    def _read(self, digests: Iterable[bytes]) -> SessionsByDigest:
        """Return those sessions that have a record."""
        wanted = list(digests)
        data = read_one(self._client, read_strings(list(map(record_key, wanted)), list))
        found = {digest: _unpack(digest, one) for digest, one in zip(wanted, data, strict=True)}
        return {digest: session for digest, session in found.items() if session}

    def _now(self) -> int:
        return time_ms(self._client, self._clock)


def _left(session: Session, now: int) -> int:
    """Return for how long, in ms, a session lasts that is used now and not again."""
    return (
        min(session.created + 1000 * LASTS_SECONDS, now - now % _DAY + (IDLE_DAYS + 1) * _DAY) - now
    )


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()


def _unpack(digest: bytes, data: Any) -> Session | None:
    body = body_of(digest, data)
    return None if body is None else _decode(body)


def _ended_elsewhere() -> Refusal:
    return Refusal(Code.BUSY, SAY("sessions-busy"))
