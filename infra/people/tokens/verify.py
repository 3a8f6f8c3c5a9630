"""Verification of tokens without I/O, for blocking clients and event loops alike.

`verification` returns a generator: it yields the commands of one pipeline, is sent their replies, errors
included, and returns the tokens at the end.
"""

import logging
from collections.abc import Generator, Iterable, Mapping, MutableMapping, Sequence
from hashlib import sha256
from typing import Any, Final, TypeAlias

from msgspec.structs import replace
from redis.exceptions import ResponseError

from domain.errors import Refusal
from domain.match.events import AccountId
from infra.people.tokens.format import digest_of
from infra.people.tokens.record import DAY, Token, pack, unpack
from infra.redis import keys
from infra.redis.autopipeline import CommandWords, raise_errors
from infra.redis.clients import Clock, to_ms
from infra.redis.server_time import ServerTime

Verification: TypeAlias = Generator[Sequence[CommandWords], list[Any], list[Token | None]]

ByDigest: TypeAlias = Mapping[bytes, Token]
"""Tokens by the SHA-256 of their texts."""

logger: Final = logging.getLogger(__name__)


KnownAccounts: TypeAlias = MutableMapping[bytes, AccountId]
"""The accounts of tokens, by the tokens' digests."""


def verification(
    texts: Sequence[str], time: ServerTime, known: KnownAccounts | None = None
) -> Verification:
    """Verify tokens in two round trips, and a third if one is used for the first time in a day.

    `known` caches the accounts of tokens, which never change: then one round trip is enough. Whether
    token and account still exist is asked each time, the time every ten seconds.
    """
    known = {} if known is None else known
    digests = [_digest(text, known) for text in texts]
    wanted = list(dict.fromkeys(digest for digest in digests if digest))
    if not wanted:
        return [None] * len(texts)
    accounts = list({known[digest] for digest in wanted if digest in known})
    now = time.counted()
    ask_time: list[CommandWords] = [("TIME",)] if now is None else []
    replies = yield [*_get_commands(wanted), *_account_commands(accounts), *ask_time]
    heard = raise_errors(replies)
    records, exist = heard[: len(wanted)], heard[len(wanted) : len(wanted) + len(accounts)]
    if now is None:
        now = time.learn(heard[-1])
    found = _parse_tokens(records, wanted)
    living = dict(zip(accounts, exist, strict=True))
    lasting = {digest: token for digest, token in found.items() if token.is_valid(now)}
    known.update({digest: one.account for digest, one in lasting.items() if digest not in known})
    good = yield from _with_account(lasting, living)
    if uses := _use_commands(good, now - now % DAY):
        replies = yield uses
        _report(replies)
    return [good.get(digest) if digest else None for digest in digests]


def read_commands(digests: Sequence[bytes]) -> list[CommandWords]:
    """Return the commands whose replies `parse_replies` reads."""
    return [("TIME",), *_get_commands(digests)]


def _get_commands(digests: Sequence[bytes]) -> list[CommandWords]:
    return [("GET", keys.token(digest)) for digest in digests]


def parse_replies(
    replies: Sequence[Any], digests: Sequence[bytes], clock: Clock | None
) -> tuple[int, ByDigest]:
    """Return the time, and the tokens that have a record."""
    time, *records = replies
    now = clock() if clock else to_ms(time)
    return now, _parse_tokens(records, digests)


def _parse_tokens(records: Sequence[Any], digests: Sequence[bytes]) -> ByDigest:
    tokens = {digest: unpack(digest, data) for digest, data in zip(digests, records, strict=True)}
    return {digest: token for digest, token in tokens.items() if token}


def _digest(text: str, known: KnownAccounts) -> bytes | None:
    # the form of a token that is known was checked before
    if text.isascii() and (digest := sha256(text.encode()).digest()) in known:
        return digest
    try:
        return digest_of(text)
    except Refusal:
        return None


def _account_commands(accounts: Sequence[AccountId]) -> list[CommandWords]:
    return [("GET", keys.account(account)) for account in accounts]


def _with_account(
    tokens: ByDigest, asked: Mapping[AccountId, bytes | None]
) -> Generator[Sequence[CommandWords], list[Any], ByDigest]:
    """Return the tokens whose accounts exist; `asked` has the records of known accounts.

    A deleted account never comes back: one that exists now existed when its token was read.
    """
    accounts = list({token.account for token in tokens.values()} - asked.keys())
    living = dict(asked)
    if accounts:
        replies = yield _account_commands(accounts)
        living.update(zip(accounts, raise_errors(replies), strict=True))
    return {digest: token for digest, token in tokens.items() if living[token.account] is not None}


def _use_commands(good: ByDigest, today: int) -> list[CommandWords]:
    """Return the commands that store the first use of a day.

    A record changes in no other way, so they overwrite nothing else, and they do not restore a
    token that was revoked meanwhile.
    """
    return [
        ("SET", keys.token(digest), pack(digest, replace(token, last_used=today)), "XX", "KEEPTTL")
        for digest, token in good.items()
        if token.last_used is None or token.last_used < today
    ]


def _report(replies: Iterable[Any]) -> None:
    """Log uses that were not stored, because a full server still serves readers."""
    errors = [reply for reply in replies if isinstance(reply, ResponseError)]
    if errors:
        logger.warning("the use of %d tokens was not written down: %s", len(errors), errors[0])
