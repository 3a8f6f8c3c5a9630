"""What `matchpost doctor` finds in facts that are made up, and in the processes of a server."""

import os
import re
import socket
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from domain.game.engine import RobotLevel
from infra.durability.durability import Mode
from infra.health import heartbeats
from infra.health.heartbeats import (
    SILENT_MS,
    Heartbeat,
    HeartbeatRecord,
    HeartbeatThread,
    Role,
    read_heartbeats,
)
from infra.health.queue_status import LaneStatus, QueueStatus, ShardStatus, WorkerStatus
from infra.health.retirement_limits import ArchiveFigures
from infra.mail.outbox import OutboxStatus
from infra.projections.buckets import RATINGS
from infra.projections.lag import Lag
from infra.projections.robots import RobotFigures
from infra.redis import keys
from infra.redis.server import DISK_FULL
from infra.settings.settings import Settings
from infra.store.closed_shards import rolled_back
from infra.store.layout import Layout
from infra.store.lost_leaves import LostLeaves
from infra.store.port import MOST_AHEAD_MS
from infra.store.watermarks import PublishedSize
from services.cli.doctor import exit_code, worst
from services.doctor import Level, judge
from services.doctor.directory import DirectoryFacts
from services.doctor.facts import Facts, HashLimits, ServerFacts
from tests.helpers.doctor import GIB, said
from tests.helpers.served import Served, until
from workers.projections import PROJECTIONS

NEEDED = (Role.WORKER, Role.PROJECTIONS, Role.SCHEDULER, Role.PUBLISHER, Role.ROBOTS, Role.WEB)
BEATS = tuple(HeartbeatRecord(role, "h", 8, "1", 900_000, 995_000) for role in NEEDED)

SERVER = ServerFacts(
    "Valkey 9.1.2", 1_000_000, 7, 60, 10, 100, (), (), Layout(1, 1), "", beats=BEATS
)

FACTS = Facts(
    Settings(data=Path("/data"), shards=1),
    1_000_000,
    DirectoryFacts("/data", True, 50 * GIB, 0.5, 5),
    SERVER,
    "",
    QueueStatus((WorkerStatus(8, "here", True),), lanes=(LaneStatus(0, "", -2, False),)),
)


def with_(part: str, **changes: Any) -> Facts:
    """The facts of a healthy server, but for one part."""
    old = getattr(FACTS, part)
    return replace(FACTS, **{part: replace(old, **changes)})


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (HashLimits(100, 64), ["hash-max-listpack-entries 100 (set 128)"]),
        (HashLimits(512, 32), ["hash-max-listpack-value 32 (set 64)"]),
        (HashLimits(100, 60), ["hash-max-listpack-entries 100 (set 128) and hash-max-listpack-value 60 (set 64)"]),
        (HashLimits(128, 64), []),
        (HashLimits(1024, 128), []),
        (None, []),
    ],
)  # fmt: skip
def test_settings_that_make_matches_larger_are_noted_and_all_else_is_healthy(limits, words):
    facts = with_("server", hashes=limits)
    noted = [one for one in judge(facts) if one.level is not Level.OK]
    assert [(one.level, one.about) for one in noted] == [(Level.NOTE, "memory")] * len(words)
    assert [one.what.partition("by the server's settings ")[2] for one in noted] == words
    assert exit_code(facts, judge(facts)) == 0


def settings_(facts: Facts = FACTS, **changes: Any) -> Facts:
    """Facts with other settings."""
    return replace(facts, settings=replace(facts.settings, **changes))


def shards(**changes: Any) -> Facts:
    """The facts of a server with one shard, which is as the test says."""
    return with_("server", shards=(replace(ShardStatus(0, 0, None, 0, 0), **changes),))


def lane(wanted: str, left: int, *, taken: bool) -> Facts:
    return with_("queue", lanes=(LaneStatus(0, wanted, left, taken),))


NINE = (PublishedSize(9),)
CONTRADICTED = "shard 1: leaf 3 in the data is not the one that is published"
UNKEYED = (PublishedSize(fault="no key"), PublishedSize(fault="no key"))


