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


@pytest.mark.long
def test_a_line_goes_to_the_server_of_the_login_which_is_named(elsewhere: Served) -> None:
    board = new_match(elsewhere)
    done = elsewhere.run("do", "pow2", "move", str(board), "m13-j7")
    assert (done.returncode, done.stderr) == (0, f"alice at {elsewhere.url}\n")
    assert done.stdout.startswith(f"match {board}, #1: Light (alice) played m13-j7; ")
    refused = elsewhere.run("do", "pow2", "move", str(board), "m1-m5")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == (
        f"alice at {elsewhere.url}\nnot-your-turn: you play Light, and it is Dark's turn\n"
    )


@pytest.mark.long
def test_a_line_may_have_the_password_of_the_login_all_the_same(elsewhere: Served) -> None:
    board = new_match(elsewhere)
    done = elsewhere.run("do", f"pow2 chat {board} alice - hello", typed="mad-hatter\n")
    assert (done.returncode, done.stdout) == (0, f"said in match {board}\n")
    with_hyphen = elsewhere.run("do", f"pow2 chat {board} bob - hello", typed="")
    assert with_hyphen.returncode == 0
    assert "bob - hello" in elsewhere.run("do", f"pow2 chat {board}").stdout


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


def test_without_a_login_the_data_in_this_folder_are_used(
    elsewhere: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(elsewhere.env, "XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    done = elsewhere.run("do", "pow2 show 1")
    assert done.returncode == 2
    assert done.stderr.startswith(f"unavailable: no server is running for {tmp_path}")


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


@pytest.mark.long
def test_a_recorded_refusal_has_the_fields_of_its_outcome_too(
    elsewhere: Served, done_as_json: Callable[[str], Any]
) -> None:
    board = new_match(elsewhere)
    code, refused = done_as_json(f"pow2 move {board} bob yes-we-can a13-d7")
    assert (code, refused["code"], refused["accepted"]) == (1, "not-your-turn", False)
    assert refused["text"] == refused["message"] == "you play Dark, and it is Light's turn"
    code, refused = done_as_json(f"pow2 resign {board} bob nonsense")
    assert (code, refused["code"], set(refused)) == (1, "wrong-password", {"text", "code"})


def test_the_object_is_that_of_the_api(elsewhere: Served) -> None:
    board = new_match(elsewhere)
    login = json.loads(
        (Path(elsewhere.env["XDG_CONFIG_HOME"]) / "matchpost" / "login.json").read_text()
    )
    _, printed = parsed(elsewhere, "do", "--json", "--key", "same", f"pow2 move {board} m13-j7")
    with Client(elsewhere.url, login["token"]) as client:
        known = client.get(f"/api/matches/{board}/commands/{printed['id']}")
    del printed["text"]
    assert printed == known


@pytest.mark.long
@pytest.mark.parametrize("line", ["games", "pow2 show 999", "dance", "multiple\ngames\ngames"])
def test_any_other_line_has_text_and_code_and_nothing_else(elsewhere: Served, line: str) -> None:
    local = parsed(elsewhere, "do", "--json", "--data", str(elsewhere.data), line)
    remote = parsed(elsewhere, "do", "--json", line)
    assert local == remote
    assert set(local[1]) == {"text", "code"}
    assert local[0] == (1 if local[1]["code"] else 0)


def test_a_server_that_does_not_answer_is_an_object_too(elsewhere: Served, tmp_path: Path) -> None:
    code, remote = parsed(elsewhere, "--url", "http://127.0.0.1:9", "do", "--json", "games")
    assert (code, remote["code"]) == (2, "unavailable")
    assert remote["text"].startswith("http://127.0.0.1:9 does not answer")
    code, local = parsed(elsewhere, "do", "--json", "--data", str(tmp_path / "none"), "pow2 show 1")
    assert (code, local["code"]) == (2, "unavailable")
    assert local["text"].startswith("no server is running for ")


@pytest.mark.long
def test_an_outcome_that_is_not_known_has_only_text_and_code(elsewhere: Served) -> None:
    board = new_match(elsewhere)
    code, pending = parsed(
        elsewhere, "do", "--json", "--wait", "0", "--key", "k9", f"pow2 move {board} m13-j7"
    )
    assert (code, pending["code"], set(pending)) == (2, "pending", {"text", "code"})
