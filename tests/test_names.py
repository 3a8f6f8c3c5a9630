"""Names of the product: a class name has one meaning, and a module is neither a scrap nor a heap.

    .venv/bin/python tests/test_names.py

prints `SHORT` and `LONG` as the repository needs them now.
"""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
LAYERS = ("domain", "infra", "workers", "services", "bench")
GAMES = "domain/games/"
FEWEST, MOST, MOST_RULES = 30, 400, 600
"""Lines of a module, and of the rules of a game, which are one module to be read from top to bottom."""

SHORT = {
    "infra/mail/erasure.py",
    "infra/people/challenges/start.py",
    "infra/projections/specs.py",
    "infra/valkey/fsync_probe.py",
    "services/app/actor.py",
    "services/language/render/bounced_addresses.py",
    "workers/mail/isolate.py",
}
"""Modules with fewer than 30 lines: the list only gets shorter. A game's package has a fixed set of files."""

LONG: set[str] = {"infra/store/port.py"}
"""Modules with more than 400 lines, up to 450, that hold one idea: the port of the store is one."""


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


def too_short() -> dict[str, int]:
    return {
        name: lines
        for name, lines in lengths().items()
        if lines < FEWEST and not is_of_a_game(name)
    }


def too_long() -> dict[str, int]:
    return {
        name: lines
        for name, lines in lengths().items()
        if lines > (MOST_RULES if is_of_a_game(name) and name.endswith("/rules.py") else MOST)
    }


def test_a_class_name_has_one_meaning():
    shown = "\n".join(place for places in shared_classes().values() for place in places)
    assert not shown, f"rename one of these classes:\n{shown}"


def test_modules_have_30_to_400_lines():
    scraps = {name: lines for name, lines in too_short().items() if name not in SHORT}
    assert not scraps, f"merge these with the modules that use them: {scraps}"
    heaps = {name: lines for name, lines in too_long().items() if name not in LONG}
    assert not heaps, f"split these by topic: {heaps}"


def test_the_lists_of_exceptions_only_get_shorter():
    gone = (SHORT - {*too_short()}) | (LONG - {*too_long()})
    assert not gone, f"remove these from SHORT and LONG: {sorted(gone)}"


if __name__ == "__main__":
    tables = {
        "SHORT": [f'"{name}"' for name in too_short()],
        "LONG": [f'"{name}"' for name in too_long()],
    }
    for title, rows in tables.items():
        print(title, "= {", *(f"\n    {row}," for row in rows), "\n}")  # noqa: T201 - its purpose
