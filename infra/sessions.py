"""Sessions: how a browser shows, page after page, that somebody has logged in with it.

| key | what |
|---|---|
| `{w:<hex>}` | a session's record; half the SHA-256 of its text |
| `{a:<hex>}:sessions` | hash: session's id -> SHA-256 of its text |

A session is 256 random bits that a cookie holds; what is stored is their SHA-256, so who reads the
store can't use what is in it. Its record and its entry in the account's list live in different
slots of a cluster, and change as those of `infra.tokens` do: the record is written for an hour,
listed if the account is still there, then kept for as long as a session lasts; what ends goes from
its record first, at once and everywhere. What is listed without a record is struck off by whoever
comes across it. A session is good only while its account is there.

Durable as `infra.letters` is.
"""

import os
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

import msgspec
import redis
from msgspec.structs import asdict, replace

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra import keys
from infra.clients import Clock, time_ms
from infra.secret_index import SecretIndex, body_of, new_id

LASTS_SECONDS: Final = 30 * 24 * 3600
"""How long a session lasts from the login on."""

MOST: Final = 20
"""Sessions of one account; one more ends the oldest."""

UNLISTED_SECONDS: Final = 3600
"""How long a record lasts that is not listed: nobody could end it."""

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
    """64 random bits in hex; says nothing of the text."""
    label: str
    """The browser, as far as it says; personal."""
    created: int
    last_used: int | None = None
    """The beginning of the last day (UTC) on which it was used; None for not since the login."""


class Opened(Session, frozen=True, kw_only=True):
    """A session that was opened just now."""

    text: str
    """For the browser's cookie, and stored nowhere."""

    def __repr__(self) -> str:
        """Show which session it is, and not its text: it may come to stand in a log."""
        return f"{type(self).__name__}({self.id!r})"


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(Session).decode

Found = Mapping[bytes, Session]
"""Sessions by the SHA-256 of their texts."""


def record_key(digest: bytes) -> str:
    """Name the record of the session whose text has this SHA-256."""
    return f"{{w:{digest[:16].hex()}}}"


def list_key(account: AccountId) -> str:
    """Name the hash of an account's sessions."""
    return f"{keys.account(account)}:sessions"


class Sessions:
    """The sessions on a server. Errors of the server pass through; safe for several threads.

    `clock` gives the time in ms instead of the server's TIME: the port for tests.
    """

    def __init__(self, client: redis.Redis, clock: Clock | None = None) -> None:
        self._client = client
        self._clock = clock
        self._index = SecretIndex(client, record_key, list_key)

    def open(self, account: AccountId, label: str = "") -> Opened:
        """Open a session of who has just proven who they are; `label` tells the browser.

        `unknown-user` for an account that is no more, and `busy` when all its sessions were ended
        at the same moment. Killed on the way, it leaves a session of which nobody has the text.
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
        return Opened(text=text, **asdict(session))

    def check(self, text: str) -> Session | None:
        """Return the session of a text; None when it is none, or none any more."""
        if not _TEXT.fullmatch(text):
            return None
        digest = _digest(text)
        session = _unpack(digest, self._client.get(record_key(digest)))
        if session is None or not self._client.exists(keys.account(session.account)):
            return None
        self._note_use(digest, session)
        return session

    def list_of(self, account: AccountId) -> list[Session]:
        """Return the sessions of an account that last, the newest first."""
        listed = self._index.of(account)
        found = self._read(listed.values())
        # the others have expired, or a process was killed while it ended them
        self._index.remove(account, [id_ for id_, one in listed.items() if one not in found])
        return sorted(found.values(), key=lambda one: (one.created, one.id), reverse=True)

    def end(self, account: AccountId, id_: str) -> bool:
        """End a session of the account, at once and everywhere; False when it has none of this id."""
        return self._index.end(account, id_)

    def end_others(self, account: AccountId, id_: str) -> None:
        """End all sessions of an account but one."""
        for session in self.list_of(account):
            if session.id != id_:
                self.end(account, session.id)

    def forget(self, account: AccountId) -> None:
        """Erase all sessions of an account; safe to repeat."""
        self._index.forget(account)

    def _make_room(self, account: AccountId) -> None:
        for oldest in self.list_of(account)[MOST - 1 :]:
            self.end(account, oldest.id)

    def _keep(self, digest: bytes, session: Session) -> None:
        """Store and list a new session."""
        name = record_key(digest)
        self._client.set(name, digest + _encode(session), ex=UNLISTED_SECONDS)
        # crash window: the record is there for an hour, and nobody has its text
        try:
            self._list(session, digest)
        except Refusal:
            self._client.delete(name)
            raise
        # crash window: it is listed, and will be for an hour
        if not self._client.expire(name, LASTS_SECONDS):
            raise _busy()
        # what is listed is of no use when the last of them has ended
        self._client.expire(list_key(session.account), LASTS_SECONDS)

    def _list(self, session: Session, digest: bytes) -> None:
        if not self._index.add(session.account, session.id, digest, MOST):
            raise Refusal(
                Code.TOO_MANY, f"an account has at most {MOST} sessions; log in once more"
            )

    def _note_use(self, digest: bytes, session: Session) -> None:
        """Write down the first use of a day; what was ended since does not come back."""
        now = self._now()
        today = now - now % _DAY
        if today > (session.last_used or session.created):
            data = digest + _encode(replace(session, last_used=today))
            self._client.set(record_key(digest), data, xx=True, keepttl=True)

    def _read(self, digests: Iterable[bytes]) -> Found:
        """Return those sessions that have a record."""
        wanted = list(digests)
        with self._client.pipeline(transaction=False) as pipe:
            for digest in wanted:
                pipe.get(record_key(digest))
            read = zip(wanted, pipe.execute(), strict=True)
            found = {digest: _unpack(digest, data) for digest, data in read}
        return {digest: session for digest, session in found.items() if session}

    def _now(self) -> int:
        return time_ms(self._client, self._clock)


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()


def _unpack(digest: bytes, data: Any) -> Session | None:
    body = body_of(digest, data)
    return None if body is None else _decode(body)


def _busy() -> Refusal:
    return Refusal(Code.BUSY, "the account's sessions were ended at the same moment; log in again")
