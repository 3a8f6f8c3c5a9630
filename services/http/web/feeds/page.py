"""The feeds of players and clubs: results of matches; and players' calendars."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from litestar import Request, Response
from litestar.params import PathParameter

from domain.rules import rules_by_id
from infra.languages.wording import Wording, wording
from infra.projections.match_lists import MatchFilter, MatchListRow
from infra.projections.tournaments import LISTS_OF_PHASES
from services.app import clubs
from services.app.calendar import calendar_of
from services.app.context import App
from services.app.names import names_of
from services.app.queries import find_player
from services.http.etag import ETag
from services.http.web.clubs.page import ClubPath
from services.http.web.declared import Pages
from services.http.web.feeds.atom import FeedEntry, FeedLanguage, PageFeed, feed_response, words_of
from services.http.web.params import Asked, Userid
from services.words.calendar import MEDIA_TYPE, write_calendar
from services.words.endings import ending_in_list
from services.words.tournaments import phase_name

pages = Pages()

AnyRequest = Request[Any, Any, Any]

CalendarFile = Annotated[str, PathParameter(max_length=60)]

MOST_RESULTS: Final = 50
"""Matches of a feed, those that ended last."""


@pages.get("/players/{userid:str}/feed", weight=3)
def show_player_feed(
    userid: Userid, asked: Asked, request: AnyRequest, lang: FeedLanguage = ""
) -> Response[Any]:
    """Return the results of a player's last matches, as the player's page has them."""
    account, profile = find_player(asked.app, userid)
    words = words_of(asked.visitor, lang)
    rows = asked.app.lists.of(account, MatchFilter.INACTIVE, None, 0, MOST_RESULTS)
    feed = PageFeed(
        f"/players/{profile.name}",
        words.gettext("Results of %(name)s", name=profile.name),
        rows[0].ended if rows else profile.created,
        _results(asked.app, rows, words),
    )
    return feed_response(request, asked.visitor, feed, words)


@pages.get("/clubs/{path:str}/feed", weight=3)
def show_club_feed(
    path: ClubPath, asked: Asked, request: AnyRequest, lang: FeedLanguage = ""
) -> Response[Any]:
    """Return the tournaments of a club, and its members' results against each other, where guests may see it."""
    # a feed reader has no account, so it sees what a guest does
    view, words = clubs.view_of(asked.app, None, path), words_of(asked.visitor, lang)
    rows = clubs.matches_of_club(asked.app, view.members, over=True)
    news = [*_results(asked.app, rows, words), *_tournaments(asked.app, view.club.id, words)]
    news.sort(key=lambda one: -one.at)
    feed = PageFeed(
        f"/clubs/{view.club.path}",
        words.gettext("Results of %(name)s", name=view.club.name),
        news[0].at if news else view.club.created,
        news[:MOST_RESULTS],
    )
    return feed_response(request, asked.visitor, feed, words)


def _results(app: App, rows: Sequence[MatchListRow], words: Wording) -> list[FeedEntry]:
    names = names_of(app, (account for row in rows for account in row.seats), words)
    return [
        FeedEntry(
            f"/m/{row.board}",
            _result(row, [names[account] for account in row.seats], words),
            row.ended,
            f"/m/{row.board}",
        )
        for row in rows
    ]


def _tournaments(app: App, club: str, words: Wording) -> list[FeedEntry]:
    lists = dict.fromkeys(LISTS_OF_PHASES.values())
    listed = [row for name in lists for row in app.tournaments.listed(name, 0, MOST_RESULTS)]
    rows = [row for row in listed if row.club == club]
    said = app.tournament_texts.of([row.number for row in rows]) if rows else {}
    return [
        FeedEntry(
            f"/tournaments/{row.number}",
            f"{said[row.number].name or f'#{row.number}'}: {phase_name(row.phase, words)}",
            row.at,
            f"/tournaments/{row.number}",
        )
        for row in rows
    ]


def _result(row: MatchListRow, names: Sequence[str], words: Wording) -> str:
    winners = [names[seat] for seat in row.winners or ()]
    said = ending_in_list(row.reason, winners, len(names), words)
    return f"{rules_by_id(row.rules).title}, {' - '.join(names)}: {said}"


@pages.get("/calendar/{file:str}", weight=5, for_guests=True)
def show_calendar(file: CalendarFile, asked: Asked, request: AnyRequest) -> Response[Any]:
    """Return the calendar at a secret address, in its player's language."""
    found = calendar_of(asked.app, file.removesuffix(".ics"))
    data = write_calendar(found, asked.visitor.site, wording(found.profile.language))
    answer = ETag(data).answer(request, lambda: data, MEDIA_TYPE)
    answer.headers["Cache-Control"] = "private, no-cache"
    return answer
