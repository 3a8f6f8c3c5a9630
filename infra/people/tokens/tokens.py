"""Issues, verifies, lists and revokes tokens; the package explains the order of writes."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import redis
from cachetools import LRUCache
from msgspec.structs import asdict

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.people.secret_index import SecretIndex, new_id
from infra.people.security_log import SecurityEvent, note_security
from infra.people.tokens.format import digest_of, make_token
from infra.people.tokens.record import (
    DAY,
    MOST_TOKENS,
    USUAL_DAYS,
    FreshToken,
    Token,
    pack,
    read_end,
    read_label,
    read_scopes,
)
from infra.people.tokens.verify import ByDigest, parse_replies, read_commands, verification
from infra.redis import keys
from infra.redis.autopipeline import CommandPipeline, CommandWords
from infra.redis.clients import Clock
from infra.redis.server_time import ServerTime
from infra.sentences import SAY

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
    ) -> FreshToken:
        """Issue a token that lasts `days`, or with None until it is revoked.

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
            expires=read_end(now, days),
        )
        text = make_token()
        self._keep(digest_of(text), token, days)
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

    def revoke(self, account: AccountId, id_: str) -> bool:
        """End a token of the account, at once and everywhere; False when it has none of this id."""
        ended = self._index.end(account, id_)
        if ended:
            note_security(SecurityEvent.TOKEN_ENDED, account, token=id_)
        return ended

    def forget(self, account: AccountId) -> None:
        """Erase all tokens of an account; safe to repeat."""
        self._index.forget(account)

    def _keep(self, digest: bytes, token: Token, days: int | None) -> None:
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
        stays: Any = self._client.pexpire(name, days * DAY) if days else self._client.persist(name)
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
        talk = verification([text], self._time, self._known)
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
            return end.value[0], found
