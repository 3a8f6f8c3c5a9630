"""Names of the product: a class name has one meaning, and a module is neither a scrap nor a heap.

    .venv/bin/python tests/test_names.py

prints `SHARED`, `SHORT` and `LONG` as the repository needs them now.
"""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
LAYERS = ("domain", "infra", "workers", "services", "bench")
FEWEST, MOST = 30, 400

SHARED = {
    "Ending": 7,
}
"""How many classes have one name, without a leading underscore: these numbers only get smaller.

These stay, because each game has its own `Ending`.
"""

SHORT = {
    "infra/mail/erasure.py",
    "infra/people/challenges/start.py",
    "infra/projections/specs.py",
    "infra/valkey/fsync_probe.py",
    "services/app/actor.py",
    "services/http/api/pending.py",
    "services/language/render/bounced_addresses.py",
    "workers/mail/isolate.py",
}
"""Modules with fewer than 30 lines: the list only gets shorter. A game's package has a fixed set of files."""

LONG: set[str] = set()
"""Modules with more than 400 lines: the list only gets shorter."""


def modules() -> list[Path]:
    return sorted(file for layer in LAYERS for file in (ROOT / layer).rglob("*.py"))


def shared_classes() -> dict[str, list[str]]:
    """Where the classes of each name are that several classes have."""
    places: dict[str, list[str]] = defaultdict(list)
    for file in modules():
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
        if lines < FEWEST and not name.startswith("domain/games/")
    }


def too_long() -> dict[str, int]:
    return {name: lines for name, lines in lengths().items() if lines > MOST}


def test_a_class_name_has_one_meaning():
    found = shared_classes()
    more = [places for name, places in found.items() if len(places) > SHARED.get(name, 1)]
    shown = "\n".join(place for places in more for place in places)
    assert not more, f"rename one of these classes:\n{shown}"


def test_modules_have_30_to_400_lines():
    scraps = {name: lines for name, lines in too_short().items() if name not in SHORT}
    assert not scraps, f"merge these with the modules that use them: {scraps}"
    heaps = {name: lines for name, lines in too_long().items() if name not in LONG}
    assert not heaps, f"split these by topic: {heaps}"


def test_the_lists_of_exceptions_only_get_shorter():
    found = shared_classes()
    now = {name: len(found.get(name, ())) for name in SHARED}
    lower = {name: count for name, count in now.items() if count < SHARED[name]}
    assert not lower, f"lower these numbers in SHARED, or remove those below 2: {lower}"
    gone = (SHORT - {*too_short()}) | (LONG - {*too_long()})
    assert not gone, f"remove these from SHORT and LONG: {sorted(gone)}"


if __name__ == "__main__":
    tables = {
        "SHARED": [f'"{name}": {len(places)}' for name, places in shared_classes().items()],
        "SHORT": [f'"{name}"' for name in too_short()],
        "LONG": [f'"{name}"' for name in too_long()],
    }
    for title, rows in tables.items():
        print(title, "= {", *(f"\n    {row}," for row in rows), "\n}")  # noqa: T201 - its purpose
