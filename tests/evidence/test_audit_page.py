"""The commands and programs of docs/audit.md, tried on the worked dispute and on a draw; and the dispute replayed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from infra.audit.check_file import check_file
from infra.audit.match_document import read_document, write_document
from infra.log.signed_note import VerifierKey
from services.cli.referee import judge
from services.cli.verify import run_file
from tests.golden.make_dispute import FOLDER, files
from tests.helpers.evidence import golden_document

PAGE = Path(__file__).parents[2] / "docs" / "audit.md"
FILES = sorted(path.name for path in FOLDER.iterdir())
KEYS = [VerifierKey.parse(line) for line in (FOLDER / "keys").read_text("utf-8").split()]

needs_tools = pytest.mark.skipif(
    not all(map(shutil.which, ("openssl", "jq", "xxd"))), reason="OpenSSL, jq or xxd is missing"
)


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files of the dispute, and the programs of the page."""
    for name in FILES:
        shutil.copy(FOLDER / name, tmp_path)
    names = ("leaves", "check_match", "check_receipt", "check_draw")
    for name, text in zip(names, blocks("python"), strict=True):
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    return tmp_path


def run(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-E", "-S", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def shell(folder: Path, commands: str, **names: str) -> "subprocess.CompletedProcess[str]":
    command, env = ["bash", "-c", commands], {**os.environ, **names}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


# the dispute


def test_the_files_are_those_that_the_script_makes():
    made = files()
    assert sorted(made) == FILES
    changed = [name for name, data in made.items() if (FOLDER / name).read_bytes() != data]
    assert not changed, "run `python -m tests.golden.make_dispute`, if they were meant to change"


def test_each_file_holds_alone(capsys):
    for name in ("evidence.json", "match.json", "receipt.txt", "proof.txt", "rewritten.json"):
        assert run_file(str(FOLDER / name), [str(FOLDER / "keys")]) == 0, capsys.readouterr().err
        assert not check_file((FOLDER / name).read_bytes(), KEYS).verdict.fault


# without this program


@needs_tools
def test_openssl_says_who_signed_what_is_taken_out_of_the_files_as_the_page_says(folder):
    commands, log = blocks("sh")[0], "play.example.org/log/s01"

    def verified(note: str, name: str) -> bool:
        done = shell(folder, commands, NOTE=note, NAME=name)
        assert done.returncode in (0, 1)
        return "Signature Verified Successfully" in done.stdout and not done.returncode

    for note, name in (("receipt.txt", f"{log}/receipts"), ("checkpoint", log)):
        assert verified(note, name)
        text = (folder / note).read_text("utf-8")
        changed = text.replace("\n17\n", "\n18\n").replace("\n25\n", "\n26\n")
        (folder / note).write_text(changed, "utf-8")
        assert not verified(note, name)
    taken = re.findall(r"`((?:jq -j|sed '1).*?> checkpoint)`", PAGE.read_text("utf-8"))
    assert len(taken) == 2
    for command in taken:
        (folder / "checkpoint").unlink(missing_ok=True)
        assert shell(folder, command).returncode == 0
        assert verified("checkpoint", log)


@needs_tools
@pytest.mark.parametrize("which", [1, 2])
def test_a_link_of_the_chain_and_a_statement_are_hashed_with_sha256sum(folder, which):
    lines = shell(folder, blocks("sh")[which]).stdout.split()
    assert len(lines) == 2
    assert lines[0] == lines[1]
    assert len(lines[0]) == 64


def test_a_match_is_checked_with_the_standard_library(folder):
    for name in ("evidence.json", "match.json", "rewritten.json"):
        found = run(folder, "check_match.py", name)
        assert found.returncode == 0, found.stderr
        document = read_document((folder / name).read_bytes())
        assert f"{len(document.moves)} moves and the result are those of the events" in found.stdout
        count = len(document.leaves)
        assert f"{count} of {count} leaves are among the" in found.stdout


def test_a_tampered_match_is_found_with_the_standard_library(folder):
    text = (folder / "match.json").read_text("utf-8")
    for old, new, said in (
        ('"moves":["m13-m9"', '"moves":["m13-m8"', "the events say"),
        ('"reason":"resignation"', '"reason":"time"', "the events say"),
        ('"hashes":["', '"hashes":["AAAA', "is not in the log that was signed"),
        ('"board":17', '"board":18', "does not follow event 0"),
    ):
        assert old in text
        (folder / "match.json").write_text(text.replace(old, new, 1), "utf-8")
        found = run(folder, "check_match.py", "match.json")
        assert (found.returncode, said in found.stderr) == (1, True), said
    document = read_document(text.encode())
    for place in (0, len(document.leaves) // 2, -1):
        leaves = list(document.leaves)
        leaf = leaves[place].leaf
        changed = leaf[:40] + bytes([leaf[40] ^ 1]) + leaf[41:]
        leaves[place] = replace(leaves[place], leaf=changed)
        (folder / "match.json").write_bytes(write_document(replace(document, leaves=tuple(leaves))))
        assert run(folder, "check_match.py", "match.json").returncode == 1, place


def test_the_receipt_fits_the_evidence_and_contradicts_what_was_rewritten(folder):
    for name in ("evidence.json", "match.json"):
        found = run(folder, "check_receipt.py", "receipt.txt", name)
        assert found.stdout == "leaf 19 is the one that the server promised\n", found.stderr
    found = run(folder, "check_receipt.py", "receipt.txt", "rewritten.json")
    assert found.returncode == 1
    assert "lacks the leaf that the server promised" in found.stderr


def test_the_commands_of_the_worked_dispute_answer_as_the_page_says(folder):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    lines = blocks("sh")[-1].splitlines()
    assert [shell(folder, line, PATH=path).returncode for line in lines] == [0, 0, 0, 1]


DEALS = {
    "proposed": "the challenger alone added to the draw",
    "gathered": "the players sent their texts one after another",
    "dealt": "the server kept all texts, and dealt at once",
    "committed": "the texts were sealed, and then revealed",
    "agreed": "all agreed to let the server deal without the missing texts",
}


@pytest.mark.parametrize("kind", DEALS)
def test_a_draw_is_checked_and_drawn_again_without_the_server(folder, kind):
    document = golden_document(kind)
    (folder / "drawn.json").write_bytes(write_document(document))
    found = run(folder, "check_draw.py", "drawn.json")
    assert found.returncode == 0, found.stderr
    assert ("the texts are those" in found.stdout) == (kind in ("committed", "dealt", "agreed"))
    assert DEALS[kind] in found.stdout
    request = {
        "game": document.game, "rules": document.rules, "players": document.players, "options": list(document.options),
        "seed": found.stdout.split()[-1],
    }  # fmt: skip
    assert judge(msgspec.json.encode(request))["setup"] == document.setup


def test_another_seed_or_text_is_found_without_the_server(folder):
    whole = golden_document("committed")
    assert whole.anchor is not None
    anchor = replace(whole.anchor, leaf=whole.anchor.leaf[:-1] + b"\0")
    later = replace(whole.anchor, index=99)
    for wrong in (anchor, later):
        changed = replace(whole, anchor=wrong)
        (folder / "drawn.json").write_bytes(write_document(changed))
        assert run(folder, "check_draw.py", "drawn.json").returncode == 1