@pytest.mark.parametrize(
    ("facts", "level", "words"),
    [
        (with_("server", published=NINE, closed=(rolled_back(0, 9, 5),)), Level.BAD, "shard 0 is closed: 9 leaves are published, and the data end at leaf 5"),
        (with_("server", published=NINE, lost=(LostLeaves(0, 5, 7, 940_000),)), Level.WARN, "shard 0 has lost 2 leaves from 5 on, .* noticed .* ago"),
        (with_("server", published=(PublishedSize(5), PublishedSize(7, b"r", CONTRADICTED))), Level.BAD, CONTRADICTED),
        (with_("server", published=UNKEYED), Level.BAD, "the log is not published: no key"),
        (with_("server", robots=RobotFigures(3, 64_000)), Level.WARN, "3 matches wait for a robot, the first for 64 s"),
        (
            with_("server", robots=RobotFigures(1, 0, {7: "the game 'chess' is not installed"})),
            Level.WARN, "a robot can't act in 1 match: 7; in match 7: the game 'chess' is not installed",
        ),
        (settings_(with_("server", robots=RobotFigures(1)), robots=0), Level.WARN, "1 match waits for a robot, and this server runs none"),
        (with_("directory", free=GIB), Level.WARN, "1.0 GiB are free for /data"),
        (with_("directory", free=GIB // 16), Level.BAD, "64.0 MiB are free for /data"),
        (with_("directory", fsync_ms=45.0), Level.WARN, "a sync takes 45.0 ms"),
        (with_("directory", fsync_ms=None), Level.BAD, "nothing can be written to /data"),
        (with_("directory", owner=None), Level.BAD, "the process that started it .* is gone"),
        (with_("server", memory=75), Level.WARN, "the server uses"),
        (with_("server", memory=95), Level.BAD, "the server uses"),
        (with_("server", write_faults=(DISK_FULL,)), Level.BAD, "everything can be read"),
        (lane("wanted", 3_561_000, taken=False), Level.BAD, "59 min left, longer than"),
        (lane("f00", 3_561_000, taken=True), Level.BAD, "59 min left, longer than"),
        (with_("server", not_durable=("it is Redis 6; buy a new one",)), Level.BAD, "it is Redis 6$"),
        (replace(FACTS, files=1_024), Level.WARN, "may have 1024 files open"),
        (shards(waiting=3, oldest=1_000_000 - 7_200_000), Level.BAD, "3 commands wait in shard 0, the oldest for 2 h"),
        (shards(floor=1_300_000), Level.WARN, "are received 5 min ahead of it"),
    ],
)  # fmt: skip
def test_each_thing_that_is_wrong_is_found(facts, level, words):
    findings = judge(facts)
    assert said(findings, level, words)
    assert worst(findings) is level
    assert exit_code(facts, findings) == 1


LAG = Lag(RATINGS, RATINGS.version, 0, None, (), late=False, building=False)


@pytest.mark.parametrize(
    ("changes", "level", "words"),
    [
        ({"version": 0}, Level.WARN, "must be rebuilt: it has version 0, and this program"),
        ({"version": 99}, Level.WARN, "must be rebuilt: it has version 99, and this"),
        ({"late": True}, Level.WARN, "must be rebuilt: an event arrived that belongs before"),
        ({"late": True, "building": True}, Level.NOTE, "the projection `ratings` is being rebuilt: an event"),
        ({"events": 7, "oldest": 999_000}, Level.NOTE, "the projection `ratings` is at most 7 events and 1 s behind"),
        ({"events": 7, "oldest": 900_000}, Level.WARN, "`ratings` is 7 events and 100 s behind"),
    ],
)  # fmt: skip
def test_what_a_projection_lacks_is_told(changes, level, words):
    lag = replace(LAG, **changes)
    findings = [f for f in judge(with_("server", projections=(lag,))) if f.about == "lists"]
    (finding,) = findings
    assert finding.level is level
    assert re.search(words, finding.what)
    assert bool(finding.remedy) is (level is Level.WARN)


@pytest.mark.parametrize("projection", PROJECTIONS, ids=lambda one: one.spec.name)
def test_a_projection_that_moves_do_not_change_may_store_its_position_some_seconds_later(
    projection,
):
    unsaved = replace(LAG, events=50, oldest=1_000_000 - int(projection.save_seconds * 1_000))
    findings = judge(with_("server", clock=1_000_000, projections=(unsaved,)))
    assert [f.level for f in findings if f.about == "lists"] == [Level.NOTE]


DAY = 86_400_000
BEHIND = ArchiveFigures(1, 7, 3, 2 * DAY)


def about_the_archive(facts: Facts) -> list[tuple[Level, str]]:
    return [(one.level, one.what) for one in judge(facts) if one.about == "archive"]


def test_the_archive_is_counted_and_one_that_is_behind_is_reported():
    for nothing in (FACTS, with_("server", archive=ArchiveFigures(0, 7, 0, None))):
        assert about_the_archive(nothing) == []
    counted = with_("server", archive=ArchiveFigures(1, 7, 0, None))
    words = "1 match is in the archive, and 7 that are over are not yet"
    assert about_the_archive(counted) == [(Level.OK, words)]
    behind = with_("server", clock=50 * DAY, archive=BEHIND)
    words = "3 matches are still in the server's memory, more than 40 days after the end; the first"
    assert about_the_archive(behind) == [(Level.WARN, f"{words} ended 48 d ago")]
    without = settings_(behind, durability=Mode.NONE)
    assert [level for level, _ in about_the_archive(without)] == [Level.OK]
    # when the server has just started it is no warning
    for seconds, level in ((60, Level.NOTE), (599, Level.NOTE), (601, Level.WARN)):
        times = {"started": 50 * DAY - seconds * 1000, "at": 50 * DAY}
        beats = tuple(replace(one, **times) for one in BEATS)
        found = with_("server", clock=50 * DAY, archive=BEHIND, beats=beats)
        assert [one for one, _ in about_the_archive(found)] == [level]


NOW = 1_000_000
MAILER = HeartbeatRecord(Role.MAILER, "a", 1, "1", 1, NOW, mail_key="one")
INTAKE = HeartbeatRecord(Role.MAIL, "b", 2, "1", 1, NOW, mail_key="other")


def changed(role: Role, **changes: Any) -> dict[str, Any]:
    """Signs of life, with another one of one role."""
    beats = (replace(one, **changes) if one.role == role else one for one in BEATS)
    return {"beats": tuple(beats)}


def without(role: Role) -> dict[str, Any]:
    return {"beats": tuple(one for one in BEATS if one.role != role)}


@pytest.mark.parametrize(
    ("settings", "server", "level", "words"),
    [
        ({}, {}, Level.OK, "command worker, projection worker, scheduler, publisher, robot process, web process$"),
        ({}, without(Role.PROJECTIONS), Level.WARN, "^no projection worker sends signs of life$"),
        ({}, without(Role.SCHEDULER), Level.BAD, "^no scheduler sends signs of life$"),
        ({}, without(Role.PUBLISHER), Level.WARN, "^no publisher sends signs of life$"),
        ({}, without(Role.ROBOTS), Level.WARN, "^no robot process sends signs of life$"),
        ({}, without(Role.WEB), Level.WARN, "^no web process sends signs of life$"),
        ({"http": "off"}, without(Role.WEB), Level.OK, "publisher, robot process$"),
        ({"smtp": "127.0.0.1:25"}, {}, Level.WARN, "no mail intake"),
        ({"lmtp": Path("/run/mail")}, {}, Level.WARN, "no mail intake"),
        ({"relay": "smtp://127.0.0.1"}, {}, Level.WARN, "no mailer"),
        ({}, {"beats": (*BEATS, MAILER)}, Level.OK, "mailer"),
        ({}, {"beats": (*BEATS, MAILER, INTAKE)}, Level.BAD, "different mail keys: mailer on a, mail intake on b"),
        ({}, changed(Role.WORKER, lost_shards=(1, 3)), Level.BAD, r"command worker 8 on h lacks the seeds of 2 shards \(1, 3\)"),
        ({}, changed(Role.WORKER, at=NOW - SILENT_MS - 60_000), Level.WARN, "^command worker 8 on h has been silent for 90 s$"),
        ({}, changed(Role.WEB, version="2"), Level.NOTE, "^they run different versions: 1, 2$"),
        ({}, {"outbox": OutboxStatus(3, 5, "it is not there")}, Level.BAD, "3 e-mails wait: it is not there"),
        ({}, {"outbox": OutboxStatus(1, 300_000)}, Level.WARN, "1 e-mail waits to be sent, the first for 5"),
        ({}, {"other_secrets": ("the seeds here differ; share them",)}, Level.BAD, "^the seeds here differ$"),
    ],
)  # fmt: skip
def test_what_processes_mail_and_secrets_lack_is_told(settings, server, level, words):
    facts = settings_(with_("server", **server), **settings)
    about = ("processes", "mail", "seeds", "secrets")
    findings = [finding for finding in judge(facts) if finding.about in about]
    *_, finding = sorted(findings, key=lambda one: one.level)
    assert sum(one.level > Level.NOTE for one in findings) == (level > Level.NOTE)
    assert finding.level is level
    assert re.search(words, finding.what)
    assert bool(finding.remedy) == (level > Level.NOTE)


# signs of life


def test_a_sign_of_life_stands_until_the_process_ends_in_good_order(redis_client):
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


def test_who_begins_takes_away_those_that_were_killed_here(redis_client):
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


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (lane("wanted", 900, taken=False), "was requested"),
        (lane("f00", 2_900, taken=True), "its lease ends in 2.9 s"),
        (settings_(shards=8), "the setting `shards` is 8 and has no effect"),
        (with_("queue", workers=(WorkerStatus(8, "h", True), WorkerStatus(9, "h", False))), "process 9 was killed"),
        (with_("server", shape=None, no_shape="there is no data yet"), "there is no data yet"),
        (
            with_("server", robot_userids={RobotLevel.EASY: "robot-easy-2"}),
            "the robot of the level easy is robot-easy-2, because a person had the userid robot-easy",
        ),
    ],
)  # fmt: skip
def test_what_is_only_worth_knowing_is_no_alarm(facts, words):
    findings = judge(facts)
    assert worst(findings) is Level.NOTE
    assert any(words in finding.what for finding in findings if finding.level is Level.NOTE)
    assert exit_code(facts, findings) == 0


