"""Where sentences for people are built: facts in `services/words`, labels where they are shown, refusals by rules."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LAYERS = ("domain", "infra", "workers", "services")

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
    "services/app/sentences.py",
    "services/app/names.py",
    "services/app/error_codes.py",
    # the parts of mails, which say how to reply
    "services/mail/sentences.py",
    "services/words/",
)
"""Modules that may declare a catalogue of sentences."""

ASKED = re.compile(r"\b(?:gettext|ngettext|pgettext|N_|_)\(\s*[frbu]*[\"']")
DECLARED = re.compile(r"\bSentences\(\s*[\"']")


def modules_with(pattern: re.Pattern[str]) -> list[str]:
    """Return the modules of the product in whose code a call stands, with a literal text first."""
    files = [file for layer in LAYERS for file in (ROOT / layer).rglob("*.py")]
    found = [str(file.relative_to(ROOT)) for file in files if pattern.search(file.read_text())]
    assert len(found) > 10
    return found


def test_words_are_built_where_they_belong() -> None:
    assert [path for path in modules_with(ASKED) if not path.startswith(LABELS)] == []
    assert [path for path in modules_with(DECLARED) if not path.startswith(CATALOGUES)] == []
