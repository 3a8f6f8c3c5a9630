"""Names of the product: a class name has one meaning, and a module is neither a scrap nor a heap."""

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
LAYERS = ("domain", "infra", "workers", "services", "bench")
GAMES = "domain/games/"
FEWEST, MOST = 30, 600
"""Lines of a module: it holds one idea, and one that is longer holds two."""

CLASS = re.compile(r"^ *class _*(\w+)", re.MULTILINE)


def test_a_class_name_has_one_meaning_and_a_module_has_30_to_600_lines():
    places: dict[str, list[str]] = defaultdict(list)
    scraps, heaps = [], []
    for file in sorted(file for layer in LAYERS for file in (ROOT / layer).rglob("*.py")):
        name, text = str(file.relative_to(ROOT)), file.read_text()
        lines = text.count("\n")
        heaps += [f"{name}: {lines}"] * (lines > MOST)
        if name.startswith(GAMES):
            continue  # each game has the same set of files, and an `Ending` of its own
        scraps += [f"{name}: {lines}"] * (lines < FEWEST and file.name != "__init__.py")
        for found in CLASS.finditer(text):
            places[found[1]].append(f"{name}: {found[1]}")
    shared = [place for found in places.values() if len(found) > 1 for place in found]
    assert not shared, f"rename one of these classes: {shared}"
    assert not scraps, f"merge these with the modules that use them: {scraps}"
    assert not heaps, f"split these by topic: {heaps}"