def test_a_directory_that_nobody_serves_is_no_alarm_by_itself():
    facts = replace(
        with_("directory", owner=None), server=None, queue=None, unreachable="no server is running"
    )
    findings = judge(facts)
    assert [f.about for f in findings if f.level > Level.NOTE] == ["server"]
    assert exit_code(facts, findings) == 2


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        (Layout(1, 1), "3 command workers for 1 lane: 2 are idle, because there are no more shards"),
        (Layout(8, 2), "3 command workers for 2 lanes: 1 is idle; `matchpost lanes 3` makes more lanes"),
        (Layout(2, 1), "3 command workers for 1 lane: 2 are idle; `matchpost lanes 2` makes more lanes"),
    ],
)  # fmt: skip
def test_workers_without_a_lane_are_noted(layout, words):
    workers = tuple(WorkerStatus(number, "h", True) for number in (8, 9, 10))
    facts = replace(with_("queue", workers=workers), server=with_("server", shape=layout).server)
    notes = [one.what for one in judge(facts) if (one.level, one.about) == (Level.NOTE, "workers")]
    assert notes == [f"{words} (process 8, 9, 10); no jobs wait"]


def test_moves_received_a_little_ahead_of_the_clock_are_no_finding():
    for ahead in (1_000, MOST_AHEAD_MS + 1):
        assert worst(judge(shards(floor=1_000_000 + ahead))) is Level.OK


