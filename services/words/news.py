"""Notices in words, for the news of pages, notifications in browsers, and the daily mail.

Notices of an account as news for pages and notifications, true at the moment when they are shown.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from domain.records import AccountId
from domain.rules import rules_by_id
from infra.languages.wording import Wording
from infra.people.account_notices import UnreadCounts
from infra.projections.match_lists import MatchListRow
from infra.projections.notices import (
    OF_TOURNAMENTS,
    NoticeDetail,
    NoticeKind,
    PlayerNotice,
    TournamentDetail,
)
from services.app.context import App
from services.app.names import shown_name
from services.app.queries import with_older
from services.app.waiting import OF_A_TURN, NewsGroup, boards_of, is_new
from services.words.agreements import answered, offered
from services.words.endings import reason_label, verdict_for
from services.words.tournament_news import tournament_news


class NewsSubject(msgspec.Struct, frozen=True):
    """The match and the deed that a notice is about."""

    kind: NoticeKind
    game: str
    """The game's title."""
    others: tuple[str, ...]
    """The names of the other players."""
    actor: str = ""
    """The name of the player who did it, of a kind that says so."""
    own: bool = False
    """Whether that is the visitor."""
    offer: str = ""
    """The kind of an offer."""
    accepted: bool = False
    count: int = 1
    """How many lines of chat or messages there are."""
    to_all: bool = False
    """Whether a message is to everybody."""


def news_text(  # noqa: PLR0911 - one for each kind of sentence
    subject: NewsSubject, verdict: str, words: Wording, *, current: bool = True
) -> str:
    """Return a sentence without a full stop; `verdict` is that of a match that is over.

    A notice that is not `current` is about a turn that was taken since.
    """
    _ = words.gettext
    game, name = subject.game, subject.actor
    others = words.names(subject.others)
    if subject.kind is NoticeKind.OVER:
        return _ending(verdict, game, others, words)
    if subject.kind is NoticeKind.YOUR_TURN and not current:
        return _("It was your turn in %(game)s against %(players)s", game=game, players=others)
    if subject.kind in (NoticeKind.CHAT, NoticeKind.MESSAGE):
        return _written(subject, others, words, current=current)
    if subject.kind is NoticeKind.OFFER:
        return offered(subject.offer, name, words)
    if subject.kind is NoticeKind.ANSWERED:
        return answered(subject.offer, name, words, accepted=subject.accepted)
    if subject.kind is NoticeKind.FLAGGED and subject.own:
        return _("You ran out of time in %(game)s; the others are playing on", game=game)
    return _WORDS[subject.kind](words, game, others, name)


Said = Callable[[Wording, str, str, str], str]
"""Returns a sentence from the game, the other players, and the player who did it."""

_WORDS: Final[dict[NoticeKind, Said]] = {
    NoticeKind.CHALLENGED: lambda words, game, others, _: words.gettext(
        "%(players)s challenged you to %(game)s", players=others, game=game
    ),
    NoticeKind.REVEAL: lambda words, game, others, _: words.gettext(
        "The deal of %(game)s against %(players)s is waiting for you", game=game, players=others
    ),
    NoticeKind.STARTED: lambda words, game, others, _: words.gettext(
        "%(game)s against %(players)s has begun", game=game, players=others
    ),
    NoticeKind.YOUR_TURN: lambda words, game, others, _: words.gettext(
        "Your turn in %(game)s against %(players)s", game=game, players=others
    ),
    NoticeKind.REPLIED: lambda words, game, others, _: words.gettext(
        "Your conditional move was played in %(game)s against %(players)s",
        game=game,
        players=others,
    ),
    NoticeKind.RESIGNED: lambda words, game, _, name: words.gettext(
        "%(name)s resigned in %(game)s; the others are playing on", name=name, game=game
    ),
    NoticeKind.FLAGGED: lambda words, game, _, name: words.gettext(
        "%(name)s ran out of time in %(game)s; the others are playing on", name=name, game=game
    ),
    NoticeKind.TAKEN_OVER: lambda words, game, others, _: words.gettext(
        "A substitute has taken over a seat in %(game)s against %(players)s",
        game=game,
        players=others,
    ),
    NoticeKind.RESUMED: lambda words, game, others, _: words.gettext(
        "The pause has ended in %(game)s against %(players)s", game=game, players=others
    ),
    NoticeKind.DECLINED: lambda words, game, others, name: words.gettext(
        "%(name)s declined to play %(game)s", name=name or others, game=game
    ),
    NoticeKind.REMINDER: lambda words, game, others, _: words.gettext(
        "Your time is running out in %(game)s against %(players)s", game=game, players=others
    ),
    NoticeKind.CLAIMED: lambda words, game, others, _: words.gettext(
        "There is a claim about %(game)s against %(players)s; an arbiter will rule",
        game=game,
        players=others,
    ),
    NoticeKind.RULED: lambda words, game, others, _: words.gettext(
        "An arbiter ruled on %(game)s against %(players)s", game=game, players=others
    ),
    NoticeKind.HOOK_OFF: lambda words, *_: words.gettext(
        "A webhook or channel of yours was switched off"
    ),
    NoticeKind.APPEALED: lambda words, game, others, _: words.gettext(
        "The ruling on %(game)s against %(players)s was appealed", game=game, players=others
    ),
}


