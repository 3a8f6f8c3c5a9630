"""Matches that move between real servers: with their history, and with all that proves it."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from infra.audit.match_document import read_document, without_private_parts
from tests.helpers.served import Served, until


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[list[Served]]:
    """Two servers, each with players of its own."""
    with ExitStack() as stack:
        found = []
        for name, players in (("a", ("alice", "bob")), ("b", ("anna", "ben"))):
            env = {"MATCHPOST_MAIL_DOMAIN": f"{name}.example.org", "MATCHPOST_SHARDS": "4"}
            folder = tmp_path / name
            folder.mkdir()
            served = stack.enter_context(Served(folder / "data", env))
            served.do(*(f"signup {player} {player}-keeps-it" for player in players))
            found.append(served)
        yield found


def move(served: Served, player: str, text: str) -> None:
    served.do(f"pow2 move 1 {player} {player}-keeps-it {text}")


def transfer(served: Served, player: str, other: str) -> None:
    move(served, player, "propose transfer")
    move(served, other, "accept")


def accepted(served: Served, *words: str) -> str:
    """Run what must succeed; return what was printed."""
    done = served.run(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(served: Served, *words: str) -> str:
    """Run what must be refused; return the sentence."""
    done = served.run(*words)
    assert done.returncode == 1, done.stdout
    return done.stderr


def exported(served: Served, folder: Path) -> Path:
    """The document of a match, once all its leaves are published."""
    file = folder / f"{served.data.parent.name}-1.json"

    def whole() -> bool:
        file.write_text(accepted(served, "export", "1"))
        document = json.loads(file.read_text())
        return len(document["log"]["proofs"]) == len(document["leaves"])

    until(whole)
    return file


@pytest.mark.long
def test_a_match_goes_on_at_another_server_with_all_that_proves_it(servers, tmp_path):
    a, b = servers
    ours, theirs = (str(one.data / "keys" / "log-key.pub") for one in (a, b))
    a.do("pow2 challenge alice bob")
    move(a, "alice", "m13-m9")
    move(a, "bob", "a13-c11")
    running = ("import", str(exported(a, tmp_path)), "--player", "Light=anna")
    assert "the match still runs at a.example.org" in refused(b, *running)
    transfer(a, "alice", "bob")
    show = ("do", "pow2 show 1")
    assert "it continues on another server, and doesn’t count here" in accepted(a, *show)

    file = exported(a, tmp_path)
    words = ("import", str(file), "--player", "Light=anna", "--player", "Dark=ben")
    other = refused(b, "import", str(file), "--key", theirs)
    assert "none of the keys that you named is one of a.example.org/log/s" in other
    said = accepted(b, *words, "--key", ours)
    assert "signed by a key that you named, covers all its leaves" in said
    assert "imported from a.example.org, board 1; proven by its log" in said
    assert "`pow2 move 1 USERID PASSWORD accept`" in said
    again = accepted(b, *words)
    assert "it was imported before, as match 1" in again
    assert "its key comes from the file itself" in again
    swapped = ("--player", "Light=ben", "--player", "dark=anna")
    assert "as match 1 for other players" in refused(b, "import", str(file), *swapped)

    assert "#2: waiting for Light (anna) and Dark (ben) to accept" in accepted(b, *show)
    for player in ("anna", "ben"):
        move(b, player, "accept")
    assert "#2: it is Light's turn (anna); the last move was a13-c11" in accepted(b, *show)
    move(b, "anna", "m9-m13")
    assert "imported from a.example.org, board 1;" in accepted(b, "verify", "1")
    transfer(b, "ben", "anna")

    second = exported(b, tmp_path)
    document = read_document(second.read_bytes())
    assert document.imported_from == without_private_parts(read_document(file.read_bytes()))
    verdict = accepted(b, "verify", str(second), "--key", ours, "--key", theirs)
    assert "comes from the file itself" not in verdict
    second.write_text(second.read_text().replace("m13-m9", "m13-m5", 1))
    assert "does not hold" in refused(b, "verify", str(second))
