"""Command lines, read: which form each has, which word is what, and what phones make of typed text."""

import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from domain.rules import all_rules, latest_rules
from services.app.move_text import as_flag, as_move
from services.language.commands import FORMS
from services.language.parser import CommandLine, UnparsedLine, form_names, parse
from tests.helpers.examples import examples

PAGE = (Path(__file__).parents[2] / "docs" / "commands.md").read_text()
EXAMPLES = [
    line
    for block in re.findall(r"```text\n(.*?)\n```", PAGE, re.DOTALL)
    for line in ([block] if block.startswith("multiple") else block.splitlines())
]
SIGNED = [line for line in EXAMPLES if parse(line).has("password")]
"""Examples with a password."""

BLANKS = [" ", "   ", "\t", " \t ", "\u00a0", "\u2003", "\x0b", "\r"]


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


@pytest.mark.parametrize("line", EXAMPLES)
def test_the_words_of_the_language_are_read_in_any_case_between_blanks_of_any_kind_and_whole(line):
    read = parse(line)
    for cased in (str.upper, str.title, str.swapcase):
        again = parse(cased(line))
        assert again.form == read.form
        assert again.words == tuple((part, cased(word)) for part, word in read.words)
    for blank in BLANKS if "\n" not in line else ():
        again = parse(blank.join(line.split()))
        assert again.form == read.form
        # in a text the blanks are the sender's
        assert [(part, " ".join(word.split())) for part, word in again.words] == [*read.words]
    assert refused(re.sub(r"^\S+", r"\g<0>x", line))


def refused(line: str) -> bool:
    try:
        parse(line)
    except UnparsedLine:
        return True
    return False


def test_the_words_of_a_line_are_found_by_their_part():
    line = parse("pow2 challenge Alice bob -fast --days=3")
    assert line.all("userid") == ["Alice", "bob"]
    assert line.all("flag") == ["-fast", "--days=3"]
    assert line.get("game") == "pow2"
    assert line.get("password") == ""
    assert not line.has("password")
    assert line.all("password") == []
    for order in ("1 alice mad-hatter", "alice mad-hatter 1"):
        line = parse(f"pow2 previewas {order} m13-j7 a13-d7")
        assert line.form == "previewas"
        assert (line.get("board"), line.get("userid")) == ("1", "alice")
        assert line.get("password") == "mad-hatter"
        assert line.all("step") == ["m13-j7", "a13-d7"]
    for words, form in (
        ("1", "boards"), ("1#0 --display=small 2", "boards"), ("--display=small 1", "boards"),
        ("alice", "players"), ("next", "players"), ("alice next", "players"),
    ):  # fmt: skip
        assert parse(f"pow2 show {words}").form == f"show_{form}"
    for state in ("all", "active", "inactive", "next", "NEXT", "next  "):
        line = parse(f"pow2 games alice {state}")
        assert line.get("state") == state.strip()
        assert line.all("userid") == ["alice"]
        assert parse(f"pow2 games {state} alice").all("userid") == [state.strip(), "alice"]


@examples(20, 500)
@given(word=WORDS)
@pytest.mark.parametrize("line", SIGNED)
def test_any_word_may_be_a_password(line, word):
    read = parse(replaced(line, word))
    before = parse(line)
    assert read.form == before.form
    assert [part for part, _ in read.words] == [part for part, _ in before.words]
    assert read.get("password") == word
    read = parse(f"change password alice mad-hatter {word}")
    assert (read.form, read.get("new")) == ("change_password", word)


@pytest.mark.parametrize(("text", "part", "word"), [
    ("undo", "undo", "undo"),
    ("Accept", "accept", "Accept"),
    ("accept --entropy=luck", "flag", "--entropy=luck"),
    ("propose draw", "value", "draw"),
    ("undone", "move", "undone"),
    ("a1 - b4 : c5 #3", "move", "a1 - b4 : c5 #3"),
    ("-a5", "move", "-a5"),
])  # fmt: skip
def test_in_the_place_of_a_move_a_word_of_the_language_is_one_and_nothing_follows_it(
    text, part, word
):
    line = parse(f"pow2 move 1 alice mad-hatter {text}")
    assert (line.form, line.get(part)) == ("move", word)
    for more in (
        "undo now", "resign\nmore", "accept it", "propose", "propose a draw", "m13-j7\nmore",
    ):  # fmt: skip
        assert refused(f"pow2 move 1 alice mad-hatter {more}"), more


TEXTS = st.text(min_size=1).map(str.strip).filter(bool)


@given(text=TEXTS)
@pytest.mark.parametrize("line", ["broadcast alice mad-hatter", "pow2 chat 1 alice mad-hatter"])
def test_a_text_is_all_that_follows_in_its_line_or_on_the_lines_after(line, text):
    assert parse(f"{line} {text}").get("text") == text
    assert parse(f"{line}\n{text}").get("body") == text


@given(text=TEXTS)
def test_a_message_names_its_readers_and_then_says_something(text):
    assert parse(f"multiple\n{text}") == CommandLine("multiple", (("body", text),))
    assume("\n" not in text)
    line = parse(f"message alice mad-hatter bob,carol {text}")
    assert (line.get("recipient"), line.get("text")) == ("bob,carol", text)
    line = parse(f"message alice mad-hatter bob  carol\n{text}\n{text}")
    assert (line.get("recipients"), line.get("body")) == ("bob  carol", f"{text}\n{text}")


@given(text=st.text())
def test_any_text_is_read_or_has_no_form(text):
    assert refused(text) or parse(text).form in form_names()


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
])  # fmt: skip
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


@pytest.mark.parametrize("read", TYPED)
def test_moves_and_flags_are_read_as_they_were_meant(read):
    assert {typed: read(typed) for typed in TYPED[read]} == TYPED[read]


T = TypeVar("T")


class Shuffling:
    """Chance that is the same each time."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def below(self, purpose: str, limit: int) -> int:
        del purpose
        return self._chance.randrange(limit)

    def shuffled(self, purpose: str, items: Sequence[T]) -> list[T]:
        del purpose
        return self._chance.sample(list(items), len(items))


@pytest.mark.parametrize("key", sorted({rules.key for rules in all_rules()}))
def test_no_move_of_any_game_is_changed(key):
    rules, chance = latest_rules(key), random.Random(7)
    players = next(n for n in range(1, 5) if n in rules.players)
    options = rules.read_options([])
    drawn = rules.needs_draw(options, players)
    setup = rules.draw(options, players, Shuffling(chance)) if drawn else None
    position = rules.start(options, players, setup)
    tried = 0
    for _ in range(30):
        moves = list(rules.legal_moves(position))
        if not moves or rules.outcome(position) is not None:
            break
        assert [as_move(text) for text in moves] == moves
        tried += len(moves)
        position = rules.play(position, rules.read(chance.choice(moves)))
    assert tried > len(moves)