def _written(subject: NewsSubject, others: str, words: Wording, *, current: bool) -> str:
    """Return a sentence on lines of chat, of which `count` are unread if they are `current`, or on messages."""
    _, game, name, count = words.gettext, subject.game, subject.actor, subject.count
    if subject.kind is NoticeKind.CHAT and current and count > 1:
        new = _("%(count)s new chat messages in %(game)s against %(players)s")
        return new % {"count": count, "game": game, "players": others}
    if subject.kind is NoticeKind.CHAT:
        return _("%(name)s sent a message in %(game)s", name=name or others, game=game)
    if subject.to_all and name:
        return _("Announcement from %(name)s (arbiter)", name=name)
    if not name:
        return _("Somebody wrote to you")
    if count > 1:
        return _("%(count)s messages from %(name)s", count=count, name=name)
    return _("%(name)s wrote to you", name=name)


def _ending(verdict: str, game: str, others: str, words: Wording) -> str:
    _ = words.gettext
    match verdict:
        case "won":
            return _("You won %(game)s against %(players)s", game=game, players=others)
        case "lost":
            return _("You lost %(game)s against %(players)s", game=game, players=others)
        case "drawn":
            return _("Draw in %(game)s against %(players)s", game=game, players=others)
        case "void":
            return _("%(game)s against %(players)s doesn’t count", game=game, players=others)
        case _:
            return _("%(game)s against %(players)s has ended", game=game, players=others)


def happened(kind: NoticeKind, words: Wording) -> str:
    """Return a notice about a match that the reader sees above it; empty for a message."""
    _ = words.gettext
    known = {
        NoticeKind.CHALLENGED: _("you were challenged"),
        NoticeKind.REVEAL: _("the deal is waiting for you"),
        NoticeKind.STARTED: _("the match has begun"),
        NoticeKind.YOUR_TURN: _("it's your turn"),
        NoticeKind.OFFER: _("a player made a proposal"),
        NoticeKind.ANSWERED: _("a player answered a proposal"),
        NoticeKind.REPLIED: _("your conditional move was played"),
        NoticeKind.RESIGNED: _("a player resigned"),
        NoticeKind.FLAGGED: _("a player ran out of time"),
        NoticeKind.TAKEN_OVER: _("a substitute has taken over a seat"),
        NoticeKind.RESUMED: _("the pause has ended"),
        NoticeKind.DECLINED: _("the match was declined"),
        NoticeKind.OVER: _("the match is over"),
        NoticeKind.REMINDER: _("your time is running out"),
        NoticeKind.CLAIMED: _("a player made a claim; an arbiter will rule on it"),
        NoticeKind.RULED: _("an arbiter ruled"),
        NoticeKind.APPEALED: _("a player appealed against the ruling"),
        NoticeKind.CHAT: _("there is new chat"),
    }
    return known.get(kind, "")


Rows = Mapping[int, MatchListRow]
"""Matches by board."""

_OF_A_CASE: Final = (NoticeKind.CLAIMED, NoticeKind.RULED, NoticeKind.APPEALED)


class NewsReader(msgspec.Struct, frozen=True):
    """The account that reads news, in a language, at a moment."""

    account: AccountId
    words: Wording
    unread: UnreadCounts
    now: int
    """Milliseconds."""
    tournaments: Mapping[int, str] = {}
    """The names of those tournaments that the account may see."""


class NewsItem(msgspec.Struct, frozen=True):
    """A notice in words."""

    path: str
    at: int
    text: str
    note: str
    """How a match ended; otherwise empty."""
    tone: str
    """The verdict of a match that is over; otherwise empty."""
    current: bool
    """Whether it still asks the visitor for something, or tells what happened last."""
    new: bool
    """Whether it is news to the visitor; see `services.app.waiting`."""


