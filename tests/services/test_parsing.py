"""Command lines, read: their forms as docs/commands.md has them, which word is what, with and without userid and password.

docs/errors.md has the codes of refusals, whatever the front end.
"""

import random
import re
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from domain.fairness import DrawStream
from domain.rules import all_games
from infra.people.tokens import Scope
from services.app.error_codes import CODE_INFO
from services.app.move_text import as_flag, as_move
from services.language.authentication import signer
from services.language.commands import FORMS
from services.language.parser import CommandLine, UnparsedLine, form_names, parse, parse_proven
from tests.helpers.api import Api, Player, code_of
from tests.helpers.command_page import EXAMPLES, PAGE, WITH_PASSWORD, lines_of
from tests.helpers.examples import examples

BLANKS = [" ", "   ", "\t", " \t ", "\u00a0", "\u2003", "\x0b", "\r"]


def refused(line: str) -> bool:
    try:
        parse(line)
    except UnparsedLine:
        return True
    return False


# the pages


def test_the_page_lists_every_form_in_the_order_of_the_table_with_what_it_does(terminal):
    sections = PAGE.split("\n### ")[1:]
    for form, section in zip(FORMS, sections, strict=True):
        usage, rest = section.split("\n", 1)
        text, _, block = rest.partition("```text\n")
        assert usage.strip("`") == form.usage()
        assert " ".join(text.split()).lower().startswith(form.summary.lower())
        for line in lines_of(block.partition("\n```")[0]):
            assert parse(line).form == form.rule, line
    assert {parse(line).form for line in EXAMPLES} == form_names()
    asked = {form.rule for form in FORMS if re.search(r"\bpassword\b|\bold\b", form.usage())}
    assert {parse(line).form for line in WITH_PASSWORD} == asked
    general = terminal.do("help").page
    rare = {"broadcast", "previewas"}
    assert {form.name for form in FORMS if form.name not in general} == rare


def test_the_page_of_errors_shows_the_table_of_codes():
    page = Path(__file__).parents[2] / "docs" / "errors.md"
    lines = [line for line in page.read_text("utf-8").splitlines() if line.startswith("| `")]
    assert [[cell.strip() for cell in line.strip("|").split("|")] for line in lines] == [
        [f"`{code}`", str(problem.exit), str(problem.status), problem.meaning]
        for code, problem in CODE_INFO.items()
    ]


# words


def test_the_words_of_the_language_are_read_in_any_case_between_blanks_of_any_kind_and_whole():
    for line in EXAMPLES:
        read = parse(line)
        for cased in (str.upper, str.title, str.swapcase):
            again = parse(cased(line))
            assert again.form == read.form, line
            assert again.words == tuple((part, cased(word)) for part, word in read.words)
        for blank in BLANKS if "\n" not in line else ():
            again = parse(blank.join(line.split()))
            assert again.form == read.form, line
            # in a text the blanks are the sender's
            assert [(part, " ".join(word.split())) for part, word in again.words] == [*read.words]
        assert refused(re.sub(r"^\S+", r"\g<0>x", line)), line


def test_the_words_of_a_line_are_found_by_their_part():
    line = parse("pow2 challenge Alice bob -fast --days=3")
    assert line.all("userid") == ["Alice", "bob"]
    assert line.all("flag") == ["-fast", "--days=3"]
    assert line.get("game") == "pow2"
    assert (line.get("password"), line.has("password"), line.all("password")) == ("", False, [])
    for order in ("1 alice mad-hatter", "alice mad-hatter 1"):
        line = parse(f"pow2 previewas {order} m13-j7 a13-d7")
        found = [line.form, *map(line.get, ("board", "userid", "password"))]
        assert found == ["previewas", "1", "alice", "mad-hatter"]
        assert line.all("step") == ["m13-j7", "a13-d7"]
    for words, form in (
        ("1", "boards"), ("1#0 --display=small 2", "boards"), ("--display=small 1", "boards"),
        ("alice", "players"), ("next", "players"), ("alice next", "players"),
    ):  # fmt: skip
        assert parse(f"pow2 show {words}").form == f"show_{form}"
    for state in ("all", "active", "inactive", "next", "NEXT", "next  "):
        line = parse(f"pow2 games alice {state}")
        assert (line.get("state"), line.all("userid")) == (state.strip(), ["alice"])
        assert parse(f"pow2 games {state} alice").all("userid") == [state.strip(), "alice"]


