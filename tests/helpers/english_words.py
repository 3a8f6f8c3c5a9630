"""English words in texts that are meant to be German."""

import re

ENGLISH = re.compile(
    r"\b(the|of|is|are|were|with|your|you|and|to|for|from|by|no|not|yet|has|have|had|it|its|"
    r"this|that|these|they|their|he|she|his|her|be|been|can|can't|won't|after|before|all|each|"
    r"every|any|nobody|somebody|who|whose|which|when|where|how|than|then|there|if|or|on|at|as|out|"
    r"move|moves|match|matches|game|games|player|players|turn|days|day|hours|won|lost|draw|offer)\b",
    re.IGNORECASE,
)
"""Words that no German sentence has."""

NAMES = re.compile(
    r"The Power of Two|That's My Line|Cooperative That's My Line|David and Goliath|Get a Jump On|"
    r"One by One|Two by Two|Kadon Enterprises, Inc\.|P o T|(mp_)?\.?board\.svg|"
    r"-[a-z_]+(=\S+)?|https?://\S+|\S+@\S+|\b[a-z]\d+\b"
)
"""Proper names of games and publishers, options and addresses, which are the same everywhere."""

IN_GERMAN_TOO = frozenset({"am", "an", "in", "so", "war", "was", "will", "her", "all", "as", "is"})
"""English words that are German words as well."""


def english_in(text: str) -> bool:
    """Return whether a text has an English word, apart from names."""
    found = {word.lower() for word in ENGLISH.findall(NAMES.sub(" ", text))}
    return bool(found - IN_GERMAN_TOO)
