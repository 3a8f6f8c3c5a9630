"""`matchpost login` and `logout`, against a real server."""

import json
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.people.tokens import Scope
from infra.settings.settings import load
from services.app.context import App
from services.client import Client, ProblemError
from services.client.login_file import read_login
from tests.helpers.forked import SCRIPT
from tests.helpers.served import Served

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with an API, where alice and bob have signed up."""
    data = tmp_path_factory.mktemp("login") / "data"
    with Served(data, {"MATCHPOST_HTTP": "127.0.0.1:0"}) as served:
        served.do("signup alice mad-hatter", "signup bob yes-we-can")
        yield served


@pytest.fixture
def home(server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The empty folder of this user's configuration, for commands and for this process."""
    for name in ("MATCHPOST_URL", "MATCHPOST_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setitem(server.env, "XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delitem(server.env, "MATCHPOST_DATA")
    return tmp_path


def file_in(home: Path) -> Path:
    return home / "matchpost" / "login.json"


def logged_in(server: Served, typed: str = "alice\nmad-hatter\n") -> str:
    done = server.run("login", server.url, typed=typed)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def is_valid(url: str, token: str) -> bool:
    try:
        with Client(url, token) as client:
            client.get("/api/account")
    except ProblemError as problem:
        return problem.code != "unknown-token"
    return True


def labels(server: Served, name: str) -> list[str]:
    with App(load({"data": server.data})) as parts:
        return [token.label for token in parts.tokens.list_of(parts.accounts.id_of(name))]


def test_a_login_makes_a_token_that_only_its_user_can_read(server, home):
    printed = logged_in(server)
    file = file_in(home)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in file.parent.iterdir()] == ["login.json"]
    login = json.loads(file.read_text())
    assert (login["url"], login["userid"]) == (server.url, "alice")
    assert printed == (
        f"logged in as alice at {server.url}; the token is in {file}, and `matchpost logout` ends it\n"
    )
    assert is_valid(server.url, login["token"])
    assert labels(server, "alice")[0].startswith("login on ")
    assert login["token"] not in repr(read_login())


def test_a_terminal_shows_no_letter_of_the_password(server, home):
    terminal, end = os.openpty()
    shown = ""

    def wait_for(text: str) -> None:
        nonlocal shown
        while text not in shown:
            shown += os.read(terminal, 1_000).decode()

    process = subprocess.Popen(
        [SCRIPT, "login", server.url],
        env=server.env, stdin=end, stdout=end, stderr=end, start_new_session=True,
    )  # fmt: skip
    try:
        wait_for("userid: ")
        os.write(terminal, b"alice\n")
        wait_for("password of alice: ")
        os.write(terminal, b"mad-hatter\n")
        wait_for("ends it")
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait(60)
        os.close(terminal)
        os.close(end)
    assert "alice\r\n" in shown
    assert "wonder" not in shown
    assert file_in(home).exists()


def test_logging_in_again_ends_the_earlier_token(server):
    logged_in(server)
    first = read_login()
    logged_in(server, "bob\nyes-we-can\n")
    second = read_login()
    assert first is not None
    assert second is not None
    assert not is_valid(server.url, first.token)
    assert is_valid(server.url, second.token)


def test_a_logout_ends_the_token_and_deletes_the_file(server, home):
    logged_in(server)
    login = read_login()
    assert login is not None
    done = server.run("logout")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"logged out alice at {server.url}; the token is revoked\n"
    assert not file_in(home).exists()
    assert not is_valid(server.url, login.token)
    assert server.run("logout").stdout == "you are not logged in on this machine\n"


def test_a_logout_from_a_server_that_does_not_answer_changes_nothing(server, home):
    logged_in(server)
    file = file_in(home)
    file.write_text(file.read_text().replace(server.url, "http://127.0.0.1:9"))
    done = server.run("logout")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("unavailable: http://127.0.0.1:9 does not answer")
    assert file.exists()


def test_a_token_from_elsewhere_is_used_and_stays_valid(server, home):
    with App(load({"data": server.data})) as parts:
        made = parts.tokens.issue(parts.accounts.id_of("bob"), "my bot", [Scope.READ, Scope.PLAY])
    done = server.run("login", server.url, "--token", "-", typed=f"{made.text}\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("logged in as bob at ")
    done = server.run("logout")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"stays valid: end it at {server.url}/account" in done.stdout
    assert is_valid(server.url, made.text)
    assert not file_in(home).exists()


def test_a_token_in_the_command_line_is_refused(server):
    done = server.run("login", server.url, "--token", "mp_secret")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("usage: write `--token -`")
    assert "mp_secret" not in done.stderr


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("alice\nwrong\n", "wrong-password"),
        ("nobody\nat-all\n", "unknown-user"),
        ("alice\n", "usage"),
    ],
)
def test_a_login_that_is_refused_writes_nothing(server, home, typed, code):
    done = server.run("login", server.url, typed=typed)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"{code}: ")
    assert not file_in(home).exists()


@pytest.mark.parametrize("url", ["play.example.org", "ftp://x", "http://a:b@x", "http://x/?y=1"])
def test_what_is_no_url_of_a_server_is_refused(server, url):
    done = server.run("login", url, typed="alice\nmad-hatter\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("usage: ")


def test_a_login_without_encryption_is_warned_of(server):
    done = server.run("login", "http://matchpost.invalid", typed="alice\nmad-hatter\n")
    warned, refused = done.stderr.splitlines()
    assert warned.startswith("http://matchpost.invalid is not encrypted")
    assert refused.startswith("unavailable: ")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_file_that_others_can_read_is_refused(server, home, mode):
    logged_in(server)
    file = file_in(home)
    file.chmod(mode)
    done = server.run("logout")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"`chmod 600 {file}`" in done.stderr
    file.chmod(0o600)
    assert server.run("logout").returncode == 0
