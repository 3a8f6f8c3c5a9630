"""docs/commands.md, the grammar and the table of forms say the same."""

import re
from pathlib import Path

import msgspec
import pytest

from services.language.commands import FORMS
from services.language.game_forms import GAME_FORMS
from services.language.parser import form_names, parse
from tests.fakes.app import FakeApp, Terminal

PAGE = (Path(__file__).parents[2] / "docs" / "commands.md").read_text()


class Section(msgspec.Struct, frozen=True):
    usage: str
    text: str
    examples: tuple[str, ...]


def _sections() -> list[Section]:
    found = []
    for part in PAGE.split("\n### ")[1:]:
        usage, rest = part.split("\n", 1)
        text, block = re.fullmatch(r"(.*)```text\n(.*?)\n```.*", rest, re.DOTALL).groups()
        examples = (block,) if block.startswith("multiple") else tuple(block.split("\n"))
        found.append(Section(usage.strip("`"), " ".join(text.split()), examples))
    return found


SECTIONS = _sections()
EXAMPLES = [
    pytest.param(form, example, id=example.replace("\n", "/"))
    for form, section in zip(FORMS, SECTIONS, strict=True)
    for example in section.examples
]


def test_the_page_lists_every_form_in_the_order_of_the_table():
    assert [section.usage for section in SECTIONS] == [form.usage() for form in FORMS]


def test_the_page_says_what_each_form_does():
    for form, section in zip(FORMS, SECTIONS, strict=True):
        assert section.text.lower().startswith(form.summary.lower())


def test_the_grammar_has_the_forms_of_the_table_and_no_others():
    assert sorted(form.rule for form in FORMS) == sorted(form_names())


def test_a_form_is_one_of_a_games_where_its_rule_begins_with_a_game():
    assert all(form.of_game for form in GAME_FORMS)
    for form, section in zip(FORMS, SECTIONS, strict=True):
        assert form.of_game == all(parse(example).has("game") for example in section.examples)


@pytest.mark.parametrize(("form", "example"), EXAMPLES)
def test_every_example_has_the_form_under_which_it_stands(form, example):
    assert parse(example).form == form.rule


def test_the_general_page_names_every_command():
    app = FakeApp()
    page = Terminal(app).do("help").page
    app.close()
    rare = {"broadcast", "previewas"}
    assert {form.name for form in FORMS if form.name not in page} == rare
