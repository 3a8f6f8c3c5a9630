"""docs/commands.md and docs/errors.md say what the grammar and the tables say; lines of a proven account leave out userid and password."""

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.people.tokens import Scope
from services.app.error_codes import CODE_INFO
from services.language.authentication import signer
from services.language.commands import FORMS
from services.language.parser import UnparsedLine, parse, parse_proven
from tests.fakes.app import FakeApp, Terminal
from tests.helpers.api import Api, Player, code_of

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


@pytest.mark.parametrize(("form", "example"), EXAMPLES)
def test_every_example_has_the_form_under_which_it_stands(form, example):
    assert parse(example).form == form.rule


def test_the_general_page_names_every_command():
    app = FakeApp()
    page = Terminal(app).do("help").page
    app.close()
    rare = {"broadcast", "previewas"}
    assert {form.name for form in FORMS if form.name not in page} == rare


PROVEN_EXAMPLES = [
    line
    for block in re.findall(r"```text\n(.*?)\n```", PAGE, re.DOTALL)
    for line in ([block] if block.startswith("multiple") else block.splitlines())
]

ACCOUNT_FORMS = {
    "add", "verify", "change_password", "change_address", "set", "vacation", "signoff", "block",
    "unblock", "game_set",
}  # fmt: skip
"""Forms that change the account: a token that plays may not."""


VOCABULARY = sorted({word for line in PROVEN_EXAMPLES for word in line.split(" ")})
SHORT = {form.rule for form in FORMS if form.proof is signer} - ACCOUNT_FORMS


def shortened(line: str) -> str:
    """The line without its userid and password."""
    parsed = parse(line)
    return line.replace(f" {parsed.get('userid')} {parsed.get('password')}", "", 1)


def test_a_line_means_the_same_without_userid_and_password():
    signed = [line for line in PROVEN_EXAMPLES if parse(line).form in SHORT]
    assert signed
    for line in signed:
        before, after = parse(line), parse_proven(shortened(line), "carol")
        assert after.form == before.form, line
        assert after.all("userid") == ["carol", *before.all("userid")[1:]], line
        assert [word for word in after.words if word[0] != "userid"] == [
            word for word in before.words if word[0] not in ("userid", "password")
        ], line


@pytest.mark.parametrize("line", ["", "dance", "block bob", "delete", "set language de"])
def test_what_changes_the_account_needs_its_password(line):
    with pytest.raises(UnparsedLine):
        parse_proven(line, "alice")


@given(text=st.text(max_size=200) | st.lists(st.sampled_from(VOCABULARY)).map(" ".join))
def test_any_line_is_read_or_refused(text):
    try:
        line = parse_proven(text, "carol")
    except UnparsedLine:
        assert is_refused_with_password(text)
    else:
        assert line.has("password") or line.form not in SHORT or line.get("userid") == "carol"


def is_refused_with_password(text: str) -> bool:
    try:
        parse(text)
    except UnparsedLine:
        return True
    return False


def do(api: Api, line: str, one: Player | None, signer: str = "token"):
    headers = {"Content-Type": "text/plain", **(one.headers if one else {})}
    return api.http.post("/api/do", content=line, headers=headers, params={"signer": signer})


def test_a_token_stands_for_userid_and_password(api):
    one, other = api.players()
    board = api.begun(one, other)
    moved = do(api, f"pow2 move {board} m13-j7", one)
    assert (moved.status_code, "played m13-j7" in moved.text) == (200, True)
    assert "said in match" in do(api, f"pow2 chat {board} good luck to you", other).text
    assert "good luck to you" in do(api, f"pow2 chat {board}", one).text
    several = do(api, f"multiple\npow2 show {board}\npow2 resign {board}\n", one)
    assert several.status_code == 200
    assert f"{other.name} won" in several.text or "resigned" in several.text


@pytest.mark.parametrize("scopes", [[Scope.READ], [Scope.PLAY], [Scope.ACCOUNT]])
def test_a_token_signs_lines_only_if_it_may_read_and_play(api, scopes):
    one, _ = api.players()
    account = api.parts.accounts.id_of(one.name)
    text = api.parts.tokens.issue(account, "less", scopes).text
    refused = api.http.post(
        "/api/do",
        content="messages",
        headers={"Content-Type": "text/plain", "Authorization": f"Bearer {text}"},
        params={"signer": "token"},
    )
    assert (refused.status_code, code_of(refused)) == (403, "missing-scope")


PROBLEMS_PAGE = Path(__file__).parents[2] / "docs" / "errors.md"


def rows() -> list[list[str]]:
    """The cells of the page's table, less its head."""
    lines = [
        line for line in PROBLEMS_PAGE.read_text("utf-8").splitlines() if line.startswith("| `")
    ]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_page_shows_the_table():
    assert rows() == [
        [f"`{code}`", str(problem.exit), str(problem.status), problem.meaning]
        for code, problem in CODE_INFO.items()
    ]


def test_a_form_that_is_shown_says_what_can_be_left_out(api):
    one, _ = api.players()
    refused = do(api, "pow2 move 1", one)
    assert refused.text == (
        "usage: the form is `pow2 move BOARD userid password MOVE[#ply]`; `help` lists the "
        "commands; your token replaces userid and password, except in commands that change "
        "the account\n"
    )
    assert "your token" not in do(api, "pow2 challenge", one).text
    assert "your token" not in do(api, "pow2 move 1", one, signer="line").text
