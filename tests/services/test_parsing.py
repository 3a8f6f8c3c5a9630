"""Command lines, read: which form each has, and which word of it is what."""

import re
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from services.app.games import game_keys
from services.language.commands import FORMS
from services.language.parser import CommandLine, UnparsedLine, form_names, forms_with_text, parse

PAGE = (Path(__file__).parents[2] / "docs" / "commands.md").read_text()
EXAMPLES = [
    line
    for block in re.findall(r"```text\n(.*?)\n```", PAGE, re.DOTALL)
    for line in ([block] if block.startswith("multiple") else block.splitlines())
]
SIGNED = [line for line in EXAMPLES if parse(line).has("password")]
"""Examples with a password."""

BLANKS = [" ", "   ", "\t", " \t ", "\u00a0", "\u2003", "\x0b", "\r"]

LANGUAGE = sorted(
    {word for form in FORMS for word in form.name.split()}
    | {"propose", "undo", "accept", "reject", "resume", "clear", "display", "language", "notify"}
    | {"challenges", "--password=secret", "--as=bob"}
    | {"all", "active", "inactive", "next", "-", "--", "-x", "--lang=de", "7", "1#0", *game_keys()}
)

WORDS = st.text(min_size=1, max_size=30).filter(lambda text: text.split() == [text])
"""Words without any blank, of any other signs."""


def replaced(line: str, word: str) -> str:
    """The line with another word in the place of its password, and of the quotation marks around it."""
    password = re.escape(parse(line).get("password"))
    written = rf'(?<!\S)(--password=)?("?){password}\2(?!\S)'
    before, flag, _, after = re.split(written, line, maxsplit=1)
    return f"{before}{flag or ''}{word}{after}"


def test_every_form_with_a_password_has_an_example():
    asked = {form.rule for form in FORMS if re.search(r"\bpassword\b|\bold\b", form.usage())}
    assert {parse(line).form for line in SIGNED} == asked
    assert {parse(line).form for line in EXAMPLES} == form_names()


# words of the language


@pytest.mark.parametrize("line", EXAMPLES)
def test_the_words_of_the_language_are_read_in_any_case(line):
    read = parse(line)
    for cased in (str.upper, str.title, str.swapcase):
        again = parse(cased(line))
        assert again.form == read.form
        assert again.words == tuple((part, cased(word)) for part, word in read.words)


@pytest.mark.parametrize("line", [line for line in EXAMPLES if "\n" not in line])
def test_words_are_separated_by_blanks_of_any_kind(line):
    for blank in BLANKS:
        again = parse(blank.join(line.split()))
        assert again.form == parse(line).form
        # in a text the blanks are the sender's
        assert [(part, " ".join(word.split())) for part, word in again.words] == [
            *parse(line).words
        ]


@pytest.mark.parametrize("line", EXAMPLES)
def test_no_word_of_the_language_is_read_as_the_beginning_of_another(line):
    assert refused(re.sub(r"^\S+", r"\g<0>x", line))


def refused(line: str) -> bool:
    try:
        parse(line)
    except UnparsedLine:
        return True
    return False


# the sender's words


def test_the_words_of_a_line_are_found_by_their_part():
    line = parse("pow2 challenge Alice bob -fast --days=3")
    assert line.all("userid") == ["Alice", "bob"]
    assert line.all("flag") == ["-fast", "--days=3"]
    assert line.get("game") == "pow2"
    assert line.get("password") == ""
    assert not line.has("password")
    assert line.all("password") == []


@pytest.mark.parametrize("line", SIGNED)
def test_a_word_of_the_language_may_be_a_password(line):
    for word in LANGUAGE:
        read = parse(replaced(line, word))
        assert (read.form, read.get("password")) == (parse(line).form, word)


@given(word=WORDS)
@pytest.mark.parametrize("line", SIGNED)
def test_any_word_may_be_a_password(line, word):
    read = parse(replaced(line, word))
    before = parse(line)
    assert read.form == before.form
    assert [part for part, _ in read.words] == [part for part, _ in before.words]
    assert read.get("password") == word


@given(word=WORDS)
def test_any_word_may_be_a_new_password(word):
    read = parse(f"change password alice mad-hatter {word}")
    assert (read.form, read.get("new")) == ("change_password", word)


@pytest.mark.parametrize("order", ["1 alice mad-hatter", "alice mad-hatter 1"])
def test_previewas_is_read_in_both_orders(order):
    line = parse(f"pow2 previewas {order} m13-j7 a13-d7")
    assert line.form == "previewas"
    assert (line.get("board"), line.get("userid")) == ("1", "alice")
    assert line.get("password") == "mad-hatter"
    assert line.all("step") == ["m13-j7", "a13-d7"]


