"""A third language is files alone: a copy of the packages with the catalogues of one knows it everywhere."""

import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.page_texts import texts_of
from tests.helpers.pseudo import CODE, ROOT, accented, bracketed, make_copy, plain_english

TEMPLATES = ROOT / "services" / "http" / "web"
NO_TEXT = re.compile(
    r"\{#.*?#\}|\{%-? trans.*?endtrans -?%\}|\{% block [\w-]+ %\}[\w -]*\{% endblock %\}"
    r"|\{%.*?%\}|\{\{.*?\}\}",
    re.DOTALL,
)
"""Comments, messages, expressions, and the blocks of a template that hold names of classes."""
ATTRIBUTE = re.compile(r"[\w-]+=\"[^\"]*\"?|\bautofocus\b")
"""What macros write into tags."""
LACKING = "torere"
"""A game that has no words in the language."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the packages, with the language in it."""
    return make_copy(tmp_path_factory.mktemp("copy"), without=(LACKING,))


@pytest.fixture(scope="module")
def walked(copy: Path) -> dict[str, list[list[str]]]:
    """Return what the program in the copy says in the language, by kind: each text with its place."""
    walk = Path(__file__).parents[1] / "helpers" / "pseudo_walk.py"
    done = subprocess.run(
        [sys.executable, "-P", walk, CODE, LACKING], cwd=copy, env={"PYTHONPATH": str(copy)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]
    found: dict[str, list[list[str]]] = json.loads(done.stdout)
    return found


def test_the_language_is_found_by_its_files(walked):
    assert walked["languages"] == ["en", "de", CODE]
    assert "el" in walked["usage"][0][1]
    assert walked["chosen"] == [["el", "el-GR,de;q=0.5"]]


@pytest.mark.parametrize("kind", ["sentences", "options", "guides", "sides", "endings", "mails"])
def test_all_that_is_said_is_in_the_language(walked, kind):
    said = walked[kind]
    assert len(said) > 5
    assert {place: text for place, text in said if plain_english(text)} == {}


def test_a_game_without_words_is_english_and_the_rest_is_not(walked):
    assert walked["lacking"] == [[LACKING, "Light"], ["pow2", bracketed("Light")]]


def test_a_language_is_begun_by_the_command_of_translating_md(copy):
    """The commands of docs/translating.md: this one, and the copy of this module's fixture."""
    tools = copy / "tools"
    tools.mkdir()
    shutil.copy(ROOT / "tools" / "language.py", tools)

    def begun() -> list[Path]:
        words = [sys.executable, "-P", tools / "language.py", "fr"]
        done = subprocess.run(words, cwd=copy, capture_output=True, text=True, check=True)
        return [Path(line) for line in done.stdout.splitlines()]

    pages = copy / "infra" / "languages" / "fr" / "page.po"
    assert {pages, copy / "domain" / "games" / "pow2" / "fr.po"} <= set(begun())
    started = pages.read_text()
    assert "nplurals=2; plural=(n > 1);" in started
    pages.write_text(started.replace('msgid "Light"\nmsgstr ""', 'msgid "Light"\nmsgstr "Clair"'))
    kept = pages.read_text()
    begun()
    assert pages.read_text() == kept != started
    code = (
        "from infra.languages.wording import wording\n"
        "print(*map(wording('fr').gettext, ('Light', 'Dark')))"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, cwd=copy, capture_output=True, text=True, check=True)
    assert done.stdout == "Clair Dark\n", "what has no words yet is English"


def test_what_is_written_in_a_template_is_a_message():
    """What stands in a template outside of a message is the same in every language."""
    same = frozenset({"API", "English", "userid"})
    left = {}
    for path in sorted(TEMPLATES.rglob("*.html")):
        shown = NO_TEXT.sub("", path.read_text("utf-8"))
        _, texts = texts_of(f'<html lang="x">{shown}')
        prose = [ATTRIBUTE.sub("", html.unescape(text)) for text in texts]
        words = [one for text in prose for one in plain_english(text, same)]
        if words:
            left[path.name] = words
    assert left == {}


@pytest.mark.parametrize(
    ("english", "shown"),
    [
        ("Play", "[Þļåý·]"),
        ("%(count)s moves by {side:side}", "[%(count)s ɱöṽéš ƀý {side:side}········]"),
        ("<b>Your</b> move, m13-j7 or -free", "[<b>Ýöûŕ</b> ɱöṽé, m13-j7 öŕ -free········ ·]"),
        ("{clause} ({detail})", "{clause} ({detail})"),
    ],
)
def test_a_message_in_the_language_keeps_what_is_no_word(english, shown):
    assert bracketed(english) == shown
    assert plain_english(bracketed(english)) == []


def test_a_word_of_commands_stays_where_the_german_words_have_it():
    assert accented("write accept", "schreib accept") == "ŵŕîţé accept"
    assert accented("they accept", "sie nehmen an") == "ţĥéý åççéþţ"
    assert plain_english("[ŵŕîţé·] nothing") == ["nothing"]
