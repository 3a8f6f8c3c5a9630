"""The words of the pages: each message has its German, with the same fields, and none is left over."""

import re
from collections import defaultdict
from pathlib import Path

import pytest
from babel.messages.extract import extract_from_file

import infra.languages
from infra.languages.wording import TRANSLATED, catalogues, script_words, wording

ROOT = Path(infra.languages.__file__).parents[2]
FIELD = re.compile(r"%\(\w+\)s")
KINDS = {
    "services/http/web/templates/*.html": ("jinja2.ext:babel_extract", {"trimmed": "true"}),
    "infra/languages/*.py": ("python", {}),
    "services/**/*.py": ("python", {}),
    "services/http/web/static/*.js": ("javascript", {}),
}

Message = tuple[str | None, str | tuple[str, ...]]


def used(pattern: str) -> dict[Message, set[str]]:
    """Return the messages of the files of a kind, each with its files."""
    method, options = KINDS[pattern]
    found: dict[Message, set[str]] = defaultdict(set)
    for path in ROOT.glob(pattern):
        if path.name == "htmx.js":
            continue
        for _, message, _, context in extract_from_file(method, path, options=options):
            plural = tuple(message[:2]) if isinstance(message, tuple) else message
            found[context, plural].add(path.name)
    return found


def written(language: str) -> dict[Message, list[tuple[str, object]]]:
    """Return the messages of a language's catalogues, each with its files and words."""
    found = defaultdict(list)
    for name, catalogue in catalogues(language):
        for message in catalogue:
            if message.id:
                key = tuple(message.id) if isinstance(message.id, (list, tuple)) else message.id
                found[message.context, key].append((name, message))
    return found


@pytest.mark.parametrize("language", TRANSLATED)
class TestCatalogue:
    def test_each_message_has_its_words_and_none_is_left_over(self, language):
        wanted = {message for pattern in KINDS for message in used(pattern)}
        there = set(written(language))
        assert sorted(wanted - there, key=str) == []
        assert sorted(there - wanted, key=str) == []

    def test_nothing_is_empty_uncertain_or_said_in_two_ways(self, language):
        for (_, key), found in written(language).items():
            said = {str(message.string) for _, message in found}
            assert len(said) == 1, f"{key}: {said}"
            for name, message in found:
                parts = message.string if isinstance(message.string, tuple) else (message.string,)
                assert all(parts), f"{name}: {key} has no words"
                assert not message.fuzzy, f"{name}: {key} is uncertain"

    def test_the_words_have_the_fields_of_the_message(self, language):
        for (_, key), found in written(language).items():
            wanted = {field for one in ((key,) if isinstance(key, str) else key)
                      for field in FIELD.findall(one)}  # fmt: skip
            for name, message in found:
                parts = message.string if isinstance(message.string, tuple) else (message.string,)
                fields = {field for part in parts for field in FIELD.findall(part)}
                assert fields == wanted, f"{name}: {key}"

    def test_scripts_get_the_words_they_use_and_no_others(self, language):
        scripts = {
            key if isinstance(key, str) else key[0]
            for _, key in used("services/http/web/static/*.js")
        }
        marked = {
            key if isinstance(key, str) else key[0]
            for (_, key), found in written(language).items()
            if any("script" in message.auto_comments for _, message in found)
        }
        assert marked == scripts
        sent = script_words(language).decode()
        assert all(f'"{key}"' in sent for key in scripts)


@pytest.mark.parametrize(
    ("language", "ms", "words"),
    [
        ("en", 30_000, "less than a minute"),
        ("en", 3_600_000, "1 hour"),
        ("en", 9 * 86_400_000 + 3 * 3_600_000 + 5, "9 days 3 hours"),
        ("de", 9 * 86_400_000 + 3 * 3_600_000 + 5, "9 Tage 3 Stunden"),
        ("de", 61 * 60_000, "1 Stunde 1 Minute"),
        ("de", 400 * 86_400_000, "400 Tage"),
    ],
)
def test_a_span_in_words(language, ms, words):
    assert wording(language).span(ms) == words


def test_moments_and_names_in_words():
    assert wording("en").moment(1_796_000_000_000) == "30 Nov 2026, 00:53 UTC"
    assert wording("de").moment(1_796_000_000_000) == "30. Nov. 2026, 00:53 UTC"
    assert wording("de").names(["alice", "bob", "carol"]) == "alice, bob und carol"
    assert wording("en").names(["alice", "bob", "carol"]) == "alice, bob and carol"
    assert wording("xx").language == "en"
