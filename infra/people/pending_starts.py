"""Starts by name whose match the other players have not begun yet, under their challenger's account.

An entry is made before the match has a number, and removed by any reader who finds that the match has
begun or is over. A process killed in between leaves an entry, and never a start that is not counted.
The caller decides when to remove: entries are only counted against a limit.

Personal data: erased with the account. Durable as `infra.people.messages` is.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import redis

from domain.match.events import AccountId, CommandId
from infra.people.account_index import account_deleted
from infra.redis import keys, scripts

MOST_BETWEEN_TWO: Final = 5
"""Most starts against one player that wait at once."""

MOST_STARTS: Final = 50
"""Most starts of one account that wait at once."""

_RESERVE: Final = scripts.Script("reserve_start")


class PendingStart(msgspec.Struct, frozen=True):
    """A start by name."""

    command: CommandId
    at: int
    """When it was requested, ms by Redis's clock."""
    gather: bool
    """Whether the match waits for the others' consent before it has a position."""
    others: tuple[AccountId, ...]


class PendingStarts:
    """The starts on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def add(
        self, account: AccountId, command: CommandId, others: Sequence[AccountId], *, gather: bool
    ) -> str:
        """Note a start if there is room; return an empty text, or else which limit is reached.

        That is `all` for the limit of the account, or the id in hex of the player against whom too
        many starts wait. A start that is noted already has room. `unknown-user` for a deleted
        account.
        """
        names = [keys.account(account), keys.pending_starts(account)]
        ids = [other.hex() for other in others]
        args: list[scripts.Arg] = [command.hex(), int(gather), MOST_BETWEEN_TWO, MOST_STARTS, *ids]
        answer = bytes(scripts.call(self._client, _RESERVE, names, args)).decode()
        if answer == "gone":
            raise account_deleted()
        return answer

    def of(self, account: AccountId) -> list[PendingStart]:
        """Return the starts that are noted, the oldest first."""
        found: Any = self._client.hgetall(keys.pending_starts(account))
        entries = [_read(command.decode(), value.decode()) for command, value in found.items()]
        return sorted(entries, key=lambda entry: (entry.at, entry.command))

    def remove(self, account: AccountId, commands: Sequence[CommandId]) -> None:
        """Remove these starts; safe to repeat."""
        if commands:
            self._client.hdel(
                keys.pending_starts(account), *[command.hex() for command in commands]
            )

    def forget(self, account: AccountId) -> None:
        """Erase the starts of an account; safe to repeat, see `Accounts.delete`."""
        self._client.delete(keys.pending_starts(account))


def _read(command: str, value: str) -> PendingStart:
    at, gather, *others = value.split(":")
    return PendingStart(
        bytes.fromhex(command), int(at), gather == "1", tuple(bytes.fromhex(id_) for id_ in others)
    )
