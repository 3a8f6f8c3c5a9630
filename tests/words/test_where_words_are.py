"""Where sentences for people are built: facts in `services/words`, labels where they are shown, refusals by rules."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MESSAGES = {"gettext", "ngettext", "pgettext", "N_", "_"}

LABELS = (
    "infra/languages/",
    "services/words/",
    # a page has its labels in its templates, and those that depend on a value in its view
    "services/http/web/",
    # each answer of the command language names its own commands
    "services/language/",
    # a mail has its frame around the facts
    "infra/mail/",
    "services/mail/",
    # what follows matches for the terminal
    "services/cli/watch.py",
    "services/cli/described_match.py",
    "services/cli/play.py",
    "services/tui/",
)
"""Modules that may ask a catalogue for a message of their own."""

CATALOGUES = (
    "domain/",
    "infra/sentences.py",
    # refusals, and the name of an account that was erased
    "services/app/refusal_words.py",
    "services/app/names.py",
    "services/app/error_codes.py",
    # the parts of mails, which say how to reply
    "services/mail/sentences.py",
    "services/words/",
)
"""Modules that may declare a catalogue of sentences."""


def sources() -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules of the product, each with its path."""
    for layer in ("domain", "infra", "workers", "services"):
        for file in (ROOT / layer).rglob("*.py"):
            yield str(file.relative_to(ROOT)), ast.parse(file.read_text())


def called(tree: ast.Module) -> set[str]:
    """Return the names of what a module calls with a literal text first."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=name), args=[ast.Constant(value=str()), *_]):
                found.add(name)
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str()), *_]):
                found.add(name)
    return found


def test_only_words_and_what_shows_labels_ask_for_messages() -> None:
    others = [
        path for path, tree in sources() if called(tree) & MESSAGES and not path.startswith(LABELS)
    ]
    assert others == []


def test_only_rules_refusals_and_words_declare_sentences() -> None:
    found = [
        path
        for path, tree in sources()
        if "Sentences" in called(tree) and not path.startswith(CATALOGUES)
    ]
    assert found == []
