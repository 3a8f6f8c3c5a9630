"""What the doctor says of the processes of a server, wherever they run, and of the mail that goes out."""

import os
import re
import socket
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from redis import Redis

from infra.durability.durability import Mode
from infra.health.heartbeats import (
    SILENT_MS,
    Heartbeat,
    HeartbeatRecord,
    HeartbeatThread,
    Role,
    read_heartbeats,
)
from infra.log.key_files import missing_keys
from infra.mail.email import Email, Purpose
from infra.mail.outbox import Outbox, OutboxStatus, RelayBackoff
from infra.redis import keys
from infra.settings.settings import Settings
from infra.store.layout import Layout
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from services.cli.scheduler import _sign_of_life
from services.doctor import Finding, Level, gather, judge
from services.doctor.facts import Facts
from tests.helpers.forked import SCRIPT
from tests.helpers.served import Served, until

NEEDED = (
    Role.WORKER,
    Role.PROJECTIONS,
    Role.SCHEDULER,
    Role.PUBLISHER,
    Role.ROBOTS,
    Role.WEB,
)


@pytest.fixture
def facts(valkey: EmbeddedServer, redis_client: Redis, tmp_path: Path) -> Facts:
    """Facts of a real server on which every process gives signs of life."""
    RedisStore(redis_client, Mode.FSYNC).create(Layout(shards=4, lanes=1))
    found = gather(Settings(data=tmp_path, redis_url=valkey.url, shards=4))
    assert found.server is not None
    beats = tuple(HeartbeatRecord(role, "there", 8, "1", 1, found.server.clock) for role in NEEDED)
    return with_(found, beats=beats)


def with_(facts: Facts, **changes: Any) -> Facts:
    assert facts.server is not None
    return msgspec.structs.replace(facts, server=msgspec.structs.replace(facts.server, **changes))


def changed(facts: Facts, role: Role, **changes: Any) -> Facts:
    """The facts with another sign of life of one role."""
    assert facts.server is not None
    return with_(
        facts,
        beats=tuple(
            msgspec.structs.replace(beat, **changes) if beat.role == role else beat
            for beat in facts.server.beats
        ),
    )


def told(facts: Facts, *about: str) -> list[Finding]:
    return [one for one in judge(facts) if one.about in (about or ("processes", "mail", "seeds"))]


def one(facts: Facts, level: Level, words: str) -> None:
    """There is one finding above a note about processes, mail or seeds, and it is this."""
    (finding,) = [one for one in told(facts) if one.level > Level.NOTE]
    assert finding.level is level
    assert re.search(words, finding.what), finding.what
    assert finding.remedy


def test_processes_that_give_signs_of_life_are_well(facts: Facts) -> None:
    (finding,) = told(facts)
    assert finding.level is Level.OK
    assert finding.what.endswith(
        "command worker, projection worker, scheduler, publisher, robot process, web process"
    )


@pytest.mark.parametrize(
    ("role", "level", "words"),
    [
        (Role.PROJECTIONS, Level.WARN, "no projection worker sends signs of life"),
        (Role.SCHEDULER, Level.BAD, "no scheduler sends signs of life"),
        (Role.PUBLISHER, Level.WARN, "no publisher sends signs of life"),
        (Role.ROBOTS, Level.WARN, "no robot process sends signs of life"),
        (Role.WEB, Level.WARN, "no web process sends signs of life"),
    ],
)
def test_a_role_that_is_missing_is_told(facts: Facts, role: Role, level: Level, words: str) -> None:
    assert facts.server is not None
    beats = tuple(beat for beat in facts.server.beats if beat.role != role)
    one(with_(facts, beats=beats), level, words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"smtp": "127.0.0.1:25"}, "no mail intake"),
        ({"lmtp": Path("/run/mail")}, "no mail intake"),
        ({"relay": "smtp://127.0.0.1"}, "no mailer"),
    ],
)
def test_what_the_settings_ask_for_is_missed(facts: Facts, changes: Any, words: str) -> None:
    settings = msgspec.structs.replace(facts.settings, **changes)
    one(msgspec.structs.replace(facts, settings=settings), Level.WARN, words)


def test_what_nobody_asked_for_is_not_missed(facts: Facts) -> None:
    assert facts.server is not None
    settings = msgspec.structs.replace(facts.settings, http="off")
    beats = tuple(beat for beat in facts.server.beats if beat.role != Role.WEB)
    facts = msgspec.structs.replace(with_(facts, beats=beats), settings=settings)
    assert [finding.level for finding in told(facts)] == [Level.OK]


