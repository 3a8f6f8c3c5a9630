"""Unread lines of chat, as pages count them."""

from domain.match.events import AccountId
from infra.people.account_notices import UnreadCounter
from infra.people.messages import MessageStore


def unread_chat(messages: MessageStore, account: AccountId) -> dict[int, int]:
    """Return an account's unread lines by match."""
    return UnreadCounter(messages._client, messages).counts(account).boards
