"""Extracts the visible text of a mail that has only HTML, without quotes.

It does not use the standard library's parser, which takes quadratic time on malicious tags. Everything
between `<` and `>` counts as a tag, and the rest is text.
"""

import re
from html import unescape
from typing import Final

_PIECE: Final = re.compile(r"<!--.*?(?:-->|\Z)|<[^<>]*>?|[^<]+", re.DOTALL)
_TAG: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)")

_BREAKING: Final = frozenset(
    (
        *("address", "article", "blockquote", "body", "br", "dd", "div", "dl", "dt", "footer"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html", "li", "main", "ol", "p"),
        *("pre", "section", "table", "td", "th", "tr", "ul"),
    )
)
"""Tags at which a line ends."""

_SILENT: Final = frozenset(("blockquote", "head", "script", "style", "title"))
"""Tags whose content is not what the sender wrote."""

_ROOM: Final = re.compile(r"[ \t\r\n]+")


class _Reader:
    """Collects text, tag by tag."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self._silent = ""
        self._depth = 0

    def text(self, text: str) -> None:
        """Add text."""
        if not self._silent:
            self.said.append(_ROOM.sub(" ", unescape(text)))

    def tag(self, name: str, *, closing: bool) -> None:
        """Add a tag; inside a silent one only its own end counts."""
        if self._silent:
            self._depth += (-1 if closing else 1) if name == self._silent else 0
            if not self._depth:
                self._silent = ""
        elif name in _SILENT and not closing:
            self._silent, self._depth = name, 1
        if name in _BREAKING:
            self.said.append("\n")


def strip(html: str) -> str:
    """Return the text of HTML, a line for each visible line, in time linear in its length."""
    reader = _Reader()
    for piece in _PIECE.findall(html):
        tag = _TAG.match(piece)
        if tag is not None:
            reader.tag(tag[2].lower(), closing=bool(tag[1]))
        elif not piece.startswith("<"):
            reader.text(piece)
    return "\n".join(line.strip() for line in "".join(reader.said).split("\n"))