@pytest.mark.parametrize(
    ("line", "form"),
    [
        ("pow2 show 1", "show_boards"),
        ("pow2 show 1#0 --display=small 2", "show_boards"),
        ("pow2 show --display=small 1", "show_boards"),
        ("pow2 show alice", "show_players"),
        ("pow2 show next", "show_players"),
        ("pow2 show alice next", "show_players"),
    ],
)
def test_what_begins_with_a_digit_is_a_board_and_else_a_userid(line, form):
    assert parse(line).form == form


@pytest.mark.parametrize("state", ["all", "active", "inactive", "next", "NEXT", "next  "])
def test_a_state_stands_at_the_end_and_elsewhere_it_is_a_userid(state):
    line = parse(f"pow2 games alice {state}")
    assert line.get("state") == state.strip()
    assert line.all("userid") == ["alice"]
    assert parse(f"pow2 games {state} alice").all("userid") == [state.strip(), "alice"]


@pytest.mark.parametrize(
    ("text", "part", "word"),
    [
        ("undo", "undo", "undo"),
        ("Accept", "accept", "Accept"),
        ("accept --entropy=luck", "flag", "--entropy=luck"),
        ("propose draw", "value", "draw"),
        ("undone", "move", "undone"),
        ("a1 - b4 : c5 #3", "move", "a1 - b4 : c5 #3"),
        ("-a5", "move", "-a5"),
    ],
)
def test_in_the_place_of_a_move_a_word_of_the_language_is_one(text, part, word):
    line = parse(f"pow2 move 1 alice mad-hatter {text}")
    assert (line.form, line.get(part)) == ("move", word)


@pytest.mark.parametrize(
    "text", ["undo now", "resign\nmore", "accept it", "propose", "propose a draw", "m13-j7\nmore"]
)
def test_behind_what_stands_in_the_place_of_a_move_nothing_follows(text):
    assert refused(f"pow2 move 1 alice mad-hatter {text}")


# texts


TEXTS = st.text(min_size=1).map(str.strip).filter(bool)


@given(text=TEXTS)
@pytest.mark.parametrize("line", ["broadcast alice mad-hatter", "pow2 chat 1 alice mad-hatter"])
def test_a_text_is_all_that_follows_in_its_line_or_on_the_lines_after(line, text):
    assert parse(f"{line} {text}").get("text") == text
    assert parse(f"{line}\n{text}").get("body") == text


@given(text=TEXTS)
def test_a_message_names_its_readers_and_then_says_something(text):
    assume("\n" not in text)
    line = parse(f"message alice mad-hatter bob,carol {text}")
    assert (line.get("recipient"), line.get("text")) == ("bob,carol", text)
    line = parse(f"message alice mad-hatter bob  carol\n{text}\n{text}")
    assert (line.get("recipients"), line.get("body")) == ("bob  carol", f"{text}\n{text}")


@given(lines=st.lists(TEXTS, min_size=1))
def test_several_commands_are_all_the_lines_after_the_first(lines):
    body = "\n".join(lines)
    assert parse(f"multiple\n{body}") == CommandLine("multiple", (("body", body.strip()),))


def test_the_forms_with_a_text_are_named():
    assert forms_with_text() == {
        "message", "broadcast", "claim", "appeal", "rule", "chat", "multiple",
    }  # fmt: skip


# whatever is typed


@given(text=st.text())
def test_any_text_is_read_or_has_no_form(text):
    assert refused(text) or parse(text).form in form_names()


@given(words=st.lists(st.sampled_from([*LANGUAGE, "alice", "mad-hatter", "1", "\n", "x"])))
def test_words_in_any_order_are_read_or_have_no_form(words):
    line = " ".join(words)
    if not refused(line):
        kept = [word for part, word in parse(line).words if part not in ("text", "body", "move")]
        assert set(" ".join(kept).split()) <= set(line.split())


@pytest.mark.parametrize(
    "line",
    [
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
    ],
)
def test_the_longest_text_is_read_or_refused_without_an_error(line):
    assert refused(line) or parse(line).form in form_names()


def test_what_has_no_form_is_not_repeated_by_the_error():
    with pytest.raises(UnparsedLine) as caught:
        parse("signup alice looking-glass\nmad-hatter")
    assert str(caught.value) == ""
    assert caught.value.__suppress_context__
