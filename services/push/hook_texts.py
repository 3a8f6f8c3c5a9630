"""Writes messages to webhooks and channels: the notices of the pages, and the public news of clubs and tournaments."""

import json
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from domain.errors import Refusal
from domain.match.events import Ended
from domain.match.history import decode_event
from domain.rules import rules_by_id
from infra.languages.wording import Wording, wording
from infra.mail.hooks import HookMessage
from infra.people.hooks import Delivery, Hook, HookKind
from infra.projections.notices import OF_TOURNAMENTS, NoticeKind, PlayerNotice, read_detail
from services.app.context import App
from services.app.hooks import CLUB, may_have, secrets_of
from services.app.names import names_of
from services.app.queries import with_older
from services.app.tournament_feed import feed_of
from services.push.notification_texts import PASSING, read_notices
from services.words.clubs import match_begun, match_ended
from services.words.endings import ending_in_list
from services.words.hooks import trial_text
from services.words.tournament_news import feed_title

_LONGEST: Final = 1_500
"""Letters of what people read."""

_MOST_LINES: Final = 20

_NOT_CALLING: Final = str.maketrans(
    {"@": "@\N{ZERO WIDTH SPACE}", "<": "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"}
)
"""Names are chosen by people, and in a chat some texts call all who are there."""


class _Written(NamedTuple):
    type: str
    data: dict[str, Any]
    lines: list[tuple[str, str]]
    """Sentences for people, each with its path."""


class HookTexts:
    """Writes what is sent; see `infra.mail.hooks.HookComposer`."""

    def __init__(self, app: App) -> None:
        self._app = app

    def compose(self, hook: Hook, one: Delivery) -> HookMessage | None:
        """Write a delivery; None when it does not hold any longer, or the hook may not have it."""
        app = self._app
        if not may_have(app, hook):
            return None
        written = self._write(hook, one)
        if written is None:
            return None
        found = secrets_of(app, hook)
        if hook.kind is HookKind.APPRISE:
            lines = [
                f"{text.translate(_NOT_CALLING)}\n{self._link(path)}"
                for text, path in written.lines
            ]
            return HookMessage(found.address, (), "\n".join(lines[:_MOST_LINES])[:_LONGEST])
        stamp = datetime.fromtimestamp(one.at / 1000, UTC).isoformat(timespec="milliseconds")
        body = {
            "type": written.type,
            "timestamp": stamp.replace("+00:00", "Z"),
            "data": written.data,
        }
        valid = [found.secret] + [found.old] * (app.store.now() < found.old_until)
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        return HookMessage(found.address, tuple(valid), text)

    def note_off(self, hook: Hook) -> None:
        """Notify the account that made a hook that it was switched off."""
        app = self._app
        now = app.store.now()
        app.messages.notices.notify([hook.account], 0, now, NoticeKind.HOOK_OFF, hook.account)

    def _link(self, path: str) -> str:
        return f"{self._app.settings.site or ''}{path}"

    def _words(self, hook: Hook) -> Wording:
        profile = self._app.accounts.record_of(hook.account)
        return wording(profile.language if profile else "")

    def _write(self, hook: Hook, one: Delivery) -> _Written | None:
        if one.test:
            text = trial_text(self._words(hook))
            path = "/account/hooks"
            return _Written("test", {"text": text, "link": self._link(path)}, [(text, path)])
        if one.kind is not None:
            return self._notice(hook, one, one.kind)
        try:
            return (
                self._club(hook, one)
                if hook.place.startswith(CLUB)
                else self._tournament(hook, one)
            )
        except Refusal:  # it is not public any longer
            return None

    def _notice(self, hook: Hook, one: Delivery, kind: NoticeKind) -> _Written | None:
        detail = read_detail(kind, one.detail)
        found = read_notices(
            self._app, one.account, [PlayerNotice(one.at, one.board, one.seq, kind, detail)]
        )
        if found is None:
            return None
        (item,) = found.items
        if hook.kind is HookKind.APPRISE and kind in PASSING and not item.current:
            return None
        data: dict[str, Any] = {
            "account": names_of(self._app, [one.account])[one.account],
            "text": f"{item.text} ({item.note})" if item.note else item.text,
            "link": self._link(item.path),
            "current": item.current,
            "seq": one.seq,
        }
        row = found.rows.get(one.board)
        if kind in OF_TOURNAMENTS:
            data["tournament"] = one.board
        elif row is not None:
            opponents = [found.names[seat] for seat in row.seats if seat != one.account]
            data |= {
                "board": one.board,
                "game": row.game,
                "players": [found.names[seat] for seat in row.seats],
                "opponents": opponents,
                "ply": row.ply,
                "tournament": row.tournament or None,
            }
        return _Written(kind, data, [(data["text"], item.path)])

    def _tournament(self, hook: Hook, one: Delivery) -> _Written | None:
        app, words = self._app, self._words(hook)
        feed = feed_of(app, one.board)
        news = [piece for piece in reversed(feed.news) if piece.seq == one.seq]
        if not news:
            return None
        names = names_of(app, (account for piece in news for account in piece.players), words)
        lines, pieces = [], []
        for piece in news:
            text = feed_title(piece, feed, names, words)
            path = f"/m/{piece.board}" if piece.board else f"/tournaments/{one.board}"
            lines.append((text, path))
            pieces.append({
                "kind": piece.kind, "text": text, "link": self._link(path), "board": piece.board or None,
                "players": [names[account] for account in piece.players], "result": piece.result,
            })  # fmt: skip
        data = {"tournament": one.board, "name": feed.name, "seq": one.seq, "news": pieces}
        return _Written("tournament-news", data, lines)

    def _club(self, hook: Hook, one: Delivery) -> _Written | None:
        app, words = self._app, self._words(hook)
        club = app.clubs.get(hook.place.partition(":")[2])
        row = with_older(app, [one.board], {}).get(one.board)
        history = app.store.events(one.board)
        if club is None or row is None or len(history) < one.seq:
            return None
        names = names_of(app, row.seats, words)
        players = [names[seat] for seat in row.seats]
        game, over = rules_by_id(row.rules).title, row.winners is not None
        is_end = isinstance(decode_event(history[one.seq - 1]).body, Ended)
        if is_end and over:
            winners = [players[seat] for seat in row.winners or ()]
            ending = ending_in_list(row.reason, winners, len(players), words)
            text = match_ended(game, players, ending, words)
        elif is_end:
            return None  # a ruling has taken the result away
        else:
            text = match_begun(game, players, words)
        path = f"/m/{one.board}"
        data = {
            "club": club.path, "name": club.name, "board": one.board, "seq": one.seq, "text": text, "link": self._link(path),
            "game": row.game, "players": players, "event": "over" if is_end else "started",
        }  # fmt: skip
        return _Written("club-news", data, [(text, path)])