@pytest.mark.parametrize(("text", "part", "word"), [
    ("undo", "undo", "undo"),
    ("Accept", "accept", "Accept"),
    ("accept --entropy=luck", "flag", "--entropy=luck"),
    ("propose draw", "value", "draw"),
    ("propose", "propose", "propose"),
    ("undone", "move", "undone"),
    ("a1 - b4 : c5 #3", "move", "a1 - b4 : c5 #3"),
    ("-a5", "move", "-a5"),
])  # fmt: skip
def test_in_the_place_of_a_move_a_word_of_the_language_is_one(text, part, word):
    line = parse(f"pow2 move 1 alice mad-hatter {text}")
    assert (line.form, line.get(part)) == ("move", word)


def test_nothing_follows_a_word_in_the_place_of_a_move():
    for more in (
        "undo now",
        "resign\nmore",
        "accept it",
        "propose a draw",
        "m13-j7\nmore",
    ):
        assert refused(f"pow2 move 1 alice mad-hatter {more}"), more


def replaced(line: str, word: str) -> str:
    """The line with another word in the place of its password, and of the quotation marks around it."""
    password = re.escape(parse(line).get("password"))
    written = rf'(?<!\S)(--password=)?("?){password}\2(?!\S)'
    before, flag, _, after = re.split(written, line, maxsplit=1)
    return f"{before}{flag or ''}{word}{after}"


@examples(20, 500)
@given(word=st.text(min_size=1, max_size=30).filter(lambda text: text.split() == [text]))
def test_any_word_may_be_a_password(word):
    for line in WITH_PASSWORD:
        before, read = parse(line), parse(replaced(line, word))
        assert read.form == before.form
        assert [part for part, _ in read.words] == [part for part, _ in before.words]
        assert read.get("password") == word
    read = parse(f"change password alice mad-hatter {word}")
    assert (read.form, read.get("new")) == ("change_password", word)


@given(text=st.text(min_size=1).map(str.strip).filter(bool))
def test_a_text_is_all_that_follows_in_its_line_or_on_the_lines_after(text):
    for line in ("broadcast alice mad-hatter", "pow2 chat 1 alice mad-hatter"):
        assert parse(f"{line} {text}").get("text") == text
        assert parse(f"{line}\n{text}").get("body") == text
    assert parse(f"multiple\n{text}") == CommandLine("multiple", (("body", text),))
    assume("\n" not in text)
    read = parse(f"message alice mad-hatter bob,carol {text}")
    assert (read.get("recipient"), read.get("text")) == ("bob,carol", text)
    read = parse(f"message alice mad-hatter bob  carol\n{text}\n{text}")
    assert (read.get("recipients"), read.get("body")) == ("bob  carol", f"{text}\n{text}")


@pytest.mark.parametrize("line", [
    "pow2 show " + "1 " * 30_000,
    "pow2 challenge " + "-x " * 20_000,
    "help " + "all " * 15_000 + "!",
    "pow2 games all" + " " * 60_000 + "x",
    "pow2 games " + "all  " * 12_000,
    "message alice mad-hatter " + "b " * 30_000,
    "message alice mad-hatter bob" + "\n" * 60_000 + "x",
    "pow2 move 1 alice mad-hatter " + "undo " * 12_000,
    "multiple" + "\n \t" * 20_000 + "x",
    "\t" * 60_000 + "help",
], ids=lambda line: line[:20])  # fmt: skip
def test_the_longest_text_is_read_or_refused_without_an_error(line):
    assert refused(line) or parse(line).form in form_names()


# what phones make of typed text


TYPED = {
    as_move: {
        **dict.fromkeys(("m13\u2013j7", "m13\u2014j7", "m13\u2212j7", "m13\u2011j7"), "m13-j7"),
        "\uff4d\uff11\uff13\uff0d\uff4a\uff17": "m13-j7",
        "m\u0661\u0663-j\u0667": "m13-j7",
        **dict.fromkeys(("m13-j7.", "\u201em13-j7\u201c", '"m13-j7."', "\u00abm13\u2013j7\u00bb."), "m13-j7"),
        "m13-j7#\uff10": "m13-j7#0",
        ".": ".",
        '""': '""',
        "3...": "3",
    },
    as_flag: {
        **dict.fromkeys(("\u2014days=3", "\u2013days=3", "\u2014days=\uff13", "--days=3", "\u2212\u2212days=3"), "--days=3"),
        "\u2010size=7": "-size=7",
        "\u2014entropy=a\u2013b\uff11": "--entropy=a\u2013b\uff11",
        "\u2014password=a\u2013b": "--password=a\u2013b",
    },
}  # fmt: skip


