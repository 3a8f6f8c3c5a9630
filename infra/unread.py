"""How much of what others wrote an account has not read yet."""

from typing import Protocol

import msgspec

from domain.match.events import AccountId


class Counts(msgspec.Struct, frozen=True):
    """What is unread."""

    boards: dict[int, int]
    """Of each match where something unread was said, how many lines."""
    messages: int
    """Messages, and broadcasts."""


class Counted(Protocol):
    """What is counted; `infra.letters.Letters` is it."""

    def unread(self, account: AccountId) -> int:
        """See `Letters.unread`."""
        ...

    def unread_chat(self, account: AccountId) -> dict[int, int]:
        """See `Letters.unread_chat`."""
        ...


class Unread:
    """Counts what accounts have not read."""

    def __init__(self, letters: Counted) -> None:
        self._letters = letters

    def counts(self, account: AccountId) -> Counts:
        """Return how many lines of chat, by board, and how many messages an account has not read."""
        return Counts(self._letters.unread_chat(account), self._letters.unread(account))
