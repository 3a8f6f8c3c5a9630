"""MACs of accounts: every way in which a record is written keeps its MAC right, and nobody else can."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from redis import Redis

from infra.people.account_macs import (
    ACCOUNTS_KEY,
    AccountMacs,
    MacKeyError,
    make_mac_key,
    note_all_have_macs,
    read_mac_key,
)
from infra.people.accounts import Accounts
from infra.people.accounts.usernames import Lookalikes
from infra.redis import keys
from infra.settings.settings import Settings
from infra.store.scrub_notes import ScrubRecord
from services.serve.log_keys import make_accounts_key
from tests.fakes.app import CHEAP
from tests.helpers.scrubbing import ScrubbedServer


def fits(client: Redis, folder: Path, account: bytes) -> bool:
    record, mac = client.mget(keys.account(account), keys.account_mac(account))  # type: ignore[misc]
    return mac == read_mac_key(folder).mac(account, record)


def faults(server: ScrubbedServer) -> list[str]:
    return [f"{one.about}: {one.sentence}" for one in server.scrub()]


def test_every_change_of_an_account_keeps_its_mac_right(redis_client: Redis, tmp_path: Path):
    make_mac_key(tmp_path)
    accounts = Accounts(redis_client, CHEAP, macs=AccountMacs(tmp_path))
    alice = accounts.signup("alice", "mad-hatter")
    assert fits(redis_client, tmp_path, alice)
    assert redis_client.ttl(keys.account_mac(alice)) == -1
    for change in (
        lambda: accounts.change("alice", "mad-hatter", lambda a: replace(a, language="de")),
        lambda: accounts.change_addresses_of(alice, ["alice@example.org"]),
        lambda: accounts.set_arbiter("alice", yes=True),
        lambda: accounts.change_password("alice", "mad-hatter", "looking-glass"),
    ):
        before = redis_client.get(keys.account_mac(alice))
        change()
        assert fits(redis_client, tmp_path, alice)
        assert redis_client.get(keys.account_mac(alice)) != before
    accounts.delete("alice", "looking-glass", lambda _: None)
    assert redis_client.keys("{a:*") == []


def test_a_mac_is_of_one_account_and_one_record(tmp_path: Path):
    make_mac_key(tmp_path)
    key = read_mac_key(tmp_path)
    macs = {key.mac(bytes(8), b"a"), key.mac(bytes(8), b"b"), key.mac(b"another.", b"a")}
    assert len(macs) == 3


def test_a_damaged_key_is_refused_with_a_sentence(tmp_path: Path):
    with pytest.raises(MacKeyError, match="is missing"):
        read_mac_key(tmp_path)
    make_mac_key(tmp_path)
    file = tmp_path / ACCOUNTS_KEY
    assert not make_mac_key(tmp_path)
    data = file.read_bytes()
    for place in range(len(data)):
        file.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(MacKeyError):
            read_mac_key(tmp_path)
    file.write_bytes(data)
    note_all_have_macs(tmp_path, 5)
    assert read_mac_key(tmp_path).since == 5


def test_older_accounts_are_adopted_by_the_first_round_and_never_later(server: ScrubbedServer):
    alice = server.accounts.id_of("alice")
    file = server.folder / "keys" / ACCOUNTS_KEY
    file.unlink()
    server.client.delete(keys.account_mac(alice), keys.SCRUB)
    make_mac_key(server.folder / "keys")
    assert faults(server) == []
    assert fits(server.client, server.folder / "keys", alice)
    server.client.delete(keys.account_mac(alice))
    (fault,) = faults(server)
    assert "of alice: its record has no MAC" in fault


def test_a_key_that_can_t_be_written_is_no_fault_and_said_in_the_log(
    server: ScrubbedServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def refuse(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("workers.scrub.accounts.note_all_have_macs", refuse)
    file = server.folder / "keys" / ACCOUNTS_KEY
    file.unlink()
    server.client.delete(keys.SCRUB)
    make_mac_key(server.folder / "keys")
    assert faults(server) == []
    assert "all accounts have MACs, and the key's file can't say so" in caplog.text
    assert read_mac_key(server.folder / "keys").since == 0


def test_nobody_can_look_like_an_account_that_is_older_than_that_rule(server: ScrubbedServer):
    server.client.delete(*server.client.keys("{l:*}"))
    assert faults(server) == []
    assert not Lookalikes(server.client).claim("al1ce")


def test_a_key_that_was_put_back_adopts_nothing(server: ScrubbedServer):
    file = server.folder / "keys" / ACCOUNTS_KEY
    file.write_text(file.read_text().splitlines()[0] + "\n")
    with_checksum = [line for line in faults(server) if line.startswith("accounts' key: ")]
    assert with_checksum == [f"accounts' key: the key of the accounts' MACs is damaged: {file}"]
    file.unlink()
    make_mac_key(server.folder / "keys")
    found = faults(server)
    assert any(line.startswith("accounts' key: its file lacks the line") for line in found)
    assert sum("its record does not fit its MAC" in line for line in found) == 3


def test_serve_makes_a_missing_key_and_raises_an_alarm_if_there_was_one(
    server: ScrubbedServer, caplog: pytest.LogCaptureFixture
):
    (server.folder / "keys" / ACCOUNTS_KEY).unlink()
    settings = Settings(data=server.folder)
    make_accounts_key(settings, server.client)
    assert "ALARM: the key of the accounts' MACs was missing" in caplog.text
    assert not ScrubRecord(server.client).all_have_macs()
    assert faults(server) == []  # the accounts are adopted
    make_accounts_key(settings, server.client)
    assert caplog.text.count("ALARM") == 1


def test_a_process_without_the_key_writes_no_mac_and_that_is_found(server: ScrubbedServer):
    Accounts(server.client, CHEAP).signup("dora", "dora-secret")
    (fault,) = faults(server)
    assert "of dora: its record has no MAC" in fault
    assert "without the key" in fault
