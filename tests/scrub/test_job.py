"""The scrubber's job: one at a time, to the end of a round, and again when the next is due.

MACs of accounts: every way in which a record is written keeps its MAC right, and nobody else can.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from redis import Redis
from rq import Queue
from rq.serializers import JSONSerializer

from infra.people.account_macs import (
    ACCOUNTS_KEY,
    AccountMacs,
    MacKeyError,
    make_mac_key,
    note_all_have_macs,
    read_mac_key,
)
from infra.people.accounts import AccountRole, Accounts
from infra.people.accounts.usernames import Lookalikes
from infra.process.failpoints import FAILPOINTS
from infra.redis import keys
from infra.redis.rq_jobs import MAINTENANCE, SCRUB
from infra.settings.settings import Settings
from infra.store.scrub_notes import ScrubNotes, ScrubRecord
from services.app.context import App
from services.cli import queue as queue_command
from services.doctor import Finding, Level, gather, judge
from services.serve.log_keys import make_accounts_key
from tests.fakes.app import CHEAP
from tests.helpers.scrubbing import ScrubbedServer
from workers.scrub import job
from workers.scrub.job import JOB, scrub_wakeup

POINTS = [point for point in FAILPOINTS if point.startswith("scrub.")]


def run(server: ScrubbedServer, percent: int = 100, **more: Any) -> int:
    settings = replace(server.settings, scrub_percent=percent)
    return job.run(settings, server.store, server.client, server.queue, **more)


def fresh(server: ScrubbedServer) -> None:
    server.client.delete(keys.SCRUB, keys.SCRUB_FAULTS)


def scrub_findings(settings: Settings) -> list[Finding]:
    return [one for one in judge(gather(settings)) if one.about == "scrub"]


def test_nothing_is_checked_with_0_percent_or_while_another_run_goes_on(server: ScrubbedServer):
    fresh(server)
    assert run(server, 0) == 0
    (said,) = scrub_findings(replace(server.settings, scrub_percent=0))
    assert said.what == "nothing is checked by itself, because `scrub_percent` is 0"
    JOB.leases(server.queue).acquire(JOB.lease, "another")
    assert run(server) == 0
    assert not server.client.exists(keys.SCRUB)


def test_a_run_that_is_asked_to_end_notes_where_it_is(server: ScrubbedServer) -> None:
    fresh(server)
    looks = iter(range(1_000))
    assert 0 < run(server, stopping=lambda: next(looks) > 10) < 20
    notes = ScrubRecord(server.client).read()
    assert notes.section
    assert notes.round == 1
    run(server)
    assert ScrubRecord(server.client).read().last_ended


@pytest.mark.long
@pytest.mark.slow
def test_a_run_that_is_killed_at_any_point_is_ended_by_the_next(server: ScrubbedServer) -> None:
    fresh(server)
    environment = {**os.environ, **server.settings.environment(), "MATCHPOST_SCRUB_PERCENT": "100"}
    command = [sys.executable, "-c", "from services.jobs import scrub; scrub()"]
    for point in POINTS:
        killed = subprocess.run(
            command, env=environment | {"MATCHPOST_FAULT": f"{point}:1"}, check=False
        )
        assert killed.returncode == -signal.SIGKILL, point
        server.queue.delete(keys.lease(JOB.lease))
        record = ScrubRecord(server.client)
        record.write(replace(record.read(), began=0))
    assert subprocess.run(command, env=environment, check=False).returncode == 0
    assert ScrubRecord(server.client).read().last_matches > 12
    assert not record.faults()


def test_a_run_that_is_due_is_requested_checks_everything_and_is_shown(server, monkeypatch, capsys):
    fresh(server)
    monkeypatch.setattr(job, "LOOK_SECONDS", 0.0)
    jobs = Queue(MAINTENANCE, connection=server.queue, serializer=JSONSerializer)
    tick = scrub_wakeup(server.client, server.queue)
    tick()
    assert [one.func_name for one in jobs.jobs] == [SCRUB]
    server.queue.flushdb()
    assert run(server) > 20
    record = ScrubRecord(server.client)
    notes = record.read()
    assert (notes.round, notes.section, notes.last_matches > 12) == (1, "", True)
    assert not server.queue.exists(keys.lease(JOB.lease))
    tick()
    assert jobs.jobs == []
    assert run(server) == 0  # the next round is not due yet

    (said,) = scrub_findings(server.settings)
    assert said.level is Level.OK
    assert said.what.startswith("all that is stored was checked ")
    queue_command.run(server.settings, as_json=False, interval=None)
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.startswith("scrub    ")
    assert re.search(r", last whole round \d+ s ago: \d+ match(es)? in \d+ s$", line)
    began, ended = (at - 40 * 60_000 for at in (notes.last_began, notes.last_ended))
    record.write(replace(notes, last_began=began, last_ended=ended))
    queue_command.run(server.settings, as_json=False, interval=None)
    assert ", last whole round 40 min ago: " in capsys.readouterr().out

    server.client.zadd(keys.due(0), {4444: 5})
    record.write(replace(record.read(), began=0))
    run(server)
    (said,) = scrub_findings(server.settings)
    assert (said.level, bool(said.remedy)) == (Level.BAD, True)
    assert said.what.startswith("due time of match 4444: ")
    with App(server.settings) as parts:
        status = parts.status()
        assert (len(status.scrub_faults), status.scrub.last_matches > 12) == (1, True)
    record.forget(record.faults())
    now = round(time.time() * 1000)
    record.write(ScrubNotes(began=now - 3 * 86_400_000, section="keys"))
    (said,) = scrub_findings(server.settings)
    sentence = "some of what is stored has not been checked for 3 d"
    assert (said.level, said.what) == (Level.WARN, sentence)


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
        lambda: accounts.set_role("alice", AccountRole.ARBITER, held=True),
        lambda: accounts.change_password("alice", "mad-hatter", "looking-glass"),
    ):
        before = redis_client.get(keys.account_mac(alice))
        change()
        assert fits(redis_client, tmp_path, alice)
        assert redis_client.get(keys.account_mac(alice)) != before
    accounts.delete("alice", "looking-glass", lambda _: None)
    assert redis_client.keys("{a:*") == []


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
    key = read_mac_key(tmp_path)
    macs = {key.mac(bytes(8), b"a"), key.mac(bytes(8), b"b"), key.mac(b"another.", b"a")}
    assert len(macs) == 3, "a MAC is of one account and one record"
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


def test_a_key_that_can_t_be_written_is_no_fault_and_said_in_the_log(server, monkeypatch, caplog):
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


def test_serve_makes_a_missing_key_and_raises_an_alarm_if_there_was_one(server, caplog):
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
