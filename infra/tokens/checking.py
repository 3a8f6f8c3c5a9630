"""How tokens are checked: the same for a client that waits and for one in an event loop.

`checking` is a talk with the server that leaves the talking to others: it yields commands for one
pipeline, is sent their replies, errors among them, and gives its answer at the end.
"""

import logging
from collections.abc import Generator, Iterable, Mapping, MutableMapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec.structs import replace
from redis.exceptions import ResponseError

from domain.errors import Refusal
from domain.match.events import AccountId
from infra import keys
from infra.clients import Clock, to_ms
from infra.pipe import Words, sound
from infra.tokens.record import DAY, Token, pack, unpack
from infra.tokens.text import parse

Talk: TypeAlias = Generator[Sequence[Words], list[Any], list[Token | None]]

ByDigest: TypeAlias = Mapping[bytes, Token]
"""Tokens by the SHA-256 of their texts."""

logger: Final = logging.getLogger(__name__)


Known: TypeAlias = MutableMapping[bytes, AccountId]
"""Whose tokens are, by their digests."""


def checking(texts: Sequence[str], clock: Clock | None, known: Known | None = None) -> Talk:
    """Check tokens in two round trips, and a third when one is used for the first time in a day.

    `known` remembers whose a token is, which never changes: then one round trip is enough. Whether
    token and account are there is asked all the same.
    """
    known = {} if known is None else known
    digests = [_digest(text) for text in texts]
    wanted = list(dict.fromkeys(digest for digest in digests if digest))
    if not wanted:
        return [None] * len(texts)
    accounts = list({known[digest] for digest in wanted if digest in known})
    replies = yield [*reading(wanted), *_asking(accounts)]
    heard = sound(replies)
    now, found = read(heard[: 1 + len(wanted)], wanted, clock)
    living = dict(zip(accounts, heard[1 + len(wanted) :], strict=True))
    lasting = {digest: token for digest, token in found.items() if token.lasts(now)}
    known.update({digest: token.account for digest, token in lasting.items()})
    good = yield from _with_account(lasting, living)
    if uses := _uses(good, now - now % DAY):
        replies = yield uses
        _report(replies)
    return [good.get(digest) if digest else None for digest in digests]


def reading(digests: Sequence[bytes]) -> list[Words]:
    """Return the commands whose replies `read` takes."""
    return [("TIME",), *(("GET", keys.token(digest)) for digest in digests)]


def read(
    replies: Sequence[Any], digests: Sequence[bytes], clock: Clock | None
) -> tuple[int, ByDigest]:
    """Return the time, and those tokens that have a record."""
    time, *records = replies
    now = clock() if clock else to_ms(time)
    tokens = {digest: unpack(digest, data) for digest, data in zip(digests, records, strict=True)}
    return now, {digest: token for digest, token in tokens.items() if token}


def _digest(text: str) -> bytes | None:
    try:
        return parse(text)
    except Refusal:
        return None


def _asking(accounts: Sequence[AccountId]) -> list[Words]:
    return [("EXISTS", keys.account(account)) for account in accounts]


def _with_account(
    tokens: ByDigest, asked: Mapping[AccountId, int]
) -> Generator[Sequence[Words], list[Any], ByDigest]:
    """Return those tokens whose accounts are there; `asked` is what was asked behind the tokens.

    An account never comes back: one that is there now was there when its token was read.
    """
    accounts = list({token.account for token in tokens.values()} - asked.keys())
    living = dict(asked)
    if accounts:
        replies = yield _asking(accounts)
        living.update(zip(accounts, sound(replies), strict=True))
    return {digest: token for digest, token in tokens.items() if living[token.account]}


def _uses(good: ByDigest, today: int) -> list[Words]:
    """Return the commands that write down the first use of a day.

    A record changes in no other way, so this writes over nothing else; and a token that was
    revoked since does not come back.
    """
    return [
        ("SET", keys.token(digest), pack(digest, replace(token, last_used=today)), "XX", "KEEPTTL")
        for digest, token in good.items()
        if token.last_used is None or token.last_used < today
    ]


def _report(replies: Iterable[Any]) -> None:
    """Log that uses were not written down: who can only read, of a full server, still may."""
    errors = [reply for reply in replies if isinstance(reply, ResponseError)]
    if errors:
        logger.warning("the use of %d tokens was not written down: %s", len(errors), errors[0])
