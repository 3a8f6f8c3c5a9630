"""Admission: the rules for making an account and for seeing matches without one, and links for signing up.

| key | what |
|---|---|
| `{site}:admission` | hash: the fields of `Admission` that were ever set |
| `{site}:links` | hash: id of a sign-up link -> its record |
| `{site}:uses` | hash: id of a sign-up link -> how many accounts were made with it |

A process asks at most once a second, so a change is in force in all of them after `FRESH_SECONDS`; see `infra.redis.recent`.

The text of a link is its id and 192 random bits, of which only the SHA-256 is stored. A use is counted before the account is
made and given back if it isn't, so there are never more accounts than uses; a crash in between costs a use.
"""

import hmac
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, Final, Literal

import msgspec
import redis

from domain.errors import Code, Refusal
from infra.people.sessions import new_id
from infra.redis import keys
from infra.redis.clients import time_ms
from infra.redis.recent import Recent
from infra.sentences import SAY

MOST_LINKS: Final = 500
"""Most links there can be, those that have run out among them."""

MOST_USES: Final = 10_000
MOST_DAYS: Final = 365
MOST_OF_NOTE: Final = 100

_DAY: Final = 24 * 3_600_000
_SECRET_BYTES: Final = 24
_TEXT_LENGTH: Final = 100

Signups = Literal["open", "link", "closed"]
Audience = Literal["everybody", "members"]


class Admission(msgspec.Struct, frozen=True):
    """The rules that the operator has set."""

    signups: Signups = "open"
    """An account can be made by anybody, by anybody with a sign-up link, or by nobody."""
    visible_to: Audience = "everybody"
    """Matches, players and lists are shown to everybody, or to members alone: to those with an account."""
    clubs: Literal["operators", "members"] = "operators"
    """The accounts that may found clubs."""
    trial: Literal["on", "off"] = "on"
    """Whether somebody without an account may try the board of a game where the rest is for members."""

    @property
    def for_members_only(self) -> bool:
        """Whether nothing of a match, a player or a list is shown to anybody without an account."""
        return self.visible_to == "members"


class SignupLink(msgspec.Struct, frozen=True):
    """A sign-up link without its text. Times are ms since 1970 by Redis's clock."""

    id: str
    digest: bytes
    uses: int
    """How many accounts may be made with it."""
    created: int
    expires: int
    note: str = ""
    """The operator's own words on whom it is for."""
    club: str = ""
    """Id of the club whose members those become who use it; empty for none."""
    role: str = ""
    """Their role in it."""
    signs_up: bool = True
    """Whether accounts can be made with it; if not, those who have one join its club."""


class Admissions:
    """The admission of a server, and its sign-up links."""

    def __init__(
        self, client: redis.Redis, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._recent = Recent(self._read, Admission(), monotonic)

    @property
    def is_fresh(self) -> bool:
        """Whether `recent` answers without asking the server."""
        return self._recent.is_fresh

    def recent(self) -> Admission:
        """Return the admission, at most `FRESH_SECONDS` old."""
        return self._recent.recent()

    def read(self) -> Admission:
        """Return the admission as it is now; `ValidationError` if a later version has written it."""
        return self._recent.now()

    def _read(self) -> Admission:
        found: Any = self._client.hgetall(keys.ADMISSION)
        fields = {name.decode(): value.decode() for name, value in found.items()}
        return msgspec.convert(fields, Admission)

    def change(self, changes: dict[str, str]) -> None:
        """Set fields of the admission; `ValidationError` for a value that a field doesn't have."""
        known = msgspec.to_builtins(msgspec.convert(changes, Admission))
        self._client.hset(keys.ADMISSION, mapping={name: known[name] for name in changes})
        self._recent.forget()

    def make_link(
        self,
        uses: int,
        days: int,
        note: str = "",
        *,
        club: str = "",
        role: str = "",
        signs_up: bool = True,
    ) -> tuple[SignupLink, str]:
        """Make a sign-up link, and return it with its text; `too-many` if there are `MOST_LINKS`."""
        if len(self.links()) >= MOST_LINKS:
            raise Refusal(Code.TOO_MANY, SAY("signup-links", most=MOST_LINKS))
        now, id_ = time_ms(self._client), new_id()
        text = f"{id_}{secrets.token_urlsafe(_SECRET_BYTES)}"
        link = SignupLink(
            *(id_, _digest(text), uses, now, now + days * _DAY, note),
            club=club,
            role=role,
            signs_up=signs_up,
        )
        self._client.hset(keys.SIGNUP_LINKS, id_, msgspec.msgpack.encode(link))
        return link, text

    def links(self) -> list[tuple[SignupLink, int]]:
        """Return all links with how often each was used, the oldest first."""
        with self._client.pipeline(transaction=False) as pipe:
            pipe.hvals(keys.SIGNUP_LINKS)
            pipe.hgetall(keys.SIGNUP_USES)
            stored, used = pipe.execute()
        found = [msgspec.msgpack.decode(one, type=SignupLink) for one in stored]
        found.sort(key=lambda link: (link.created, link.id))
        return [(link, int(used.get(link.id.encode(), 0))) for link in found]

    def revoke_link(self, id_: str) -> bool:
        """End a link at once, and return whether there was one."""
        with self._client.pipeline() as pipe:
            pipe.hdel(keys.SIGNUP_LINKS, id_)
            pipe.hdel(keys.SIGNUP_USES, id_)
            ended, _ = pipe.execute()
        return bool(ended)

    def usable_link(self, text: str) -> SignupLink | None:
        """Return the link of a text; None if there is no such link, or no use is left."""
        link = self._link_of(text)
        if link is None:
            return None
        used: Any = self._client.hget(keys.SIGNUP_USES, link.id)
        return link if int(used or 0) < link.uses else None

    @contextmanager
    def counted(self, text: str) -> Iterator[SignupLink | None]:
        """Count a use of a link, and give it back if what it is for is refused.

        Yields None if there is no such link, or no use is left.
        """
        link = self._link_of(text)
        if link is None:
            yield None
            return
        used: Any = self._client.hincrby(keys.SIGNUP_USES, link.id, 1)
        if used > link.uses:
            self._client.hincrby(keys.SIGNUP_USES, link.id, -1)
            yield None
            return
        try:
            yield link
        except Refusal:
            self._client.hincrby(keys.SIGNUP_USES, link.id, -1)
            raise

    def _link_of(self, text: str) -> SignupLink | None:
        """Return the link of a text; None if there is none, or its time is over."""
        if len(text) > _TEXT_LENGTH or not text.isascii():
            return None
        stored: Any = self._client.hget(keys.SIGNUP_LINKS, text[: len(new_id())])
        if stored is None:
            return None
        link = msgspec.msgpack.decode(stored, type=SignupLink)
        is_right = hmac.compare_digest(link.digest, _digest(text))
        return link if is_right and time_ms(self._client) < link.expires else None


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()
