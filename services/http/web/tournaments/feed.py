"""The news of a tournament as a feed (Atom), for feed readers."""

from typing import Any

from litestar import Request, Response

from services.app.names import names_of
from services.app.tournament_feed import feed_of
from services.http.web.declared import Pages
from services.http.web.feeds.atom import FeedEntry, FeedLanguage, PageFeed, feed_response, words_of
from services.http.web.params import Asked
from services.http.web.tournaments.page import TournamentNumber
from services.words.tournament_news import feed_title

pages = Pages()


@pages.get("/tournaments/{number:int}/feed", weight=5)
def show_feed(
    number: TournamentNumber,
    asked: Asked,
    request: Request[Any, Any, Any],
    lang: FeedLanguage = "",
) -> Response[Any]:
    """Return the newest news of a tournament that guests may see, in the language that is asked for."""
    words, feed = words_of(asked.visitor, lang), feed_of(asked.app, number)
    names = names_of(asked.app, (one for news in feed.news for one in news.players), words)
    page = f"/tournaments/{number}"
    entries = [
        FeedEntry(
            f"{page}#news-{one.seq}" + ("" if one.pairing is None else f"-{one.pairing}"),
            feed_title(one, feed, names, words),
            one.at,
            f"/m/{one.board}" if one.board else page,
        )
        for one in feed.news
    ]
    return feed_response(request, asked.visitor, PageFeed(page, feed.name, feed.at, entries), words)
