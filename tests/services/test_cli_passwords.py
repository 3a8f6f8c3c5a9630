"""`-` asks for a password where the grammar has one, and is a hyphen everywhere else."""

import io
import sys
from collections.abc import Iterator

import pytest

from domain.errors import Code, Refusal
from services.cli import do
from services.language.parser import password_blanks
from tests.helpers.served import Served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("cli") / "data") as served:
        served.do("signup alice mad-hatter", "signup bob yes-we-can", "pow2 challenge alice bob")
        yield served


HYPHENS = [
    "pow2 chat 15 alice mad-hatter hello - you",
    "pow2 chat 15 alice mad-hatter - \n- a list\n - of two",
    "message alice mad-hatter bob well played - see you",
    "message alice mad-hatter bob -",
    "pow2 move 15 alice mad-hatter d7 - g1",
    "one move 15 alice mad-hatter - a5",
    "pow2 preview 15 - a1",
    "pow2 is no - command",
]


@pytest.mark.parametrize("line", HYPHENS)
def test_a_hyphen_that_is_no_password_asks_for_nothing(line):
    assert password_blanks(line) == []


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("pow2 chat 15 alice - hello - you", [("password", "alice")]),
        ("signup alice -", [("password", "alice")]),
        ("change password alice - -", [("password", "alice"), ("new", "alice")]),
        ("pow2 previewas 15 alice - m13-j7", [("password", "alice")]),
        ("pow2 challenge --password=- alice bob", [("password", "alice")]),
        ("pow2 challenge alice bob --as=bob \u2014password=-", [("password", "bob")]),
    ],
)
def test_a_hyphen_in_the_place_of_a_password_stands_for_one(line, parts):
    found = password_blanks(line)
    assert [(one.part, one.userid) for one in found] == parts
    assert all(line[one.start] == "-" for one in found)


def typed(monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    """A terminal at which these words are typed; gives what is asked."""
    asked: list[str] = []
    rest = iter(words)

    def getpass(prompt: str) -> str:
        asked.append(prompt)
        return next(rest)

    monkeypatch.setattr(do, "getpass", getpass)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    return asked


def test_the_prompt_says_whose_password_and_a_new_one_is_asked_for_twice(monkeypatch):
    asked = typed(monkeypatch, "mad-hatter", "white rabbit", "white rabbit")
    line = do._fill_in_input("change password alice - -")
    assert line == 'change password alice mad-hatter "white rabbit"'
    assert asked == [
        "password of alice: ",
        "new password of alice: ",
        "new password of alice again: ",
    ]


def test_two_new_passwords_that_differ_change_nothing(monkeypatch):
    typed(monkeypatch, "wonder2", "wonder3")
    with pytest.raises(Refusal) as caught:
        do._fill_in_input("signup alice -")
    assert caught.value.code is Code.USAGE


@pytest.mark.parametrize("word", ["", '"two" words'])
def test_a_password_that_no_line_can_have_is_no_part_of_the_line(monkeypatch, word):
    typed(monkeypatch, word)
    with pytest.raises(Refusal):
        do._fill_in_input("pow2 chat 15 alice - hello")


@pytest.mark.long
def test_a_script_gives_the_password_and_the_text_keeps_its_hyphen(server):
    said = server.run("do", "pow2 chat 1 alice - hello - you", typed="mad-hatter\n")
    assert (said.returncode, said.stderr) == (0, "")
    assert "hello - you" in server.run("do", "pow2 chat 1 bob yes-we-can").stdout


@pytest.mark.long
def test_nothing_is_read_or_played_where_a_move_has_a_hyphen(server):
    said = server.run("do", "pow2 move 1 alice mad-hatter - m13-j7", typed="typed\n")
    assert said.returncode == 1
    assert "typed" not in said.stderr
    shown = server.run("do", "pow2 show 1").stdout
    assert "#0" in shown


def test_without_the_password_nothing_is_done(server):
    said = server.run("do", "pow2 chat 1 alice - hello", typed="")
    assert said.returncode == 1
    assert "password of alice" in said.stderr