def test_a_thread_beats_until_it_is_left(valkey, redis_client):
    connect = (valkey.client, valkey.client)
    with HeartbeatThread(connect).beating(Heartbeat(Role.WEB, "1")):
        until(lambda: read_heartbeats(redis_client))
    assert read_heartbeats(redis_client) == []


def test_the_roles_of_a_process_beat_together_and_each_until_it_is_left(
    valkey, redis_client, monkeypatch
):
    monkeypatch.setattr(heartbeats, "EVERY_SECONDS", 0.05)
    thread = HeartbeatThread((valkey.client, valkey.client))

    def roles() -> set[Role]:
        return {one.role for one in read_heartbeats(redis_client)}

    def counted(command: str) -> int:
        return int(redis_client.info("commandstats")[f"cmdstat_{command}"]["calls"])

    with thread.beating(Heartbeat(Role.WEB, "1")):
        with thread.beating(Heartbeat(Role.MAIL, "1")):
            assert roles() == {Role.WEB, Role.MAIL}
            before = counted("hset"), counted("time")
            until(lambda: counted("hset") >= before[0] + 10)
            assert counted("time") - before[1] <= (counted("hset") - before[0]) / 2 + 1
        until(lambda: roles() == {Role.WEB})
    assert roles() == set()
    with thread.beating(Heartbeat(Role.WEB, "1")):
        assert roles() == {Role.WEB}
    assert roles() == set()


@pytest.mark.long
@pytest.mark.parametrize("role", ["web", "worker", "side", "mailer", "mail"])
def test_without_data_a_process_says_one_sentence(role, valkey, redis_client, tmp_path):
    redis_client.flushall()
    more = {
        "MATCHPOST_REDIS_URL": valkey.url, "MATCHPOST_RELAY": "smtp://127.0.0.1:1",
        "MATCHPOST_SMTP": "127.0.0.1:0", "MATCHPOST_HTTP": "127.0.0.1:0",
    }  # fmt: skip
    done = Served(tmp_path / "data", more).run(role)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if "there is no data yet" in line]) == 1
