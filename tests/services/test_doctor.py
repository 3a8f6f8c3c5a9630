"""What the doctor finds on a real server, in whatever state, and of the clocks of machines and matches."""

import json
import os
import re
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from redis import Redis
from rq.suspension import suspend

from domain.clocks.time_control import DAY, TimeControl
from infra.durability.durability import Mode
from infra.health.heartbeats import Heartbeat, Role
from infra.projections.buckets import SPECS, ProjectionFailure
from infra.projections.generations import Generations
from infra.redis import keys
from infra.redis.access import ROLES as ACCESS
from infra.redis.access import acl_lines
from infra.redis.rq_jobs import COMMANDS
from infra.settings.settings import Settings
from infra.store.layout import Layout
from infra.store.port import Submission
from infra.store.redis_store import RedisStore
from infra.store.server_clock import ServerClock, ServerClockRecord
from infra.valkey.server import EmbeddedServer
from services.cli.doctor import worst
from services.cli.main import main
from services.doctor import Finding, Level, gather, judge
from tests.helpers.bench import Bench
from tests.helpers.doctor import said
from tests.helpers.given import ALICE
from tests.helpers.lanes import LANE
from tests.helpers.served import Served
from tests.helpers.side import catch_up
from tests.helpers.timed import TimedBench

MONITORING = Path(__file__).parents[2] / "docs" / "monitoring.md"


def ours() -> int:
    return time.time_ns() // 1_000_000


SUBMISSION = Submission(1, b"i" * 16, b"digest..", b"payload", ALICE, 0, "reply:1")


@pytest.fixture
def settings(valkey: EmbeddedServer, redis_client: Redis, tmp_path: Path) -> Settings:
    """Settings for the real server, with the data of four shards in one lane on it."""
    RedisStore(redis_client, Mode.FSYNC).create(Layout(shards=4, lanes=1))
    return Settings(data=tmp_path, redis_url=valkey.url, shards=4)


@pytest.fixture
def worker(settings: Settings, redis_client: Redis) -> None:
    """A command worker that is registered: this process."""
    del settings
    name = "rq:worker:test"
    fields = {"pid": os.getpid(), "hostname": socket.gethostname(), "queues": COMMANDS}
    born = {"birth": "2026-01-01T00:00:00.000000Z", "last_heartbeat": "2026-01-01T00:00:00.000000Z"}
    redis_client.hset(name, mapping=fields | born | {"state": "idle"})
    redis_client.sadd("rq:workers", name)
    for role in (
        Role.WORKER, Role.PROJECTIONS, Role.SCHEDULER, Role.PUBLISHER, Role.ROBOTS, Role.WEB,
    ):  # fmt: skip
        Heartbeat(role, "1").write(redis_client, redis_client)


# on a real server


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    env = {"MATCHPOST_ROBOTS": "1", "MATCHPOST_HTTP": "127.0.0.1:0"}
    with Served(tmp_path / "data", env) as server:
        yield server


@pytest.mark.slow
def test_a_healthy_server_is_told_so_as_the_page_shows_it_and_ends_with_0(served):
    # at once, because all processes serve when `ready` is printed
    done = served.run("doctor")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.endswith("\nall is well\n")
    assert re.search(r"^ok    server     Valkey \S+ answers, process \d+, up ", done.stdout)
    assert served.process is not None
    assert f"process {served.process.pid} owns {served.data}" in done.stdout
    for pid in served.children("matchpost worker"):
        assert str(pid) in done.stdout
    for role in ("serve", "maintenance", "web"):
        assert served.run("alive", role, "--ready").returncode == 0
    with served.client() as client:
        assert "errorstat_ERR" not in client.info("errorstats"), "no log is read that is not there"
    # the example in the documentation; numbers, paths, plurals and lists differ from machine to machine
    (example,) = re.findall(r"\$ matchpost doctor\n(.*?)```", MONITORING.read_text(), re.DOTALL)
    assert list(map(_form, example.splitlines())) == list(map(_form, done.stdout.splitlines()))


def _form(line: str) -> str:
    line = re.sub(r"process \d+(, \d+)*", "process N", line)
    line = re.sub(r"\d+ files", "N files", line)
    line = re.sub(r"(Valkey|Redis) \S+", "Valkey N", line)
    line = re.sub(r" /\S+", " PATH", line)
    line = re.sub(r"[\d.]+ (GiB|MiB|s|min|h|d|ms)\b", "N", line)
    return re.sub(r"\b\d+ (command worker|lane|shard)s?\b", r"N \1", line)


