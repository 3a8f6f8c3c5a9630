"""The calls of catalogues of sentences, read from the source."""

import ast
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import NamedTuple

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
