"""The calls of catalogues of sentences, read from the source.

Decisions as they read in English, to compare with sentences.

English words in texts that are meant to be German.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any, NamedTuple

import msgspec

from domain.match.decision import Rejection
from domain.sentences import Sentences, all_templates


class Call(NamedTuple):
    """A call of a catalogue: `SAY("key", name=value)`."""

    place: str
    key: str
    names: tuple[str, ...]

    def problem(self) -> str:
        """What is wrong with it; empty if nothing is."""
        template = all_templates().get(self.key)
        if template is None:
            return f"there is no sentence {self.key!r}"
        if self.names != template.names:
            return f"it has {self.names} and needs {template.names}"
        return ""


def catalogues_of(module: ModuleType) -> dict[str, Sentences]:
    """The catalogues that a module knows, by the names it has for them."""
    return {name: one for name, one in vars(module).items() if isinstance(one, Sentences)}


def calls_of(tree: ast.Module, known: Mapping[str, Sentences], file: str) -> Iterator[Call]:
    """All calls of these catalogues in a module. Their keys have to be written out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in known:
            catalogue, (key,) = known[node.func.id], node.args
            place = f"{file}:{node.lineno}"
            assert isinstance(key, ast.Constant), f"{place}: the key has to be written out"
            names = tuple(sorted(str(one.arg) for one in node.keywords))
            yield Call(place, catalogue.prefix + str(key.value), names)


def in_english(decided: Any) -> Any:
    """The same decision; the reason of a rejection is a plain sentence."""
    if isinstance(decided, Rejection):
        return msgspec.structs.replace(decided, text=decided.sentence)
    return decided


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
    r"One by One|Two by Two|Lines of Action|Kadon Enterprises, Inc\.|P o T|(mp_)?\.?board\.svg|"
    r"-[a-z_]+(=\S+)?|https?://\S+|\S+@\S+|\b[a-z]\d+\b"
)
"""Proper names of games and publishers, options and addresses, which are the same everywhere."""

IN_GERMAN_TOO = frozenset({"am", "an", "in", "so", "war", "was", "will", "her", "all", "as", "is"})
"""English words that are German words as well."""


def english_in(text: str) -> bool:
    """Return whether a text has an English word, apart from names."""
    found = {word.lower() for word in ENGLISH.findall(NAMES.sub(" ", text))}
    return bool(found - IN_GERMAN_TOO)
