"""What the doctor finds on a real server, in whatever state, and on facts that are made up."""

import json
import os
import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from redis import Redis
from rq.suspension import suspend

from domain.match.commands import PlayMove
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
from infra.store.rq_wakeup import enqueue_drain
from infra.valkey.server import EmbeddedServer
from services.cli.doctor import worst
from services.doctor import Finding, Level, gather, judge
from tests.helpers.bench import Bench
from tests.helpers.doctor import said
from tests.helpers.given import ALICE
from tests.helpers.lanes import LANE
from tests.helpers.served import Served, until
from tests.helpers.side import catch_up

MONITORING = Path(__file__).parents[2] / "docs" / "monitoring.md"
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
    living(
        redis_client,
        Role.WORKER,
        Role.PROJECTIONS,
        Role.SCHEDULER,
        Role.PUBLISHER,
        Role.ROBOTS,
        Role.WEB,
    )


def living(client: Redis, *roles: Role) -> None:
    """Signs of life of these roles, all of this process."""
    for role in roles:
        Heartbeat(role, "1").write(client, client)


def found(settings: Settings, clock: Callable[[], int] | None = None) -> list[Finding]:
    """What the doctor finds, less what is well."""
    facts = gather(settings, clock) if clock else gather(settings)
    return [finding for finding in judge(facts) if finding.level > Level.NOTE]


# on a real server


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    data = tmp_path_factory.mktemp("doctor") / "data"
    env = {"MATCHPOST_ROBOTS": "1", "MATCHPOST_HTTP": "127.0.0.1:0"}
    with Served(data, env) as server:
        # at once, because all processes serve when `ready` is printed
        done = server.run("doctor")
        assert done.returncode == 0, done.stdout
        yield server


@pytest.mark.slow
def test_a_healthy_server_is_told_so_and_ends_with_0(served: Served) -> None:
    done = served.run("doctor")
    assert (done.returncode, done.stderr) == (0, "")
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


@pytest.mark.slow
def test_the_example_in_the_documentation_has_the_form_of_what_is_printed(served: Served) -> None:
    (example,) = re.findall(r"\$ matchpost doctor\n(.*?)```", MONITORING.read_text(), re.DOTALL)
    printed = served.run("doctor").stdout
    # numbers, paths, plurals and lists differ from machine to machine
    assert [_form(line) for line in example.splitlines()] == [
        _form(line) for line in printed.splitlines()
    ]


def _form(line: str) -> str:
    line = re.sub(r"process \d+(, \d+)*", "process N", line)
    line = re.sub(r"\d+ files", "N files", line)
    line = re.sub(r"(Valkey|Redis) \S+", "Valkey N", line)
    line = re.sub(r" /\S+", " PATH", line)
    line = re.sub(r"[\d.]+ (GiB|MiB|s|min|h|d|ms)\b", "N", line)
    return re.sub(r"\b\d+ (command worker|lane|shard)s?\b", r"N \1", line)


@pytest.mark.slow
def test_json_says_the_same_to_a_program(served: Served) -> None:
    done = served.run("doctor", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["level"]) == (0, "ok")
    assert {"server", "durability", "serve", "clock", "data", "workers", "lanes"} <= {
        row["about"] for row in report["findings"]
    }
    assert all(set(row) == {"level", "about", "what", "remedy"} for row in report["findings"])


@pytest.mark.long
@pytest.mark.slow
def test_a_server_whose_workers_are_stopped_is_told_what_waits(tmp_path: Path) -> None:
    with Served(tmp_path / "data", {"MATCHPOST_WORKERS": "1"}) as server:
        server.do("signup alice mad-hatter", "signup bob yes-we-can")
        (pid,) = server.children("matchpost worker")
        os.kill(pid, signal.SIGSTOP)
        assert server.run("do", "--wait", "0", "pow2 challenge alice bob").returncode == 2
        until(lambda: "the oldest for" in server.run("doctor").stdout)
        done = server.run("doctor")
        os.kill(pid, signal.SIGCONT)
        assert done.returncode == 1
        assert re.search(
            r"warn  inbox      1 command waits in shard 1, the oldest for", done.stdout
        )
        until(lambda: server.run("doctor").returncode == 0)


