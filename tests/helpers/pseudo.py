"""A language that no one speaks: the English messages in accented letters, in brackets and a third longer.

    .venv/bin/python -m tests.helpers.pseudo FOLDER

copies the packages into a folder and puts the catalogues of the language beside the German ones. A word in
plain letters on a page of that copy is one that no catalogue has. The language has a Greek code, so that its
dates have no plain letters either.
"""

import re
import shutil
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from babel.messages.catalog import Message

from domain.rules import all_games
from services.language.commands import FORMS

ROOT = Path(__file__).parents[2]
CODE = "el"
LAYERS = ("domain", "infra", "workers", "services")
ACCENTED = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "åƀçđéƒĝĥîĵķļɱñöþɋŕšţûṽŵẋýžÅƁÇĐÉƑĜĤÎĴĶĻṀÑÖÞɊŔŠŢÛṼŴẊÝŽ",
)
PATTERNS = {"d MMM y"}
"""Messages that are no words."""

KEPT = re.compile(
    r"%\(\w+\)s|\{[^{}]*\}|<[^>]*>|&\w+;|`[^`]*`|https?://\S+|\S+@\S+"
    r"|(?<![\w-])--?[a-z_]+(?:=\S*)?|\b[\w.-]*\d[\w.:,>+-]*|#\w+|^  .*$|\bmatchpost\b|\b[A-Z]{2,}\b",
    re.MULTILINE,
)
"""Fields, markup, addresses, options, moves, lines of commands, and abbreviations."""
_WORD = re.compile(r"[A-Za-z][A-Za-z'’]*")


@cache
def command_words() -> frozenset[str]:
    usages = " ".join(form.usage() for form in FORMS)
    moves = {
        "abort", "accept", "chat", "count", "deal", "decline", "done", "draw", "keep", "pause", "password", "reject", "rematch",
        "resign", "resume", "reveal", "signoff", "swap", "transfer", "undo", "yes",
    }  # fmt: skip
    return frozenset(re.findall(r"\b[a-z]{2,}\b", usages)) | moves


def accented(text: str, words: str = "") -> str:
    """Return a text in accented letters; a word of commands stays if the German `words` have it."""
    kept = command_words() & set(re.findall(r"[a-z]+", words))

    def prose(part: str) -> str:
        return _WORD.sub(
            lambda found: found[0] if found[0] in kept else found[0].translate(ACCENTED), part
        )

    shown, at = [], 0
    for found in KEPT.finditer(text):
        shown += [prose(text[at : found.start()]), found[0]]
        at = found.end()
    return "".join([*shown, prose(text[at:])])


def bracketed(text: str, words: str = "") -> str:
    """Return a message in the language: `Play` is `[Þļåý·]`. Blanks and line ends around it stay.

    No word gets more than eight letters longer, because a page may break lines between words.
    """
    if text in PATTERNS or not re.search(r"[A-Za-z]", KEPT.sub("", text)):
        return text
    inner = text.strip()
    before, _, after = text.partition(inner)
    longer = re.sub("·{8}(?=·)", "········ ", "·" * max(1, len(inner) // 3 - 2))
    return f"{before}[{accented(inner, words)}{longer}]{after}"


def translate(message: Message) -> str | tuple[str, ...]:
    """Return the words of a message, which has German ones."""
    if isinstance(message.id, str):
        return bracketed(message.id, str(message.string))
    return tuple(bracketed(part, " ".join(message.string)) for part in message.id)


def make_copy(folder: Path, without: tuple[str, ...] = ()) -> Path:
    """Copy the packages with the language in it; games `without` words of it are English."""
    for layer in LAYERS:
        left_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / layer, folder / layer, ignore=left_out)
    spec = spec_from_file_location("language", ROOT / "tools" / "language.py")
    tool = module_from_spec(spec)
    spec.loader.exec_module(tool)
    for path in tool.write_language(CODE, translate, lambda one: folder.joinpath(*one.split("."))):
        if path.parent.name in without:
            path.unlink()
    for page in folder.rglob("help/general.txt"), folder.glob("domain/games/*/help.txt"):
        for english in page:
            german = english.with_name(english.name.replace(".txt", ".de.txt")).read_text("utf-8")
            _write_help(english, german)
    return folder


def _write_help(page: Path, german: str) -> None:
    """Write a page of help; what stands in the German page, too, is a command, a board or a move."""
    same = set(german.splitlines())
    lines = [
        line if line in same or line.startswith("  ") else accented(line, german)
        for line in page.read_text("utf-8").splitlines()
    ]
    page.with_name(page.name.replace(".txt", f".{CODE}.txt")).write_text("\n".join([*lines, ""]))


@cache
def names() -> frozenset[str]:
    """Return words that are names, the same in every language."""
    titles = " ".join(game.latest.title for game in all_games())
    return frozenset(_WORD.findall(f"{titles} matchpost Kadon Enterprises Valkey Redis"))


def plain_english(text: str, also: frozenset[str] = frozenset()) -> list[str]:
    """Return the words of a rendered text in plain letters: those that no catalogue has.

    Left out are single letters, names, what is quoted, commands, options, moves, addresses and abbreviations, and the words `also`.
    """
    known = names() | command_words() | also
    unquoted = re.sub(r"'[^'\s]*'|“[^”]*”", " ", KEPT.sub(" ", text))
    prose = re.sub(r"[\w'’]*[^\W\d_a-zA-Z][\w'’]*", " ", unquoted)
    return [
        word
        for word in _WORD.findall(prose)
        if word not in known and not re.fullmatch("[A-Z]('s)?|[a-z]", word)
    ]


if __name__ == "__main__":
    sys.stdout.write(f"{make_copy(Path(sys.argv[1]))}\n")
