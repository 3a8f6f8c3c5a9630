"""The words of each language: each message that the code can say has them, and none is left over."""

import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from domain.sentences import all_templates
from infra.languages.catalogues import script_words, translated
from infra.languages.wording import wording
from tests.helpers.catalogues import extracted, game_of, said, written

FINISHED = ("de",)
"""Languages that have words for everything; another may be begun."""
FIELD = re.compile(r"%\(\w+\)s")


def parts_of(message):
    """Return the texts of a message: one, or those for one and for many."""
    return (message,) if isinstance(message, str) else message


@pytest.mark.parametrize("language", translated())
class TestCatalogue:
    def test_each_message_has_its_words_and_none_is_left_over(self, language):
        wanted, there = said(), set(written(language))
        assert sorted(wanted - there, key=str) == []
        assert sorted(there - wanted, key=str) == []

    def test_nothing_is_said_in_two_ways(self, language):
        for key, found in written(language).items():
            assert len({words.parts for words in found}) == 1, f"{key}: {found}"

    def test_nothing_is_empty_or_uncertain_in_a_finished_language(self, language):
        for key, found in written(language).items() if language in FINISHED else ():
            for words in found:
                assert all(words.parts), f"{words.file}: {key} has no words"
                assert not words.fuzzy, f"{words.file}: {key} is uncertain"

    def test_the_words_have_the_fields_of_the_message(self, language):
        for (context, message), found in written(language).items():
            wanted = {field for part in parts_of(message) for field in FIELD.findall(part)}
            for words in (one for one in found if all(one.parts)):
                fields = {field for part in words.parts for field in FIELD.findall(part)}
                assert fields == wanted, f"{words.file}: {message}"
                if template := all_templates().get(context or ""):
                    assert template.misfit(words.parts[0]) == "", f"{words.file}: {message}"
                elif context and ":" in context:
                    counts = {part for text in words.parts for part in re.findall(r"{.*?}", text)}
                    known = {one for text in parts_of(message) for one in re.findall("{n}", text)}
                    assert counts <= known, f"{words.file}: {message}"

    def test_the_words_of_a_game_are_in_its_package(self, language):
        for (context, message), found in written(language).items():
            game = game_of(context)
            folder = files(game.package) if game else files("infra.languages").joinpath(language)
            for words in found:
                assert words.file.parent == Path(str(folder)), message

    def test_scripts_get_the_words_they_use_and_no_others(self, language):
        scripts = {parts_of(one)[0] for _, one in extracted("services/http/web/static/*.js")}
        marked = {
            parts_of(key)[0]
            for (_, key), found in written(language).items()
            if any("script" in words.comments for words in found)
        }
        assert marked == scripts
        sent = script_words(language).decode()
        assert all(f'"{key}"' in sent for key in scripts)


@pytest.mark.parametrize(("language", "ms", "words"), [
    ("en", 30_000, "less than a minute"),
    ("en", 3_600_000, "1 hour"),
    ("en", 9 * 86_400_000 + 3 * 3_600_000 + 5, "9 days 3 hours"),
    ("de", 9 * 86_400_000 + 3 * 3_600_000 + 5, "9 Tage 3 Stunden"),
    ("de", 61 * 60_000, "1 Stunde 1 Minute"),
    ("de", 400 * 86_400_000, "400 Tage"),
])  # fmt: skip
def test_a_span_in_words(language, ms, words):
    assert wording(language).span(ms) == words


def test_english_needs_no_catalogue_and_nothing_of_babel():
    code = (
        "import sys, services.cli.do, workers.commands.drain\n"
        "from infra.languages.wording import wording\n"
        "from domain.rules import all_games\n"
        "print(wording('').pgettext('over', 'over'), len(all_games()) > 5, 'babel' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "over True False\n"
