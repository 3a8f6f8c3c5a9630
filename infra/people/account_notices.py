"""All notices of an account: of its matches, which come from the logs, and of messages."""

from collections.abc import Mapping, Sequence
from typing import Final

import redis

from domain.match.events import AccountId
from infra.people.message_notices import MessageNotice, MessageNotices
from infra.projections.notices import (
    MOST_NOTICES,
    MatchNotices,
    NoticePosition,
    NoticesAfter,
    PlayerNotice,
    position_of,
)
from infra.redis.reads import Read, read_all

MOST_ROWS: Final = 3 * MOST_NOTICES
"""Most notices of an account: of matches, of messages to it, and of broadcasts."""


class AccountNotices:
    """The notices of accounts, of both kinds in one order."""

    def __init__(
        self, client: redis.Redis, matches: MatchNotices, messages: MessageNotices
    ) -> None:
        self._client = client
        self.matches = matches
        """Those of matches alone."""
        self._messages = messages

    def of(self, account: AccountId, start: int = 0, count: int = 50) -> list[PlayerNotice]:
        """Return an account's notices, the newest first; 200 of matches and 200 of messages are kept."""
        matches, (own, broadcasts, _) = read_all(
            self._client,
            self.matches.read_of(account, 0, start + count),
            self._messages.read_of(account),
        )
        return newest_first(matches, [*own, *broadcasts])[start : start + count]

    def since(self, wanted: Mapping[AccountId, NoticePosition]) -> dict[AccountId, NoticesAfter]:
        """Return accounts' notices after positions in their order, the oldest first; one round trip."""
        reads: list[Read[NoticesAfter]] = []
        for account, after in wanted.items():
            reads += [self.matches.since(account, after), self._messages.since(account, after)]
        found = read_all(self._client, *reads)
        pairs = zip(wanted, found[::2], found[1::2], strict=True)
        return {account: ours.with_(theirs) for account, ours, theirs in pairs}

    def marks(self, accounts: Sequence[AccountId]) -> Read[list[str]]:
        """Return the read of a text for each account that changes with its newest notice of a match."""
        return self.matches.change_marks(accounts)


def newest_first(
    matches: Sequence[PlayerNotice], messages: Sequence[MessageNotice]
) -> list[PlayerNotice]:
    """Return notices of both kinds in one order, the newest first."""
    return sorted([*matches, *(one.notice for one in messages)], key=position_of, reverse=True)
