"""The texts of a page that a person reads or hears, each with its language."""

from collections.abc import Iterator
from html.parser import HTMLParser

READ = ("aria-label", "title", "placeholder", "alt", "data-prompt")
"""Attributes that a person reads or hears."""
SILENT = ("script", "style", "pre", "code", "kbd", "samp", "template")
"""Elements whose text is no prose."""
_EMPTY = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
})  # fmt: skip


class PageTexts(HTMLParser):
    """Collects the texts of a page that are in the page's own language.

    What players wrote is in theirs, and stands in elements with `dir="auto"`.
    """

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.language = ""
        """That of the whole page."""
        self._open: list[tuple[str, str]] = []
        """The elements around the current place, each with its language; empty for silent ones."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Go into an element, and take its attributes that are read."""
        given = dict(attrs)
        outer = self._open[-1][1] if self._open else ""
        language = given.get("lang") or outer
        if tag == "html":
            self.language = language
        elif self._open and outer == "-":
            language = "-"
        for name in READ:
            self._take(given.get(name) or "", language)
        if tag == "input" and given.get("type") in ("submit", "button"):
            self._take(given.get("value") or "", language)
        if tag not in _EMPTY:
            silent = tag in SILENT or given.get("dir") == "auto"
            self._open.append((tag, "-" if silent else language))

    def handle_endtag(self, tag: str) -> None:
        """Leave an element, and those in it that were never closed."""
        while any(one == tag for one, _ in self._open):
            if self._open.pop()[0] == tag:
                return

    def handle_data(self, data: str) -> None:
        if self._open:
            self._take(data, self._open[-1][1])

    def _take(self, text: str, language: str) -> None:
        shown = " ".join(text.split())
        if language == self.language and any(letter.isalpha() for letter in shown):
            self.found.append(shown)


def texts_of(page: str) -> tuple[str, list[str]]:
    """Return the language of a page, and its texts that are in it."""
    parser = PageTexts()
    parser.feed(page)
    return parser.language, parser.found


def texts_in(pages: Iterator[str]) -> set[str]:
    return {text for page in pages for text in texts_of(page)[1]}
