"""Access tokens: what a program shows in place of a userid and its password.

A token is `mp_`, 256 random bits in base64url and a checksum, and is shown once. What is stored is
its SHA-256: who reads the store can't use what is in it. No salt is needed, and no slow hash: there
is nothing to guess in 256 random bits.

A token is two keys, in different slots of a cluster: its record, found by its hash, and an entry in
its account's list, through which it is found by who has not its text. They change in an order that
leaves no harm behind a kill:

- the record is written first, for an hour; then it is listed, if the account is still there, in one
  step in the account's slot; then it is made to stay;
- the record goes first, and is struck off the list after that.

So whatever lasts is listed and can be revoked and erased, and no text is shown before that. One
that is revoked is refused from the moment its record is gone: nothing is kept in a process. What is
listed without a record is struck off by whoever comes across it.

A token is good only while its account is there, whatever a deletion has come to erase by then.

Durable as `infra.letters` is.
"""

from infra.tokens.record import DAYS, LABEL_LENGTHS, MOST, USUAL_DAYS, Issued, Scope, Token
from infra.tokens.text import LENGTH, PREFIX, parse
from infra.tokens.tokens import UNLISTED_MS, AsyncTokens, Tokens

__all__ = [
    "DAYS",
    "LABEL_LENGTHS",
    "LENGTH",
    "MOST",
    "PREFIX",
    "UNLISTED_MS",
    "USUAL_DAYS",
    "AsyncTokens",
    "Issued",
    "Scope",
    "Token",
    "Tokens",
    "parse",
]