def test_moves_and_flags_are_read_as_they_were_meant():
    for read, meant in TYPED.items():
        assert {typed: read(typed) for typed in meant} == meant


def test_no_move_of_any_game_is_changed():
    for game in all_games():
        rules, chance = game.latest, random.Random(7)
        options, players = rules.read_options([]), rules.players[0]
        setup = rules.draw(options, players, DrawStream(bytes(32), "test/1"))
        position = rules.start(options, players, setup)
        for _ in range(30):
            moves = list(rules.legal_moves(position))
            if not moves or rules.outcome(position) is not None:
                break
            assert [as_move(text) for text in moves] == moves
            position = rules.play(position, rules.read(chance.choice(moves)))


# lines of a proven account leave out userid and password


ACCOUNT_FORMS = {
    "add", "verify", "change_password", "change_address", "set", "vacation", "signoff", "block",
    "unblock", "game_set",
}  # fmt: skip
"""Forms that change the account: a token that plays may not."""

SHORT = {form.rule for form in FORMS if form.proof is signer} - ACCOUNT_FORMS


def test_a_line_means_the_same_without_userid_and_password():
    signed = [line for line in EXAMPLES if parse(line).form in SHORT]
    assert len(signed) > 20
    for line in signed:
        before = parse(line)
        words = f" {before.get('userid')} {before.get('password')}"
        after = parse_proven(line.replace(words, "", 1), "carol")
        assert after.form == before.form
        assert after.all("userid") == ["carol", *before.all("userid")[1:]]
        assert [word for word in after.words if word[0] != "userid"] == [
            word for word in before.words if word[0] not in ("userid", "password")
        ]


@pytest.mark.parametrize("line", ["", "dance", "block bob", "delete", "set language de"])
def test_what_changes_the_account_needs_its_password(line):
    with pytest.raises(UnparsedLine):
        parse_proven(line, "alice")


VOCABULARY = sorted({word for line in EXAMPLES for word in line.split(" ")})


@given(text=st.text(max_size=200) | st.lists(st.sampled_from(VOCABULARY)).map(" ".join))
def test_any_line_is_read_or_refused(text):
    assert refused(text) or parse(text).form in form_names()
    try:
        line = parse_proven(text, "carol")
    except UnparsedLine:
        assert refused(text)
    else:
        assert line.has("password") or line.form not in SHORT or line.get("userid") == "carol"


def do(api: Api, line: str, one: Player | str, signer: str = "token"):
    token = one if isinstance(one, str) else one.token
    headers = {"Content-Type": "text/plain", "Authorization": f"Bearer {token}"}
    return api.http.post("/api/do", content=line, headers=headers, params={"signer": signer})


def test_a_token_stands_for_userid_and_password_if_it_may_read_and_play(api):
    one, other = api.players()
    board = api.begun(one, other)
    moved = do(api, f"pow2 move {board} m13-j7", one)
    assert (moved.status_code, "played m13-j7" in moved.text) == (200, True)
    assert "said in match" in do(api, f"pow2 chat {board} good luck to you", other).text
    several = do(api, f"multiple\npow2 chat {board}\npow2 resign {board}\n", one)
    assert several.status_code == 200
    assert "good luck to you" in several.text
    assert "resigned" in several.text
    for scope in (Scope.READ, Scope.PLAY, Scope.ACCOUNT):
        less = do(api, "messages", api.parts.tokens.issue(one.account, "less", [scope]).text)
        assert (less.status_code, code_of(less)) == (403, "missing-scope")


def test_a_form_that_is_shown_says_what_can_be_left_out(api):
    one = api.player()
    assert do(api, "pow2 move 1", one).text == (
        "usage: the form is `pow2 move BOARD userid password MOVE[#ply]`; `help` lists the "
        "commands; your token replaces userid and password, except in commands that change "
        "the account\n"
    )
    assert "your token" not in do(api, "pow2 challenge", one).text
    assert "your token" not in do(api, "pow2 move 1", one, signer="line").text
