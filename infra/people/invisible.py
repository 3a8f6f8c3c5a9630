"""Characters that a reader can't see, and that change how a text looks or what it seems to say."""

import re
from typing import Final

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