def test_what_hangs_is_told_with_since_when(facts: Facts) -> None:
    assert facts.server is not None
    past = facts.server.clock - SILENT_MS - 60_000
    words = [f.what for f in told(changed(facts, Role.WORKER, at=past)) if f.level is Level.WARN]
    assert words == ["command worker 8 on there has been silent for 90 s"]


def test_what_was_there_of_late_is_missed_whatever_the_settings_say(facts: Facts) -> None:
    assert facts.server is not None
    mailer = HeartbeatRecord(Role.MAILER, "there", 9, "1", 1, facts.server.clock - 2 * SILENT_MS)
    words = [f.what for f in told(with_(facts, beats=(*facts.server.beats, mailer)))]
    assert words == [
        "no mailer sends signs of life",
        "mailer 9 on there has been silent for 60 s",
    ]


def test_mail_keys_that_differ_are_told(facts: Facts) -> None:
    assert facts.server is not None
    clock = facts.server.clock
    mailer = HeartbeatRecord(Role.MAILER, "a", 1, "1", 1, clock, mail_key="one")
    intake = HeartbeatRecord(Role.MAIL, "b", 2, "1", 1, clock, mail_key="other")
    beats = (*facts.server.beats, mailer)
    assert [f.level for f in told(with_(facts, beats=beats))] == [Level.OK]
    one(
        with_(facts, beats=(*beats, intake)),
        Level.BAD,
        "different mail keys: mailer on a, mail intake on b",
    )


def test_seeds_that_a_worker_lacks_are_told(facts: Facts) -> None:
    one(
        changed(facts, Role.WORKER, lost_shards=(1, 3)),
        Level.BAD,
        r"command worker 8 on there lacks the seeds of 2 shards \(1, 3\)",
    )


def test_a_secret_that_is_not_the_server_s_is_told(facts: Facts) -> None:
    (finding,) = judge_secrets(with_(facts, other_secrets=("the seeds here differ; share them",)))
    assert (finding.level, finding.what) == (Level.BAD, "the seeds here differ")
    assert "share them" in finding.remedy


def judge_secrets(facts: Facts) -> list[Finding]:
    return [one for one in judge(facts) if one.about == "secrets"]


def test_different_versions_are_worth_knowing(facts: Facts) -> None:
    (_, finding) = told(changed(facts, Role.WEB, version="2"))
    assert (finding.level, finding.what) == (Level.NOTE, "they run different versions: 1, 2")


def test_a_relay_that_is_down_is_told(facts: Facts) -> None:
    one(
        with_(facts, outbox=OutboxStatus(3, 5, "it is not there")),
        Level.BAD,
        "3 e-mails wait: it is not there",
    )


def test_letters_that_nobody_sends_are_told(facts: Facts) -> None:
    one(
        with_(facts, outbox=OutboxStatus(1, 300_000)),
        Level.WARN,
        "1 e-mail waits to be sent, the first for 5",
    )


def test_what_waits_is_read_from_the_outbox(facts: Facts, redis_client: Redis) -> None:
    outbox = Outbox(redis_client, lambda: 1_000)
    outbox.enqueue(Email(id="a@b", to="c@d", subject="s", body="b", purpose=Purpose.ANSWER))
    outbox.start_backoff(RelayBackoff(2_000, 1, "connection refused"))
    found = gather(facts.settings).server
    assert found is not None
    assert (found.outbox.waiting, found.outbox.down) == (1, "connection refused")
    assert found.outbox.late > 1_000_000


# signs of life


def test_a_sign_of_life_stands_until_the_process_ends_in_good_order(redis_client: Redis) -> None:
    heartbeat = Heartbeat(Role.WEB, "1", lost=lambda: [2])
    heartbeat.write(redis_client, redis_client)
    (beat,) = read_heartbeats(redis_client)
    assert (beat.role, beat.host, beat.pid) == (Role.WEB, socket.gethostname(), os.getpid())
    assert (beat.version, beat.lost_shards) == ("1", (2,))
    assert not beat.is_silent(beat.at + SILENT_MS)
    assert beat.is_silent(beat.at + SILENT_MS + 1)
    assert beat.is_silent(beat.at - SILENT_MS - 1)
    heartbeat.remove(redis_client)
    assert read_heartbeats(redis_client) == []


