"""Secrets that all machines share: the first records them, and a process with others does not start."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from redis import Redis

from infra.durability.durability import Mode
from infra.health.secrets import Secret, SecretMismatchError, SecretRecord, make_id, read_copy
from infra.log.key_files import generate_keys
from infra.people.account_macs import make_mac_key
from infra.redis import keys
from infra.settings.settings import Settings
from infra.store.layout import Layout, Numbering, read_layout
from infra.store.redis_store import RedisStore
from infra.store.scrub_notes import ScrubRecord
from infra.valkey.server import EmbeddedServer
from services.cli import flags, prepare, secret_list
from services.doctor.facts import gather
from services.secret_checks import NEEDED, accept_secrets, check_secrets
from tests.helpers.clusters import Cluster
from tests.helpers.served import Served


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


def test_the_flag_and_the_record_know_the_same_secrets() -> None:
    assert tuple(Secret) == flags.SECRETS
    assert {secret for needed in NEEDED.values() for secret in needed} == set(Secret)


@pytest.mark.parametrize("role", sorted(NEEDED))
def test_a_process_with_the_same_secrets_starts(
    role: str, machines: Mapping[str, Settings], redis_client: Redis
) -> None:
    fill(machines["a"])
    check_secrets(machines["a"], redis_client, role)
    recorded = SecretRecord(redis_client).read()
    assert set(recorded) == set(NEEDED[role])
    check_secrets(machines["a"], redis_client, role)
    assert SecretRecord(redis_client).read() == recorded


@pytest.mark.parametrize("secret", list(Secret))
def test_a_machine_without_a_secret_or_with_another_is_refused(
    secret: Secret, machines: Mapping[str, Settings], redis_client: Redis
) -> None:
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
    machines: Mapping[str, Settings], redis_client: Redis
) -> None:
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


def test_a_server_with_its_data_takes_the_secrets_that_it_has(
    machines: Mapping[str, Settings], redis_client: Redis, caplog: pytest.LogCaptureFixture
) -> None:
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


def test_secrets_lists_what_differs_and_accepts_it(
    machines: Mapping[str, Settings],
    redis_client: Redis,
    capsys: pytest.CaptureFixture[str],
) -> None:
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
    valkey: EmbeddedServer, redis_client: Redis, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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


def test_prepare_creates_data_on_a_cluster(
    cluster: Cluster, cluster_client: Redis, valkey: EmbeddedServer, tmp_path: Path
) -> None:
    settings = Settings(data=tmp_path, redis_url=cluster.url, queue_url=valkey.url, shards=4)
    assert prepare.run(settings) == 0
    assert read_layout(cluster_client).numbering is Numbering.SHARD
    assert set(SecretRecord(cluster_client).read()) == set(Secret)


@pytest.mark.long
@pytest.mark.slow
def test_each_role_says_in_one_sentence_that_its_secrets_are_not_the_server_s(
    valkey: EmbeddedServer, redis_client: Redis, tmp_path: Path
) -> None:
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