@pytest.mark.slow
def test_without_a_server_the_rest_is_told_and_it_ends_with_2(tmp_path: Path) -> None:
    nowhere = Served(tmp_path / "data")
    done = nowhere.run("doctor")
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout.startswith(
        f"bad   server     no server is running for {tmp_path / 'data'}\n"
    )
    assert "start it with `matchpost serve`" in done.stdout
    assert "are free for" in done.stdout
    assert json.loads(nowhere.run("doctor", "--json").stdout)["level"] == "bad"
    done = nowhere.run("doctor", "--redis-url", "redis://me:secret@127.0.0.1:1")
    assert done.returncode == 2
    assert "redis://***@127.0.0.1:1 does not answer" in done.stdout
    assert "secret" not in done.stdout


@pytest.mark.usefixtures("worker")
def test_nothing_is_wrong_with_a_server_and_a_worker(settings: Settings) -> None:
    assert found(settings) == []


def test_a_server_without_workers_is_bad(settings: Settings, redis_client: Redis) -> None:
    enqueue_drain(redis_client, LANE)
    assert said(found(settings), Level.BAD, "no command worker runs; 1 job waits")


@pytest.mark.usefixtures("worker")
def test_fewer_workers_than_lanes_are_told(settings: Settings, redis_client: Redis) -> None:
    RedisStore(redis_client, Mode.FSYNC).change_lanes(2)
    assert said(found(settings), Level.WARN, "1 command worker for 2 lanes")


@pytest.mark.usefixtures("worker")
def test_a_lease_that_never_ends_is_bad(settings: Settings, redis_client: Redis) -> None:
    redis_client.set(keys.lease(LANE), "nobody")
    assert said(found(settings), Level.BAD, "the lease of lane 0/1 never ends")


@pytest.mark.usefixtures("worker")
def test_a_drain_that_was_cut_off_is_told(settings: Settings, redis_client: Redis) -> None:
    redis_client.set(keys.lease_mark(LANE), "a killed drain")
    assert said(found(settings), Level.WARN, "the last drain of lane 0/1 was cut off")


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(("age", "level"), [(4_000, Level.WARN), (40_000, Level.BAD)])
def test_a_command_that_waits_long_is_told(
    settings: Settings, redis_client: Redis, age: int, level: Level
) -> None:
    past = time.time_ns() // 1_000_000 - age
    RedisStore(redis_client, Mode.FSYNC, clock=lambda: past).submit([SUBMISSION])
    assert said(found(settings), level, "1 command waits in shard 1, the oldest for ")


@pytest.mark.usefixtures("worker")
def test_a_full_inbox_is_bad(settings: Settings, redis_client: Redis) -> None:
    RedisStore(redis_client, Mode.FSYNC).submit([SUBMISSION])
    full = msgspec.structs.replace(settings, queue_cap=1)
    assert said(found(full), Level.BAD, "the inbox of shard 1 is full")


@pytest.mark.usefixtures("worker")
def test_an_entry_that_was_set_aside_is_bad(settings: Settings, redis_client: Redis) -> None:
    store = RedisStore(redis_client, Mode.FSYNC)
    store.submit([SUBMISSION])
    store.dead_letter(store.read_inbox([1], 1)[0])
    (finding,) = found(settings)
    assert finding.level is Level.BAD
    assert "1 entry of shard 1 could not be decoded" in finding.what
    assert keys.dead_letters(1) in finding.remedy


@pytest.mark.usefixtures("worker")
def test_a_command_that_made_trouble_is_told(
    settings: Settings, redis_client: Redis, tmp_path: Path
) -> None:
    bench = Bench(redis_client, tmp_path)
    bench.send(ALICE, PlayMove(text="m13-m9"))
    bench.store.count_attempt(1, bench.store.read_inbox([1], 1)[0].id)
    assert said(
        found(settings), Level.WARN, "a command of shard 1 has failed, or was cut off, 1 time"
    )


@pytest.mark.usefixtures("worker")
def test_a_failed_job_is_worth_knowing_and_no_alarm(
    settings: Settings, redis_client: Redis
) -> None:
    redis_client.zadd(f"rq:failed:{COMMANDS}", {"drain-0-x": time.time() + 3600})
    findings = judge(gather(settings))
    assert worst(findings) is Level.NOTE
    assert any("1 job has failed within the hour" in finding.what for finding in findings)


@pytest.mark.usefixtures("worker")
def test_workers_that_are_suspended_are_reported(settings: Settings, redis_client: Redis) -> None:
    suspend(redis_client)
    findings = judge(gather(settings))
    assert said(findings, Level.WARN, "the workers are suspended")


