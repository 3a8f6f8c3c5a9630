"""`matchpost login` and `logout`, against a server in this process."""

import io
import json
import os
import re
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from infra.people.tokens import Scope
from services.app.apps import answer_device, connected_apps
from services.cli.main import main
from services.client.connect import find_connection
from services.client.login_file import read_login
from tests.helpers.api import PASSWORD, Api
from tests.helpers.forked import SCRIPT


class Done(NamedTuple):
    """What a command has printed, and how it ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch, capsys) -> Callable[..., Done]:
    """Run a command of `matchpost`, with lines that are typed."""

    def run(*words: str, typed: str = "") -> Done:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = main(words)
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a login is kept; this user has no configuration and no variables."""
    for name in ("MATCHPOST_URL", "MATCHPOST_TOKEN", "MATCHPOST_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path / "matchpost" / "login.json"


def log_in(api: Api, run: Callable[..., Done]) -> str:
    """Log a new player in; return the name."""
    name = api.player().name
    done = run("login", api.url, typed=f"{name}\n{PASSWORD}\n")
    assert (done.code, done.err) == (0, "")
    return name


def is_valid(api: Api, token: str) -> bool:
    headers = {"Authorization": f"Bearer {token}"}
    return api.http.get("/api/account", headers=headers).is_success


def test_a_login_makes_a_token_that_only_its_user_can_read_and_that_can_only_read_and_play(
    api, run, file
):
    name = api.player().name
    done = run("login", f"{api.url}/", "--userid", name.upper(), typed=f"{PASSWORD}\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in file.parent.iterdir()] == ["login.json"]
    login = json.loads(file.read_text())
    assert (login["url"], login["userid"]) == (api.url, name)
    assert done.out == (
        f"logged in as {name} at {api.url}; the token is in {file}, and `matchpost logout` ends it\n"
    )
    assert is_valid(api, login["token"])
    assert login["token"] not in repr(read_login())
    newest = api.parts.tokens.list_of(api.parts.accounts.id_of(name))[0]
    assert newest.label.startswith("login on ")
    assert newest.scopes == (Scope.READ, Scope.PLAY)


@pytest.mark.slow
def test_a_terminal_shows_no_letter_of_the_password(api, file):
    name = api.player().name
    terminal, end = os.openpty()
    shown = ""

    def wait_for(text: str) -> None:
        nonlocal shown
        while text not in shown:
            shown += os.read(terminal, 1_000).decode()

    with subprocess.Popen(
        [SCRIPT, "login", api.url], stdin=end, stdout=end, stderr=end, start_new_session=True
    ) as process:
        wait_for("userid: ")
        os.write(terminal, f"{name}\n".encode())
        wait_for(f"password of {name}: ")
        os.write(terminal, f"{PASSWORD}\n".encode())
        wait_for("ends it")
        assert process.wait(60) == 0
    os.close(terminal)
    os.close(end)
    assert f"{name}\r\n" in shown
    assert PASSWORD not in shown
    assert file.exists()


def test_a_later_login_and_a_logout_end_the_token_and_one_that_reaches_nobody_changes_nothing(
    api, run, file
):
    log_in(api, run)
    earlier = read_login().token
    name = log_in(api, run)
    token, kept = read_login().token, file.read_text()
    assert [is_valid(api, one) for one in (earlier, token)] == [False, True]
    file.write_text(kept.replace(api.url, "http://127.0.0.1:9"))
    done = run("logout")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("unavailable: http://127.0.0.1:9 does not answer")
    file.write_text(kept)
    assert run("logout") == (0, f"logged out {name} at {api.url}; the token is revoked\n", "")
    assert not file.exists()
    assert not is_valid(api, token)
    assert run("logout").out == "you are not logged in on this machine\n"


def test_a_token_from_elsewhere_is_used_and_stays_valid(api, run, file):
    bob = api.player()
    refused = run("login", api.url, "--token", bob.token)
    assert refused.code == 1
    assert refused.err.startswith("usage: write `--token -`")
    assert bob.token not in refused.err
    done = run("login", api.url, "--token", "-", typed=f"{bob.token}\n")
    assert done.out.startswith(f"logged in as {bob.name} at ")
    assert f"stays valid: end it at {api.url}/account" in run("logout").out
    assert is_valid(api, bob.token)
    assert not file.exists()


def test_a_login_that_is_refused_writes_nothing(api, run, file):
    name = api.player().name
    for typed, code in (
        (f"{name}\nwrong\n", "wrong-password"),
        ("nobody\nat-all\n", "unknown-user"),
        (f"{name}\n", "usage"),
    ):
        done = run("login", api.url, typed=typed)
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith(f"{code}: ")
    for url in ("play.example.org", "ftp://x", "http://a:b@x", "http://x/?y=1"):
        done = run("login", url, typed=f"{name}\n{PASSWORD}\n")
        assert (done.code, done.err[:7]) == (1, "usage: "), url
    done = run("login", "http://matchpost.invalid", typed=f"{name}\n{PASSWORD}\n")
    warned, refused = done.err.splitlines()
    assert warned.startswith("http://matchpost.invalid is not encrypted")
    assert refused.startswith("unavailable: ")
    assert not file.exists()


def test_a_file_that_others_can_read_is_refused_and_a_damaged_one_is_replaced(api, run, file):
    log_in(api, run)
    for mode in (0o640, 0o604, 0o620):
        file.chmod(mode)
        done = run("logout")
        assert (done.code, done.out) == (1, "")
        assert f"`chmod 600 {file}`" in done.err
    file.chmod(0o600)
    file.write_text("{")
    assert "is damaged" in run("logout").err
    name = api.player().name
    done = run("login", api.url, typed=f"{name}\n{PASSWORD}\n")
    assert done.err.startswith("the earlier login is replaced, and its token stays valid: ")
    assert read_login().userid == name
    assert file.stat().st_mode & 0o777 == 0o600


def test_flag_and_environment_go_above_the_login_and_never_take_its_token(api, run, monkeypatch):
    assert find_connection() is None
    name = log_in(api, run)
    token, there = read_login().token, "http://environment.example"
    assert str(find_connection()) == f"{name} at {api.url}"
    monkeypatch.setenv("MATCHPOST_TOKEN", "mp_environment")
    assert (find_connection().url, find_connection().token) == (api.url, token)
    monkeypatch.setenv("MATCHPOST_URL", there)
    assert (find_connection().url, find_connection().token) == (there, "mp_environment")
    monkeypatch.delenv("MATCHPOST_TOKEN")
    found = find_connection("http://flag.example")
    assert (found.url, found.token) == ("http://flag.example", None)
    done = run("login", api.url, typed=f"{name}\n{PASSWORD}\n")
    assert done.err == "MATCHPOST_URL is set, and overrides the login\n"


@pytest.fixture
def answered_by(api, monkeypatch):
    """Have the user answer at a browser while the terminal waits for the first time."""

    def by(name: str, *, allowed: bool) -> None:
        waited: list[float] = []
        shown = io.BytesIO()

        def answer(seconds: float) -> None:
            waited.append(seconds)
            assert len(waited) < 5, "it goes on asking"
            if len(waited) == 2:
                (code,) = re.findall(r"type (\w{4}-\w{4});", shown.getvalue().decode())
                answer_device(api.parts, api.parts.accounts.id_of(name), code, allowed=allowed)

        # not `time.sleep` itself, which other threads call
        monkeypatch.setattr("services.cli.login.time", SimpleNamespace(sleep=answer))
        monkeypatch.setattr("sys.stderr", io.TextIOWrapper(shown, write_through=True))

    return by


def test_a_terminal_is_let_in_by_a_browser_and_out_by_itself(api, run, file, answered_by):
    name = api.player().name
    answered_by(name, allowed=True)
    done = run("login", api.url, "--device")
    assert done.code == 0
    assert done.out.startswith(f"logged in as {name} at {api.url}; ")
    login = json.loads(file.read_text())
    account = api.parts.accounts.id_of(name)
    (token,) = [one for one in api.parts.tokens.list_of(account) if one.app]
    assert (token.id, token.scopes) == (login["token_id"], (Scope.READ, Scope.PLAY))
    assert token.expires - token.created == 365 * 86_400_000
    assert [one.name for one in connected_apps(api.parts, account)] == ["matchpost login --device"]
    assert run("logout").code == 0
    assert not is_valid(api, login["token"])
    assert connected_apps(api.parts, account) == []


def test_a_terminal_that_is_refused_keeps_its_earlier_login(api, run, file, answered_by):
    log_in(api, run)
    before = file.read_text()
    answered_by(api.player().name, allowed=False)
    assert run("login", api.url, "--device").code == 1
    assert file.read_text() == before
    assert run("login", api.url, "--device", "--userid", "alice").code == 1
