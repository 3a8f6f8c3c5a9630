"""`matchpost keygen`, and the keys that `serve` makes at its first start."""

import itertools
import os
import stat
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from redis import Redis

from infra.log.key_files import (
    missing_keys,
    read_keys,
    read_public_keys,
    read_receipt_secrets,
)
from infra.log.names import LogSecret
from infra.log.signed_note import VerifierKey
from infra.redis.keys import published
from infra.settings.settings import Settings
from infra.store.layout import Layout
from services.secret_checks import check_secrets
from services.serve.log_keys import make_first_keys, make_shared_keys
from tests.helpers.forked import run_command

SHAPE = Layout(shards=4, lanes=1)


def keygen(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_command(["keygen", "--data", folder, *words], os.environ)


def test_keygen_makes_all_keys_for_this_user_only_and_prints_the_public_ones(tmp_path: Path):
    done = keygen(tmp_path, "--host", "play.example.org", "--shards", "2")
    assert (done.returncode, done.stderr) == (0, "")
    modes = {f.name: stat.S_IMODE(f.stat().st_mode) for f in (tmp_path / "keys").iterdir()}
    assert modes == {
        "accounts-key": 0o600, "log-key": 0o600, "log-key.pub": 0o644, "receipts-key": 0o600,
        "receipts-key.pub": 0o644,
    }  # fmt: skip
    secret = LogSecret.parse((tmp_path / "keys" / "log-key").read_text())
    receipts = LogSecret.parse((tmp_path / "keys" / "receipts-key").read_text())
    assert secret.base == receipts.base == "play.example.org/log"
    assert secret.secret != receipts.secret
    printed = [VerifierKey.parse(line) for line in done.stdout.splitlines()[-2:]]
    assert printed == [secret.signer(shard).key for shard in range(2)]
    assert str(secret) not in done.stdout


def test_keygen_never_overwrites(tmp_path: Path):
    keygen(tmp_path)
    before = {file: file.read_bytes() for file in (tmp_path / "keys").iterdir()}
    done = keygen(tmp_path)
    assert done.returncode == 1
    assert "has keys already, and they are not overwritten" in done.stderr
    assert {file: file.read_bytes() for file in (tmp_path / "keys").iterdir()} == before


def test_keygen_makes_the_key_that_is_missing(tmp_path: Path):
    keygen(tmp_path, "--host", "a.example.org")
    kept = (tmp_path / "keys" / "log-key").read_text()
    (tmp_path / "keys" / "receipts-key").unlink()
    assert keygen(tmp_path, "--host", "a.example.org").returncode == 0
    assert (tmp_path / "keys" / "log-key").read_text() == kept


@pytest.mark.parametrize("host", ["play example", "a+b", ""])
def test_a_name_that_a_key_cannot_have_is_refused(tmp_path: Path, host: str):
    done = keygen(tmp_path, "--host", host) if host else keygen(tmp_path, "--host", " ")
    assert done.returncode == 1
    assert "can't name a log" in done.stderr
    assert not (tmp_path / "keys").exists()


def test_the_old_key_and_the_new_one_are_both_known(tmp_path: Path):
    keygen(tmp_path)
    (tmp_path / "keys" / "log-key").rename(tmp_path / "keys" / "log-key.old")
    assert keygen(tmp_path).returncode == 0
    found = read_keys(tmp_path / "keys")
    assert [secret.public for secret in found.secrets] == list(found.public)
    assert len(set(found.public)) == 2


def test_the_embedded_server_makes_its_keys_once(redis_client: Redis, tmp_path: Path):
    settings = Settings(data=tmp_path, mail_domain="play.example.org")
    make_first_keys(settings, redis_client, SHAPE)
    first = read_keys(tmp_path / "keys")
    assert first.public[0].name == "play.example.org/log"
    make_first_keys(settings, redis_client, SHAPE)
    assert read_keys(tmp_path / "keys") == first


def test_no_new_keys_take_the_place_of_lost_ones(redis_client: Redis, tmp_path: Path):
    redis_client.hset(published(2), mapping={"size": 10, "root": "00"})
    make_first_keys(Settings(data=tmp_path), redis_client, SHAPE)
    assert not (tmp_path / "keys").exists()


def test_for_an_external_server_no_keys_are_made_that_another_machine_has(
    redis_client: Redis, tmp_path: Path
):
    one, two = (Settings(data=tmp_path / name, redis_url="redis://elsewhere") for name in "ab")
    made: list[Path] = []
    make_shared_keys(one, redis_client, made.append)
    assert [file.name for file in made] == ["accounts-key", "log-key", "receipts-key"]
    for role in ("publisher", "web"):
        check_secrets(one, redis_client, role)
    make_shared_keys(two, redis_client, made.append)
    make_first_keys(two, redis_client, SHAPE)
    assert len(made) == 3
    assert not missing_keys(one.data / "keys")
    assert not (two.data / "keys").exists()


KEYS = ("log-key", "receipts-key")


def _killed_at(monkeypatch: pytest.MonkeyPatch, step: str, number: int) -> None:
    """Have the process die at a step of the file system, at its so many-th time."""
    passed = itertools.count(1)
    real = getattr(os, step)

    def die(*args: object, **more: object) -> object:
        if next(passed) == number:
            raise KeyboardInterrupt
        return real(*args, **more)

    monkeypatch.setattr(os, step, die)


@pytest.mark.parametrize("step", ["link", "open", "fsync"])
@pytest.mark.parametrize("number", range(1, 6))
def test_a_start_makes_what_a_killed_one_has_not_made(
    redis_client: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, number: int
):
    settings = Settings(data=tmp_path, mail_domain="play.example.org")
    with monkeypatch.context() as dying, suppress(KeyboardInterrupt):
        _killed_at(dying, step, number)
        make_first_keys(settings, redis_client, SHAPE)
    kept = {
        file: file.read_bytes() for file in map((tmp_path / "keys").joinpath, KEYS) if file.exists()
    }
    make_first_keys(settings, redis_client, SHAPE)
    assert missing_keys(tmp_path / "keys") == []
    assert {file: file.read_bytes() for file in kept} == kept
    for name in KEYS:
        secret = LogSecret.parse((tmp_path / "keys" / name).read_text())
        assert read_public_keys(tmp_path / "keys", name)[0] == secret.public
        assert secret.base == "play.example.org/log"


def test_a_start_after_publication_makes_a_lost_receipts_key_of_the_name_of_the_log(
    redis_client: Redis, tmp_path: Path
):
    keygen(tmp_path, "--host", "play.example.org")
    (tmp_path / "keys" / "receipts-key").unlink()
    redis_client.hset(published(2), mapping={"size": 10, "root": "00"})
    make_first_keys(Settings(data=tmp_path, mail_domain="other.example"), redis_client, SHAPE)
    (made,) = read_receipt_secrets(tmp_path / "keys")
    assert made.base == "play.example.org/log"
    # receipts by the lost key are still verified
    assert len(read_public_keys(tmp_path / "keys", "receipts-key")) == 2


def test_a_start_goes_on_where_no_receipts_key_can_be_made(
    redis_client: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog
):
    keygen(tmp_path)
    (tmp_path / "keys" / "receipts-key").unlink()
    monkeypatch.setattr(os, "open", _refuse)
    make_first_keys(Settings(data=tmp_path), redis_client, SHAPE)
    assert "no receipts are given, because their key can't be made" in caplog.text


def _refuse(*_: object, **__: object) -> int:
    raise PermissionError("Read-only file system")


def test_a_name_of_a_key_that_a_killed_process_has_left_is_not_overwritten(tmp_path: Path):
    keygen(tmp_path)
    folder = tmp_path / "keys"
    os.link(folder / "log-key", folder / ".log-key")
    (folder / "log-key").rename(folder / "log-key.old")
    old = (folder / "log-key.old").read_text()
    assert keygen(tmp_path).returncode == 0
    assert (folder / "log-key.old").read_text() == old != (folder / "log-key").read_text()


def test_keygen_goes_on_with_the_name_of_the_keys_that_are_there(tmp_path: Path):
    keygen(tmp_path, "--host", "play.example.org")
    (tmp_path / "keys" / "receipts-key").rename(tmp_path / "keys" / "receipts-key.old")
    done = keygen(tmp_path, "--host", "other.example")
    assert done.returncode == 1
    assert "are named after 'play.example.org', and all have one name" in done.stderr
    assert keygen(tmp_path).returncode == 0
    newer, older = read_receipt_secrets(tmp_path / "keys")
    assert newer.base == older.base == "play.example.org/log"
    assert read_public_keys(tmp_path / "keys", "receipts-key") == [newer.public, older.public]
