"""Notices of tournaments in words, for the news of pages, notifications in browsers, and mail."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final

from domain.records import AccountId
from domain.tournament.terms import ONE_POINT, TournamentForm
from domain.tournament.three_results import SEATS, places_in
from infra.languages.wording import N_, Wording
from infra.projections.notices import NoticeKind, TournamentDetail, TournamentNotice
from services.app.tournament_feed import NewsKind, TournamentFeed, TournamentNews
from services.words.tournaments import points_text, result_text

Said = Callable[[str, TournamentDetail, Wording], str]
"""Returns a sentence from the name of the tournament and the detail of the notice."""

_NO_DETAIL: Final = TournamentDetail()


def tournament_news(
    kind: NoticeKind, detail: TournamentDetail | None, tournament: str, words: Wording
) -> str:
    """Return a notice of a tournament as a sentence without a full stop."""
    return _WORDS[kind](tournament, detail or _NO_DETAIL, words)


def what_follows(notices: Iterable[TournamentNotice], words: Wording) -> list[str]:
    """Return what an account has to know or to do after these notices, a sentence each."""
    return [
        words.gettext(_AFTER[one.kind])
        for one in notices
        if one.kind in _AFTER and (one.detail is None or one.detail.matches)
    ]


MOST_NAMED: Final = 10
"""Players in first place whom news name."""


def feed_title(
    one: TournamentNews, feed: TournamentFeed, names: Mapping[AccountId, str], words: Wording
) -> str:
    """Return a piece of news of a feed as a sentence without a full stop; `names` are those of its players."""
    _, tournament = words.gettext, feed.name
    players = [names[account] for account in one.players]
    match one.kind:
        case NewsKind.PAIRED:
            return _(
                "%(tournament)s goes on: %(part)s",
                tournament=tournament,
                part=_part(one, feed, words),
            )
        case NewsKind.CHALLENGED:
            first, second = players
            return _(
                "%(tournament)s: %(challenger)s challenges %(player)s",
                tournament=tournament,
                challenger=second,
                player=first,
            )
        case NewsKind.RESULT:
            return _result(one.result, players)
        case NewsKind.PLACES if 0 < len(players) <= MOST_NAMED:
            return _(
                "%(tournament)s is over; in first place: %(names)s",
                tournament=tournament,
                names=words.names(players),
            )
        case NewsKind.PLACES:
            return _("%(tournament)s is over, and the places are confirmed", tournament=tournament)
        case _:
            return tournament_news(_OF_FEED[one.kind], None, tournament, words)


def _result(result: str, players: Sequence[str]) -> str:
    """Return the result of a match with its players; of one for three they are in the order of their places."""
    if len(players) == SEATS:
        placed = sorted(zip(places_in(result), players, strict=True))
        return ", ".join(f"{place}. {name}" for place, name in placed)
    first, second = players
    return f"{first} \N{EN DASH} {second} {result_text(result)}"


def _part(one: TournamentNews, feed: TournamentFeed, words: Wording) -> str:
    """Return the name of a round, stage or season, such as `Round 2`."""
    if feed.terms.form == TournamentForm.LEAGUE:
        return words.gettext("Season %(season)s", season=one.stage)
    if feed.terms.form == TournamentForm.ROUND_ROBIN:
        return words.gettext("Stage %(stage)s", stage=one.stage)
    return words.gettext("Round %(number)s", number=one.stage)


def _started(tournament: str, detail: TournamentDetail, words: Wording) -> str:
    if not detail.matches:
        return words.gettext("%(tournament)s has started", tournament=tournament)
    return words.ngettext(
        "%(tournament)s has started: you play %(count)s match",
        "%(tournament)s has started: you play %(count)s matches",
        detail.matches,
        tournament=tournament,
    )


def _paired(tournament: str, detail: TournamentDetail, words: Wording) -> str:
    if not detail.matches:
        return words.gettext("%(tournament)s goes on: you have a bye", tournament=tournament)
    return words.ngettext(
        "%(tournament)s goes on: you play %(count)s new match",
        "%(tournament)s goes on: you play %(count)s new matches",
        detail.matches,
        tournament=tournament,
    )


def _placed(tournament: str, detail: TournamentDetail, words: Wording) -> str:
    said = {
        "tournament": tournament,
        "place": detail.place,
        "points": points_text(Fraction(detail.points, ONE_POINT), words),
    }
    if detail.shared:
        return words.gettext(
            "%(tournament)s is over: you share place %(place)s (points: %(points)s)", **said
        )
    return words.gettext(
        "%(tournament)s is over: you have place %(place)s (points: %(points)s)", **said
    )


_WORDS: Final[Mapping[NoticeKind, Said]] = {
    NoticeKind.INVITED_TO_TOURNAMENT: lambda tournament, _, words: words.gettext(
        "You are invited to %(tournament)s", tournament=tournament
    ),
    NoticeKind.MOVED_UP: lambda tournament, _, words: words.gettext(
        "You have moved up from the waiting list of %(tournament)s", tournament=tournament
    ),
    NoticeKind.ENTRY_TAKEN_BACK: lambda tournament, _, words: words.gettext(
        "The organiser took back your entry for %(tournament)s", tournament=tournament
    ),
    NoticeKind.TOURNAMENT_STARTED: _started,
    NoticeKind.PAIRED: _paired,
    NoticeKind.TAKEN_OUT: lambda tournament, _, words: words.gettext(
        "You were taken out of %(tournament)s", tournament=tournament
    ),
    NoticeKind.TOURNAMENT_CANCELLED: lambda tournament, _, words: words.gettext(
        "%(tournament)s was cancelled", tournament=tournament
    ),
    NoticeKind.TOO_FEW_PLAYERS: lambda tournament, _, words: words.gettext(
        "%(tournament)s was cancelled: too few players had entered", tournament=tournament
    ),
    NoticeKind.MATCHES_OVER: lambda tournament, _, words: words.gettext(
        "All matches of %(tournament)s are over", tournament=tournament
    ),
    NoticeKind.PLACES: _placed,
}

_OF_FEED: Final[Mapping[NewsKind, NoticeKind]] = {
    NewsKind.STARTED: NoticeKind.TOURNAMENT_STARTED,
    NewsKind.OVER: NoticeKind.MATCHES_OVER,
    NewsKind.CANCELLED: NoticeKind.TOURNAMENT_CANCELLED,
}
"""News of a feed that say the same as a notice."""

_STARTED: Final = N_(
    "Your matches begin by themselves. You get an e-mail for each in which it is your turn."
)
_AFTER: Final[Mapping[NoticeKind, str]] = {
    NoticeKind.INVITED_TO_TOURNAMENT: N_(
        "Only invited players can enter. You are in once you have entered on its page."
    ),
    NoticeKind.MOVED_UP: N_(
        "Your matches begin when the tournament starts. If you can’t play, take back your entry before that."
    ),
    NoticeKind.TOURNAMENT_STARTED: _STARTED,
    NoticeKind.PAIRED: _STARTED,
    NoticeKind.MATCHES_OVER: N_(
        "Please look at the tables, and confirm the places: only then are they final."
    ),
}
