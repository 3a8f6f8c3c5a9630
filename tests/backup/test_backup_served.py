"""Backups of a server that runs: taken during play, restored elsewhere, and never a second history of its log."""

import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyrage import x25519

from infra.backup.notes import BackupPlace
from infra.log.checkpoint import open_checkpoint
from infra.log.key_files import read_public_keys
from infra.log.names import origin, shard_key
from infra.log.signed_note import NoteError
from infra.redis import keys
from tests.helpers.own_servers import ENV, SHARDS, is_published
from tests.helpers.s3 import s3_server
from tests.helpers.served import Served, all_play, matches, until

pytestmark = [pytest.mark.long, pytest.mark.slow]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with Served(tmp_path / "data", ENV) as served:
        with served.client() as client:
            client.set(keys.BOARDS, 1_000)  # the planned games choose their boards by themselves
        yield served


def leaves(served: Served) -> int:
    with served.client() as client:
        return sum(client.xlen(keys.log(shard)) for shard in range(SHARDS))


def until_published(served: Served) -> None:
    with served.client() as client:
        until(lambda: is_published(client))


def play(served: Served, count: int, plies: int) -> None:
    """Play so many plies of as many games, which are always the same."""
    for thread in all_play(served, matches(count, plies))[1]:
        thread.join()


def places(folder: Path) -> tuple[str, str]:
    """Where the backups are, and their keys."""
    return str(folder / "backups"), str(folder / "apart")


def verified(served: Served) -> str:
    until_published(served)
    done = served.run("verify", "--all")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_backup_during_play_with_a_worker_killed_holds_and_is_restored(served, tmp_path):
    target, apart = places(tmp_path)
    _, threads = all_play(served, matches(4, 40))
    until(lambda: leaves(served) > 20)
    killed = served.children("worker")
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    done = served.run("backup", target, "--keys-to", apart)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"tried: all \d+ matches? holds?: ", done.stdout), done.stdout
    for thread in threads:
        thread.join()
    assert killed
    assert "the last backup that was tried is" in served.run("doctor").stdout
    again = served.run("backup", target, "--keys-to", apart)
    assert "tried: all 4 matches hold: 164 events" in again.stdout, again.stdout + again.stderr
    before = leaves(served)
    until_published(served)
    served.end()
    assert not any(b"PRIVATE+KEY" in f.read_bytes() for f in (tmp_path / "backups").rglob("*/*/*"))

    other = Served(tmp_path / "again")
    refused = other.run("restore", target, "--keys-from", apart)
    assert refused.returncode == 1
    assert "what was published later can't be known from it" in refused.stderr
    assert not (tmp_path / "again").exists()
    restored = other.run("restore", target, "--keys-from", apart, "--same-log")
    assert restored.returncode == 0, restored.stderr
    with other:
        assert leaves(other) == before
        assert "all 4 matches hold: 164 events" in verified(other)
        log = (tmp_path / "serve.log").read_text()
        assert "ALARM" not in log.rpartition("stopped; everything accepted is kept")[2]
    repeated = other.run("restore", target, "--same-log")
    assert repeated.returncode == 1
    assert "is not empty" in repeated.stderr


def test_a_restored_server_whose_log_was_lost_signs_no_second_history(served, tmp_path):
    target, apart = places(tmp_path)
    play(served, 2, 6)
    assert served.run("backup", target, "--keys-to", apart, "--no-try").returncode == 0
    play(served, 2, 16)  # the same games, and ten plies more
    until_published(served)
    signed = leaves(served)
    served.end()
    old = read_public_keys(tmp_path / "data" / "keys")

    other = Served(tmp_path / "again", ENV)
    done = other.run("restore", target, "--keys-from", apart, "--new-log", "b.example.org")
    assert done.returncode == 0, done.stderr
    assert "the log goes on as b.example.org/log" in done.stdout
    with other:
        kept = leaves(other)
        assert kept < signed
        play(other, 4, 8)
        assert "all 4 matches hold" in verified(other)
        assert leaves(other) > kept
    new = read_public_keys(tmp_path / "again" / "keys")
    assert [key.name for key in new] == ["b.example.org/log"]
    for shard in range(SHARDS):
        note = (tmp_path / "again" / "log" / f"s{shard:02}" / "checkpoint").read_bytes()
        with pytest.raises(NoteError):
            open_checkpoint(
                note, origin(old[0].name, shard), [shard_key(key, shard) for key in old]
            )
        name = origin("b.example.org/log", shard)
        assert open_checkpoint(note, name, [shard_key(key, shard) for key in new]).size
    mirror = str(tmp_path / "again" / "log")
    key = str(tmp_path / "again" / "keys" / "log-key.pub")
    checked = other.run("verify", "--mirror", mirror, "--key", key)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_serve_makes_the_backups_of_its_settings_and_those_that_are_asked_for(tmp_path):
    env = {**ENV, "MATCHPOST_BACKUP": str(tmp_path / "backups")}
    place = BackupPlace(tmp_path / "data")
    with Served(tmp_path / "data", env) as served:
        until(lambda: place.read().tried)
        first = place.read()
        assert first.tried == first.made
        assert first.found.startswith("there is no match: ")
        assert "the last backup that was tried is" in served.run("doctor").stdout
        place.ask()
        until(lambda: place.read().tried > first.tried)
        assert not place.is_asked
        until(lambda: not place.is_busy())
        # a place that can't be used any more is a finding, and no end of the server
        shutil.rmtree(tmp_path / "backups")
        (tmp_path / "backups").write_text("no folder")
        place.ask()
        until(lambda: place.read().fault)
        found = served.run("doctor")
        assert found.returncode == 1
        assert "the last backup was not made, or does not hold" in found.stdout
        until(lambda: "ALARM: the backup was not made" in (tmp_path / "serve.log").read_text())


def test_an_encrypted_backup_at_a_cloud_is_tried_and_restored(served, tmp_path):
    operator = x25519.Identity.generate()
    (tmp_path / "operator").write_text(f"{operator}\n")
    play(served, 2, 6)
    with s3_server() as url:
        cloud = {
            "AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1",
        }  # fmt: skip
        served.env |= cloud
        target, apart = "s3://matches/backups", "s3://matches/apart"
        to = ("--keys-to", apart, "--encrypt-to", str(operator.to_public()))
        done = served.run("backup", target, *to)
        assert "tried: all 2 matches hold: 14 events" in done.stdout, done.stdout + done.stderr
        served.end()
        other = Served(tmp_path / "again", {**ENV, **cloud})
        words = ("restore", target, "--keys-from", apart, "--same-log")
        refused = other.run(*words)
        assert "are encrypted: name the file of your age key" in refused.stderr
        identity = ("--identity", str(tmp_path / "operator"))
        listed = other.run("restore", target, "--list", *identity)
        assert re.fullmatch(r"\d{8}T\d{6}Z  .* files, .* MiB\n", listed.stdout), listed.stderr
        restored = other.run(*words, *identity)
        assert restored.returncode == 0, restored.stderr
    with other:
        assert "all 2 matches hold: 14 events" in verified(other)
