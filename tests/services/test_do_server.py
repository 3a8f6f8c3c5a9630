"""`matchpost do` asks a server that runs, and is answered as if it had done everything itself; with a login, and as JSON."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from domain.errors import Code, Refusal
from infra.log.key_files import read_public_keys
from infra.log.names import shard_key
from infra.log.receipts import KEY_SUFFIX, open_receipt, read_receipt
from infra.redis.keys import DURABILITY, HEARTBEATS
from infra.settings.settings import Settings
from infra.valkey.directory import DataDirectory
from services.cli import do_protocol
from services.cli.do_protocol import (
    NO_MATTER,
    LineRequest,
    LineResult,
    Prompt,
    PromptsRequest,
    ask,
    identity,
)
from services.cli.do_server import DoServer
from services.client import Client
from tests.fakes.app import Terminal
from tests.helpers.forked import run_command
from tests.helpers.served import Served, until

HERE = {"MATCHPOST_DEBUG": "1"}
"""With this a command asks no server, so that it can show where an error was raised."""

ROOT = Path(__file__).parents[2]

SLOW = ("redis", "lark", "argon2", "rq", "httpx", "domain.games", "services.app.context")
"""Modules that only the process needs that carries a line out."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on which alice and bob play match 1, and alice is logged in."""
    data = tmp_path_factory.mktemp("do") / "data"
    with Served(data, {"MATCHPOST_HTTP": "127.0.0.1:0", "MATCHPOST_LOG_LEVEL": "debug"}) as served:
        served.do(
            "signup alice mad-hatter", "signup bob yes-we-can", "set bob yes-we-can language de",
            "pow2 challenge alice bob", "pow2 move 1 bob yes-we-can accept",
        )  # fmt: skip
        assert served.run("login", served.url, typed="alice\nmad-hatter\n").returncode == 0
        yield served


@pytest.fixture
def elsewhere(server: Served, monkeypatch: pytest.MonkeyPatch) -> Served:
    """The same server for a user who has chosen no local data."""
    monkeypatch.delitem(server.env, "MATCHPOST_DATA")
    return server


