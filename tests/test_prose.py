"""Docstrings, comments and docs/*.md of the product are plain English: phrases that are banned, and where.

    .venv/bin/python tests/test_prose.py

prints `ALLOWED` as the repository needs it now.
"""

import ast
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = ("domain", "infra", "workers", "services", "bench")

FIRST_WORDS = ("Give", "Tell", "Say", "Name", "Who", "What")
"""A docstring does not begin with these: "Return ..." says what comes back, a noun says what something is."""

PHRASES = {
    phrase: re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE)
    for phrase, pattern in {
        "anew": r"\banew\b",
        "laid ready": r"\b(?:lay|lays|laid|lie|lies) (?:\w+ )?ready\b",
        "is told": r"\b(?:is|are|was|were|be|been|being) told\b(?! apart)",
        "told apart": r"\btold apart\b",
        "no more": r"\bno more\b(?! than)",
        "any more": r"\bnone any more\b",
        "for ever": r"\bfor ever\b",
        "whoever": r"\bwhoever\b",
        "for who": r"\b(?:for|to|of|by|with|from|than|as|where|when|and|or|but|if) who\b",
        "; who": r"[;:] who\b",
        "; give": r"; gives?\b",
        "and give": r"\b(?:and|to) gives? (?:the|its|their|all|each|a)\b",
        "what stands": r"\bwhat (?:stands|lies|comes|came|goes|went|becomes?|became)\b",
        "of what is": (
            r"\b(?:of|to|for|by|with|from|than|on|in|at|beside|behind|after|before)"
            r" what (?:is|was|has|are|can|may|it|they)\b"
        ),
        "what there is": r"\bwhat there (?:is|are|was)\b",
        "those there are": r"\bthose there are\b",
        "all there is": r"\ball there is\b",
        "that is to be": r"\bthat (?:is|are) to be\b",
        "of late": r"\bof late\b",
        "time to come": r"\btime to come\b",
        "nobody's": r"\bnobody's\b",
        "in good order": r"\bin good order\b",
        "of one's own": r"\bof one's own\b",
        "left alone": r"\bleft alone\b",
        "of ours": r"\bours\b",
        "now and then": r"\bnow and then\b",
    }.items()
}
"""Words that read as translated; each has a plain one: "again", "conditional move", "no longer", "the player"."""

ALLOWED = {"docs": 2}
"""Phrases that are still there, by layer and by package of services: these numbers only get smaller."""


class Found(NamedTuple):
    """A banned phrase in a file."""

    path: Path
    line: int
    phrase: str
    words: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.phrase!r} in: {self.words}"


def package_of(path: Path) -> str:
    """`docs`, a layer, or a package of services."""
    first, second, *more = *path.parts, "", ""
    return f"services/{second}" if first == "services" and more[0] else first


def all_found() -> Iterator[Found]:
    for layer in LAYERS:
        for file in sorted((ROOT / layer).rglob("*.py")):
            yield from found_in_code(file.relative_to(ROOT), file.read_text())
    for file in sorted((ROOT / "docs").glob("*.md")):
        prose = re.sub(r"^```.*?^```", blanked, file.read_text(), flags=re.MULTILINE | re.DOTALL)
        yield from found_in_prose(file.relative_to(ROOT), 1, prose)


SUSPECTS = [re.compile(one.pattern.removeprefix(r"\b")) for one in PHRASES.values()]
SUSPECTS.append(re.compile(rf"[\"']\s*(?:{'|'.join(FIRST_WORDS).lower()})\b"))
"""One of these is somewhere in each file, in small letters, in which a phrase is found."""


def found_in_code(path: Path, source: str) -> Iterator[Found]:
    small = source.lower()
    if not any(one.search(small) for one in SUSPECTS):
        return
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text), lineno=line)):
                first = re.match(r"\s*(\w+)", text)
                if first is not None and first[1] in FIRST_WORDS:
                    yield Found(path, line, f"{first[1]} ...", text.strip().partition("\n")[0])
                yield from found_in_prose(path, line, text)
    lines = iter(source.splitlines(keepends=True))
    for token in tokenize.generate_tokens(lambda: next(lines, "")):
        if token.type == tokenize.COMMENT:
            yield from found_in_prose(path, token.start[0], token.string)


def found_in_prose(path: Path, line: int, text: str) -> Iterator[Found]:
    """Phrases in a text that begins in that line; names of code, in backquotes, are no prose."""
    text = re.sub(r"`[^`]*`", blanked, text)
    for phrase, pattern in PHRASES.items():
        for match in pattern.finditer(text):
            around = text[max(0, match.start() - 40) : match.end() + 30]
            words = " ".join(around.split())
            yield Found(path, line + text.count("\n", 0, match.start()), phrase, words)


def blanked(match: re.Match[str]) -> str:
    """The line ends of a match and nothing else."""
    return "`" + "\n" * match[0].count("\n") + "`"


@pytest.fixture(scope="module")
def found() -> list[Found]:
    return list(all_found())


def test_no_package_has_more_banned_phrases_than_are_left_to_mend(found):
    counts = Counter(package_of(one.path) for one in found)
    over = {name: count for name, count in counts.items() if count > ALLOWED.get(name, 0)}
    shown = "\n".join(str(one) for one in found if package_of(one.path) in over)
    assert not over, f"use plain words (CONTRIBUTING.md, Names and prose):\n{shown}"


def test_what_is_left_to_mend_only_gets_less(found):
    counts = Counter(package_of(one.path) for one in found)
    spare = {name: counts[name] for name, count in ALLOWED.items() if counts[name] < count}
    assert not spare, f"lower these in ALLOWED (python tests/test_prose.py prints it): {spare}"


@pytest.mark.parametrize(
    ("source", "phrases"),
    [
        ('"""Give the board."""', ["Give ..."]),
        (
            'def f():\n    """Return it; gives None if\n    it is no\n    more."""',
            ["no more", "; give"],
        ),
        ("x = 1\n'''What it says.'''", ["What ..."]),
        ("# the keeper is told; `whoever` is a name", ["is told"]),
        ('"""Return no more than ten."""\nx = "Give it anew."', []),
    ],
)
def test_a_banned_phrase_is_found_in_prose_and_nowhere_else(source, phrases):
    assert [one.phrase for one in found_in_code(Path("a.py"), source)] == phrases


def test_a_phrase_is_found_at_its_line():
    (one,) = found_in_code(Path("a.py"), 'x = 1\n"""First.\n\nThen it is made anew, later.\n"""')
    assert str(one) == "a.py:4: 'anew' in: First. Then it is made anew, later."


def test_a_package_is_a_layer_or_a_part_of_services():
    paths = (
        "docs/api.md",
        "infra/mail/smtp_client.py",
        "services/http/app.py",
        "services/compose.py",
    )
    assert [package_of(Path(path)) for path in paths] == [
        "docs",
        "infra",
        "services/http",
        "services",
    ]


if __name__ == "__main__":
    counts = Counter(package_of(one.path) for one in all_found())
    for name, count in sorted(counts.items()):
        print(f'    "{name}": {count},')  # noqa: T201 - its purpose
