"""`matchpost do` with a login, and `do --json`, on a real server and on local data."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from services.client import Client
from tests.helpers.served import Served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with an API, where alice and bob have signed up and alice is logged in."""
    data = tmp_path_factory.mktemp("do") / "data"
    with Served(data, {"MATCHPOST_HTTP": "127.0.0.1:0"}) as served:
        served.do("signup alice mad-hatter", "signup bob yes-we-can")
        assert served.run("login", served.url, typed="alice\nmad-hatter\n").returncode == 0
        yield served


@pytest.fixture
def elsewhere(server: Served, monkeypatch: pytest.MonkeyPatch) -> Served:
    """The same server for a user who has chosen no local data."""
    monkeypatch.delitem(server.env, "MATCHPOST_DATA")
    return server


def new_match(server: Served) -> int:
    done = server.run("do", "--data", str(server.data), "pow2 challenge alice bob")
    return int(done.stdout.split()[1].rstrip(","))


def parsed(server: Served, *words: str) -> tuple[int, dict[str, Any]]:
    done = server.run(*words)
    (line,) = done.stdout.splitlines()
    return done.returncode, json.loads(line)


@pytest.mark.parametrize(
    ("name", "flags"),
    [("MATCHPOST_DATA", ["do", "messages", "--data"]), ("MATCHPOST_URL", ["--url"])],
)
@pytest.mark.parametrize("chosen", ["flag", "environment"])
def test_a_choice_of_local_data_or_of_a_url_goes_above_the_login(
    elsewhere: Served, chosen: str, name: str, flags: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = elsewhere.url if name == "MATCHPOST_URL" else str(elsewhere.data)
    words = ["do", "messages"]
    if chosen == "flag":
        words = [*flags, place] if "do" in flags else [*flags, place, *words]
    else:
        monkeypatch.setitem(elsewhere.env, name, place)
    done = elsewhere.run(*words)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("usage: the form is `messages userid password`")


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


# --json


@pytest.fixture(params=["local", "remote"])
def done_as_json(request: pytest.FixtureRequest, elsewhere: Served) -> Callable[[str], Any]:
    """A function that carries out a line with --json, on local data or at the server's URL."""
    local = request.param == "local"
    flags = ["--data", str(elsewhere.data)] if local else []
    url = [] if local else ["--url", elsewhere.url]
    return lambda line: parsed(elsewhere, *url, "do", "--json", *flags, line)


def test_a_command_in_a_match_has_the_fields_of_its_outcome(
    elsewhere: Served, done_as_json: Callable[[str], Any]
) -> None:
    board = new_match(elsewhere)
    code, moved = done_as_json(f"pow2 move {board} alice mad-hatter m13-j7")
    assert code == 0
    assert moved.pop("text").startswith(f"match {board}, #1: Light (alice) played m13-j7; ")
    assert moved.pop("receipt").startswith("localhost/log/s")
    assert len(moved.pop("id")) == 32
    assert moved.pop("index") >= 0
    assert moved == {"code": "", "board": board, "accepted": True, "message": "", "seq": 2}
