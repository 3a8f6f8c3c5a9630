"""The command line: exit codes, what is printed where, passwords at `-`, receipts, and what `serve` prints."""

import io
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError

from domain.errors import Code, Refusal
from infra.durability.durability import Mode
from infra.health.heartbeats import Role
from infra.log.key_files import read_public_keys
from infra.log.names import shard_key
from infra.log.receipts import KEY_SUFFIX, Receipt, open_receipt, read_receipt
from infra.settings.settings import Settings, SettingsError, setting_table
from infra.store import gateway
from services.cli import do, errors
from services.cli.flags import ROLES, SETTINGS, split_line
from services.cli.main import main
from services.cli.subcommands import SUBCOMMANDS, WAIT_SECONDS
from services.language.parser import password_blanks
from services.serve.banner import banner
from tests.helpers.forked import SCRIPT, run_command
from tests.helpers.served import Served

HEAVY = ["argon2", "fakeredis", "hiredis", "msgspec", "redis", "rich", "rq", "infra", "domain"]


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Served]:
    """A running server where alice and bob have signed up and play board 1 with -fast."""
    with Served(tmp_path_factory.mktemp("cli") / "data") as served:
        served.do(
            "signup alice mad-hatter",
            "signup bob yes-we-can",
            "pow2 challenge alice bob -fast",
            "pow2 move 1 alice mad-hatter m13-m9",
        )
        yield served


@pytest.fixture
def nowhere(tmp_path) -> Served:
    """A data directory without a server."""
    return Served(tmp_path / "data")


# without a server


def test_help_lists_all_commands(nowhere):
    shown = nowhere.run("--help")
    assert shown.returncode == 0
    for subcommand in SUBCOMMANDS:
        assert f"\n    {subcommand.name} " in shown.stdout
    assert set(ROLES) == set(Role) <= {subcommand.name for subcommand in SUBCOMMANDS}


