"""`matchpost keygen`, and the keys that `serve` makes at its first start."""

import stat
import subprocess
from pathlib import Path

import pytest
from redis import Redis

from infra.log.key_files import read_keys
from infra.log.names import LogSecret
from infra.log.signed_note import VerifierKey
from infra.redis.keys import published
from infra.settings import Settings
from infra.store.layout import Layout
from services.serve.log_keys import make_first_keys
from tests.helpers.served import SCRIPT

SHAPE = Layout(shards=4, lanes=1)


def keygen(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [SCRIPT, "keygen", "--data", folder, *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


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


def test_for_an_external_server_the_operator_makes_them(redis_client: Redis, tmp_path: Path):
    make_first_keys(Settings(data=tmp_path, redis_url="redis://elsewhere"), redis_client, SHAPE)
    assert not (tmp_path / "keys").exists()
