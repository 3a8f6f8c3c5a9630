import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError

from domain.errors import Code, Refusal
from infra.health.heartbeats import Role
from infra.redis import keys
from infra.settings.settings import SettingsError, setting_table
from infra.store import gateway
from services import __version__
from services.cli import errors
from services.cli.flags import ROLES, SETTINGS, split_line
from services.cli.main import main
from services.cli.subcommands import SUBCOMMANDS, WAIT_SECONDS
from tests.helpers.forked import SCRIPT
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


def test_the_version_is_told(nowhere):
    assert nowhere.run("--version").stdout == f"matchpost {__version__}\n"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["dance"],
        ["do"],
        ["do", "--wait", "soon", "help"],
        ["do", "--wait=-1", "help"],
        ["do", "--wait", "nan", "help"],
        ["do", "help", "--key"],
        ["do", "--kye", "k", "help"],
        ["verify"],
        ["verify", "1", "--dat", "x"],
        ["referee", "x"],
    ],
)
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


def test_web_without_a_server_says_one_sentence_whatever_it_would_serve(nowhere):
    done = nowhere.run("web", "--http", "127.0.0.1:0", "--metrics", "127.0.0.1:0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "unavailable: no server is running for " in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize("line", ["signup alice mad-hatter", "pow2 show 1"])
def test_a_server_that_does_not_answer_is_named(nowhere, line):
    done = nowhere.run("do", line, "--redis-url", "redis://127.0.0.1:1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("unavailable: the server does not answer (Error 111 connecting ")
    assert done.stderr.endswith("Connection refused); look whether it is running\n")


def test_a_server_without_data_is_told(valkey, redis_client, nowhere):
    del redis_client
    done = nowhere.run("do", "pow2 show 1", "--redis-url", valkey.url)
    assert (done.returncode, done.stderr) == (2, "unavailable: there is no data yet\n")


def test_a_setting_that_makes_no_sense_is_told(nowhere):
    done = nowhere.run("do", "help", "--durability", "maybe")
    assert done.returncode == 2
    assert (
        done.stderr
        == "matchpost: --durability must be fsync, replicated, managed or none, not 'maybe'\n"
    )


def test_settings_are_read_from_the_file_that_is_named(nowhere, tmp_path):
    (tmp_path / "my.toml").write_text("shards = 'many'\n")
    done = nowhere.run("do", "help", "--config", str(tmp_path / "my.toml"))
    assert done.returncode == 2
    assert "shards in " in done.stderr


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
        (
            ["pow2", "challenge", "a", "b", "-fast", "--key", "k", "-exact"],
            ["--key", "k"],
            ["pow2", "challenge", "a", "b", "-fast", "-exact"],
        ),
        (
            ["--wait=3", "pow2", "show", "1", "--display=small", "--data=x"],
            ["--wait=3", "--data=x"],
            ["pow2", "show", "1", "--display=small"],
        ),
        (["signup", "a", "--", "--key", "x"], [], ["signup", "a", "--key", "x"]),
        (["help", "--key"], ["--key"], ["help"]),
        (["--help"], ["--help"], []),
    ],
)
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


def test_the_referee_answers_line_by_line(nowhere):
    done = subprocess.run(
        [SCRIPT, "referee"], env=nowhere.env, input=b'{"game": "pow2"}\n{}\n',
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert [json.loads(line)["ok"] for line in done.stdout.splitlines()] == [True, False]


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


@pytest.mark.long
def test_five_equal_commands_at_once_have_five_equal_answers(server):
    assert server.run("do", "pow2 challenge alice bob", "--key", "five").returncode == 0
    assert server.run("do", "pow2 challenge alice bob", "--key", "five").stdout.startswith(
        "match 2, #0: "
    )
    command = ["do", "--key", "six", "pow2 move 2 alice mad-hatter m13-j7"]
    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(lambda _: server.run(*command), range(5)))
    answers.append(server.run(*command))
    assert {(done.returncode, done.stdout, done.stderr) for done in answers} == {
        (0, answers[0].stdout, "")
    }
    assert answers[0].stdout.startswith("match 2, #1: Light (alice) played m13-j7; ")
    assert server.run("verify", "2").stdout.startswith("match 2 holds: 2 events ")
    reused = server.run("do", "--key", "six", "pow2 resign 2 alice mad-hatter")
    assert (reused.returncode, reused.stdout) == (1, "")
    assert reused.stderr.startswith("id-reused: ")


def test_an_outcome_that_is_not_waited_for_is_unknown(server):
    board = int(server.run("do", "pow2 challenge bob alice").stdout.split()[1].strip(","))
    command = ["do", "--wait", "0", "--key", "k", f"pow2 move {board} bob yes-we-can m13-j7"]
    done = server.run(*command)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"pending: match {board}: the command was taken")
    command[2] = "10"
    done = server.run(*command)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_durability_a_move_is_pending(server):
    done = server.run("do", "--durability", "none", "pow2 challenge alice bob")
    assert done.returncode == 2
    assert done.stderr.startswith("pending: with durability none this is never more")
    assert done.stdout.startswith("Remaining Pieces")


def test_a_history_is_verified(server):
    done = server.run("verify", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("match 1 holds: 2 events in sequence, chained, and decided")


@pytest.mark.parametrize("board", ["999", "one"])
def test_a_history_that_is_not_there_is_refused(server, board):
    done = server.run("verify", board)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("unknown-board: ")


@pytest.mark.long
def test_a_tampered_history_is_found(server):
    board = int(server.run("do", "pow2 challenge bob alice").stdout.split()[1].strip(","))
    server.run("do", f"pow2 move {board} bob yes-we-can m13-j7")
    with server.client() as client:
        name = keys.events(board % 8, board)
        data = client.lindex(name, 1)
        client.lset(name, 1, data.replace(b"m13-j7", b"m13-g1"))
    done = server.run("verify", str(board))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"match {board} does not hold: event 2: ")


def test_no_password_is_in_the_logs_or_the_data(server):
    kept = (server.data.parent / "serve.log").read_bytes()
    for path in server.data.rglob("*"):
        if path.is_file():
            kept += path.read_bytes()
    assert b"pow2" in kept
    assert b"mad-hatter" not in kept
    assert b"yes-we-can" not in kept
