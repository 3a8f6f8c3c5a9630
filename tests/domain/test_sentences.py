"""Sentences by key: every call names a sentence of the catalogue and all its arguments."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import services.app.sentences  # noqa: F401 - it adds its sentences
from domain.errors import Code, Refusal
from domain.game.protocol import illegal_move, unreadable_move
from domain.match import sentences as of_matches
from domain.sentences import LANGUAGES, Sentence, Sentences, all_templates, words
from tests.helpers.sentences import Call, calls_of, catalogues_of

ROOT = Path(__file__).parents[2]
FILES = sorted(
    file
    for layer in ("domain", "infra", "workers", "services")
    for file in (ROOT / layer).rglob("*.py")
)


def calls() -> Iterator[Call]:
    """All calls of catalogues, as they are written."""
    for file in FILES:
        if "SAY(" in (text := file.read_text()):
            module = import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
            yield from calls_of(ast.parse(text), catalogues_of(module), str(file.relative_to(ROOT)))


CALLS = list(calls())


def test_the_calls_are_found() -> None:
    assert len(CALLS) > 100
    assert {call.place.partition(":")[0] for call in CALLS} >= {
        "domain/match/decide.py",
        "domain/games/pow2/rules.py",
        "domain/game/protocol.py",
    }


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.place} {call.key}")
def test_a_call_names_a_sentence_and_all_its_arguments(call: Call) -> None:
    assert call.problem() == ""


def test_every_sentence_is_said_somewhere() -> None:
    assert {call.key for call in CALLS} == set(all_templates())


@pytest.mark.parametrize("key", sorted(all_templates()))
def test_a_sentence_is_written_as_all_are(key: str) -> None:
    english, german = (all_templates()[key].wordings[language] for language in LANGUAGES)
    assert not re.search(r"^\s|\s\s|[\s.]$", english + "\n" + german)
    # a mail is for one person; a refusal is also read by programs, and addresses nobody
    addressed = r"\b(Sie|Ihnen|Ihr\w*)\b"
    if not key.startswith("mail."):
        addressed += r"|\b([Dd]u|[Dd]ein\w*|[Dd]ich|[Dd]ir)\b"
    assert not re.search(addressed, german)
    assert german != english or not re.search(r"[a-z]", re.sub(r"{.*?}", "", english))


def test_forms_show_arguments_in_the_language_of_the_reader() -> None:
    said = of_matches.SAY("no-such-offer", kind="tea", kinds="draw undo")
    assert str(said) == "'tea' can't be proposed; draw and undo can"
    assert (
        said.in_language("de")
        == "'tea' kann nicht vorgeschlagen werden; möglich sind draw und undo"
    )
    assert said.in_language("fr") == str(said)
    assert said.in_language("") == str(said)


def test_a_sentence_within_a_sentence_is_translated_with_it() -> None:
    refusal = unreadable_move("e7-e5", of_matches.SAY("over"))
    assert refusal.sentence == "'e7-e5' is no move; the match is over"
    assert refusal.in_language("de") == "'e7-e5' ist kein Zug; die Partie ist zu Ende"


def test_a_plain_sentence_is_the_same_in_every_language() -> None:
    refusal = Refusal(Code.BUSY, "try again")
    assert refusal.sentence == refusal.in_language("de") == "try again"
    assert illegal_move("b2", "it is full").in_language("de") == "b2: it is full"


def test_of_a_long_move_only_the_beginning_is_repeated() -> None:
    assert illegal_move("m" * 18, "no").sentence == f"{'m' * 18}: no"
    assert illegal_move("m" * 19, "no").sentence == f"{'m' * 15}...: no"


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
    assert done.stdout.startswith("the match is over the players first place four pieces each")


def test_a_catalogue_with_a_mistake_is_refused_when_it_is_made() -> None:
    with pytest.raises(ValueError, match="has a field 'who'"):
        Sentences("wrong", {"one": ("{at} is full", "{who} ist voll")})
    with pytest.raises(ValueError, match="names 'place', which is no form"):
        Sentences("wrong", {"one": ("{at:place} is full", "voll")}, side=words("A"))
    with pytest.raises(ValueError, match="there is a sentence 'over' already"):
        Sentences("", {"over": ("it is over", "vorbei")})
