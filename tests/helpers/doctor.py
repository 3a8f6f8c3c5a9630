"""What tests of the doctor share."""

import re

from services.doctor import Finding, Level

GIB = 1 << 30


def said(findings: list[Finding], level: Level, words: str) -> bool:
    """Whether there is exactly one finding of that level with those words, and a remedy."""
    matching = [f for f in findings if f.level is level and re.search(words, f.what)]
    return len(matching) == 1 and bool(matching[0].remedy)
