"""The tokens themselves: made, checked, listed and revoked; the package says in which order."""

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import redis
from cachetools import LRUCache
from msgspec.structs import asdict

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra import keys
from infra.account_index import index_under_account
from infra.pipe import Pipe, Words, sound
from infra.tokens.checking import ByDigest, Clock, checking, read, reading
from infra.tokens.record import (
    DAY,
    MOST,
    USUAL_DAYS,
    Issued,
    Token,
    pack,
    read_end,
    read_label,
    read_scopes,
)
from infra.tokens.text import make, parse, unknown

UNLISTED_MS: Final = 3_600_000
"""How long a record lasts that is not listed: nobody could revoke it."""

_ID_BYTES: Final = 8

_ID: Final = re.compile(r"[0-9a-f]{16}")


class Tokens:
    """The tokens on a server. Errors of the server pass through; safe for several threads."""

    def __init__(self, client: redis.Redis, clock: Clock = None) -> None:
        self._client = client
        self._clock = clock

    def issue(
        self,
        account: AccountId,
        label: str,
        scopes: Iterable[str],
        days: int | None = USUAL_DAYS,
    ) -> Issued:
        """Make a token that lasts `days`, or with None until it is revoked.

        Refused as `bad-request` or `too-long` for what is asked, as `too-many`, as `unknown-user`
        for an account that is no more, and as `busy` when all of the account's tokens were erased
        at the same moment. Killed on the way, it leaves a token that nobody has seen.
        """
        now = self._read([])[0]
        token = Token(
            account=account,
            id=os.urandom(_ID_BYTES).hex(),
            label=read_label(label),
            scopes=read_scopes(scopes),
            created=now,
            expires=read_end(now, days),
        )
        text = make()
        self._keep(parse(text), token, days)
        return Issued(text=text, **asdict(token))

    def check(self, texts: Sequence[str]) -> list[Token | None]:
        """Return the tokens of these texts; None for a text that is none, or none any more."""
        talk = checking(texts, self._clock)
        try:
            words = next(talk)
            while True:
                words = talk.send(self._send(words))
        except StopIteration as end:
            return list(end.value)

    def check_one(self, text: str) -> Token:
        """Return the token of a text; `unknown-token` when it is none, or none any more."""
        parse(text)  # says what is wrong with it
        (token,) = self.check([text])
        if token is None:
            raise unknown("the token was revoked, has expired or never was; make another")
        return token

    def list_of(self, account: AccountId) -> list[Token]:
        """Return the tokens of an account that have not expired, the newest first."""
        listed = self._listed(account)
        now, found = self._read(list(listed.values()))
        # these have expired, or were revoked by who was killed before this
        self._strike(account, [id_ for id_, digest in listed.items() if digest not in found])
        lasting = [token for token in found.values() if token.lasts(now)]
        return sorted(lasting, key=lambda token: (token.created, token.id), reverse=True)

    def revoke(self, account: AccountId, id_: str) -> bool:
        """End a token of the account, at once and everywhere; False when it has none of this id."""
        digest: Any = self._client.hget(keys.tokens(account), id_) if _ID.fullmatch(id_) else None
        if digest is None:
            return False
        revoked = self._client.delete(keys.token(digest))
        # crash window: it is listed and no more
        self._strike(account, [id_])
        return bool(revoked)

    def forget(self, account: AccountId) -> None:
        """Erase all tokens of an account; doing it twice is harmless.

        Who deletes an account calls this once more when its record is gone: before that, another
        token may be listed.
        """
        listed = self._listed(account)
        with self._client.pipeline(transaction=False) as pipe:
            for digest in listed.values():
                pipe.delete(keys.token(digest))
            pipe.execute()
        # crash window: until here all is listed that leads to a record
        self._strike(account, listed)

    def _keep(self, digest: bytes, token: Token, days: int | None) -> None:
        """Store and list a new token."""
        name = keys.token(digest)
        self._client.set(name, pack(digest, token), px=UNLISTED_MS)
        # crash window: the record is there for an hour, and nobody has its text
        try:
            self._list(token, digest)
        except Refusal:
            self._client.delete(name)
            raise
        # crash window: it is listed, and will be for an hour
        stays: Any = self._client.pexpire(name, days * DAY) if days else self._client.persist(name)
        if not stays:
            raise Refusal(
                Code.BUSY, "the account's tokens were erased at the same moment; try again"
            )

    def _list(self, token: Token, digest: bytes) -> None:
        if self._index(token, digest):
            return
        self.list_of(token.account)  # removes those that have expired
        if not self._index(token, digest):
            raise Refusal(
                Code.TOO_MANY, f"an account has at most {MOST} tokens; revoke one of them"
            )

    def _index(self, token: Token, digest: bytes) -> bool:
        name = keys.tokens(token.account)
        return index_under_account(self._client, token.account, name, token.id, digest, MOST)

    def _listed(self, account: AccountId) -> dict[str, bytes]:
        """Return the SHA-256 of an account's tokens by their ids."""
        found: Any = self._client.hgetall(keys.tokens(account))
        return {id_.decode(): digest for id_, digest in found.items()}

    def _strike(self, account: AccountId, ids: Iterable[str]) -> None:
        # only what was looked at: more may have been listed since
        if struck := list(ids):
            self._client.hdel(keys.tokens(account), *struck)

    def _read(self, digests: Sequence[bytes]) -> tuple[int, ByDigest]:
        """Return the time, and those tokens that have a record."""
        return read(sound(self._send(reading(digests))), digests, self._clock)

    def _send(self, commands: Sequence[Words]) -> list[Any]:
        """Send commands in one pipeline; give their replies, errors among them."""
        # redis-py types no part of its pipelines
        pipe: Any = self._client.pipeline(transaction=False)
        with pipe:
            for words in commands:
                pipe.execute_command(*words)
            return list(pipe.execute(raise_on_error=False))


_MOST_KNOWN: Final = 10_000
"""Tokens whose accounts a process remembers."""


class AsyncTokens:
    """Checks tokens in an event loop, as `Tokens` does; mostly in one round trip."""

    def __init__(self, pipe: Pipe, clock: Clock = None) -> None:
        self._pipe = pipe
        self._clock = clock
        self._known: LRUCache[bytes, AccountId] = LRUCache(_MOST_KNOWN)

    async def check(self, texts: Sequence[str]) -> list[Token | None]:
        """Return the tokens of these texts; None for a text that is none, or none any more."""
        talk = checking(texts, self._clock, self._known)
        try:
            words = next(talk)
            while True:
                words = talk.send(await self._pipe.send(words))
        except StopIteration as end:
            return list(end.value)
