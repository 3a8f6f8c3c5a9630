"""All notices of an account: of its matches, which come from the logs, and of messages."""

from collections.abc import Sequence

from domain.match.events import AccountId
from infra.people.message_notices import MessageNotices
from infra.projections.notices import (
    MatchNotices,
    NoticePosition,
    NoticesAfter,
    PlayerNotice,
    position_of,
)


class AccountNotices:
    """The notices of accounts, of both kinds in one order."""

    def __init__(self, matches: MatchNotices, messages: MessageNotices) -> None:
        self._matches = matches
        self._messages = messages

    def of(self, account: AccountId, start: int = 0, count: int = 50) -> list[PlayerNotice]:
        """Return an account's notices, the newest first; 200 of matches and 200 of messages are kept."""
        found = self._matches.of(account, 0, start + count)
        found += [one.notice for one in self._messages.of(account)]
        return sorted(found, key=position_of, reverse=True)[start : start + count]

    def since(self, account: AccountId, after: NoticePosition) -> NoticesAfter:
        """Return an account's notices after a position in their order, the oldest first."""
        return self._matches.since(account, after).with_(self._messages.since(account, after))

    def count(self, account: AccountId) -> int:
        """Return their number; O(n) in those of messages, which are 400 at most."""
        return self._matches.count(account) + len(self._messages.of(account))

    def marks(self, accounts: Sequence[AccountId]) -> list[str]:
        """Return for each account a text that changes with its newest notice of a match."""
        return self._matches.change_marks(accounts)