def senders_of(notices: Sequence[PlayerNotice]) -> list[AccountId]:
    """Return who wrote the messages among notices."""
    return [one.sender for one in notices if one.sender]


def rows_of_notices(app: App, notices: Sequence[PlayerNotice], rows: Rows) -> Rows:
    """Return these rows, and those of the notices' matches that have left Redis."""
    return with_older(app, sorted(boards_of(notices)), rows)


def named_news(
    groups: Sequence[NewsGroup],
    rows: Rows,
    names: Mapping[AccountId, str],
    reader: NewsReader,
) -> Iterator[NewsItem]:
    """Yield notices of an account in words, by the matches and the names of their players.

    Those of tournaments that the account may not see are left out.
    """
    for group in groups:
        notice = group.newest
        if notice.kind not in OF_TOURNAMENTS:
            yield _item(group, rows.get(notice.board), names, reader)
        elif notice.board in reader.tournaments:
            yield _of_tournament(notice, reader)


def _of_tournament(notice: PlayerNotice, reader: NewsReader) -> NewsItem:
    detail = notice.detail if isinstance(notice.detail, TournamentDetail) else None
    name = reader.tournaments[notice.board]
    return NewsItem(
        path=f"/tournaments/{notice.board}",
        at=notice.at,
        text=tournament_news(notice.kind, detail, name, reader.words),
        note="",
        tone="",
        current=True,
        new=is_new(notice, reader.unread, reader.now),
    )


def _item(
    group: NewsGroup,
    row: MatchListRow | None,
    names: Mapping[AccountId, str],
    reader: NewsReader,
) -> NewsItem:
    notice, count = group.newest, group.count
    account, words, unread = reader.account, reader.words, reader.unread
    current = _is_current(notice, row, account, unread)
    seat = row.seats.index(account) if row and account in row.seats else None
    verdict = verdict_for(row, seat) if row and notice.kind is NoticeKind.OVER else ""
    if current and notice.kind is NoticeKind.CHAT:
        count = unread.boards[notice.board]
    subject = msgspec.structs.replace(_subject(notice, row, names, reader), count=count)
    return NewsItem(
        path=_path(notice),
        at=notice.at,
        text=news_text(subject, verdict, words, current=current),
        note=reason_label(row.reason, words) if row and verdict else "",
        tone=verdict,
        current=current,
        new=current and is_new(notice, unread, reader.now),
    )


def _subject(
    notice: PlayerNotice,
    row: MatchListRow | None,
    names: Mapping[AccountId, str],
    reader: NewsReader,
) -> NewsSubject:
    sender = names.get(notice.sender, "")
    if row is None:  # a message, or a match that can't be read
        gone = shown_name(None, reader.words)
        return NewsSubject(notice.kind, "", (gone,), sender, to_all=notice.to_all)
    account = reader.account
    detail = notice.detail if isinstance(notice.detail, NoticeDetail) else None
    seat = detail.seat if detail and detail.seat < len(row.seats) else None
    invited = row.invited if notice.kind is NoticeKind.CHALLENGED else ()
    others = [one for at, one in enumerate(row.seats) if at not in invited]
    return NewsSubject(
        kind=notice.kind,
        game=rules_by_id(row.rules).title,
        others=tuple(names[one] for one in others if one != account),
        actor=sender if seat is None else names[row.seats[seat]],
        own=seat is not None and row.seats[seat] == account,
        offer=detail.offer if detail else "",
        accepted=bool(detail and detail.accepted),
    )


def _path(notice: PlayerNotice) -> str:
    if notice.kind is NoticeKind.HOOK_OFF:
        return "/account/hooks"
    if not notice.board:
        return "/messages"
    if notice.kind in _OF_A_CASE:
        return f"/m/{notice.board}/case"
    return f"/m/{notice.board}#chat" if notice.kind is NoticeKind.CHAT else f"/m/{notice.board}"


def _is_current(
    notice: PlayerNotice, row: MatchListRow | None, account: AccountId, unread: UnreadCounts
) -> bool:
    """Return whether a notice still holds: a turn that was taken is no news, nor is chat that was read."""
    if notice.kind is NoticeKind.MESSAGE:
        return unread.messages > 0
    if notice.kind is NoticeKind.CHAT:
        return notice.board in unread.boards
    if row is None or account not in row.seats:
        return True
    seat = row.seats.index(account)
    if notice.kind in OF_A_TURN:
        return seat in row.invited or (seat in row.waits and notice.at >= row.since)
    if notice.kind is NoticeKind.OFFER:
        return seat in row.asked
    return notice.kind is not NoticeKind.OVER or row.over
