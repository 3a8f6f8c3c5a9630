"""The news of a tournament as a feed (Atom), for feed readers."""

from datetime import UTC, datetime
from typing import Any, Final
from xml.etree.ElementTree import Element, SubElement, register_namespace, tostring

from litestar import Response

from infra.languages.wording import Wording
from services.app.names import names_of
from services.app.tournament_feed import TournamentFeed, feed_of
from services.http.web.declared import Pages
from services.http.web.params import Asked
from services.http.web.tournaments.page import TournamentNumber
from services.words.tournament_news import feed_title

pages = Pages()

ATOM: Final = "application/atom+xml"

_SPACE: Final = "http://www.w3.org/2005/Atom"
_HEADERS: Final = {"Cache-Control": "public, max-age=300", "Vary": "Cookie, Accept-Language"}

register_namespace("", _SPACE)


@pages.get("/tournaments/{number:int}/feed", weight=5)
def show_feed(number: TournamentNumber, asked: Asked) -> Response[Any]:
    """Return the newest news of a tournament that guests may see, in the language that is asked for."""
    visitor, feed = asked.visitor, feed_of(asked.app, number)
    names = names_of(
        asked.app, (one for news in feed.news for one in news.players), visitor.wording
    )
    root = _feed(feed, visitor.site, visitor.site_name, visitor.wording)
    for one in feed.news:
        path = f"/m/{one.board}" if one.board else f"/tournaments/{number}"
        id_ = f"{one.seq}" if one.pairing is None else f"{one.seq}-{one.pairing}"
        entry = SubElement(root, f"{{{_SPACE}}}entry")
        page = f"{visitor.site}/tournaments/{number}"
        _text(entry, "id", f"{page}#news-{id_}")
        _text(entry, "title", feed_title(one, feed, names, visitor.wording))
        _text(entry, "updated", _stamp(one.at))
        SubElement(entry, f"{{{_SPACE}}}link", href=f"{visitor.site}{path}")
    text = tostring(root, encoding="utf-8", xml_declaration=True)
    return Response(text, media_type=ATOM, headers=_HEADERS)


def _feed(feed: TournamentFeed, site: str, site_name: str, words: Wording) -> Element:
    """Return a feed without its news."""
    root = Element(f"{{{_SPACE}}}feed", {"xml:lang": words.code})
    page = f"{site}/tournaments/{feed.number}"
    _text(root, "id", page)
    _text(root, "title", feed.name)
    _text(root, "updated", _stamp(feed.at))
    SubElement(root, f"{{{_SPACE}}}link", href=page)
    SubElement(root, f"{{{_SPACE}}}link", rel="self", type=ATOM, href=f"{page}/feed")
    _text(SubElement(root, f"{{{_SPACE}}}author"), "name", site_name)
    return root


def _text(parent: Element, name: str, text: str) -> None:
    SubElement(parent, f"{{{_SPACE}}}{name}").text = text


def _stamp(at: int) -> str:
    """Return an instant (ms) as RFC 3339 writes it."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"
