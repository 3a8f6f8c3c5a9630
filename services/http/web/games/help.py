"""The help page, and the plain text of help as blocks of a page."""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

import msgspec
from litestar import Response

from services.http.web.declared import Pages
from services.http.web.params import ContextDependency, VisitorDependency
from services.http.web.render import render

pages = Pages()

_ITEM: Final = re.compile(r"(?:\d\.|-) +")
_DRAWING: Final = re.compile(r"\S {2,}\S")
"""Spacing that occurs in boards and tables, but not in sentences."""


class HelpBlock(msgspec.Struct, frozen=True):
    """A block of a help page."""

    kind: str
    """`heading`, `text`, `item` or `drawn`."""
    text: str


@pages.get("/help", in_thread=False)
def show_help(visitor: VisitorDependency) -> Response[str]:
    """Show how to use the pages, by topics."""
    return render("help.html", visitor)


@pages.get("/help/commands")
def show_commands(context: ContextDependency, visitor: VisitorDependency) -> Response[str]:
    """Show the commands of terminal and mail."""
    answer = context.language.do(f"help --lang={visitor.language}")
    return render("commands.html", visitor, text=answer.page)


def help_blocks(page: str) -> list[HelpBlock]:
    """Return the blocks of a help page; drawings keep their line breaks."""
    found = [_block(part) for part in re.split(r"\n{2,}", page.strip("\n"))]
    merged: list[HelpBlock] = []
    for kind, same in groupby(found, key=lambda block: block.kind):
        parts = [block.text for block in same]
        merged += [HelpBlock(kind, "\n\n".join(parts))] if kind == "drawn" else _split(kind, parts)
    return merged


def _block(part: str) -> HelpBlock:
    lines = part.split("\n")
    if len(lines) == 1 and part.isupper():
        return HelpBlock("heading", part.capitalize())
    if _ITEM.match(part):
        return HelpBlock("item", part)
    if any(line.startswith(" ") or _DRAWING.search(line) for line in lines):
        return HelpBlock("drawn", part)
    return HelpBlock("text", " ".join(lines))


def _split(kind: str, parts: list[str]) -> Iterator[HelpBlock]:
    for part in parts:
        if kind != "item":
            yield HelpBlock(kind, part)
            continue
        for item in re.split(r"\n(?=(?:\d\.|-) )", part):
            yield HelpBlock(kind, " ".join(line.strip() for line in item.split("\n")))
