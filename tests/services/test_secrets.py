"""The keys of a server: `keygen`, those that `serve` makes, and what all machines share."""

import itertools
import os
import stat
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from redis import Redis

from infra.durability.durability import Mode
from infra.health.secrets import Secret, SecretMismatchError, SecretRecord, make_id, read_copy
from infra.log.key_files import (
    generate_keys,
    missing_keys,
    read_keys,
    read_public_keys,
    read_receipt_secrets,
)
from infra.log.names import LogSecret
from infra.log.signed_note import VerifierKey
from infra.people.account_macs import make_mac_key
from infra.redis import keys
from infra.redis.keys import published
from infra.settings.settings import Settings
from infra.store.layout import Layout, Numbering, read_layout
from infra.store.redis_store import RedisStore
from infra.store.scrub_notes import ScrubRecord
from infra.valkey.server import EmbeddedServer
from services.cli import flags, prepare, secret_list
from services.doctor.facts import gather
from services.secret_checks import NEEDED, accept_secrets, check_secrets
from services.serve.log_keys import make_first_keys, make_shared_keys
from tests.helpers.forked import run_command
from tests.helpers.served import Served

SHAPE = Layout(shards=4, lanes=1)


def keygen(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_command(["keygen", "--data", folder, *words], os.environ)


def test_keygen_makes_all_keys_for_this_user_only_prints_the_public_ones_and_never_overwrites(
    tmp_path,
):
    for host in ("play example", "a+b", " "):
        done = keygen(tmp_path, "--host", host)
        assert (done.returncode, "can't name a log" in done.stderr) == (1, True)
        assert not (tmp_path / "keys").exists()
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
    before = {file: file.read_bytes() for file in (tmp_path / "keys").iterdir()}
    done = keygen(tmp_path)
    assert done.returncode == 1
    assert "has keys already, and they are not overwritten" in done.stderr
    assert {file: file.read_bytes() for file in (tmp_path / "keys").iterdir()} == before
    # nor the name of a key that a killed process has left
    folder = tmp_path / "keys"
    os.link(folder / "log-key", folder / ".log-key")
    (folder / "log-key").rename(folder / "log-key.old")
    assert keygen(tmp_path).returncode == 0
    assert (
        (folder / "log-key.old").read_text()
        == str(secret) + "\n"
        != (folder / "log-key").read_text()
    )


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
def test_a_start_makes_what_a_killed_one_has_not_made_and_no_others_in_place_of_lost_ones(
    redis_client, tmp_path, monkeypatch, step
):
    for number in range(1, 6):
        folder = tmp_path / str(number) / "keys"
        settings = Settings(data=folder.parent, mail_domain="play.example.org")
        with monkeypatch.context() as dying, suppress(KeyboardInterrupt):
            _killed_at(dying, step, number)
            make_first_keys(settings, redis_client, SHAPE)
        kept = {file: file.read_bytes() for file in map(folder.joinpath, KEYS) if file.exists()}
        make_first_keys(settings, redis_client, SHAPE)
        assert missing_keys(folder) == []
        assert {file: file.read_bytes() for file in kept} == kept
        for name in KEYS:
            secret = LogSecret.parse((folder / name).read_text())
            assert read_public_keys(folder, name)[0] == secret.public
            assert secret.base == "play.example.org/log"
    first = read_keys(folder)
    make_first_keys(settings, redis_client, SHAPE)
    assert read_keys(folder) == first
    redis_client.hset(published(2), mapping={"size": 10, "root": "00"})
    make_first_keys(Settings(data=tmp_path), redis_client, SHAPE)
    assert not (tmp_path / "keys").exists()


@pytest.fixture
def machines(valkey: EmbeddedServer, redis_client: Redis, tmp_path: Path) -> Mapping[str, Settings]:
    """The settings of two machines with a data directory each, for data that have been created."""
    RedisStore(redis_client, Mode.FSYNC).create(Layout(shards=4, lanes=1))
    return {
        name: Settings(data=tmp_path / name, redis_url=valkey.url, shards=4) for name in ("a", "b")
    }


def fill(settings: Settings) -> None:
    """Make all secrets on a machine."""
    for secret in (Secret.SEEDS, Secret.STORE):
        make_id(secret, settings)
    generate_keys(settings.data / "keys", "example.org")
    make_mac_key(settings.data / "keys")


def test_a_process_with_the_same_secrets_starts(machines, redis_client):
    assert tuple(Secret) == flags.SECRETS
    assert {secret for needed in NEEDED.values() for secret in needed} == set(Secret)
    fill(machines["a"])
    for role, needed in NEEDED.items():
        redis_client.delete(keys.SECRETS)
        check_secrets(machines["a"], redis_client, role)
        recorded = SecretRecord(redis_client).read()
        assert set(recorded) == set(needed), role
        check_secrets(machines["a"], redis_client, role)
        assert SecretRecord(redis_client).read() == recorded


@pytest.mark.parametrize("secret", list(Secret))
def test_a_machine_without_a_secret_or_with_another_is_refused(secret, machines, redis_client):
    fill(machines["a"])
    role = next(role for role, needed in NEEDED.items() if secret in needed)
    check_secrets(machines["a"], redis_client, role)
    record = SecretRecord(redis_client)
    alone = {secret: record.read()[secret]}
    redis_client.delete(keys.SECRETS, "{mail}:key")
    record.accept(read_copy(secret, machines["a"]))
    assert record.read() == alone
    with pytest.raises(
        SecretMismatchError, match=f"^{secret} .*: missing here, and the server has one"
    ):
        check_secrets(machines["b"], redis_client, role)
    fill(machines["b"])
    if secret is Secret.MAIL_KEY:
        (machines["b"].data / "mail-key").write_bytes(bytes(32))
    with pytest.raises(SecretMismatchError, match=f"^{secret} .*: another one than the server's"):
        check_secrets(machines["b"], redis_client, role)
    assert record.read()[secret] == alone[secret]


def test_a_key_that_was_replaced_in_order_is_recorded_and_the_one_before_refused(
    machines, redis_client
):
    for settings in machines.values():
        (settings.data / "keys").mkdir(parents=True)
    folder = machines["a"].data / "keys"
    generate_keys(folder, "example.org")
    for name in ("log-key", "log-key.pub", "receipts-key", "receipts-key.pub"):
        (machines["b"].data / "keys" / name).write_bytes((folder / name).read_bytes())
    record = SecretRecord(redis_client)
    record.check(read_copy(Secret.LOG_KEY, machines["b"]))
    (folder / "log-key").rename(folder / "log-key.old")
    generate_keys(folder, "example.org")
    record.check(read_copy(Secret.LOG_KEY, machines["a"]))
    with pytest.raises(SecretMismatchError):
        record.check(read_copy(Secret.LOG_KEY, machines["b"]))


def test_secrets_lists_what_differs_and_accepts_it(machines, redis_client, capsys):
    fill(machines["a"])
    make_id(Secret.SEEDS, machines["b"])
    check_secrets(machines["a"], redis_client, "worker")
    assert secret_list.run(None, machines["a"]) == 0
    assert secret_list.run(None, machines["b"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("seeds         another than the server's: ") for line in lines)
    assert any(line.startswith("store         not here: ") for line in lines)
    assert [one for one in _other(machines["b"]) if one.startswith("seeds (")]
    assert secret_list.run("mail-key", machines["b"]) == 1
    assert secret_list.run("seeds", machines["b"]) == 0
    assert secret_list.run(None, machines["b"]) == 0
    assert not _other(machines["b"])


def _other(settings: Settings) -> tuple[str, ...]:
    server = gather(settings).server
    assert server is not None
    return server.other_secrets


def test_prepare_makes_everything_once_and_no_secret_on_a_second_machine(
    valkey, redis_client, tmp_path, capsys
):
    first = Settings(data=tmp_path / "a", redis_url=valkey.url, shards=4, workers=2)
    assert prepare.run(first) == 0
    assert prepare.run(first) == 0
    assert set(SecretRecord(redis_client).read()) == set(Secret)
    assert capsys.readouterr().out.count("made ") == 3
    assert "all have MACs since" in (tmp_path / "a" / "keys" / "accounts-key").read_text()
    assert ScrubRecord(redis_client).all_have_macs()
    second = Settings(data=tmp_path / "b", redis_url=valkey.url)
    with pytest.raises(SecretMismatchError):
        prepare.run(second)
    assert not (tmp_path / "b" / "keys").exists()
    assert prepare.run(Settings(data=tmp_path / "c")) == 2


def test_prepare_creates_data_on_a_cluster(cluster, cluster_client, valkey, tmp_path):
    settings = Settings(data=tmp_path, redis_url=cluster.url, queue_url=valkey.url, shards=4)
    assert prepare.run(settings) == 0
    assert read_layout(cluster_client).numbering is Numbering.SHARD
    assert set(SecretRecord(cluster_client).read()) == set(Secret)


def test_for_an_external_server_no_keys_are_made_that_another_machine_has(redis_client, tmp_path):
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


def test_a_start_after_publication_makes_a_lost_receipts_key_of_the_name_of_the_log(
    redis_client, tmp_path
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
    redis_client, tmp_path, monkeypatch, caplog
):
    keygen(tmp_path)
    (tmp_path / "keys" / "receipts-key").unlink()
    monkeypatch.setattr(os, "open", _refuse)
    make_first_keys(Settings(data=tmp_path), redis_client, SHAPE)
    assert "no receipts are given, because their key can't be made" in caplog.text


def _refuse(*_: object, **__: object) -> int:
    raise PermissionError("Read-only file system")


def test_keygen_goes_on_with_the_name_of_the_keys_that_are_there(tmp_path):
    keygen(tmp_path, "--host", "play.example.org")
    (tmp_path / "keys" / "receipts-key").rename(tmp_path / "keys" / "receipts-key.old")
    done = keygen(tmp_path, "--host", "other.example")
    assert done.returncode == 1
    assert "are named after 'play.example.org', and all have one name" in done.stderr
    assert keygen(tmp_path).returncode == 0
    newer, older = read_receipt_secrets(tmp_path / "keys")
    assert newer.base == older.base == "play.example.org/log"
    assert read_public_keys(tmp_path / "keys", "receipts-key") == [newer.public, older.public]


def test_a_server_with_its_data_takes_the_secrets_that_it_has(machines, redis_client, caplog):
    fill(machines["a"])
    for role in NEEDED:
        check_secrets(machines["a"], redis_client, role)
    fill(machines["b"])
    accept_secrets(machines["b"], redis_client)
    assert "seeds: replaced or lost since the last start" in caplog.text
    recorded = SecretRecord(redis_client).read()
    assert recorded[Secret.STORE] == read_copy(Secret.STORE, machines["b"]).fingerprints[0]
    assert Secret.MAIL_KEY not in recorded
    check_secrets(machines["b"], redis_client, "worker")


@pytest.mark.long
@pytest.mark.slow
def test_each_role_says_in_one_sentence_that_its_secrets_are_not_the_server_s(
    valkey, redis_client, tmp_path
):
    redis_client.flushall()
    assert prepare.run(Settings(data=tmp_path / "a", redis_url=valkey.url, shards=4)) == 0
    more = {
        "MATCHPOST_REDIS_URL": valkey.url,
        "MATCHPOST_RELAY": "smtp://127.0.0.1:1",
        "MATCHPOST_SMTP": "127.0.0.1:0",
        "MATCHPOST_HTTP": "127.0.0.1:0",
    }
    for role in (*NEEDED, "serve"):
        done = Served(tmp_path / "b", more).run(role)
        assert done.returncode == 2, done.stderr
        assert "Traceback" not in done.stderr
        assert sum(": missing here" in line for line in done.stderr.splitlines()) == 1, role
