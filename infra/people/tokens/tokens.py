"""Issues, verifies, lists and revokes tokens; the package explains the order of writes.

The stored form of a token, and the validation of a new one.

The text of a token: `mp_`, 43 random characters, 6 of a checksum.

The checksum finds a token that was cut off or mistyped without asking the server; it is no protection.

Verification of tokens without I/O, for blocking clients and event loops alike.

`verification` returns a generator: it yields the commands of one pipeline, is sent their replies, errors
included, and returns the tokens at the end.
"""

import logging
import os
import re
from base64 import urlsafe_b64encode
from collections.abc import Generator, Iterable, Mapping, MutableMapping, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final, TypeAlias
from zlib import crc32

import msgspec
import redis
from cachetools import LRUCache
from msgspec.structs import asdict, replace
from redis.exceptions import ResponseError

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.rate_limits import SecurityEvent, note_security
from infra.people.sessions import SecretIndex, body_of, new_id
from infra.redis import keys
from infra.redis.autopipeline import CommandPipeline, CommandWords, raise_errors
from infra.redis.clients import Clock, to_ms
from infra.redis.server import ServerTime
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
    ADMIN = "admin"
    """Acts of an operator or a moderator, as long as the account is one."""
    ORGANISE = "organise"
    """Pairing others who have agreed to it, as an organiser."""


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
    app: str = ""
    """Client id of the app that has it; empty for one that its owner made."""
    grant: str = ""
    """Id of the grant by which an app has it, and with which it ends."""

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


PREFIX: Final = "mp_"
"""Prefix of a token, so that scanners recognise a leaked one."""

LENGTH: Final = 52
"""Characters of a token."""

_RANDOM_BYTES: Final = 32

_CHECKSUM: Final = 6

_FORM: Final = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{{LENGTH - len(PREFIX)}}}")


def make_token() -> str:
    """Make a token's text."""
    return _with_checksum(PREFIX + _base64(os.urandom(_RANDOM_BYTES)))


def digest_of(text: str) -> bytes:
    """Return the SHA-256 of a token's text; `unknown-token` for a text that can't be a token.

    The sentence of a refusal repeats nothing of the text.
    """
    if not text.startswith(PREFIX):
        raise _unknown(f"a token begins with {PREFIX}; give it whole")
    if len(text) != LENGTH:
        raise _unknown(f"a token has {LENGTH} characters, this one {len(text)}; give it whole")
    if not _FORM.fullmatch(text) or _with_checksum(text[:-_CHECKSUM]) != text:
        raise _unknown("the last characters of the token do not fit the others; copy it again")
    return sha256(text.encode()).digest()


def _unknown(sentence: str) -> Refusal:
    return Refusal(Code.UNKNOWN_TOKEN, sentence)


def _with_checksum(body: str) -> str:
    # CRC-32 finds every wrong character, and every two neighbours that were swapped
    return body + _base64(crc32(body.encode()).to_bytes(4))


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


Verification: TypeAlias = Generator[Sequence[CommandWords], list[Any], Token | None]

ByDigest: TypeAlias = Mapping[bytes, Token]
"""Tokens by the SHA-256 of their texts."""

logger: Final = logging.getLogger(__name__)


KnownAccounts: TypeAlias = MutableMapping[bytes, AccountId]
"""The accounts of tokens, by the tokens' digests."""


def verification(text: str, time: ServerTime, known: KnownAccounts | None = None) -> Verification:
    """Verify a token in two round trips, and a third if it is used for the first time in a day.

    `known` caches the accounts of tokens, which never change: then one round trip is enough. Whether
    token and account still exist is asked each time, the time every ten seconds.
    """
    known = {} if known is None else known
    digest = _digest(text, known)
    if digest is None:
        return None
    account, now = known.get(digest), time.counted()
    words: list[CommandWords] = [("GET", keys.token(digest))]
    if account is not None:
        words.append(("GET", keys.account(account)))
    if now is None:
        words.append(("TIME",))
    heard = raise_errors((yield words))
    if now is None:
        now = time.learn(heard[-1])
    token = unpack(digest, heard[0])
    if token is None or not token.is_valid(now):
        return None
    if account is None:
        # a deleted account never comes back: one that exists now existed when its token was read
        known[digest] = token.account
        (exists,) = raise_errors((yield [("GET", keys.account(token.account))]))
    else:
        exists = heard[1]
    if exists is None:
        return None
    today = now - now % DAY
    if token.last_used is None or token.last_used < today:
        _report((yield [_use_command(digest, token, today)]))
    return token


def read_commands(digests: Sequence[bytes]) -> list[CommandWords]:
    """Return the commands whose replies `parse_replies` reads."""
    return [("TIME",), *(("GET", keys.token(digest)) for digest in digests)]


def parse_replies(
    replies: Sequence[Any], digests: Sequence[bytes], clock: Clock | None
) -> tuple[int, ByDigest]:
    """Return the time, and the tokens that have a record."""
    time, *records = replies
    now = clock() if clock else to_ms(time)
    tokens = {digest: unpack(digest, data) for digest, data in zip(digests, records, strict=True)}
    return now, {digest: token for digest, token in tokens.items() if token}


def _digest(text: str, known: KnownAccounts) -> bytes | None:
    # the form of a token that is known was checked before
    if text.isascii() and (digest := sha256(text.encode()).digest()) in known:
        return digest
    try:
        return digest_of(text)
    except Refusal:
        return None


def _use_command(digest: bytes, token: Token, today: int) -> CommandWords:
    """Return the command that stores the first use of a day.

    A record changes in no other way, so it overwrites nothing else, and it does not restore a
    token that was revoked meanwhile.
    """
    return (
        "SET",
        keys.token(digest),
        pack(digest, replace(token, last_used=today)),
        "XX",
        "KEEPTTL",
    )