@pytest.mark.usefixtures("worker")
def test_settings_that_break_the_promise_are_bad(settings: Settings, redis_client: Redis) -> None:
    redis_client.config_set("appendfsync", "everysec")
    try:
        findings = found(settings)
    finally:
        redis_client.config_set("appendfsync", "always")
    assert said(findings, Level.BAD, "the server's setting 'appendfsync' is 'everysec'")


@pytest.mark.usefixtures("worker")
def test_no_durability_is_told_though_it_was_asked_for(settings: Settings) -> None:
    trial = msgspec.structs.replace(settings, durability=Mode.NONE)
    assert said(found(trial), Level.WARN, "durability is none")


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("apart", "level", "words"),
    [
        (90, Level.BAD, "(89|90)[.].* s ahead of the server's; no reminder"),
        (-90, Level.BAD, "90[.].* s behind the server's; no reminder"),
        (20, Level.WARN, "s ahead of the server's$"),
    ],
)
def test_a_clock_that_is_off_is_told(
    settings: Settings, apart: int, level: Level, words: str
) -> None:
    findings = found(settings, lambda: time.time_ns() // 1_000_000 + apart * 1000)
    assert said(findings, level, words)


@pytest.mark.usefixtures("worker")
def test_lists_that_are_up_to_date_are_well(
    settings: Settings, redis_client: Redis, tmp_path: Path
) -> None:
    bench = Bench(redis_client, tmp_path)
    bench.start(1, 2, 3)
    catch_up(bench.store, redis_client)
    assert found(settings) == []
    said = [f.what for f in judge(gather(settings)) if f.about == "lists"]
    assert said == ["lists, notices and ratings are up to date"]


@pytest.mark.usefixtures("worker")
def test_the_lag_of_each_projection_is_told_in_events_and_time(
    settings: Settings, redis_client: Redis, tmp_path: Path
) -> None:
    past = time.time_ns() // 1_000_000 - 90_000
    bench = Bench(redis_client, tmp_path)
    bench.store = RedisStore(redis_client, Mode.FSYNC, clock=lambda: past)
    catch_up(bench.store, redis_client)
    bench.start(1, 2)
    findings = found(settings)
    for spec in SPECS:
        assert said(
            findings,
            Level.WARN,
            f"the projection `{spec.name}` is 2 events and (89|9[0-9]|1[0-9][0-9]) s behind",
        )


@pytest.mark.usefixtures("worker")
def test_lists_that_were_never_made_are_told_once_there_is_something_to_list(
    settings: Settings, redis_client: Redis, tmp_path: Path
) -> None:
    assert found(settings) == []
    Bench(redis_client, tmp_path).start(1)
    assert said(
        found(settings),
        Level.WARN,
        "the projection `ratings` must be rebuilt: it has not been built yet",
    )


@pytest.mark.usefixtures("worker")
def test_a_leaf_at_which_a_projection_is_stuck_is_told(
    settings: Settings, redis_client: Redis, tmp_path: Path
) -> None:
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


def test_data_of_another_format_is_bad(settings: Settings, redis_client: Redis) -> None:
    redis_client.hset(keys.LAYOUT, "format", "9")
    assert said(found(settings), Level.BAD, "the data has format 9")
    redis_client.hset(keys.LAYOUT, "format", "1")
    assert said(
        found(settings), Level.BAD, "the data has format 1, which matchpost 0.2 and earlier wrote"
    )


def test_a_queue_that_does_not_answer_is_bad(settings: Settings) -> None:
    other = msgspec.structs.replace(settings, queue_url="redis://127.0.0.1:1")
    assert said(found(other), Level.BAD, "the server at redis://127.0.0.1:1 does not answer")


def test_users_who_may_read_the_password_of_replicas_are_named(
    settings: Settings, redis_client: Redis
) -> None:
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


def test_data_that_was_put_back_is_worth_knowing(settings: Settings) -> None:
    folder = settings.data / "seeds"
    folder.mkdir(parents=True)
    (folder / "s03-1-00.left").write_text("shard 3: seeds up to number 5 were used")
    findings = judge(gather(settings))
    assert said(findings, Level.NOTE, "seeds up to number 5 were used$")


@pytest.mark.long
def test_the_limits_of_hashes_are_read_from_the_server(
    settings: Settings, redis_client: Redis
) -> None:
    name = "hash-max-listpack-entries"
    before = redis_client.config_get(name)[name]
    assert not [one for one in judge(gather(settings)) if name in one.what]
    redis_client.config_set(name, 64)
    try:
        found = [one for one in judge(gather(settings)) if name in one.what]
    finally:
        redis_client.config_set(name, before)
    assert [one.level for one in found] == [Level.NOTE]
