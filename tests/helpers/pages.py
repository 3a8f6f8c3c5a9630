"""The blocks of the pages in docs/: what a reader types, and what is answered."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Self

from tests.helpers.served import Served

ROOT = Path(__file__).parents[2]

SHELL = ("console", "sh")
"""Languages of blocks that are typed: with `$` before each command and its answer below, and without."""

_FENCED = re.compile(r"^( *)```(.*)\n((?:.*\n)*?)^ *```$", re.MULTILINE)
_INDENTED = re.compile(r"\n\n((?: {4}.*\n|\n(?= {4}))+)")
_DONE = "this was the answer"

_VARIES = (
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( UTC|Z)?", "DATE"),
    (r"\b\d{4}-\d\d-\d\d\b", "DAY"),
    (r"signup\?link=\S+", "signup?link=TEXT"),
    (r"\b[0-9a-f]{16}\b", "ID"),
    (r"\b[a-z0-9]{4}-[a-z0-9]{4}-[a-z0-9]{4}$", "PASSWORD"),
    (r"\bprocess \d+(, \d+)*", "process N"),
    (r"\bserve-[\w.]+-\d+", "serve-NAME"),
    (r"\b[\w.-]+/\d+:", "NAME/N:"),
    (r"\b[\d.]+ (ms|s|min|h|d|MiB|GiB|days?|hours?)\b", "N"),
    (r"\bValkey [\d.]+", "Valkey N"),
    (r"\b\d+ files\b", "N files"),
    (r"\b\d+ characters\b", "N characters"),
    (r"\b\d+ outcomes? in \d+ batch(es)?\b", "N outcomes in N batches"),
    (r"\b(no|\d+) match(es)? checked\b", "N matches checked"),
)
"""What another machine or another day has otherwise."""


@dataclass(frozen=True)
class Block:
    """A block of a page, and the language that it names."""

    page: str
    language: str
    text: str

    @property
    def first(self) -> str:
        """Its first line that is no comment, without the prompt."""
        lines = [line.removeprefix("$ ").strip() for line in self.text.splitlines()]
        return next((line for line in lines if line and not line.startswith("#")), "")

    def exchanges(self) -> Iterator[tuple[str, str]]:
        """Yield each command, and the answer below it; of a block without prompts it is all one command."""
        if self.language.split()[0] == "sh":
            yield self.text, ""
            return
        for part in ("\n" + self.text).split("\n$ ")[1:]:
            command, _, answer = part.partition("\n")
            yield command, answer


def blocks(page: str) -> list[Block]:
    """Return the blocks of a page, given by its path in the project; those without fences are `indented`."""
    text = (ROOT / page).read_text("utf-8")
    found = [
        (m.start(), Block(page, m[2] or "none", re.sub(rf"^{m[1]}", "", m[3], flags=re.MULTILINE)))
        for m in _FENCED.finditer(text)
    ]
    rest = _FENCED.sub(lambda m: "\n" * m[0].count("\n"), text)
    found += [
        (m.start(), Block(page, "indented", re.sub("^ {4}", "", m[1], flags=re.MULTILINE)))
        for m in _INDENTED.finditer(rest)
    ]
    return [block for _, block in sorted(found, key=lambda one: one[0])]


def block(page: str, beginning: str) -> str:
    """Return the one block of a page whose first line begins so."""
    (found,) = [one.text for one in blocks(page) if one.first.startswith(beginning)]
    return found


class Shell:
    """A shell in which the commands of a page are typed, one after the other."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            ["bash", "--norc"], cwd=folder, env=env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def type(self, command: str) -> tuple[str, int]:
        """Carry a command out; return what it prints, and its exit code."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{command}\necho {_DONE} $?\n")
        process.stdin.flush()
        said = ""
        for line in process.stdout:
            before, done, code = line.partition(f"{_DONE} ")
            said += before
            if done:
                return said, int(code)
        raise AssertionError(f"the shell has ended after {command}: {said}")


def differs(shown: str, said: str) -> str:
    """Return how an answer differs from that of the page; in it `...` stands for anything."""
    lines = zip_longest(_plain(shown).splitlines(), _plain(said).splitlines(), fillvalue="")
    return "".join(
        f"the page has {wanted!r}\nand one sees {got!r}\n"
        for wanted, got in lines
        if not re.fullmatch(re.escape(wanted).replace(re.escape("..."), ".*"), got)
    )


def _plain(text: str) -> str:
    for pattern, word in _VARIES:
        text = re.sub(pattern, word, text, flags=re.MULTILINE)
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def is_published(served: Served) -> bool:
    """Return whether all leaves of a server are published."""
    figures = json.loads(served.run("queue", "--json").stdout)
    return bool(figures["log"]["unpublished"] == 0)