def _report(replies: Sequence[Any]) -> None:
    """Log a use that was not stored, because a full server still serves readers."""
    if isinstance(replies[0], ResponseError):
        logger.warning("the use of a token was not written down: %s", replies[0])


UNLISTED_MS: Final = 3_600_000
"""How long a record lasts before it is listed, because nobody could revoke it."""


class Tokens:
    """The tokens on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis, clock: Clock | None = None) -> None:
        self._client = client
        self._clock = clock
        self._index = SecretIndex(client, keys.token, keys.tokens)

    def issue(
        self,
        account: AccountId,
        label: str,
        scopes: Iterable[str],
        days: int | None = USUAL_DAYS,
        *,
        seconds: int = 0,
        app: str = "",
        grant: str = "",
    ) -> FreshToken:
        """Issue a token that lasts `days`, or with None until it is revoked; that of an app lasts `seconds`.

        Refused as `bad-request` or `too-long` for a bad argument, as `too-many`, as `unknown-user`
        for a deleted account, and as `busy` if all of the account's tokens were erased at the same
        moment. After a kill there may be a token that nobody has seen.
        """
        now = self._read([])[0]
        token = Token(
            account=account,
            id=new_id(),
            label=read_label(label),
            scopes=read_scopes(scopes),
            created=now,
            expires=now + 1000 * seconds if seconds else read_end(now, days),
            app=app,
            grant=grant,
        )
        text = make_token()
        self._keep(digest_of(text), token)
        scopes = sorted(token.scopes)
        note_security(SecurityEvent.TOKEN_MADE, account, token=token.id, scopes=scopes)
        return FreshToken(text=text, **asdict(token))

    def list_of(self, account: AccountId) -> list[Token]:
        """Return the tokens of an account that have not expired, the newest first."""
        listed = self._index.of(account)
        now, found = self._read(list(listed.values()))
        # the others have expired, or a process was killed while it revoked them
        self._index.remove(account, [id_ for id_, one in listed.items() if one not in found])
        lasting = [token for token in found.values() if token.is_valid(now)]
        return sorted(lasting, key=lambda token: (token.created, token.id), reverse=True)

    def find(self, text: str) -> Token | None:
        """Return the token of a text; None if it is not a valid token."""
        try:
            digest = digest_of(text)
        except Refusal:
            return None
        now, found = self._read([digest])
        token = found.get(digest)
        return token if token and token.is_valid(now) else None

    def revoke(self, account: AccountId, id_: str) -> bool:
        """End a token of the account, at once and everywhere; False when it has none of this id."""
        ended = self._index.end(account, id_)
        if ended:
            note_security(SecurityEvent.TOKEN_ENDED, account, token=id_)
        return ended

    def forget(self, account: AccountId) -> None:
        """Erase all tokens of an account; safe to repeat."""
        self._index.forget(account)

    def _keep(self, digest: bytes, token: Token) -> None:
        """Store and list a new token."""
        name = keys.token(digest)
        self._client.set(name, pack(digest, token), px=UNLISTED_MS)
        # crash window: the record exists for an hour, and nobody has its text
        try:
            self._list(token, digest)
        except Refusal:
            self._client.delete(name)
            raise
        # crash window: it is listed, and expires within the hour
        lasts = token.expires and token.expires - token.created
        stays: Any = self._client.pexpire(name, lasts) if lasts else self._client.persist(name)
        if not stays:
            raise Refusal(
                Code.BUSY, "the account's tokens were erased at the same moment; try again"
            )

    def _list(self, token: Token, digest: bytes) -> None:
        if self._index.add(token.account, token.id, digest, MOST_TOKENS):
            return
        self.list_of(token.account)  # removes those that have expired
        if not self._index.add(token.account, token.id, digest, MOST_TOKENS):
            raise Refusal(Code.TOO_MANY, SAY("tokens", most=MOST_TOKENS))

    def _read(self, digests: Sequence[bytes]) -> tuple[int, ByDigest]:
        """Return the time, and those tokens that have a record."""
        # redis-py types no part of its pipelines
        pipe: Any = self._client.pipeline(transaction=False)
        with pipe:
            for words in read_commands(digests):
                pipe.execute_command(*words)
            return parse_replies(pipe.execute(), digests, self._clock)


_MOST_KNOWN: Final = 10_000
"""Most tokens whose accounts a process caches."""


class AsyncTokens:
    """Verifies tokens in an event loop, mostly in one round trip."""

    def __init__(self, pipe: CommandPipeline, time: ServerTime) -> None:
        self._pipe = pipe
        self._time = time
        self._known: LRUCache[bytes, AccountId] = LRUCache(_MOST_KNOWN)

    async def check(self, text: str) -> Token | None:
        """Return the token of this text; None if it is not a valid token."""
        token, _ = await self.check_and_read(text, ())
        return token

    async def check_and_read(
        self, text: str, reads: Sequence[CommandWords]
    ) -> tuple[Token | None, list[Any]]:
        """Return the token of this text, and the replies to `reads`, errors included.

        All go in one exchange. Nothing is read for a text that can't be a token.
        """
        talk = verification(text, self._time, self._known)
        try:
            words = next(talk)
        except StopIteration:
            return None, []
        replies = await self._pipe.send_together([*words, *reads])
        found = replies[len(words) :]
        try:
            words = talk.send(replies[: len(words)])
            while True:
                words = talk.send(await self._pipe.send(words))
        except StopIteration as end:
            return end.value, found