def run_beside(
    server: Served, *words: str, typed: str | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run `matchpost do` with further variables."""
    return run_command(["do", *words], {**server.env, **env}, typed)


def new_match(server: Served) -> int:
    done = server.run("do", "--data", str(server.data), "pow2 challenge alice bob")
    return int(done.stdout.split()[1].rstrip(","))


def imported(server: Served, *lines: str) -> list[str]:
    """The slow modules that commands import."""
    code = (
        "import sys\nfrom services.cli.main import main\n"
        "for line in sys.argv[1:]:\n    main(['do', line])\n"
        f"print(*(name for name in {SLOW} if name in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *lines],
        env=server.env, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return done.stderr.splitlines()[-1].split()


def test_a_command_that_is_answered_by_a_server_imports_nothing_of_it(server: Served) -> None:
    assert imported(server, "pow2 show 1", "pow2 move 1 alice mad-hatter m13-j7") == []


LINES = [
    ["help --lang=de"], [" "], ["pow2 show 1 --display=small"], ["pow2 show 99"], ["messages bob yes-we-can"],
    ["messages alice wrong-one"], ["x" * 5_000],
    ["pow2 chat 1 alice mad-hatter \udcff"], ["multiple\nhelp games\npow2 show 1\ndance\nmessages bob yes-we-can"],
    ["--json", "dance"], ["--key", "k" * 300, "pow2 move 1 alice mad-hatter m13-j7"],
]  # fmt: skip


def test_a_line_has_the_same_answer_in_either_process(server: Served) -> None:
    for words in LINES:
        asked, alone = (
            (done.returncode, done.stdout, done.stderr)
            for done in (run_beside(server, *words), run_beside(server, *words, **HERE))
        )
        assert asked == alone
        assert asked[1] or asked[2]


def test_a_command_with_a_key_is_carried_out_once_by_whatever_process(server: Served) -> None:
    line = ["--key", "once", "--json", "pow2 move 1 bob yes-we-can propose draw"]
    asked, alone = run_beside(server, *line), run_beside(server, *line, **HERE)
    first, second = json.loads(asked.stdout), json.loads(alone.stdout)
    assert (asked.returncode, alone.returncode) == (0, 0)
    assert first["text"].startswith("Partie 1, #")
    assert (first["receipt"] is None) == (second["receipt"] is None)
    assert first | {"receipt": None} == second | {"receipt": None}
    text = [*line[:2], *line[3:]]
    assert run_beside(server, *text).stdout == run_beside(server, *text, **HERE).stdout


def test_lines_and_passwords_come_from_the_standard_input(server: Served) -> None:
    said = run_beside(server, "pow2 chat 1 alice - hello - you", typed="mad-hatter\n")
    assert (said.returncode, said.stderr) == (0, "")
    assert run_beside(server, "pow2 chat 1 alice - no", typed="").stderr == (
        "usage: the password of alice is empty; nothing was done\n"
    )
    several = run_beside(server, "multiple", typed="pow2 chat 1 bob yes-we-can\ndance\n")
    assert "hello - you" in several.stdout
    assert "unknown-command: " in several.stdout


def test_nobody_else_can_connect(server: Served) -> None:
    place = DataDirectory(server.data).line_socket
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700


def test_a_choice_of_local_data_or_of_a_url_goes_above_the_login(elsewhere: Served) -> None:
    data, url = str(elsewhere.data), elsewhere.url
    for words, env in (
        (["do", "messages", "--data", data], {}), (["--url", url, "do", "messages"], {}),
        (["do", "messages"], {"MATCHPOST_DATA": data}), (["do", "messages"], {"MATCHPOST_URL": url}),
    ):  # fmt: skip
        done = run_command(words, {**elsewhere.env, **env})
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("usage: the form is `messages userid password`"), words


def test_a_login_that_others_can_read_is_not_used(elsewhere: Served) -> None:
    file = Path(elsewhere.env["XDG_CONFIG_HOME"]) / "matchpost" / "login.json"
    file.chmod(0o644)
    try:
        done = elsewhere.run("do", "messages")
        assert (done.returncode, done.stdout) == (1, "")
        assert f"`chmod 600 {file}`" in done.stderr
    finally:
        file.chmod(0o600)


def test_a_token_that_was_ended_says_how_to_log_in_again(
    elsewhere: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(elsewhere.env, "XDG_CONFIG_HOME", str(tmp_path))
    elsewhere.run("login", elsewhere.url, typed="bob\nyes-we-can\n")
    login = json.loads((tmp_path / "matchpost" / "login.json").read_text())
    with Client(elsewhere.url, login["token"]) as client:
        client.delete(f"/api/tokens/{login['token_id']}")
    done = elsewhere.run("do", "messages")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"bob at {elsewhere.url}\nunknown-token: the token is unknown, or no longer valid; "
        "`matchpost login URL` makes another\n"
    )


def test_a_command_in_a_match_has_the_fields_of_its_outcome_as_json(elsewhere: Served) -> None:
    def moved(*flags: str) -> dict[str, Any]:
        board = new_match(elsewhere)
        line = f"pow2 move {board} alice mad-hatter m13-j7"
        done = elsewhere.run(*flags, line)
        found: dict[str, Any] = json.loads(done.stdout)
        assert (done.returncode, found.pop("board")) == (0, board)
        assert found.pop("text").startswith(f"match {board}, #1: Light (alice) played m13-j7; ")
        return found

    for words in (
        ("do", "--json", "--data", str(elsewhere.data)), ("--url", elsewhere.url, "do", "--json"),
    ):  # fmt: skip
        found = moved(*words)
        assert found.pop("receipt").startswith("localhost/log/s")
        assert len(found.pop("id")) == 32
        assert found.pop("index") >= 0
        assert found == {"code": "", "accepted": True, "message": "", "seq": 2}


def test_an_outcome_that_is_not_waited_for_is_unknown(server: Served) -> None:
    board = new_match(server)
    line = f"pow2 move {board} alice mad-hatter m13-j7"
    done = run_beside(server, "--wait", "0", "--key", "k", line)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"pending: match {board}: the command was taken")
    done = run_beside(server, "--wait", "10", "--key", "k", line)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("is_here", [True, pytest.param(False, marks=pytest.mark.long)])
def test_the_receipt_of_a_move_is_in_the_file_and_a_repetition_has_the_same(
    server: Served, tmp_path: Path, *, is_here: bool
) -> None:
    flags = [] if is_here else ["--url", server.url]
    line = f"pow2 move {new_match(server)} alice mad-hatter m13-j7"
    first, second = tmp_path / "first", tmp_path / "second"
    done = server.run(*flags, "do", "--key", "k2", line, "--receipt", str(first))
    assert (done.returncode, done.stderr) == (0, "")
    note = first.read_text("utf-8")
    shard = int(read_receipt(note).origin[-2:])
    keys = read_public_keys(server.data / "keys", "receipts-key")
    assert open_receipt(note, [shard_key(key, shard, KEY_SUFFIX) for key in keys]).seq == 2
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    again = server.run(*flags, "do", "--key", "k2", line, f"--receipt={second}")
    assert again.stdout == done.stdout
    assert second.read_bytes() == first.read_bytes()
    assert {file.name for file in tmp_path.iterdir()} == {"first", "second"}


def test_no_password_is_in_the_logs_or_the_data(server: Served) -> None:
    kept = (server.data.parent / "serve.log").read_bytes()
    for path in server.data.rglob("*"):
        if path.is_file():
            kept += path.read_bytes()
    assert b"pow2" in kept
    assert b"mad-hatter" not in kept
    assert b"yes-we-can" not in kept


def test_jobs_and_leases_are_with_the_queue_and_nothing_else_is(server: Served) -> None:
    with server.client() as data, server.queue() as queue:
        until(lambda: queue.exists("rq:workers"))
        assert not data.keys("rq:*")
        assert not data.keys("{lease:*")
        names = {name.decode() for name in queue.scan_iter()}
        known = ("rq:", "{lease:", DURABILITY, HEARTBEATS)
        signals = [name for name in names if not name.endswith(":published")]
        assert not [name for name in signals if not name.startswith(known)]


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_that_ends_at_work_leaves_an_outcome_that_is_not_known(
    tmp_path: Path, number: signal.Signals
) -> None:
    line = "pow2 move 1 alice mad-hatter m13-j7"
    with Served(tmp_path / "data", {"MATCHPOST_HTTP": "127.0.0.1:0"}) as served:
        served.do(
            "signup alice mad-hatter", "signup bob yes-we-can", "pow2 challenge alice bob",
            "pow2 move 1 bob yes-we-can accept",
        )  # fmt: skip
        (worker,), (web,) = served.children("worker"), served.children(" web ")
        os.kill(worker, signal.SIGSTOP)
        ended: list[subprocess.CompletedProcess[str]] = []
        asking = Thread(target=lambda: ended.append(served.run("do", "--wait", "50", line)))
        asking.start()
        with served.client() as client:
            until(lambda: any(client.xlen(key) for key in client.keys("{s*}:in")))
        os.kill(web, number)
        asking.join()
        os.kill(worker, signal.SIGCONT)
        (done,) = ended
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("unavailable: the server ended before it answered")
        (key,) = re.findall(r"--key ([0-9a-f]{32})`", done.stderr)
        again = served.run("do", "--key", key, line)
        assert again.returncode == 0
        assert again.stdout.startswith("match 1, #1: Light (alice) played m13-j7")
        # and the process that was started again is asked like the first
        until(lambda: imported(served, "pow2 show 1") == [], pause=0.5)


# in this process


@pytest.fixture
def listening(terminal: Terminal) -> Iterator[DoServer]:
    server = DoServer(terminal.app)
    yield server
    server.close()


def request(line: str, key: str = "k") -> LineRequest:
    return LineRequest(line, key, 5.0, receipts=False, needs_receipt=False)


@contextmanager
def connected(settings: Settings) -> Iterator[socket.socket]:
    """A connection that has been greeted."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(DataDirectory(settings.data).line_socket))
        greeting = identity(settings)
        assert client.recv(len(greeting), socket.MSG_WAITALL) == greeting
        yield client


@pytest.mark.usefixtures("listening")
def test_a_request_that_makes_no_sense_ends_its_connection_alone(terminal: Terminal) -> None:
    for sent in (b"", b"{}\n", b'{"type":"line"', b"\xff\n", b"[]\n"):
        with connected(terminal.app.settings) as client:
            client.sendall(sent)
            client.shutdown(socket.SHUT_WR)
            assert client.recv(1) == b""
    assert ask(terminal.app.settings, request("games"), LineResult) is not None


@pytest.mark.usefixtures("listening")
def test_another_user_is_told_nothing(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(do_protocol.os, "geteuid", lambda: os.getuid() + 1)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(DataDirectory(terminal.app.settings.data).line_socket))
        assert client.recv(1) == b""
    assert ask(terminal.app.settings, request("games"), LineResult) is None


READ_ALL_THE_SAME = {
    # of the mail that tells of a change
    ("services/app/context.py", "mail_domain"),
    # a terminal at the data has no network whose attempts are counted, and may always make accounts
    ("services/app/context.py", "password_rate"),
    ("services/app/admission.py", "signups"),
    # of browsers
    ("services/app/passwords.py", "relay"),
    ("services/app/passwords.py", "site"),
    ("services/app/preferences.py", "push_services"),
    ("services/app/preferences.py", "site"),
    # of webhooks, which are made over HTTP
    ("services/app/hooks.py", "hook_hosts"),
    ("services/app/hooks.py", "mail_domain"),
    # of game texts and dumps, which no line asks for
    ("services/app/exports.py", "site"),
    ("services/app/dump.py", "archive_after"),
    # of a server that is moved while none runs
    ("services/app/moving.py", "maxmemory"),
}
"""Modules and settings that don't matter."""


def test_no_answer_to_a_line_depends_on_settings_that_do_not_matter() -> None:
    folders = ["app", "language", "words"], ["people", "store", "archive", "projections"]
    files = [
        file
        for top, names in zip(["services", "infra"], folders, strict=True)
        for name in names
        for file in (ROOT / top / name).rglob("*.py")
    ]
    read = {
        (str(file.relative_to(ROOT)), name)
        for file in files
        for name in re.findall(r"settings\.(\w+)", file.read_text())
    }
    assert ("services/app/context.py", "durability") in read
    assert {one for one in read if one[1] in NO_MATTER - {"data"}} == READ_ALL_THE_SAME


@pytest.mark.usefixtures("listening")
def test_an_error_of_the_server_is_one_line_and_no_end(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> bytes:
        raise KeyError("mad-hatter")

    monkeypatch.setattr(terminal.app.accounts, "id_of", fail)
    monkeypatch.setattr(terminal.app.accounts, "authenticate", fail, raising=False)
    monkeypatch.setattr(type(terminal.app.store), "snapshots", fail)
    result = ask(terminal.app.settings, request("pow2 show 1"), LineResult)
    assert result is not None
    assert (result.code, result.exit_code) == ("unavailable", 2)
    assert "mad-hatter" not in result.sentence


def test_the_socket_goes_with_its_server_and_never_with_an_older_one(terminal: Terminal) -> None:
    place = DataDirectory(terminal.app.settings.data).line_socket
    older = DoServer(terminal.app)
    newer = DoServer(terminal.app)
    older.close()
    assert ask(terminal.app.settings, request("games"), LineResult) is not None
    newer.close()
    assert not place.exists()
    assert ask(terminal.app.settings, request("games"), LineResult) is None


# something that listens where a server would


@contextmanager
def listening_at(settings: Settings, answer: Callable[[socket.socket], object]) -> Iterator[None]:
    """Something that listens where a server would, and answers one client."""
    place = DataDirectory(settings.data).line_socket
    place.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
        listener.listen()

        def serve() -> None:
            client, _ = listener.accept()
            with client:
                answer(client)

        serving = Thread(target=serve)
        serving.start()
        yield
        serving.join()


@pytest.mark.parametrize(
    "greeting", [b"", b"matchpost of another version\n", b"x" * 10_000], ids=len
)
def test_what_is_no_server_of_this_version_hears_nothing(tmp_path: Path, greeting: bytes) -> None:
    settings = Settings(data=tmp_path)
    heard: list[bytes] = []

    def answer(client: socket.socket) -> None:
        client.sendall(greeting)
        client.shutdown(socket.SHUT_WR)
        heard.append(client.recv(1_000))

    with listening_at(settings, answer):
        assert ask(settings, request("signup alice mad-hatter"), LineResult) is None
    assert heard == [b""]


@pytest.mark.parametrize("reply", [b"", b'{"sentence":"done"', b'{"sentence":"do'])
def test_half_an_answer_is_none(tmp_path: Path, reply: bytes) -> None:
    settings = Settings(data=tmp_path)

    def answer(client: socket.socket) -> None:
        client.sendall(identity(settings))
        client.recv(1_000)
        client.sendall(reply)

    with listening_at(settings, answer):
        with pytest.raises(Refusal, match="not known whether the line was carried out") as caught:
            ask(settings, request("signup alice mad-hatter", "some-key"), LineResult)
        assert caught.value.code is Code.UNAVAILABLE
        assert "--key some-key" in caught.value.sentence
        assert "mad-hatter" not in caught.value.sentence
    with listening_at(settings, answer):
        assert ask(settings, PromptsRequest("signup alice -"), list[Prompt]) is None
