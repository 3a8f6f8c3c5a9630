"""`matchpost do --receipt FILE`, on a real server, at its own terminal and over HTTP."""

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from infra.log.key_files import read_public_keys
from infra.log.names import shard_key
from infra.log.receipts import KEY_SUFFIX, Receipt, open_receipt, read_receipt
from tests.helpers.served import Served, until


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A running server where alice and bob play board 1."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    data = tmp_path_factory.mktemp("cli") / "data"
    with Served(data, env={"MATCHPOST_HTTP": address}) as served:
        served.do(*("signup alice mad-hatter", "signup bob yes-we-can"), "pow2 challenge alice bob")
        yield served


@pytest.fixture(params=["here", pytest.param("elsewhere", marks=pytest.mark.long)])
def flags(request: pytest.FixtureRequest, server: Served) -> list[str]:
    return [] if request.param == "here" else ["--url", f"http://{server.env['MATCHPOST_HTTP']}"]


def opened(server: Served, file: Path) -> Receipt:
    note = file.read_text("utf-8")
    shard = int(read_receipt(note).origin[-2:])
    keys = read_public_keys(server.data / "keys", "receipts-key")
    return open_receipt(note, [shard_key(key, shard, KEY_SUFFIX) for key in keys])


def shown(server: Served) -> str:
    """The match, without the time that it has waited."""
    return server.run("do", "pow2 show 1").stdout.split("\n", 1)[1]


def test_the_receipt_of_a_move_is_in_the_file_and_a_repetition_has_the_same(
    server: Served, tmp_path: Path, flags: list[str]
):
    # a match of its own, because other tests may have played in board 1 or not
    started = server.run("do", "pow2 challenge alice bob").stdout
    board = started.removeprefix("match ").partition(",")[0]
    line = f"pow2 move {board} alice mad-hatter m13-j7"
    first, second = tmp_path / "first", tmp_path / "second"
    done = server.run(*flags, "do", "--key", "k", line, "--receipt", str(first))
    assert (done.returncode, done.stderr) == (0, "")
    assert opened(server, first).seq == 2
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    again = server.run(*flags, "do", "--key", "k", line, f"--receipt={second}")
    assert again.stdout == done.stdout
    assert second.read_bytes() == first.read_bytes()
    assert {file.name for file in tmp_path.iterdir()} == {"first", "second"}


def test_a_refused_move_has_a_receipt_too(server: Served, tmp_path: Path, flags: list[str]):
    done = server.run(
        *(*flags, "do", "pow2 move 1 alice mad-hatter accept", "--receipt", str(tmp_path / "file"))
    )
    assert (done.returncode, done.stderr.split(":")[0]) == (1, "offer-stands")
    assert opened(server, tmp_path / "file").board == 1


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
    server: Served, tmp_path: Path, flags: list[str], place: str, said: str
):
    (tmp_path / "taken").write_text("mine")
    (tmp_path / "read-only").mkdir(0o500)
    if place.startswith("read-only") and os.access(tmp_path / "read-only", os.W_OK):
        (tmp_path / "read-only").rmdir()
        place = "x" * 300  # root may write anywhere, but no file has such a name
    before = shown(server)
    file = str(tmp_path / place)
    done = server.run(*flags, "do", "pow2 resign 1 alice mad-hatter", "--receipt", file)
    assert done.returncode == 1
    assert said in done.stderr
    assert "nothing was sent" in done.stderr
    assert shown(server) == before
    assert (tmp_path / "taken").read_text() == "mine"


def test_several_commands_have_no_one_receipt(server: Served, tmp_path: Path, flags: list[str]):
    file = tmp_path / "file"
    done = server.run(*flags, "do", "multiple", "--receipt", str(file), typed="help\n")
    assert done.returncode == 1
    assert "--receipt is for one command, and `multiple` has several" in done.stderr
    assert not file.exists()


def test_a_line_that_is_no_command_of_a_match_has_no_receipt(
    server: Served, tmp_path: Path, flags: list[str]
):
    done = server.run(*flags, "do", "pow2 show 1", "--receipt", str(tmp_path / "file"))
    assert done.returncode == 0
    assert "no receipt was given" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_without_a_receipts_key_nothing_is_sent_from_here(server: Served, tmp_path: Path):
    key = server.data / "keys" / "receipts-key"
    key.rename(tmp_path / "away")
    try:
        line = "pow2 resign 1 alice mad-hatter"
        done = server.run("do", line, "--receipt", str(tmp_path / "file"))
    finally:
        (tmp_path / "away").rename(key)
    assert done.returncode == 1
    assert "this server signs no receipts; nothing was sent" in done.stderr
    assert not (tmp_path / "file").exists()


def test_the_publisher_keeps_the_promise(server: Served):
    url = f"http://{server.env['MATCHPOST_HTTP']}"

    def proof() -> bool:
        return httpx.get(f"{url}/api/matches/1/events/1/proof", trust_env=False).is_success

    until(proof)