@pytest.mark.usefixtures("clean_environment")
def test_without_a_server_the_rest_is_told_and_it_ends_with_2(tmp_path, capsys):
    def doctor(*words: str) -> tuple[int, str]:
        return main(["doctor", "--data", str(tmp_path / "data"), *words]), capsys.readouterr().out

    code, told = doctor()
    assert code == 2
    assert told.startswith(f"bad   server     no server is running for {tmp_path / 'data'}\n")
    assert "start it with `matchpost serve`" in told
    assert "are free for" in told
    assert json.loads(doctor("--json")[1])["level"] == "bad"
    code, told = doctor("--redis-url", "redis://me:secret@127.0.0.1:1")
    assert code == 2
    assert "redis://***@127.0.0.1:1 does not answer" in told
    assert "secret" not in told


def submit(client: Redis, age: int = 0) -> RedisStore:
    """Submit a command so many ms ago."""
    past = ours() - age
    store = RedisStore(client, Mode.FSYNC, clock=lambda: past)
    store.submit([SUBMISSION])
    return store


def set_aside(client: Redis) -> None:
    store = submit(client)
    store.dead_letter(store.read_inbox([1], 1)[0])


def fail_once(client: Redis) -> None:
    store = submit(client)
    store.count_attempt(1, store.read_inbox([1], 1)[0].id)


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("happen", "changes", "level", "words"),
    [
        (lambda one: RedisStore(one, Mode.FSYNC).change_lanes(2), {}, Level.WARN, "1 command worker for 2 lanes"),
        (lambda one: one.set(keys.lease(LANE), "nobody"), {}, Level.BAD, "the lease of lane 0/1 never ends"),
        (lambda one: one.set(keys.lease_mark(LANE), "x"), {}, Level.WARN, "the last drain of lane 0/1 was cut off"),
        (lambda one: submit(one, 4_000), {}, Level.WARN, "1 command waits in shard 1, the oldest for "),
        (lambda one: submit(one, 40_000), {}, Level.BAD, "1 command waits in shard 1, the oldest for "),
        (submit, {"queue_cap": 1}, Level.BAD, "the inbox of shard 1 is full"),
        (set_aside, {}, Level.BAD, "1 entry of shard 1 could not be decoded"),
        (fail_once, {}, Level.WARN, "a command of shard 1 has failed, or was cut off, 1 time"),
        (suspend, {}, Level.WARN, "the workers are suspended"),
        (lambda _: None, {"durability": Mode.NONE}, Level.WARN, "durability is none"),
        (lambda one: one.hset(keys.LAYOUT, "format", "9"), {}, Level.BAD, "the data has format 9"),
        (lambda one: one.hset(keys.LAYOUT, "format", "1"), {}, Level.BAD, "format 1, which matchpost 0.2 and earlier wrote"),
        (lambda _: None, {"queue_url": "redis://127.0.0.1:1"}, Level.BAD, "the server at redis://127.0.0.1:1 does not answer"),
        (lambda one: one.delete("rq:workers"), {}, Level.BAD, "no command worker runs; no jobs wait"),
    ],
)  # fmt: skip
def test_what_happened_on_the_server_is_told(settings, redis_client, happen, changes, level, words):
    happen(redis_client)
    findings = judge(gather(msgspec.structs.replace(settings, **changes)))
    assert said(findings, level, words)


def test_users_who_may_read_the_password_of_replicas_are_named(settings, redis_client):
    passwords = {name: f"password of {name}" for name in (*ACCESS, "replica")}
    users = [line.split(" ")[1:] for line in acl_lines(passwords, queue=False)[1:]]
    for name, *rules in users:
        redis_client.execute_command("ACL", "SETUSER", name, "reset", *rules)
    try:
        assert not [one for one in judge(gather(settings)) if one.about == "access"]
        redis_client.config_set("masterauth", "a secret of replicas")
        (one,) = [one for one in judge(gather(settings)) if one.about == "access"]
        assert one.level is Level.NOTE
        assert one.what.startswith("matchpost-operator and matchpost-scheduler can copy all data")
        redis_client.execute_command("ACL", "SETUSER", "matchpost-side", "+config|get")
        findings = judge(gather(settings))
        assert said(
            findings, Level.WARN, "^matchpost-side may read `masterauth`, and copy all data"
        )
    finally:
        redis_client.config_set("masterauth", "")
        for name, *_ in users:
            redis_client.acl_deluser(name)


