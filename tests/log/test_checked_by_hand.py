"""The programs and commands of docs/log.md, on a log that was written here."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from infra.log.log_writer import LogWriter
from infra.log.names import LogSecret, shard_key
from infra.log.published_log import PublishedLog
from infra.objects.files import FileObjects
from tests.helpers.pages import block, blocks

PAGE = "docs/log.md"
SHARD = 7
SECRET = LogSecret("play.example.org/log", bytes(range(32)))
KEY = shard_key(SECRET.public, SHARD)
LEAVES = [b"leaf %d " % index + bytes(index % 90) for index in range(700)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a published log in `s07`, and the programs of the page."""
    objects = FileObjects(tmp_path)
    writer = LogWriter(objects, SHARD, [SECRET.signer(SHARD)])
    writer.load()
    writer.append(LEAVES)
    whole, one = [found.text for found in blocks(PAGE) if found.language == "python"]
    (tmp_path / "check_log.py").write_text(whole, "utf-8")
    (tmp_path / "check_proof.py").write_text(one, "utf-8")
    return tmp_path


def run(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-I", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_all_leaves_are_checked_without_this_program(folder):
    found = run(folder, "check_log.py", "s07")
    assert found.stdout == "play.example.org/log/s07: these 700 leaves were signed\n", found.stderr
    bundle = folder / "s07" / "tile" / "entries" / "001"
    bundle.chmod(0o600)
    bundle.write_bytes(bundle.read_bytes().replace(b"leaf 300 ", b"leaf 301 "))
    found = run(folder, "check_log.py", "s07")
    assert found.returncode == 1
    assert "are not those that were signed" in found.stderr


def test_a_proof_is_checked_without_this_program(folder):
    log = PublishedLog(FileObjects(folder), SHARD, [KEY])
    log.refresh()
    for index in (0, 511, 699):
        (folder / "proof").write_text(str(log.inclusion(index)), "utf-8")
        (folder / "leaf").write_bytes(LEAVES[index])
        found = run(folder, "check_proof.py", "proof", "leaf")
        assert f": leaf {index} of 700 was signed" in found.stdout, found.stderr
    (folder / "leaf").write_bytes(LEAVES[1])
    assert run(folder, "check_proof.py", "proof", "leaf").returncode == 1


@pytest.mark.skipif(not shutil.which("openssl"), reason="OpenSSL is not installed")
def test_openssl_verifies_the_signature(folder):
    commands = block(PAGE, "sed ")

    def verified(key: str) -> "subprocess.CompletedProcess[str]":
        command, env = ["bash", "-c", commands], {**os.environ, "KEY": key}
        return subprocess.run(
            command, cwd=folder, env=env, capture_output=True, text=True, check=False
        )

    assert "Signature Verified Successfully" in verified(str(KEY)).stdout
    wrong = LogSecret("play.example.org/log", bytes(32))
    assert verified(str(shard_key(wrong.public, SHARD))).returncode == 1
