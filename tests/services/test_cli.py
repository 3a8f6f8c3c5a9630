"""The command line: exit codes, what is printed where, passwords at `-`, and what `serve` prints."""

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError

from domain.errors import Code, Refusal
from infra.durability.durability import Mode
from infra.settings.settings import Settings, SettingsError, setting_table
from infra.store import gateway
from services.cli import do, errors
from services.cli.flags import SETTINGS, split_line
from services.cli.main import main
from services.cli.player_subcommands import WAIT_SECONDS
from services.cli.subcommands import SUBCOMMANDS
from services.language.parser import password_blanks
from services.serve.banner import banner
from tests.helpers.forked import SCRIPT, run_command
from tests.helpers.served import Served

HEAVY = ["argon2", "fakeredis", "hiredis", "msgspec", "redis", "rich", "rq", "infra", "domain"]


@pytest.fixture
def run(
    clean_environment: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """Run a command in this process, where no server is; gives its exit code and what it wrote."""
    del clean_environment

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO())
        try:
            code = main([*words])
        except SystemExit as ended:
            code = int(ended.code or 0)
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def nowhere(tmp_path) -> Served:
    """A data directory without a server."""
    return Served(tmp_path / "data")


def test_every_subcommand_has_help_and_the_settings_are_listed_on_demand(run):
    for name in [one.name for one in SUBCOMMANDS]:
        code, shown, _ = run(name, "--help")
        assert (code, shown.startswith(f"usage: matchpost {name} ")) == (0, True), name
        assert "--mail-authserv" not in shown, "settings have a list of their own"
    for words in ([], ["do"], ["arbiter"]):
        code, shown, _ = run(*words, "--help-settings")
        flags = [name for name in SETTINGS if f"--{name.replace('_', '-')} VALUE" in shown]
        assert (code, flags) == (0, [*SETTINGS])
    assert list(SETTINGS) == [row.name for row in setting_table()]


