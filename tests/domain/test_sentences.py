"""Sentences by key: every call names a sentence of the catalogue and all its arguments."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import services.app.sentences  # noqa: F401 - it adds its sentences
from domain.match import sentences as of_matches
from domain.sentences import Sentence, Sentences, SentenceTemplate, all_templates, counted, words
from infra.languages.wording import wording
from tests.helpers.sentences import Call, calls_of, catalogues_of

ROOT = Path(__file__).parents[2]
FILES = sorted(
    file
    for layer in ("domain", "infra", "workers", "services")
    for file in (ROOT / layer).rglob("*.py")
)


@cache
def calls() -> list[Call]:
    """All calls of catalogues, as they are written."""
    found: list[Call] = []
    for file in FILES:
        if "SAY(" in (text := file.read_text()):
            module = import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
            name = str(file.relative_to(ROOT))
            found += calls_of(ast.parse(text), catalogues_of(module), name)
    return found


def test_the_calls_are_found() -> None:
    assert len(calls()) > 100
    assert {call.place.partition(":")[0] for call in calls()} >= {
        "domain/match/decide.py",
        "domain/games/pow2/rules.py",
        "domain/game/protocol.py",
    }


def test_a_call_names_a_sentence_and_all_its_arguments() -> None:
    assert [(call.place, call.key, call.problem()) for call in calls() if call.problem()] == []


def test_every_sentence_is_said_somewhere() -> None:
    assert {call.key for call in calls()} == set(all_templates())


def faults_of_sentences() -> Iterator[str]:
    for key, template in all_templates().items():
        english = template.english
        german = wording("de").pgettext(key, english)
        if re.search(r"^\s|\s\s|[\s.]$", english + "\n" + german):
            yield f"{key}: blanks, or a full stop"
        # a mail is for one person; a refusal is also read by programs, and addresses nobody
        addressed = r"\b(Sie|Ihnen|Ihr\w*)\b"
        if not key.startswith("mail."):
            addressed += r"|\b([Dd]u|[Dd]ein\w*|[Dd]ich|[Dd]ir)\b"
        if re.search(addressed, german):
            yield f"{key}: addresses somebody: {german}"
        if german == english and re.search(r"[a-z]", re.sub(r"{.*?}", "", english)):
            yield f"{key}: is not translated"


def test_all_sentences_are_written_alike() -> None:
    assert list(faults_of_sentences()) == []


def test_forms_show_arguments_in_the_language_of_the_reader() -> None:
    said = of_matches.SAY("no-such-offer", kind="tea", kinds="draw undo")
    assert str(said) == "'tea' can't be proposed; draw and undo can"
    assert (
        said.in_language(wording("de"))
        == "'tea' kann nicht vorgeschlagen werden; möglich sind draw und undo"
    )
    assert said.in_language(wording("fr")) == str(said)
    assert said.in_language(wording("")) == str(said)


@pytest.mark.parametrize("unknown", [Sentence("chess.pinned", ("e7",)), Sentence("stale", (1,))])
def test_a_sentence_that_is_unknown_here_says_so(unknown: Sentence) -> None:
    assert str(unknown) == (
        f"the reason {unknown.key!r} is unknown here; is its game no longer installed?"
    )


@pytest.mark.parametrize("reader", ["infra.store.outcomes", "domain.match.conditional_moves"])
def test_what_reads_stored_sentences_knows_those_of_all_games(reader: str) -> None:
    code = f"from {reader} import unpack_text as read; print(read(['over']), read(['pow2.free']))"
    argv = [sys.executable, "-c", code]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.startswith("the match is over first each player places four pieces")


def test_a_catalogue_with_a_mistake_is_refused_when_it_is_made() -> None:
    with pytest.raises(ValueError, match="names 'place', which is no form"):
        Sentences("wrong", {"one": "{at:place} is full"}, side=words("A"))
    with pytest.raises(ValueError, match="there is a sentence 'over' already"):
        Sentences("", {"over": "it is over"})


class Translated:
    """A language with words for single messages."""

    code = "xx"

    def __init__(self, **said: str) -> None:
        self._said = said

    def pgettext(self, context: str, message: str, /) -> str:
        return self._said.get(context.partition(":")[2] or context.partition(".")[2], message)

    def npgettext(self, context: str, one: str, many: str, count: int, /) -> str:
        del context
        return f"<{one if count == 1 else many}>"


FULL = SentenceTemplate(
    "sample.full",
    "{at} has {stones:stones}, {colour:colour}",
    {"colour": words("light", "dark"), "stones": counted("{n} stone", "{n} stones")},
)


@pytest.mark.parametrize(
    ("translation", "shown"),
    [
        ({"full": "{stones:stones} an {at}"}, "<2 stones> an b2"),
        ({"full": "{colour:colour}!", "colour": "hell"}, "hell!"),
        ({"full": "{who} ist voll"}, "b2 has <2 stones>, light"),
        ({"full": "{at:place}"}, "b2 has <2 stones>, light"),
        ({"full": "an {at"}, "b2 has <2 stones>, light"),
        ({}, "b2 has <2 stones>, light"),
    ],
)
def test_words_that_do_not_fit_a_sentence_leave_it_english(translation, shown) -> None:
    assert FULL.render(["b2", 0, 2], Translated(**translation)) == shown
