"""Starts by name that the other players may not have taken up yet, under their challenger's account.

An entry is made before the match has a number, and is struck by whoever finds that the match was
taken up or is over; so a process killed in between leaves an entry, and never a start that is not
counted. What is struck when is for the caller to know: entries are only what a limit counts.

Personal data: erased with the account. Durable as `infra.letters` is.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import redis

from domain.match.events import AccountId, CommandId
from infra import keys, scripts
from infra.account_index import account_deleted

MOST_BETWEEN_TWO: Final = 5
"""Starts against one player that may wait at once."""

MOST: Final = 50
"""Starts of one account that may wait at once."""

_RESERVE: Final = scripts.Script("reserve_start")


class Entry(msgspec.Struct, frozen=True):
    """A start by name."""

    command: CommandId
    at: int
    """When it was asked for, ms by Redis's clock."""
    gather: bool
    """Whether the match waits for the others' consent before it has a position."""
    others: tuple[AccountId, ...]


class Starts:
    """The starts on a server. Errors of the server pass through; safe for several threads."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def add(
        self, account: AccountId, command: CommandId, others: Sequence[AccountId], *, gather: bool
    ) -> str:
        """Note a start where there is room; return an empty text, or else what there is no room in.

        That is `all` for the account's starts, or the id in hex of the other that has too many of
        them already. A start that is noted already has room. `unknown-user` for an account that is
        no more.
        """
        names = [keys.account(account), keys.starts(account)]
        ids = [other.hex() for other in others]
        args: list[scripts.Arg] = [command.hex(), int(gather), MOST_BETWEEN_TWO, MOST, *ids]
        answer = bytes(scripts.call(self._client, _RESERVE, names, args)).decode()
        if answer == "gone":
            raise account_deleted()
        return answer

    def of(self, account: AccountId) -> list[Entry]:
        """Return the starts that are noted, the oldest first."""
        found: Any = self._client.hgetall(keys.starts(account))
        entries = [_read(command.decode(), value.decode()) for command, value in found.items()]
        return sorted(entries, key=lambda entry: (entry.at, entry.command))

    def strike(self, account: AccountId, commands: Sequence[CommandId]) -> None:
        """Count these starts no longer; doing it twice is harmless."""
        if commands:
            self._client.hdel(keys.starts(account), *[command.hex() for command in commands])

    def forget(self, account: AccountId) -> None:
        """Erase what is noted of an account; doing it twice is harmless.

        Who deletes an account calls this once more when its record is gone: before that, another
        start may be noted.
        """
        self._client.delete(keys.starts(account))


def _read(command: str, value: str) -> Entry:
    at, gather, *others = value.split(":")
    return Entry(
        bytes.fromhex(command), int(at), gather == "1", tuple(bytes.fromhex(id_) for id_ in others)
    )
