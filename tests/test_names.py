"""Names of the product: a class name has one meaning, and a module is neither a scrap nor a heap."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
LAYERS = ("domain", "infra", "workers", "services", "bench")
GAMES = "domain/games/"
FEWEST, MOST = 30, 600
"""Lines of a module: it holds one idea, and one that is longer holds two."""


def modules() -> list[Path]:
    return sorted(file for layer in LAYERS for file in (ROOT / layer).rglob("*.py"))


def is_of_a_game(name: str) -> bool:
    return name.startswith(GAMES)


def shared_classes() -> dict[str, list[str]]:
    """Where the classes of each name are that several classes have, without a leading underscore.

    Those of a game are known to that game alone: each has an `Ending`.
    """
    places: dict[str, list[str]] = defaultdict(list)
    for file in modules():
        if is_of_a_game(str(file.relative_to(ROOT))):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                place = f"{file.relative_to(ROOT)}:{node.lineno}: {node.name}"
                places[node.name.lstrip("_")].append(place)
    return {name: found for name, found in sorted(places.items()) if len(found) > 1}


def lengths() -> dict[str, int]:
    """Lines of each module that is no `__init__`, by its path."""
    return {
        str(file.relative_to(ROOT)): file.read_text().count("\n")
        for file in modules()
        if file.name != "__init__.py"
    }


def test_a_class_name_has_one_meaning():
    shown = "\n".join(place for places in shared_classes().values() for place in places)
    assert not shown, f"rename one of these classes:\n{shown}"


def test_a_module_has_30_to_600_lines():
    # a game's package has a fixed set of files
    scraps = {
        name: lines
        for name, lines in lengths().items()
        if lines < FEWEST and not is_of_a_game(name)
    }
    assert not scraps, f"merge these with the modules that use them: {scraps}"
    heaps = {name: lines for name, lines in lengths().items() if lines > MOST}
    assert not heaps, f"split these by topic: {heaps}"
