"""The OpenAPI document as a page for people."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from jinja2 import ChainableUndefined, Environment, PackageLoader
from markupsafe import Markup, escape

Document = Mapping[str, Any]

_MAX_EXAMPLE: Final = 4_000
"""The maximum length of an example, in characters."""

_ENVIRONMENT: Final = Environment(
    loader=PackageLoader("services.http.api"),
    autoescape=True,
    undefined=ChainableUndefined,  # most keys of the document are optional
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)


def make_page(document: Document) -> str:
    """Return the page of a document."""
    groups = [(tag, list(_operations(document, tag["name"]))) for tag in document["tags"]]
    return _ENVIRONMENT.get_template("docs.html").render(document=document, groups=groups)


def _operations(document: Document, tag: str) -> Iterator[tuple[str, str, Document]]:
    """Yield method, path and operation for each operation with a tag."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if tag in operation["tags"]:
                yield method, path, operation


def _to_html(text: object) -> Markup:
    """Return text as HTML, with the words in backticks as code."""
    escaped = str(escape(" ".join(str(text).split())))
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped))  # noqa: S704 - escaped above


def _example(example: Any) -> str:
    """Return an example as text: JSON is indented, and a long text is cut."""
    if not isinstance(example, str):
        example = msgspec.json.format(msgspec.json.encode(example), indent=2).decode()
    return example if len(example) <= _MAX_EXAMPLE else f"{example[:_MAX_EXAMPLE]}\n..."


_ENVIRONMENT.filters["prose"] = _to_html
_ENVIRONMENT.filters["example"] = _example
