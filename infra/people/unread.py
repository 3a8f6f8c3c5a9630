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
        """See `MessageStore.unread`."""
        ...

    def unread_chat(self, account: AccountId) -> dict[int, int]:
        """See `MessageStore.unread_chat`."""
        ...


class UnreadCounter:
    """Counts unread messages and chat."""

    def __init__(self, messages: UnreadSource) -> None:
        self._messages = messages

    def counts(self, account: AccountId) -> UnreadCounts:
        """Return an account's unread lines of chat by match, and its unread messages."""
        return UnreadCounts(self._messages.unread_chat(account), self._messages.unread(account))
