"""How many messages and lines of chat an account has not read yet."""

from typing import Protocol

import msgspec

from domain.match.events import AccountId


class UnreadCounts(msgspec.Struct, frozen=True):
    """Numbers of unread messages."""

    boards: dict[int, int]
    """Unread lines of chat by match; matches without any are left out."""
    messages: int
    """Messages, and broadcasts."""


class UnreadSource(Protocol):
    """The port for the counts; `infra.people.messages.MessageStore` implements it."""

    def unread(self, account: AccountId) -> int:
        """See `Letters.unread`."""
        ...

    def unread_chat(self, account: AccountId) -> dict[int, int]:
        """See `Letters.unread_chat`."""
        ...


class UnreadCounter:
    """Counts unread messages and chat."""

    def __init__(self, letters: UnreadSource) -> None:
        self._letters = letters

    def counts(self, account: AccountId) -> UnreadCounts:
        """Return an account's unread lines of chat by match, and its unread messages."""
        return UnreadCounts(self._letters.unread_chat(account), self._letters.unread(account))