@pytest.mark.parametrize("name", [one.name for one in SUBCOMMANDS])
def test_every_subcommand_has_help(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: matchpost {name} ")
    assert "--mail-authserv" not in shown, "settings have a list of their own"


@pytest.mark.parametrize("words", [[], ["do"], ["arbiter"]])
def test_the_settings_are_listed_on_demand(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*words, "--help-settings"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert [name for name in SETTINGS if f"--{name.replace('_', '-')} VALUE" in shown] == [
        *SETTINGS
    ]


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
def test_a_command_line_that_makes_no_sense_ends_with_2(nowhere, words):
    done = nowhere.run(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert "usage: matchpost" in done.stderr


def test_a_word_that_is_no_subcommand_is_answered_with_all_of_them_in_groups(nowhere):
    said = nowhere.run("serv").stderr
    assert "there is no command 'serv'; did you mean 'serve'?" in said
    for line in ("  for players: do, ", "  for operators: serve, ", "  one process each: web, "):
        assert f"\n{line}" in said


def test_help_on_the_commands_needs_no_server(nowhere):
    done = nowhere.run("do", "help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Commands for everyone" in done.stdout
    assert nowhere.run("do", "pow2 hlep").returncode == 1


@pytest.mark.parametrize("words", [["do", "pow2 show 1"], ["verify", "1"]])
def test_without_a_server_the_remedy_is_told(nowhere, words):
    done = nowhere.run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("unavailable: no server is running for ")
    assert "start it with `matchpost serve`" in done.stderr


@pytest.mark.parametrize("line", ["signup alice mad-hatter", "pow2 show 1"])
def test_a_server_that_does_not_answer_is_named(nowhere, line):
    done = nowhere.run("do", line, "--redis-url", "redis://127.0.0.1:1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("unavailable: the server does not answer (Error 111 connecting ")
    assert done.stderr.endswith("Connection refused); look whether it is running\n")


def test_a_door_waits_as_long_as_the_gateway_does():
    assert WAIT_SECONDS == gateway.WAIT_SECONDS


def test_each_setting_has_its_flag():
    assert list(SETTINGS) == [row.name for row in setting_table()]


def test_a_word_that_is_no_text_is_refused(nowhere):
    done = subprocess.run(
        [os.fsencode(SCRIPT), b"do", b"help", b"pow\xff"],
        env=nowhere.env, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, b"bad-request: the text is not valid UTF-8\n")


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


@pytest.mark.parametrize("words", [["do", "help"], ["referee"]])
def test_a_closed_pipe_ends_quietly(nowhere, words):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        done = subprocess.run(
            [SCRIPT, *words], env=nowhere.env, input=b'{"game": "pow2"}\n' * 3,
            stdout=closed, stderr=subprocess.PIPE, check=False, timeout=60,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (141, b"")


def test_what_a_terminal_can_not_show_is_escaped(nowhere):
    nowhere.env["PYTHONIOENCODING"] = "ascii"
    done = nowhere.run("do", "pow2", "show", "1", "-schäch")
    assert (done.returncode, done.stdout) == (1, "")
    assert "'-sch\\xe4ch'" in done.stderr


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (Refusal(Code.UNKNOWN_BOARD, "there is no match 7"), 1, "unknown-board: there is no match"),
        (SettingsError("a setting"), 2, "matchpost: a setting"),
        (RedisConnectionError("refused"), 2, "unavailable: the server does not answer (refused)"),
        (ResponseError("MISCONF"), 2, "unavailable: the server failed (MISCONF)"),
        (LookupError("there is no data yet"), 2, "unavailable: there is no data yet"),
        (KeyError("x"), 2, "matchpost: this should not have happened: KeyError: 'x'"),
    ],
)
def test_what_goes_wrong_is_one_line(capsys, error, code, said):
    assert errors.report(error) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(said)
    assert err.count("\n") == 1


def test_a_worker_says_what_ended_it_as_a_line_of_the_log(nowhere):
    done = nowhere.run("worker", "--name", "worker-7", "--redis-url", "redis://127.0.0.1:1")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"\S+Z worker-7 ERROR unavailable: the server .*\n", done.stderr)


@pytest.mark.parametrize(("role", "flag"), [("web", "--http"), ("mail", "--smtp")])
def test_a_role_whose_address_is_in_use_says_so(nowhere, role, flag):
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        done = nowhere.run(role, flag, address)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(rf"matchpost: MATCHPOST_\w+ can't be {address}: .*\n", done.stderr)


def test_a_role_that_is_stopped_while_it_starts_ends_in_good_order():
    code = (
        "import os, signal, sys\n"
        "from services.cli.errors import run_role\n"
        "def role():\n"
        "    try:\n        os.kill(os.getpid(), signal.SIGTERM)\n"
        "    finally:\n        print('its heartbeat is deleted')\n"
        "sys.exit(run_role(role))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "its heartbeat is deleted\n")


def test_where_something_went_wrong_is_shown_on_demand(capsys, monkeypatch, clean_environment):
    monkeypatch.setenv("MATCHPOST_DEBUG", "1")
    assert main(["do", "pow2", "show", "1"]) == 2
    _, err = capsys.readouterr()
    assert "Traceback" in err
    assert "NotRunningError" in err
    assert str(clean_environment) in err


# with a server


def test_an_answer_is_on_standard_output(server):
    done = server.run("do", "pow2", "show", "1", "--display=small")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("match 1: The Power of Two (pow2/1 -fast)\n")


def test_a_refusal_is_one_line_on_standard_error(server):
    done = server.run("do", "pow2", "move", "1", "alice", "mad-hatter", "m1-m5")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "not-your-turn: you play Light, and it is Dark's turn\n"


def test_an_outcome_that_is_not_waited_for_is_unknown(server):
    board = int(server.run("do", "pow2 challenge bob alice").stdout.split()[1].strip(","))
    command = ["do", "--wait", "0", "--key", "k", f"pow2 move {board} bob yes-we-can m13-j7"]
    done = server.run(*command)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"pending: match {board}: the command was taken")
    command[2] = "10"
    done = server.run(*command)
    assert (done.returncode, done.stderr) == (0, "")


def test_no_password_is_in_the_logs_or_the_data(server):
    kept = (server.data.parent / "serve.log").read_bytes()
    for path in server.data.rglob("*"):
        if path.is_file():
            kept += path.read_bytes()
    assert b"pow2" in kept
    assert b"mad-hatter" not in kept
    assert b"yes-we-can" not in kept


@pytest.fixture(scope="module")
def chatting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("cli") / "data") as served:
        served.do("signup alice mad-hatter", "signup bob yes-we-can", "pow2 challenge alice bob")
        yield served


HYPHENS = [
    "pow2 chat 15 alice mad-hatter hello - you", "pow2 chat 15 alice mad-hatter - \n- a list\n - of two",
    "message alice mad-hatter bob well played - see you", "message alice mad-hatter bob -",
    "pow2 move 15 alice mad-hatter d7 - g1", "one move 15 alice mad-hatter - a5", "pow2 preview 15 - a1",
    "pow2 is no - command",
]  # fmt: skip


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
def test_a_script_gives_the_password_and_the_text_keeps_its_hyphen(chatting):
    said = chatting.run("do", "pow2 chat 1 alice - hello - you", typed="mad-hatter\n")
    assert (said.returncode, said.stderr) == (0, "")
    assert "hello - you" in chatting.run("do", "pow2 chat 1 bob yes-we-can").stdout


def test_without_the_password_nothing_is_done(chatting):
    said = chatting.run("do", "pow2 chat 1 alice - hello", typed="")
    assert said.returncode == 1
    assert "password of alice" in said.stderr


@pytest.fixture(scope="module")
def signing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A running server where alice and bob play board 1."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    data = tmp_path_factory.mktemp("cli") / "data"
    with Served(data, env={"MATCHPOST_HTTP": address}) as served:
        served.do(*("signup alice mad-hatter", "signup bob yes-we-can"), "pow2 challenge alice bob")
        yield served


@pytest.fixture(params=["here", pytest.param("elsewhere", marks=pytest.mark.long)])
def flags(request: pytest.FixtureRequest, signing: Served) -> list[str]:
    return [] if request.param == "here" else ["--url", f"http://{signing.env['MATCHPOST_HTTP']}"]


def opened(signing: Served, file: Path) -> Receipt:
    note = file.read_text("utf-8")
    shard = int(read_receipt(note).origin[-2:])
    keys = read_public_keys(signing.data / "keys", "receipts-key")
    return open_receipt(note, [shard_key(key, shard, KEY_SUFFIX) for key in keys])


def shown(signing: Served) -> str:
    """The match, without the time that it has waited."""
    return signing.run("do", "pow2 show 1").stdout.split("\n", 1)[1]


def test_the_receipt_of_a_move_is_in_the_file_and_a_repetition_has_the_same(
    signing, tmp_path, flags
):
    # a match of its own, because other tests may have played in board 1 or not
    started = signing.run("do", "pow2 challenge alice bob").stdout
    board = started.removeprefix("match ").partition(",")[0]
    line = f"pow2 move {board} alice mad-hatter m13-j7"
    first, second = tmp_path / "first", tmp_path / "second"
    done = signing.run(*flags, "do", "--key", "k", line, "--receipt", str(first))
    assert (done.returncode, done.stderr) == (0, "")
    assert opened(signing, first).seq == 2
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    again = signing.run(*flags, "do", "--key", "k", line, f"--receipt={second}")
    assert again.stdout == done.stdout
    assert second.read_bytes() == first.read_bytes()
    assert {file.name for file in tmp_path.iterdir()} == {"first", "second"}


def test_a_refused_move_has_a_receipt_too(signing, tmp_path, flags):
    done = signing.run(
        *(*flags, "do", "pow2 move 1 alice mad-hatter accept", "--receipt", str(tmp_path / "file"))
    )
    assert (done.returncode, done.stderr.split(":")[0]) == (1, "offer-stands")
    assert opened(signing, tmp_path / "file").board == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("taken", "it already exists; name a new file"),
        ("no/folder", "there is no folder"),
        ("read-only/file", "it can't be written: "),
    ],
)
def test_a_file_that_can_not_be_written_is_found_before_anything_is_sent(
    signing, tmp_path, flags, place, said
):
    (tmp_path / "taken").write_text("mine")
    (tmp_path / "read-only").mkdir(0o500)
    if place.startswith("read-only") and os.access(tmp_path / "read-only", os.W_OK):
        (tmp_path / "read-only").rmdir()
        place = "x" * 300  # root may write anywhere, but no file has such a name
    before = shown(signing)
    file = str(tmp_path / place)
    done = signing.run(*flags, "do", "pow2 resign 1 alice mad-hatter", "--receipt", file)
    assert done.returncode == 1
    assert said in done.stderr
    assert "nothing was sent" in done.stderr
    assert shown(signing) == before
    assert (tmp_path / "taken").read_text() == "mine"


def test_several_commands_have_no_one_receipt(signing, tmp_path, flags):
    file = tmp_path / "file"
    done = signing.run(*flags, "do", "multiple", "--receipt", str(file), typed="help\n")
    assert done.returncode == 1
    assert "--receipt is for one command, and `multiple` has several" in done.stderr
    assert not file.exists()


def test_a_line_that_is_no_command_of_a_match_has_no_receipt(signing, tmp_path, flags):
    done = signing.run(*flags, "do", "pow2 show 1", "--receipt", str(tmp_path / "file"))
    assert done.returncode == 0
    assert "no receipt was given" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_without_a_receipts_key_nothing_is_sent_from_here(signing, tmp_path):
    key = signing.data / "keys" / "receipts-key"
    key.rename(tmp_path / "away")
    try:
        line = "pow2 resign 1 alice mad-hatter"
        done = signing.run("do", line, "--receipt", str(tmp_path / "file"))
    finally:
        (tmp_path / "away").rename(key)
    assert done.returncode == 1
    assert "this server signs no receipts; nothing was sent" in done.stderr
    assert not (tmp_path / "file").exists()


ASKED = '{"game": "pow2"}\n'


@pytest.mark.parametrize(
    ("words", "typed"),
    [(["--version"], None), (["dance"], None), (["referee"], ASKED), (["do"], "")],
)
def test_a_forked_command_says_what_one_of_its_own_says(words, typed):
    own = subprocess.run(
        [SCRIPT, *words], input=typed, env=os.environ, capture_output=True, text=True, check=False
    )
    forked = run_command(words, os.environ, typed)
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        own.returncode, own.stdout, own.stderr,
    )  # fmt: skip


