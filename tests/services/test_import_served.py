"""Matches that move between real servers: with their history, and with all that proves it."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from infra.audit.match_document import MatchDocument, read_document, without_private_parts
from tests.helpers.served import Served, until


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Served]]:
    """Three servers, each with players of its own."""
    with ExitStack() as stack:
        found = []
        for name, players in (
            ("a", ("alice", "bob")),
            ("b", ("anna", "ben")),
            ("c", ("ada", "bo")),
        ):
            served = Served(
                tmp_path_factory.mktemp(name) / "data",
                {"MATCHPOST_MAIL_DOMAIN": f"{name}.example.org", "MATCHPOST_SHARDS": "4"},
            )
            stack.enter_context(served)
            served.do(*(f"signup {player} {player}-keeps-it" for player in players))
            found.append(served)
        yield found


def words(player: str) -> str:
    return f"{player} {player}-keeps-it"


def move(served: Served, board: int, player: str, text: str) -> None:
    served.do(f"pow2 move {board} {words(player)} {text}")


def challenge(served: Served, option: str = "") -> int:
    """Start a match of alice and bob; return its board."""
    line = f"pow2 challenge alice bob {option} --password=alice-keeps-it --as=alice"
    done = served.run("do", line)
    assert done.returncode == 0, done.stderr
    return board_of(done.stdout)


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


def board_of(said: str) -> int:
    return int(re.search(r"^match (\d+)\b", said, re.MULTILINE)[1])


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
@pytest.mark.timeout(300)  # three servers, which a busy machine starts slowly
def test_a_match_goes_on_from_server_to_server_to_its_end(servers, tmp_path):
    a, b, c = servers
    first = challenge(a)
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
    inner = read_document(second.read_bytes()).imported_from
    assert inner == without_private_parts(read_document(file.read_bytes()))
    import_to(c, second, "ada", "bo")
    accept(c, 1, "ada", "bo")
    move(c, 1, "bo", "a1-a5")
    c.do("pow2 resign 1 ada ada-keeps-it")
    assert "Dark (bo) won by resignation" in show(c, 1)
    assert inner is not None
    _check_third(servers, exported(c, 1, tmp_path), inner)


def _check_third(servers: list[Served], file: Path, first: MatchDocument) -> None:
    """Check the document of the third server, which contains those of the others."""
    keys = [word for served in servers for word in ("--key", key_of(served))]
    verdict = servers[2].run("verify", str(file), *keys)
    assert verdict.returncode == 0, verdict.stdout + verdict.stderr
    for host in ("a", "b", "c"):
        assert f"the checkpoint of {host}.example.org/log/s0" in verdict.stdout
    assert "comes from the file itself" not in verdict.stdout
    second = read_document(file.read_bytes()).imported_from
    assert second is not None
    assert second.imported_from == first
    forged = file.with_name("forged.json")
    forged.write_text(file.read_text().replace("m13-m9", "m13-m5", 1))
    assert "does not hold" in refused(servers[2], "verify", str(forged))