def test_who_begins_takes_away_those_that_were_killed_here(redis_client: Redis) -> None:
    mine = [HeartbeatRecord(Role.WEB, socket.gethostname(), 2**22 + 1, "1", 1, 1 << 50)]
    others = [
        HeartbeatRecord(Role.MAIL, socket.gethostname(), 2**22 + 1, "1", 1, 1 << 50),
        HeartbeatRecord(Role.WEB, "elsewhere", 2**22 + 1, "1", 1, 1 << 50),
    ]
    for beat in (*mine, *others):
        redis_client.hset(keys.HEARTBEATS, beat.field, msgspec.msgpack.encode(beat))
    Heartbeat(Role.WEB, "1").write(redis_client, redis_client)
    assert {beat.field for beat in read_heartbeats(redis_client)} == {
        *(beat.field for beat in others),
        f"web/{socket.gethostname()}/{os.getpid()}",
    }


def test_a_thread_beats_until_it_is_left(valkey: EmbeddedServer, redis_client: Redis) -> None:
    def connect() -> Redis:
        return Redis.from_url(valkey.url)

    with HeartbeatThread((connect, connect), Heartbeat(Role.WEB, "1")):
        until(lambda: read_heartbeats(redis_client))
    assert read_heartbeats(redis_client) == []


# whole servers


@pytest.mark.long
@pytest.mark.parametrize("role", ["web", "worker", "side", "mailer", "mail"])
def test_without_data_a_process_says_one_sentence(
    role: str, valkey: EmbeddedServer, redis_client: Redis, tmp_path: Path
) -> None:
    redis_client.flushall()
    more = {
        "MATCHPOST_REDIS_URL": valkey.url,
        "MATCHPOST_RELAY": "smtp://127.0.0.1:1",
        "MATCHPOST_SMTP": "127.0.0.1:0",
        "MATCHPOST_HTTP": "127.0.0.1:0",
    }
    done = Served(tmp_path / "data", more).run(role)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if "there is no data yet" in line]) == 1


@pytest.mark.slow
def test_a_mailer_alone_is_no_command_worker(
    facts: Facts, valkey: EmbeddedServer, redis_client: Redis, tmp_path: Path
) -> None:
    more = {"MATCHPOST_REDIS_URL": valkey.url, "MATCHPOST_RELAY": "smtp://127.0.0.1:1"}
    served = Served(tmp_path / "data", more)
    process = subprocess.Popen([SCRIPT, "mailer"], env=served.env, stderr=subprocess.DEVNULL)
    try:
        until(lambda: redis_client.scard("rq:workers") and read_heartbeats(redis_client))
        findings = judge(gather(facts.settings))
    finally:
        process.terminate()
        process.wait(30)
    told = [finding.what for finding in findings if finding.level is Level.BAD]
    assert told == ["no command worker runs; no jobs wait", "no scheduler sends signs of life"]
    assert read_heartbeats(redis_client) == [], "it ended in good order"


@pytest.mark.long
@pytest.mark.slow
def test_all_processes_of_a_server_give_signs_of_life_and_take_them_away(
    valkey: EmbeddedServer, redis_client: Redis, tmp_path: Path
) -> None:
    more = {
        "MATCHPOST_REDIS_URL": valkey.url,
        "MATCHPOST_RELAY": "smtp://127.0.0.1:1",
        "MATCHPOST_SMTP": "127.0.0.1:0",
        "MATCHPOST_HTTP": "127.0.0.1:0",
    }
    with Served(tmp_path / "data", {**more, "MATCHPOST_ROBOTS": "1"}):
        until(lambda: {beat.role for beat in read_heartbeats(redis_client)} == set(Role))
        beats = read_heartbeats(redis_client)
        assert not missing_keys(tmp_path / "data" / "keys"), "the log can be published"
    keyed = [beat.mail_key for beat in beats if beat.role in (Role.MAIL, Role.MAILER)]
    assert keyed[0] == keyed[1] != ""
    assert read_heartbeats(redis_client) == []


def test_the_scheduler_goes_on_where_nothing_can_be_written(redis_client: Redis) -> None:
    tick = _sign_of_life(Heartbeat(Role.SCHEDULER, "1"), redis_client, redis_client)
    redis_client.set(keys.HEARTBEATS, "no hash")  # any write to it fails
    tick()
    redis_client.delete(keys.HEARTBEATS)
    _sign_of_life(Heartbeat(Role.SCHEDULER, "1"), redis_client, redis_client)()
    assert [beat.role for beat in read_heartbeats(redis_client)] == [Role.SCHEDULER]