def test_help_imports_nothing_slow():
    code = (
        "import sys\n"
        "from services.cli.main import main\n"
        "try:\n    main(['--help'])\n"
        "except SystemExit:\n    pass\n"
        f"sys.stderr.write(repr([name for name in {HEAVY} if name in sys.modules]))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert shown.stderr == "[]"


@pytest.mark.parametrize(
    "words",
    [
        [], ["dance"], ["do"], ["do", "--wait", "soon", "help"], ["do", "--wait=-1", "help"],
        ["do", "--wait", "nan", "help"], ["do", "help", "--key"], ["do", "--kye", "k", "help"], ["verify"],
        ["verify", "1", "--dat", "x"], ["referee", "x"],
    ],
)  # fmt: skip
def test_a_command_line_that_makes_no_sense_ends_with_2(run, words):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert "usage: matchpost" in err


def test_a_word_that_is_no_subcommand_is_answered_with_all_of_them_in_groups(run):
    _, _, said = run("serv")
    assert "there is no command 'serv'; did you mean 'serve'?" in said
    for line in ("  for players: do, ", "  for operators: serve, ", "  one process each: web, "):
        assert f"\n{line}" in said


def test_without_a_server_the_remedy_is_told_and_on_demand_where_it_went_wrong(run, monkeypatch):
    for words in (["do", "pow2 show 1"], ["verify", "1"]):
        code, out, err = run(*words)
        assert (code, out) == (2, "")
        assert err.startswith("unavailable: no server is running for ")
        assert "start it with `matchpost serve`" in err
    monkeypatch.setenv("MATCHPOST_DEBUG", "1")
    code, _, err = run("do", "pow2", "show", "1")
    assert code == 2
    assert "Traceback" in err
    assert f"NotRunningError: no server is running for {Path.cwd()}" in err


def test_a_door_waits_as_long_as_the_gateway_does():
    assert WAIT_SECONDS == gateway.WAIT_SECONDS


@pytest.mark.parametrize(
    ("words", "ours", "line"),
    [
        (["pow2 challenge a b -fast"], [], ["pow2 challenge a b -fast"]),
        (["pow2", "challenge", "a", "b", "-fast", "--key", "k", "-exact"], ["--key", "k"], ["pow2", "challenge", "a", "b", "-fast", "-exact"]),
        (["--wait=3", "pow2", "show", "1", "--display=small", "--data=x"], ["--wait=3", "--data=x"], ["pow2", "show", "1", "--display=small"]),
        (["signup", "a", "--", "--key", "x"], [], ["signup", "a", "--key", "x"]),
        (["help", "--key"], ["--key"], ["help"]),
        (["--help"], ["--help"], []),
    ],
)  # fmt: skip
def test_a_line_keeps_its_own_options(words, ours, line):
    assert split_line(words) == (ours, line)


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Let children hear a Ctrl-C, also where the tests themselves run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_quietly(nowhere):
    process = subprocess.Popen(
        [SCRIPT, "referee"], env=nowhere.env, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write('{"game": "pow2"}\n')
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["ok"]
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert (process.returncode, said) == (130, "")


@pytest.mark.parametrize(("error", "code", "said"), [
    (Refusal(Code.UNKNOWN_BOARD, "there is no match 7"), 1, "unknown-board: there is no match"),
    (SettingsError("a setting"), 2, "matchpost: a setting"),
    (RedisConnectionError("refused"), 2, "unavailable: the server does not answer (refused)"),
    (ResponseError("MISCONF"), 2, "unavailable: the server failed (MISCONF)"),
    (LookupError("there is no data yet"), 2, "unavailable: there is no data yet"),
    (KeyError("x"), 2, "matchpost: this should not have happened: KeyError: 'x'"),
])  # fmt: skip
def test_what_goes_wrong_is_one_line(capsys, error, code, said):
    assert errors.report(error) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(said)
    assert err.count("\n") == 1


@pytest.mark.parametrize(("role", "flag"), [("web", "--http"), ("mail", "--smtp")])
def test_a_role_whose_address_is_in_use_says_so(nowhere, role, flag):
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        done = nowhere.run(role, flag, address)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(rf"matchpost: MATCHPOST_\w+ can't be {address}: .*\n", done.stderr)


# passwords


@pytest.mark.parametrize(("line", "parts"), [
    ("pow2 chat 15 alice - hello - you", [("password", "alice")]),
    ("signup alice -", [("password", "alice")]),
    ("change password alice - -", [("password", "alice"), ("new", "alice")]),
    ("pow2 previewas 15 alice - m13-j7", [("password", "alice")]),
    ("pow2 challenge --password=- alice bob", [("password", "alice")]),
    ("pow2 challenge alice bob --as=bob \u2014password=-", [("password", "bob")]),
])  # fmt: skip
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
    news = ["new password of alice: ", "new password of alice again: "]
    assert asked == ["password of alice: ", *news]


@pytest.mark.parametrize("word", ["", '"two" words'])
def test_a_password_that_no_line_can_have_is_no_part_of_the_line(monkeypatch, word):
    typed(monkeypatch, word)
    with pytest.raises(Refusal):
        do._fill_in_input("pow2 chat 15 alice - hello")


# processes of the tests, and what `serve` prints


@pytest.mark.parametrize(("words", "typed"), [(["referee"], '{"game": "pow2"}\n'), (["do"], "")])
def test_a_forked_command_says_what_one_of_its_own_says(words, typed):
    own = subprocess.run(
        [SCRIPT, *words], input=typed, env=os.environ, capture_output=True, text=True, check=False
    )
    forked = run_command(words, os.environ, typed)
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        own.returncode, own.stdout, own.stderr,
    )  # fmt: skip


def typed_lines(said: str) -> list[str]:
    return [line.strip() for line in said.splitlines() if line.startswith("  ")]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.skipif(not SCRIPT.with_name("activate").exists(), reason="no virtual environment")
def test_the_lines_work_from_another_directory_without_any_preparation(tmp_path):
    with Served(tmp_path / "my data") as served:
        said = banner(Settings(data=served.data), "unix:///unused")
        clean = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        done = subprocess.run(
            ["bash", "-euc", "\n".join(typed_lines(said))], cwd="/", env=clean, text=True, timeout=60,
            check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout
    for said in ("welcome, alice", "match 1, #0: ", "Commands for everyone"):
        assert said in done.stdout


def test_a_password_is_not_shown_and_durability_none_is_to_be_set_there_too(tmp_path):
    url = "redis://user:sekret@localhost:1"
    said = banner(Settings(data=tmp_path, redis_url=url, durability=Mode.NONE), url)
    assert "sekret" not in said
    assert "The data is on the server at redis://***@localhost:1" in said
    assert "export MATCHPOST_DURABILITY=none" in typed_lines(said)
    assert said.endswith("\nready")