NAG = TimeControl(nag=1, forfeit=3)
HOUR = DAY // 24


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> TimedBench:
    return TimedBench(redis_client, tmp_path / "seeds")


@pytest.fixture
def bare(valkey: EmbeddedServer, tmp_path: Path) -> Settings:
    return Settings(data=tmp_path, redis_url=valkey.url, shards=4)


def said_of_clocks(bare: Settings) -> list[Finding]:
    return [one for one in judge(gather(bare, ours)) if one.about == "clock"]


def test_matches_that_are_overdue_are_counted_over_all_shards(bench, bare):
    bench.now = ours() - DAY - 3 * HOUR
    bench.challenge(NAG, 1, 5)
    bench.now = ours() - DAY - HOUR
    bench.challenge(NAG, 2)
    bench.now = ours()
    bench.challenge(NAG, 3)
    finding = said_of_clocks(bare)[1]
    assert finding.level is Level.BAD
    assert finding.what == "3 matches are overdue for a reminder or a flag, the oldest for 3 h"
    assert "matchpost serve" in finding.remedy


@pytest.mark.parametrize(
    ("step", "words"), [(40 * DAY, "set forward by 40 d"), (-2 * HOUR, "set back by 2 h")]
)
def test_a_clock_that_was_set_is_told_for_an_hour(bench, bare, step, words):
    notes = ServerClockRecord(bench.client)
    notes.write(ServerClock(ours(), step, ours() - HOUR // 2 - 30_000))
    (finding,) = [one for one in said_of_clocks(bare) if one.level is Level.BAD]
    assert finding.what == (
        f"the server's clock was {words}; no reminder is sent and no flag falls for another 29 min"
    )
    notes.write(ServerClock(ours(), step, ours() - HOUR - 1))
    assert [one.level for one in said_of_clocks(bare)] == [Level.OK, Level.OK]


def found(settings: Settings, clock: Callable[[], int] | None = None) -> list[Finding]:
    """What the doctor finds, less what is well."""
    facts = gather(settings, clock) if clock else gather(settings)
    return [finding for finding in judge(facts) if finding.level > Level.NOTE]


@pytest.mark.usefixtures("worker")
def test_a_failed_job_is_worth_knowing_and_no_alarm(settings, redis_client):
    redis_client.zadd(f"rq:failed:{COMMANDS}", {"drain-0-x": time.time() + 3600})
    findings = judge(gather(settings))
    assert worst(findings) is Level.NOTE
    assert any("1 job has failed within the hour" in finding.what for finding in findings)


def test_data_that_was_put_back_is_worth_knowing(settings):
    folder = settings.data / "seeds"
    folder.mkdir(parents=True)
    (folder / "s03-1-00.left").write_text("shard 3: seeds up to number 5 were used")
    assert said(judge(gather(settings)), Level.NOTE, "seeds up to number 5 were used$")


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("apart", "level", "words"),
    [
        (90, Level.BAD, "(89|90)[.].* s ahead of the server's; no reminder"),
        (-90, Level.BAD, "90[.].* s behind the server's; no reminder"),
        (20, Level.WARN, "s ahead of the server's$"),
    ],
)
def test_a_clock_that_is_off_is_told(settings, apart, level, words):
    findings = found(settings, lambda: ours() + apart * 1000)
    assert said(findings, level, words)


@pytest.mark.usefixtures("worker")
def test_a_leaf_at_which_a_projection_is_stuck_is_told(settings, redis_client, tmp_path):
    bench = Bench(redis_client, tmp_path)
    bench.start(1)
    catch_up(bench.store, redis_client)
    generations = Generations(redis_client, SPECS[0])
    live = generations.live()
    assert live is not None
    stuck = ProjectionFailure(
        "leaf 7 of shard 3", time.time_ns() // 1_000_000 - 7_200_000, "ValueError: x"
    )
    generations.note_failure(live[1].bucket(0), "3", stuck)
    words = "the projection `lists` is stuck at leaf 7 of shard 3, since 2 h: ValueError: x"
    assert said(found(settings), Level.WARN, words)
