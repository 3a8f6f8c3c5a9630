"""Statements: the texts of claims, appeals and rulings, kept outside the log.

The event has a digest, SHA-256(salt || text), so that a text can be shown to be the one that was meant, and the
log keeps nothing of a text that was erased: without the salt nobody can try texts.

A match's statements are one hash: id of the command -> MessagePack of [salt, account, time, text]. A statement
is stored before its command is submitted. A repeated command finds its salt by its id, and so it is the same
command. A statement is personal data, and is erased with its author's account, which has a hash of the boards
where it has stated something.

Durable as `infra.people.messages` is.
"""

import secrets
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final

import msgspec
import redis

from domain.errors import Code, Refusal
from domain.records import SERVER_ACCOUNT, AccountId, CommandId
from infra.people.account_index import index_under_account
from infra.people.texts import read_text
from infra.redis import keys
from infra.redis.clients import Clock, time_ms
from infra.sentences import SAY

SALT_BYTES: Final = 16

MOST_STATEMENTS: Final = 50
"""Statements of one account in a match, with those whose command has no outcome yet.

A limit for each account, so that nobody can use up the room of others.
"""

MOST_OF_TOURNAMENT: Final = 500
"""The same in a tournament, whose directors may decide many matches in a season."""

_MOST_BOARDS: Final = 1_000_000
"""Matches about which one account has stated something."""


class Statement(msgspec.Struct, frozen=True):
    """A text, its author, and what binds it to an event."""

    command: CommandId
    """The command that carries its digest."""
    salt: bytes
    account: AccountId
    at: int
    """When it was stored, ms."""
    text: str

    @property
    def digest(self) -> bytes:
        """The digest in the event."""
        return digest_of(self.salt, self.text)


ROUND_ENDED: Final = Statement(
    b"",
    b"",
    SERVER_ACCOUNT,
    0,
    "The round has ended on its date: matches that were not over count as drawn.",
)
"""The reason of rulings at the end of a tournament's round, which nobody wrote. It is stored nowhere, and has no salt."""


class _StoredStatement(msgspec.Struct, frozen=True, array_like=True):
    salt: bytes
    account: AccountId
    at: int
    text: str


_ENCODER: Final = msgspec.msgpack.Encoder()
_STORED: Final = msgspec.msgpack.Decoder(_StoredStatement)


def digest_of(salt: bytes, text: str) -> bytes:
    """Return the digest of a text: 32 bytes."""
    return sha256(salt + text.encode()).digest()


class Statements:
    """The statements on a server. Errors of the server pass through; thread-safe.

    `shards` returns how many shards the matches are in. The caller decides who may state or read what.
    """

    def __init__(
        self, client: redis.Redis, shards: Callable[[], int], clock: Clock | None = None
    ) -> None:
        self._client = client
        self._shards = shards
        self._clock = clock

    def put(
        self,
        board: int,
        account: AccountId,
        text: str,
        command: CommandId,
        most: int = MOST_STATEMENTS,
    ) -> Statement:
        """Store the text of a command, and return it; for a repeated command, the one from before.

        Refused as `read_text` does, as `id-reused` for another text with the same command, as
        `too-many`, and as `unknown-user` for a deleted account.
        """
        text = read_text(text)
        name = self._name(board)
        found: Any = self._client.hget(name, command)
        if found is None:
            found = self._add(board, account, text, command, most)
        statement = _statement(command, found)
        if (statement.account, statement.text) != (account, text):
            raise Refusal(Code.ID_REUSED, "the key was used before, for another text")
        return statement

    def of_match(self, board: int) -> list[Statement]:
        """Return a match's statements, the first stored first, also those that no event has yet."""
        found: Any = self._client.hgetall(self._name(board))
        statements = [_statement(command, data) for command, data in found.items()]
        return sorted(statements, key=lambda one: (one.at, one.command))

    def boards_of(self, account: AccountId) -> list[int]:
        """Return the boards with statements of an account, sorted."""
        found: Any = self._client.hkeys(keys.statement_boards(account))
        return sorted(map(int, found))

    def count_of(self, board: int, account: AccountId) -> int:
        """Return the number of an account's statements in a match."""
        return sum(one.account == account for one in self.of_match(board))

    def remove(self, board: int, command: CommandId) -> None:
        """Erase the statement of a command; safe to repeat."""
        self._client.hdel(self._name(board), command)

    def forget(self, account: AccountId) -> None:
        """Erase all statements of an account; safe to repeat, see `Accounts.delete`."""
        index = keys.statement_boards(account)
        for board in self.boards_of(account):
            for statement in self.of_match(board):
                if statement.account == account:
                    self.remove(board, statement.command)
        # crash window: until here all statements of the account can still be found
        self._client.delete(index)

    def _add(
        self, board: int, account: AccountId, text: str, command: CommandId, most: int
    ) -> bytes:
        name = self._name(board)
        if self.count_of(board, account) >= most:
            raise Refusal(
                Code.TOO_MANY,
                SAY("statements", most=most, board=board),
            )
        index = keys.statement_boards(account)
        if not index_under_account(self._client, account, index, str(board), "", _MOST_BOARDS):
            raise Refusal(
                Code.TOO_MANY, f"an account has statements in at most {_MOST_BOARDS} matches"
            )
        # crash window: the board is remembered without a statement; erasing looks there in vain
        now = time_ms(self._client, self._clock)
        stored = _StoredStatement(secrets.token_bytes(SALT_BYTES), account, now, text)
        self._client.hsetnx(name, command, _ENCODER.encode(stored))
        # another process may have stored it at the same moment
        found: Any = self._client.hget(name, command)
        if found is None:
            raise Refusal(Code.NOT_FOUND, "the statement was erased at this moment")
        return bytes(found)

    def _name(self, board: int) -> str:
        return keys.statements(keys.shard_of(board, self._shards()), board)


def _statement(command: bytes, data: bytes) -> Statement:
    stored = _STORED.decode(data)
    return Statement(command, stored.salt, stored.account, stored.at, stored.text)
