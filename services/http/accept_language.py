"""The language that a client of the API wants sentences in, by its header Accept-Language."""

import re
from typing import Final

from domain.sentences import Sentence, Text
from domain.translation import ENGLISH, Translation
from infra.languages.catalogues import languages

_RANGE: Final = re.compile(
    r"\s*([a-z]{1,8}|\*)(?:-[a-z0-9-]{1,35})?\s*(?:;\s*q\s*=\s*([01](?:\.[0-9]{0,3})?)\s*)?",
    re.IGNORECASE,
)
_MOST: Final = 20
"""Languages in a header that are looked at."""


def wanted_language(header: str) -> str:
    """Return the language that is wanted most of those that there are; English without a wish.

    It makes no difference between regions, and skips what can't be read.
    """
    wishes: dict[str, float] = {}
    for part in header.split(",", _MOST)[:_MOST]:
        if found := _RANGE.fullmatch(part):
            wishes.setdefault(found[1].lower(), float(found[2] or 1))
    rest = wishes.get("*", 0.0)
    best = max(languages(), key=lambda language: wishes.get(language, rest))
    return best if wishes.get(best, rest) else ENGLISH.code


def headers_of_language(text: Text, language: Translation) -> dict[str, str]:
    """Return the headers of an answer with a text in a language; a plain sentence is English."""
    spoken = (language if isinstance(text, Sentence) else ENGLISH).code
    return {"Content-Language": spoken, "Vary": "Accept-Language"}
