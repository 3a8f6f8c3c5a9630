"""The words of notifications in browsers: the news of the pages, in the language of the account."""

import json
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from domain.records import AccountId
from infra.languages.wording import Wording, wording
from infra.mail.push import LIFE_MS, PushMessage
from infra.projections.notices import OF_TOURNAMENTS, NoticeKind, PlayerNotice
from services.app.context import App
from services.app.names import names_of
from services.app.tournament_names import names_in_notices
from services.app.waiting import NewsGroup, tournaments_of
from services.words.news import NewsItem, NewsReader, Rows, named_news, rows_of_notices

PASSING: Final = frozenset({
    NoticeKind.YOUR_TURN, NoticeKind.REMINDER, NoticeKind.REVEAL, NoticeKind.CHALLENGED,
    NoticeKind.CHAT, NoticeKind.MESSAGE,
})  # fmt: skip
"""Kinds that are no news any more when the player has moved, answered or read."""

_URGENT: Final = frozenset({NoticeKind.REMINDER})

_QUIET_WITH_OTHERS: Final = frozenset({NoticeKind.YOUR_TURN, NoticeKind.STARTED})
"""Kinds that come after others of the same command."""

_LONGEST: Final = 400
"""Letters of a line: names and titles are short, and this keeps a message below what services take."""


class ReadNotices(NamedTuple):
    """Notices in words, with their matches and players."""

    words: Wording
    items: tuple[NewsItem, ...]
    """One for each notice."""
    rows: Rows
    names: Mapping[AccountId, str]


def read_notices(
    app: App, account: AccountId, notices: Sequence[PlayerNotice]
) -> ReadNotices | None:
    """Return notices in the language of an account; None if it is gone, or may not see one any longer."""
    profile = app.accounts.record_of(account)
    if profile is None:
        return None
    # the match itself, because lists of matches may come after the log
    rows = rows_of_notices(app, notices, {})
    words = wording(profile.language)
    names = names_of(app, (seat for row in rows.values() for seat in row.seats), words)
    numbers = tournaments_of(notices)
    tournaments = names_in_notices(app, account, numbers) if numbers else {}
    if len(tournaments) < len(numbers):
        return None
    unread = app.unread.counts(account)
    reader = NewsReader(account, words, unread, app.store.now(), tournaments)
    items = named_news([NewsGroup(one, 1) for one in notices], rows, names, reader)
    return ReadNotices(words, tuple(items), rows, names)


class PushTexts:
    """Writes the notifications; see `infra.mail.push.PushComposer`."""

    def __init__(self, app: App) -> None:
        self._app = app

    def compose(self, account: AccountId, notices: Sequence[PlayerNotice]) -> PushMessage | None:
        """Write the notices of one command; None when none of them holds any longer."""
        found = read_notices(self._app, account, notices)
        if found is None:
            return None
        words = found.words
        shown = [
            (one, item)
            for one, item in zip(notices, found.items, strict=True)
            if item.current or one.kind not in PASSING
        ]
        if not shown:
            return None
        shown.sort(key=lambda pair: pair[0].kind in _QUIET_WITH_OTHERS)
        first, item = shown[0]
        # each message of a player stays, because they may be of different players
        topic = f"m{first.board}" if first.board else f"w{first.at}"
        if first.kind in OF_TOURNAMENTS:
            topic = f"t{first.board}"
        text = {
            "title": item.text[:_LONGEST],
            "body": ". ".join(map(_line, [more for _, more in shown[1:]]))[:_LONGEST] or item.note,
            "path": item.path,
            "tag": topic,
            "lang": words.code,
        }
        data = json.dumps(text, ensure_ascii=False, separators=(",", ":")).encode()
        urgent = any(one.kind in _URGENT for one, _ in shown)
        return PushMessage(data, topic, LIFE_MS // 1000, urgent)


def _line(item: NewsItem) -> str:
    return f"{item.text} ({item.note})" if item.note else item.text
