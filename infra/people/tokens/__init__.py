"""Access tokens: programs send one in place of a userid and its password.

A token is `mp_`, 256 random bits in base64url and a checksum, and is shown once. Its SHA-256 is stored,
so a reader of the store can't use it. It needs no salt and no slow hash, because nobody can guess 256
random bits.

A token is two keys, in different slots of a cluster: its record, found by its hash, and an entry in
its account's list, by which its owner finds it without the text. They change in an order in which a
kill does no harm:

- the record is written first, for an hour; then it is listed, if the account still exists, in one
  step in the account's slot; then its expiry is removed;
- the record is deleted first, and the entry in the list after it.

So every token that lasts is listed and can be revoked and erased, and no text is shown before that. A
revoked token is refused as soon as its record is deleted, because no process caches it. Any reader
removes an entry without a record.

A token is valid only while its account exists, however much of it a deletion has erased.

Durable as `infra.people.messages` is.
"""

from infra.people.tokens.tokens import (
    DAYS,
    LABEL_LENGTHS,
    LENGTH,
    MOST_TOKENS,
    PREFIX,
    UNLISTED_MS,
    USUAL_DAYS,
    AsyncTokens,
    FreshToken,
    Scope,
    Token,
    Tokens,
    digest_of,
)

__all__ = [
    "DAYS",
    "LABEL_LENGTHS",
    "LENGTH",
    "MOST_TOKENS",
    "PREFIX",
    "UNLISTED_MS",
    "USUAL_DAYS",
    "AsyncTokens",
    "FreshToken",
    "Scope",
    "Token",
    "Tokens",
    "digest_of",
]
