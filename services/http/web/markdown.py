"""Markdown that people write for pages: text, lists and links, without HTML and pictures."""

from functools import cache
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_LEAST_HEADING: Final = 6


def rendered_markdown(text: str, first_heading: int = 3) -> Markup:
    """Return a text as HTML: no markup of its own passes, and links have only safe schemes.

    `first_heading` is the level of its largest heading, because a page has its own above it.
    """
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        _fit(token, first_heading)
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 - it escapes all text


def _fit(token: "Token", first_heading: int) -> None:
    if token.tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
        level = int(token.tag[1]) + first_heading - 1
        token.tag = f"h{min(level, _LEAST_HEADING)}"
    for child in token.children or ():
        if child.type == "link_open":
            child.attrSet("rel", "nofollow noopener ugc")


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 - few processes show such a text

    return (
        MarkdownIt("commonmark", {"html": False})
        .disable(["image", "html_block", "html_inline"])
        .enable("table")
    )
