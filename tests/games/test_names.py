"""Services name a game in examples and the demo only, and no package of a game names another game."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from domain.rules import all_games

ROOT = Path(__file__).parents[2]
KEYS = [game.key for game in all_games()]
WORDS = {"go", "hex", "line", "one", "two", "jump"}
"""Keys that are words of the language or of Python, too: what is named so need not be the game."""
NAMED = re.compile(
    rf"\b(?:{'|'.join(key for key in KEYS if key not in WORDS)})\b"
    rf"|\b(?:{'|'.join(type(game.latest).__name__ for game in all_games() if game.key not in WORDS)})\b"
    rf"|\b(?:{'|'.join(KEYS)})/\d|domain\.games\.(?:{'|'.join(KEYS)})\b"
)
GAMES = ROOT / "domain" / "games"
SERVICES = ROOT / "services"
EXAMPLES = {
    "http/api/routes/bots.py": ["pow2"],
    "http/api/routes/challenges.py": ["pow2"],
    "http/api/routes/pairings.py": ["goliath"],
    "http/api/routes/players.py": ["pow2", "pow2"],
    "http/api/routes/new_match.py": ["pow2"],
    "http/api/routes/tournaments.py": ["pow2"],
    "cli/main.py": ["pow2", "pow2"],
    "serve/banner.py": ["pow2"],
}
"""Examples of commands and values in help and in the API's document: a file, and what it names."""
SHOWN = SERVICES / "demo"
"""The demo shows every game, in matches that are chosen for it."""


def names_in(source: str) -> list[str]:
    """Return the names of games in code: words, strings and imports, but no docstrings."""
    return [found[0] for word in words_of(source) for found in NAMED.finditer(word)]


def words_of(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    explained = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in explained:
                yield text
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.FunctionDef(name=name):
                yield name
            case ast.ImportFrom(module=module, names=aliases):
                yield from (f"{module}.{alias.name}" for alias in aliases)
            case ast.Import(names=aliases):
                yield from (alias.name for alias in aliases)


def test_services_name_games_in_examples_only_and_a_game_names_no_other() -> None:
    named_in = {
        str(path.relative_to(SERVICES)): sorted(names_in(path.read_text()))
        for path in SERVICES.rglob("*.py")
        if SHOWN not in path.parents
    }
    assert {path: names for path, names in named_in.items() if names} == EXAMPLES
    for key in KEYS:
        for path in (GAMES / key).glob("*.py"):
            named = {name.rpartition(".")[2] for name in names_in(path.read_text())}
            assert {name.removesuffix("Rules").lower() for name in named} <= {key}, path


def test_the_list_of_games_has_a_line_a_game() -> None:
    text = (GAMES / "__init__.py").read_text()
    assert re.findall(r'^    "(\w+)",$', text, re.MULTILINE) == KEYS
    assert sorted(path.parent.name for path in GAMES.glob("*/__init__.py")) == sorted(KEYS)
