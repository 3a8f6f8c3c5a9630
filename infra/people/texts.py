"""Texts that people write: what they may have in them.

Characters that a reader can't see are left out, because they change how a text looks or what it seems to say.
"""

import re
from typing import Final

from domain.errors import Code, Refusal
from infra.sentences import SAY

TEXT_LIMIT: Final = 2_000
"""Characters a text may have."""

_NOT_ALLOWED: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

_LINE_ENDS: Final = re.compile("[\u2028\u2029]")

_INVISIBLE: Final = re.compile(
    "[\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Zero-width spaces, changes of direction that no text needs, and tag letters.

Not the marks that Arabic, Hebrew and Persian are written with (U+200C, U+200E, U+200F), nor the joiner of
emoji (U+200D).
"""


def without_invisible(text: str) -> str:
    """Return a text without such characters; separators of lines and paragraphs become line feeds."""
    return _INVISIBLE.sub("", _LINE_ENDS.sub("\n", text))


def read_text(text: str, most: int = TEXT_LIMIT) -> str:
    """Return a text in its stored form, without blanks around it; `too-long` or `bad-request`.

    Invisible characters are left out. The sentence of a refusal repeats nothing of the text.
    """
    text = without_invisible(text).strip()
    if not text:
        raise Refusal(Code.BAD_REQUEST, SAY("text-empty"))
    if len(text) > most:
        raise Refusal(Code.TOO_LONG, SAY("text-long", length=len(text), most=most))
    if unfit := _NOT_ALLOWED.search(text):
        raise Refusal(
            Code.BAD_REQUEST,
            SAY("text-form", place=unfit.start() + 1, character=f"U+{ord(unfit[0]):04X}"),
        )
    return text
