"""The stored form of a token, and the validation of a new one."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.people.secret_index import body_of
from infra.sentences import SAY

MOST_TOKENS: Final = 50
"""Tokens of one account."""

LABEL_LENGTHS: Final = range(1, 61)

DAYS: Final = range(1, 3651)
"""Days a token may last, unless it never expires."""

USUAL_DAYS: Final = 365

DAY: Final = 24 * 3_600_000
"""A day, in ms."""


class Scope(StrEnum):
    """A permission of a token. Public data need no token."""

    READ = "read"
    """Reading data that only the player may see."""
    PLAY = "play"
    """Commands in matches."""
    ACCOUNT = "account"
    """Preferences, tokens, deletion."""


class Token(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A token without its text. Times are ms since 1970 by Redis's clock.

    Stored as a map: a new field needs a default, and a default never changes.
    """

    account: AccountId
    id: str
    """64 random bits in hex, independent of the text."""
    label: str
    """Its owner's name for it; personal."""
    scopes: tuple[Scope, ...]
    created: int
    last_used: int | None = None
    """Start of the last day (UTC) on which it was used; None for never."""
    expires: int | None = None
    """None for a token that lasts until it is revoked."""

    def is_valid(self, now: int) -> bool:
        """Return whether it has not expired."""
        return self.expires is None or now < self.expires


class FreshToken(Token, frozen=True, kw_only=True):
    """A new token, with its text."""

    text: str
    """Shown to its owner once; stored nowhere."""

    def __repr__(self) -> str:
        """Return the id without the text, because it may appear in a log."""
        return f"{type(self).__name__}({self.id!r})"


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(Token).decode


def pack(digest: bytes, token: Token) -> bytes:
    """Return the stored form of a record: the SHA-256 of the text, then the token."""
    return digest + _encode(token)


def unpack(digest: bytes, data: bytes | None) -> Token | None:
    """Read the record that was found; None for none, and for that of another text."""
    body = body_of(digest, data)
    return None if body is None else _decode(body)


def read_label(label: str) -> str:
    """Return a label without blanks around it; `too-long` or `bad-request` for a bad one."""
    label = label.strip()
    if len(label) > LABEL_LENGTHS[-1]:
        raise Refusal(Code.TOO_LONG, SAY("label-long", most=LABEL_LENGTHS[-1], length=len(label)))
    if not label or not label.isprintable():
        raise Refusal(
            Code.BAD_REQUEST,
            SAY("label-form", most=LABEL_LENGTHS[-1]),
        )
    return label


def read_scopes(scopes: Iterable[str]) -> tuple[Scope, ...]:
    """Return each scope once, in one order; `bad-request` for an unknown one, and for none."""
    wanted = set(scopes)
    if not wanted or not wanted <= set(Scope):
        raise Refusal(Code.BAD_REQUEST, SAY("token-scopes", scopes=", ".join(Scope)))
    return tuple(scope for scope in Scope if scope in wanted)


def read_end(now: int, days: int | None) -> int | None:
    """Return when a token expires that lasts `days`; `bad-request` for too few or too many."""
    if days is None:
        return None
    if days not in DAYS:
        raise Refusal(
            Code.BAD_REQUEST,
            SAY("token-days", least=DAYS[0], most=DAYS[-1], days=days),
        )
    return now + days * DAY
