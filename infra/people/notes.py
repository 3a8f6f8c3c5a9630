"""Private notes of players about matches.

| key | what |
|---|---|
| `{a:<hex>}:notes` | hash: board -> text |

A note is personal data. It is in no event, log or hash; it is stored beside its account's record, and
written only while that exists: see `infra.people.account_index`.

Durable as `infra.people.messages` is.
"""

from typing import Any, Final

import redis

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.people.account_index import index_under_account
from infra.people.texts import read_text
from infra.redis import keys
from infra.redis.reads import Read, read_one
from infra.sentences import SAY

MOST_NOTES: Final = 1_000
"""Notes of one account."""


def notes_key(account: AccountId) -> str:
    """Return the key of the hash of an account's notes."""
    return f"{keys.account(account)}:notes"


class Notes:
    """The notes on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def get(self, account: AccountId, board: int) -> str:
        """Return the account's note about a match; empty for none."""
        return read_one(self._client, self.read(account, board))

    def read(self, account: AccountId, board: int) -> Read[str]:
        """Return the read of `get`."""
        return Read(
            lambda pipe: pipe.hget(notes_key(account), str(board)),
            lambda replies: (replies[0] or b"").decode(),
        )

    def all(self, account: AccountId) -> dict[int, str]:
        """Return all notes of the account, by board."""
        found: Any = self._client.hgetall(notes_key(account))
        return {int(board): text.decode() for board, text in found.items()}

    def put(self, account: AccountId, board: int, text: str) -> None:
        """Replace the note about a match; a text of nothing but blanks deletes it.

        Refused as `read_text` does, as `too-many`, and as `unknown-user` for a deleted account.
        """
        if not text.strip():
            self._client.hdel(notes_key(account), str(board))
            return
        name, value = notes_key(account), read_text(text)
        if not index_under_account(self._client, account, name, str(board), value, MOST_NOTES):
            raise Refusal(
                Code.TOO_MANY,
                SAY("notes", most=MOST_NOTES),
            )

    def forget(self, account: AccountId) -> None:
        """Erase all notes of an account; safe to repeat, see `Accounts.delete`."""
        self._client.delete(notes_key(account))
