"""Text of people on pages: escaped, with addresses as links."""

import re
from typing import Final

from markupsafe import Markup, escape

_ADDRESS: Final = re.compile(r"https?://[^\s<>\"]+")
_ENDS: Final = ".,;:!?'*_"
"""Characters that end a sentence around an address, and are no part of it."""


def linked(text: str) -> Markup:
    """Return a text with its addresses as links, which neither search engines nor the site there follow back."""
    parts, at = [], 0
    for found in _ADDRESS.finditer(text):
        address = _trimmed(found[0])
        parts += [escape(text[at : found.start()]), _link(address)]
        at = found.start() + len(address)
    return Markup().join([*parts, escape(text[at:])])


def _trimmed(address: str) -> str:
    """Return an address without the punctuation of the sentence in which it stands."""
    address = address.rstrip(_ENDS)
    while address.endswith(")") and address.count(")") > address.count("("):
        address = address[:-1].rstrip(_ENDS)
    return address


def _link(address: str) -> Markup:
    return Markup(
        '<a href="{0}" rel="nofollow noopener noreferrer" target="_blank">{0}</a>'
    ).format(address)
