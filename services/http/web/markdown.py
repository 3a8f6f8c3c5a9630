"""Markdown that people write for pages: text, lists and links, without HTML and pictures."""

from functools import cache
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_FIRST_HEADING: Final = 3
"""The level of a text's largest heading, because a page has its own above it."""

_LEAST_HEADING: Final = 6


def rendered_markdown(text: str) -> Markup:
    """Return a text as HTML: no markup of its own passes, and links have only safe schemes."""
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        _fit(token)
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 - it escapes all text


def _fit(token: "Token") -> None:
    if token.tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
        level = int(token.tag[1]) + _FIRST_HEADING - 1
        token.tag = f"h{min(level, _LEAST_HEADING)}"
    for child in token.children or ():
        if child.type == "link_open":
            child.attrSet("rel", "nofollow noopener ugc")


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 - few processes show such a text

    return MarkdownIt("commonmark", {"html": False}).disable(["image", "html_block", "html_inline"])
