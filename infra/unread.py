"""How many messages and lines of chat an account has not read yet."""

from typing import Protocol

import msgspec

from domain.match.events import AccountId


class Counts(msgspec.Struct, frozen=True):
    """Numbers of unread messages."""

    boards: dict[int, int]
    """Unread lines of chat by match; matches without any are left out."""
    messages: int
    """Messages, and broadcasts."""


class Counted(Protocol):
    """The port for the counts; `infra.letters.Letters` implements it."""

    def unread(self, account: AccountId) -> int:
        """See `Letters.unread`."""
        ...

    def unread_chat(self, account: AccountId) -> dict[int, int]:
        """See `Letters.unread_chat`."""
        ...


class Unread:
    """Counts unread messages and chat."""

    def __init__(self, letters: Counted) -> None:
        self._letters = letters

    def counts(self, account: AccountId) -> Counts:
        """Return an account's unread lines of chat by match, and its unread messages."""
        return Counts(self._letters.unread_chat(account), self._letters.unread(account))