def test_a_forked_command_has_the_folder_and_the_environment_of_its_caller(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run_command(["do", "pow2 show 1"], {"PATH": os.environ["PATH"]})
    assert f"no server is running for {tmp_path}/" in done.stderr
    named = run_command(["do", "pow2 show 1"], {**os.environ, "MATCHPOST_DATA": "elsewhere"})
    assert f"no server is running for {tmp_path}/elsewhere" in named.stderr


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
    assert "welcome, alice" in done.stdout
    assert "match 1, #0: " in done.stdout
    assert "Commands for everyone" in done.stdout


def test_where_matchpost_is_on_the_path_no_environment_is_entered(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(SCRIPT.parent))
    assert shutil.which("matchpost") == str(SCRIPT)
    first, *_ = typed_lines(banner(Settings(data=tmp_path), "unix:///unused"))
    assert first == f"export MATCHPOST_DATA={tmp_path}"


def test_a_password_is_not_shown_and_durability_none_is_to_be_set_there_too(tmp_path):
    url = "redis://user:sekret@localhost:1"
    said = banner(Settings(data=tmp_path, redis_url=url, durability=Mode.NONE), url)
    assert "sekret" not in said
    assert "The data is on the server at redis://***@localhost:1" in said
    assert "export MATCHPOST_DURABILITY=none" in typed_lines(said)
    assert said.endswith("\nready")
