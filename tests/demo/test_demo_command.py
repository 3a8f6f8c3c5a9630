"""`matchpost demo` as an operator runs it."""

import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.request import urlopen

import pytest
from redis import Redis

from infra.health.heartbeats import Heartbeat, Role
from infra.people.account_macs import AccountMacs
from infra.people.accounts import Accounts, create_robot_accounts
from infra.settings.settings import Settings
from infra.valkey.server import EmbeddedServer
from services.cli.demo import NotEmptyError, fill_server, run
from services.demo.community import PEOPLE
from tests.helpers.bench import Bench
from tests.helpers.forked import run_command
from tests.helpers.served import Served, until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A directory that was filled, and what was printed."""
    data = tmp_path_factory.mktemp("filled") / "data"
    done = matchpost("demo", "--fill-only", "--data", str(data))
    assert done.returncode == 0, done.stderr
    return data, done.stdout


@pytest.fixture(scope="module")
def served(output: tuple[Path, str]) -> Iterator[Served]:
    """The server that was filled, as it runs."""
    with Served(output[0], {"MATCHPOST_HTTP": "127.0.0.1:0"}) as server:
        yield server


def matchpost(*words: str) -> subprocess.CompletedProcess[str]:
    return run_command(words, os.environ, seconds=120)


def page(served: Served, path: str) -> str:
    with urlopen(f"{served.url}{path}") as answer:
        return str(answer.read().decode())


@pytest.mark.long
def test_a_second_time_it_is_refused(output: tuple[Path, str]):
    done = matchpost("demo", "--data", str(output[0]))
    assert done.returncode == 1
    assert done.stderr.startswith("matchpost: the server has accounts or matches")
    assert done.stdout == ""


def test_a_directory_in_use_is_refused(served: Served):
    done = served.run("demo")
    assert done.returncode == 2
    assert "is in use by process" in done.stderr


def test_it_says_how_to_log_in(output: tuple[Path, str], served: Served):
    found = re.search(r"Log in as demo, password (\S+)", output[1])
    assert found
    done = served.run("do", f"message demo {found[1]} anneke thanks for the welcome")
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_the_audit_finds_nothing(served: Served):
    def published() -> bool:
        return served.run("verify", "--all").returncode == 0

    until(published)
    done = served.run("verify", "--all")
    assert done.stdout.startswith("all ")


def test_the_doctor_has_no_complaint(served: Served):
    def settled() -> bool:
        return served.run("doctor").returncode == 0

    until(settled)
    report = json.loads(served.run("doctor", "--json").stdout)
    assert {one["level"] for one in report["findings"]} <= {"ok", "note"}


def test_lists_and_ratings_equal_a_rebuild(served: Served):
    until(lambda: _shows_people(page(served, "/ratings/pow2")))
    done = served.run("rebuild", "--check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_page_has_something_to_show(served: Served):
    until(lambda: _shows_people(page(served, "/ratings/pow2")))
    assert "Being played now" in page(served, "/")
    for path in ("/games/pow2/matches", "/players/anneke", "/puzzles", "/challenges", "/m/1"):
        assert _shows_people(page(served, path)), path


def _shows_people(text: str) -> bool:
    return any(person.name in text for person in PEOPLE)


def test_a_match_can_be_exported_and_checked(served: Served, tmp_path: Path):
    until(lambda: served.run("export", "1").returncode == 0)
    file = tmp_path / "match.json"
    file.write_text(served.run("export", "1").stdout)
    assert served.run("verify", str(file)).returncode == 0


# refusals


def test_a_server_with_a_match_is_not_filled(
    valkey: EmbeddedServer, redis_client: Redis, tmp_path: Path
):
    Bench(redis_client, tmp_path / "seeds").start(1)
    assert _is_refused(valkey, redis_client, tmp_path, "accounts or matches")


def test_a_server_with_an_account_is_not_filled(
    valkey: EmbeddedServer, redis_client: Redis, tmp_path: Path
):
    Accounts(redis_client).signup("alice", "mad-hatter")
    assert _is_refused(valkey, redis_client, tmp_path, "accounts or matches")


def test_the_accounts_of_robots_do_not_count(
    valkey: EmbeddedServer, redis_client: Redis, tmp_path: Path
):
    create_robot_accounts(redis_client, AccountMacs())
    settings = Settings(data=tmp_path, redis_url=valkey.url, queue_url=valkey.url)
    assert fill_server(settings, "mad-hatter-7").matches > 150


def test_a_server_that_runs_is_not_filled(
    valkey: EmbeddedServer, redis_client: Redis, tmp_path: Path
):
    Heartbeat(Role.WORKER, "1").write(redis_client, redis_client)
    assert _is_refused(valkey, redis_client, tmp_path, "runs \\(worker\\)")


def _is_refused(valkey: EmbeddedServer, client: Redis, folder: Path, why: str) -> bool:
    before = sorted(client.scan_iter(count=1_000))
    settings = Settings(data=folder, redis_url=valkey.url, queue_url=valkey.url)
    with pytest.raises(NotEmptyError, match=why):
        fill_server(settings, "mad-hatter-7")
    return sorted(client.scan_iter(count=1_000)) == before


def test_nothing_is_filled_where_the_port_is_in_use(tmp_path: Path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as other:
        http = f"127.0.0.1:{other.getsockname()[1]}"
        settings = Settings(data=tmp_path / "data", http=http)
        assert run(settings, None, fill_only=False) == 2
    assert "another program listens there" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


@pytest.mark.long
def test_recording_needs_no_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    written: list[Path] = []

    def record(file: Path) -> Sequence[str]:
        written.append(file)
        return ["line: 1 games"]

    monkeypatch.setattr("services.demo.record.record", record)
    assert run(Settings(data=tmp_path), tmp_path / "games.txt", fill_only=False) == 0
    assert written == [tmp_path / "games.txt"]
    assert capsys.readouterr().out == "line: 1 games\n"
