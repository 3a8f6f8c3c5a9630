"""Feeds of news, as feed readers want them (Atom, RFC 4287): one writer for all pages that have one."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final
from xml.etree.ElementTree import Element, SubElement, register_namespace, tostring

import msgspec
from litestar import Request, Response
from litestar.params import QueryParameter

from infra.languages.wording import Wording, wording
from services.http.etag import ETag
from services.http.web.session import Visitor

ATOM: Final = "application/atom+xml"

_SPACE: Final = "http://www.w3.org/2005/Atom"
_HEADERS: Final = {"Cache-Control": "public, max-age=300", "Vary": "Cookie, Accept-Language"}

register_namespace("", _SPACE)

FeedLanguage = Annotated[str, QueryParameter(name="lang", pattern="^[a-z]{0,8}$")]
"""The language of a feed; that of the reader, or else of the site, if it is empty."""


class FeedEntry(msgspec.Struct, frozen=True):
    """A piece of news."""

    id: str
    """As a path, and different for all entries."""
    title: str
    at: int
    """Milliseconds."""
    path: str
    """Of the page that it leads to."""


def words_of(visitor: Visitor, lang: str) -> Wording:
    """Return the words of a feed: in the language that its address names, or the visitor's."""
    return wording(lang) if lang else visitor.wording


class PageFeed(msgspec.Struct, frozen=True):
    """The news of a page."""

    page: str
    """Its path."""
    title: str
    updated: int
    """When anything has changed, ms."""
    entries: Sequence[FeedEntry]
    """The newest first."""


def feed_response(
    request: Request[Any, Any, Any], visitor: Visitor, feed: PageFeed, words: Wording
) -> Response[Any]:
    """Return the feed of a page, or 304 if the reader has it."""
    root, site = Element(f"{{{_SPACE}}}feed", {"xml:lang": words.code}), visitor.site
    _text(root, "id", site + feed.page)
    _text(root, "title", feed.title)
    _text(root, "updated", _stamp(feed.updated))
    SubElement(root, f"{{{_SPACE}}}link", href=site + feed.page)
    SubElement(root, f"{{{_SPACE}}}link", rel="self", type=ATOM, href=f"{site}{feed.page}/feed")
    _text(SubElement(root, f"{{{_SPACE}}}author"), "name", visitor.site_name)
    for one in feed.entries:
        entry = SubElement(root, f"{{{_SPACE}}}entry")
        _text(entry, "id", site + one.id)
        _text(entry, "title", one.title)
        _text(entry, "updated", _stamp(one.at))
        SubElement(entry, f"{{{_SPACE}}}link", href=site + one.path)
    text = tostring(root, encoding="utf-8", xml_declaration=True)
    answer = ETag("feed", text).answer(request, lambda: text, ATOM)
    answer.headers.update(_HEADERS)
    return answer


def _text(parent: Element, name: str, text: str) -> None:
    SubElement(parent, f"{{{_SPACE}}}{name}").text = text


def _stamp(at: int) -> str:
    """Return an instant (ms) as RFC 3339 writes it."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"
