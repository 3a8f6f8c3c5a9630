"""Matches that move between real servers: with their history, and with all that proves it."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from infra.audit.match_document import read_document, without_private_parts
from tests.helpers.served import Served, until


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Served]]:
    """Two servers, each with players of its own."""
    with ExitStack() as stack:
        found = []
        for name, players in (("a", ("alice", "bob")), ("b", ("anna", "ben"))):
            served = Served(
                tmp_path_factory.mktemp(name) / "data",
                {"MATCHPOST_MAIL_DOMAIN": f"{name}.example.org", "MATCHPOST_SHARDS": "4"},
            )
            stack.enter_context(served)
            served.do(*(f"signup {player} {player}-keeps-it" for player in players))
            found.append(served)
        yield found


def move(served: Served, board: int, player: str, text: str) -> None:
    served.do(f"pow2 move {board} {player} {player}-keeps-it {text}")


def transfer(served: Served, board: int, player: str, other: str) -> None:
    move(served, board, player, "propose transfer")
    move(served, board, other, "accept")


def accept(served: Served, board: int, *players: str) -> None:
    for player in players:
        move(served, board, player, "accept")


def import_to(served: Served, file: Path, light: str, dark: str, *more: str) -> str:
    """Import a file, which must be accepted; return what was printed."""
    players = ("--player", f"Light={light}", "--player", f"Dark={dark}")
    done = served.run("import", str(file), *players, *more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(served: Served, *words_: str) -> str:
    """Run what must be refused; return the sentence."""
    done = served.run(*words_)
    assert done.returncode == 1, done.stdout
    return done.stderr


def exported(served: Served, board: int, folder: Path) -> Path:
    """The document of a match, once all its leaves are published."""
    file = folder / f"{served.data.parent.name}-{board}.json"

    def whole() -> bool:
        done = served.run("export", str(board))
        assert done.returncode == 0, done.stderr
        file.write_text(done.stdout)
        document = json.loads(done.stdout)
        return len(document["log"]["proofs"]) == len(document["leaves"])

    until(whole)
    return file


def show(served: Served, board: int) -> str:
    done = served.run("do", f"pow2 show {board}")
    assert done.returncode == 0, done.stderr
    return done.stdout


def key_of(served: Served) -> str:
    return str(served.data / "keys" / "log-key.pub")


@pytest.mark.long
def test_a_match_goes_on_at_another_server_with_all_that_proves_it(servers, tmp_path):
    a, b = servers
    a.do("pow2 challenge alice bob")
    first = 1
    move(a, first, "alice", "m13-m9")
    move(a, first, "bob", "a13-c11")
    running = ("import", str(exported(a, first, tmp_path)), "--player", "Light=anna")
    assert "the match still runs at a.example.org" in refused(b, *running)
    transfer(a, first, "alice", "bob")
    assert "it continues on another server, and doesn’t count here" in show(a, first)

    file = exported(a, first, tmp_path)
    other = refused(b, "import", str(file), "--key", key_of(b))
    assert "none of the keys that you named is one of a.example.org/log/s" in other
    said = import_to(b, file, "anna", "ben", "--key", key_of(a))
    assert "signed by a key that you named, covers all its leaves" in said
    assert f"imported from a.example.org, board {first}; proven by its log" in said
    assert "`pow2 move 1 USERID PASSWORD accept`" in said
    again = import_to(b, file, "anna", "ben")
    assert "it was imported before, as match 1" in again
    assert "its key comes from the file itself" in again
    swapped = ("--player", "Light=ben", "--player", "dark=anna")
    assert "as match 1 for other players" in refused(b, "import", str(file), *swapped)

    assert "#2: waiting for Light (anna) and Dark (ben) to accept" in show(b, 1)
    accept(b, 1, "anna", "ben")
    assert "#2: it is Light's turn (anna); the last move was a13-c11" in show(b, 1)
    move(b, 1, "anna", "m9-m13")
    assert f"imported from a.example.org, board {first};" in b.run("verify", "1").stdout
    transfer(b, 1, "ben", "anna")

    second = exported(b, 1, tmp_path)
    document = read_document(second.read_bytes())
    assert document.imported_from == without_private_parts(read_document(file.read_bytes()))
    verdict = b.run("verify", str(second), "--key", key_of(a), "--key", key_of(b))
    assert verdict.returncode == 0, verdict.stdout + verdict.stderr
    assert "comes from the file itself" not in verdict.stdout
    second.write_text(second.read_text().replace("m13-m9", "m13-m5", 1))
    assert "does not hold" in refused(b, "verify", str(second))
