"""Starts by name whose match the other players have not accepted yet, under their challenger's account.

An entry is made before the match has a number, and removed by any reader who finds that the match has
begun or is over. A process killed in between leaves an entry, and never a start that is not counted.
The caller decides when to remove: entries are only counted against a limit.

Matches with robots are counted by the same rules under a key of their own, because a robot takes
them up within seconds: there an entry stays until the match is over.

Personal data: erased with the account. Durable as `infra.people.messages` is.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final

import msgspec
import redis

from domain.records import AccountId, CommandId
from infra.people.account_index import account_deleted
from infra.redis import keys, scripts

MOST_BETWEEN_TWO: Final = 3
"""Most starts against one player that wait at once."""

MOST_STARTS: Final = 20
"""Most starts of one account that wait at once."""

MOST_ROBOT_MATCHES: Final = 20
"""Most matches with robots that an account has started and that are not over."""

MOST_SLOW_MATCHES: Final = 5
"""Most of those with the robot that thinks longest, and of the matches with one bot."""

_RESERVE: Final = scripts.Script("reserve_start")


class PendingStart(msgspec.Struct, frozen=True):
    """A start by name."""

    command: CommandId
    at: int
    """When it was requested, ms by Redis's clock."""
    others: tuple[AccountId, ...]


class PendingStarts:
    """The starts on a server. Errors of the server pass through; thread-safe."""

    def __init__(
        self,
        client: redis.Redis,
        key: Callable[[AccountId], str] = keys.pending_starts,
        most: int = MOST_STARTS,
        between: int = MOST_BETWEEN_TWO,
    ) -> None:
        """`key` returns the key of an account's starts: at most `most`, and `between` with one other."""
        self._client = client
        self._key = key
        self._most = most
        self._between = between

    @cached_property
    def with_robots(self) -> "PendingStarts":
        """The starts of matches with robots, which count until the match is over."""
        key = keys.matches_with_robots
        return PendingStarts(self._client, key, MOST_ROBOT_MATCHES, MOST_SLOW_MATCHES)

    def of_bot(self, most: int) -> "PendingStarts":
        """Return the matches that others have started with a bot, at most `most`, under the bot's account.

        They count until they are over, together with those that the bot has started with robots.
        """
        return PendingStarts(self._client, keys.matches_with_robots, most, MOST_SLOW_MATCHES)

    def add(self, account: AccountId, command: CommandId, others: Sequence[AccountId]) -> str:
        """Note a start if there is room; return an empty text, or else which limit is reached.

        That is `all` for the limit of the account, or the id in hex of the player against whom too
        many starts wait. A start that is noted already has room. `unknown-user` for a deleted
        account.
        """
        names = [keys.account(account), self._key(account)]
        ids = [other.hex() for other in others]
        args: list[scripts.Arg] = [command.hex(), self._between, self._most, *ids]
        answer = bytes(scripts.call(self._client, _RESERVE, names, args)).decode()
        if answer == "gone":
            raise account_deleted()
        return answer

    def of(self, account: AccountId) -> list[PendingStart]:
        """Return the starts that are noted, the oldest first."""
        found: Any = self._client.hgetall(self._key(account))
        entries = [_read(command.decode(), value.decode()) for command, value in found.items()]
        return sorted(entries, key=lambda entry: (entry.at, entry.command))

    def remove(self, account: AccountId, commands: Sequence[CommandId]) -> None:
        """Remove these starts; safe to repeat."""
        if commands:
            self._client.hdel(self._key(account), *[command.hex() for command in commands])

    def forget(self, account: AccountId) -> None:
        """Erase the starts of an account; safe to repeat, see `Accounts.delete`."""
        self._client.delete(keys.pending_starts(account), keys.matches_with_robots(account))


def _read(command: str, value: str) -> PendingStart:
    at, *words = value.split(":")
    # older entries have a digit before the ids
    others = tuple(bytes.fromhex(id_) for id_ in words if len(id_) > 1)
    return PendingStart(bytes.fromhex(command), int(at), others)
