"""Private notes of players about matches.

| key | what |
|---|---|
| `{a:<hex>}:notes` | hash: board -> text |

A note is personal data. It is in no event, log or hash; the notes of an account are a list, too,
with a text for each item.

Durable as `infra.people.messages` is.
"""

from typing import Any, Final

import redis

from domain.records import AccountId
from infra.people.account_lists import AccountList, ListKind
from infra.people.texts import read_text
from infra.redis import keys
from infra.redis.reads import Read, read_one
from infra.sentences import SAY

MOST_NOTES: Final = 1_000
"""Notes of one account."""


def notes_key(account: AccountId) -> str:
    """Return the key of the hash of an account's notes."""
    return f"{keys.account(account)}:notes"


_NOTED: Final = ListKind[int](notes_key, MOST_NOTES, lambda most: SAY("notes", most=most), str, int)


class Notes(AccountList[int]):
    """The notes on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(client, _NOTED)

    def get(self, account: AccountId, board: int) -> str:
        """Return the account's note about a match; empty for none."""
        return read_one(self._client, self.read_note(account, board))

    def read_note(self, account: AccountId, board: int) -> Read[str]:
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
        if text.strip():
            self.add(account, board, read_text(text))
        else:
            self.remove(account, [board])
