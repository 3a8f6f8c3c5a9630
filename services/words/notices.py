"""Notices in words, for the news of pages, notifications in browsers, and the daily mail."""

from collections.abc import Callable
from typing import Final

import msgspec

from infra.languages.wording import Wording
from infra.projections.notices import NoticeKind
from services.words.offers import answered, offered


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
