"""Figures of the whole server in the metrics: its processes, projections, mail and servers."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from prometheus_client import CollectorRegistry
from redis import Redis

from infra.durability.durability import DurabilityNotes, Mode
from infra.health.heartbeats import Heartbeat, HeartbeatRecord, Role
from infra.mail.email import Email, Purpose
from infra.mail.outbox import Outbox, RelayBackoff
from infra.redis import keys
from infra.redis.addresses import node_address
from infra.redis.clients import make_client
from infra.settings.settings import Settings
from infra.store.failures import DamagedMatches
from infra.store.layout import Layout, Numbering
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from services.app.context import App
from services.metrics.collector import server_figures
from tests.helpers.bench import Bench
from tests.helpers.clusters import Cluster
from workers.projections.worker import ProjectionWorker


@pytest.fixture
def parts(valkey: EmbeddedServer, redis_client: Redis, tmp_path: Path) -> Iterator[App]:
    RedisStore(redis_client, Mode.FSYNC).create(Layout(shards=4, lanes=1))
    settings = Settings(data=tmp_path, redis_url=valkey.url, queue_url=f"{valkey.url}?db=1")
    with App(settings) as app:
        app.queue.flushdb()
        yield app


class Scrape:
    """The metrics of one scrape."""

    def __init__(self, parts: App) -> None:
        with server_figures(parts, CollectorRegistry()) as registry:
            samples = [one for metric in registry.collect() for one in metric.samples]
        self._values = {(one.name, frozenset(one.labels.items())): one.value for one in samples}

    def __call__(self, name: str, **labels: str) -> float | None:
        """Return a value; None if there is none."""
        return self._values.get((f"matchpost_{name}", frozenset(labels.items())))

    def labels(self, name: str) -> list[dict[str, str]]:
        """Return the labels of all samples of a metric."""
        return [dict(labels) for found, labels in self._values if found == f"matchpost_{name}"]


def beat(parts: App, role: Role, host: str, pid: int, ago_ms: int) -> None:
    now = parts.store.now()
    record = HeartbeatRecord(role, host, pid, "1", started=now - ago_ms, at=now - ago_ms)
    parts.queue.hset(keys.HEARTBEATS, record.field, msgspec.msgpack.encode(record))


def test_processes_are_counted_by_role_and_host(parts: App) -> None:
    Heartbeat(Role.SCHEDULER, "1").write(parts.data, parts.queue)
    beat(parts, Role.WORKER, "one", 1, 1_000)
    beat(parts, Role.WORKER, "one", 2, 9_000)
    beat(parts, Role.WORKER, "two", 3, 1_000)
    beat(parts, Role.WORKER, "two", 4, 90_000)
    found = Scrape(parts)
    assert found("role_processes", role="worker") == 3
    assert found("role_processes", role="scheduler") == 1
    assert found("role_processes", role="web") == 0
    assert found("host_processes", role="worker", host="one") == 2
    assert found("host_silent_processes", role="worker", host="one") == 0
    assert found("host_silent_processes", role="worker", host="two") == 1
    age = found("heartbeat_age_seconds", role="worker", host="one")
    assert age is not None
    assert 9 <= age < 60


def test_a_role_is_expected_by_the_settings_or_because_it_ran(parts: App) -> None:
    found = Scrape(parts)
    assert found("role_expected", role="scheduler") == 1
    assert found("role_expected", role="mailer") == 0
    beat(parts, Role.MAILER, "one", 1, 90_000)
    assert Scrape(parts)("role_expected", role="mailer") == 1


def test_a_projection_lags_until_it_has_read_the_logs(parts: App, tmp_path: Path) -> None:
    worker = ProjectionWorker(parts.store, parts.data)
    worker.round()
    worker.save()
    Bench(parts.data, tmp_path / "seeds").start(1)
    late = Scrape(parts)
    assert late("projection_lag_leaves", projection="lists") == 1
    seconds = late("projection_lag_seconds", projection="lists")
    assert seconds is not None
    assert seconds > 0
    while worker.round():
        pass
    worker.save()
    found = Scrape(parts)
    assert found("projection_lag_leaves", projection="lists") == 0
    assert found("projection_lag_seconds", projection="lists") == 0
    assert found("projection_failures", projection="lists") == 0
    assert found("projection_building", projection="lists") == 0


def test_mail_waits_and_the_relay_is_down(parts: App) -> None:
    before = Scrape(parts)
    assert (before("mail_waiting"), before("mail_oldest_seconds")) == (0, 0)
    assert before("mail_relay_up") == 1
    outbox = Outbox(parts.data, clock=lambda: parts.store.now() - 60_000)
    outbox.enqueue(
        Email(id="m1@x", to="a@example.org", subject="s", body="b\n", purpose=Purpose.ANSWER)
    )
    outbox.start_backoff(RelayBackoff(outbox.now() + 1_000, 1, "no route"))
    found = Scrape(parts)
    assert found("mail_waiting") == 1
    oldest = found("mail_oldest_seconds")
    assert oldest is not None
    assert oldest >= 60
    assert found("mail_relay_up") == 0


def test_what_is_wrong_with_matches_is_counted(parts: App) -> None:
    before = Scrape(parts)
    names = ("overdue_matches", "set_aside_commands", "damaged_matches")
    assert [before(name) for name in names] == [0, 0, 0]
    now = parts.store.now()
    parts.data.zadd(keys.due(2), {"2": now - 61_000, "6": now})
    parts.data.xadd(keys.dead_letters(1), {"p": "nonsense"})
    DamagedMatches(parts.data).note(3, "it can't be read")
    found = Scrape(parts)
    assert [found(name) for name in names] == [1, 1, 1]


def test_moves_are_accepted_while_somebody_has_verified_the_server(parts: App) -> None:
    assert Scrape(parts)("moves_accepted") == 0
    notes = DurabilityNotes(parts.queue)
    notes.write("")
    assert Scrape(parts)("moves_accepted") == 1
    notes.write("appendfsync is everysec")
    assert Scrape(parts)("moves_accepted") == 0


def test_servers_show_memory_and_whether_they_answer(parts: App) -> None:
    found = Scrape(parts)
    place = {"server": "data", "node": "socket"}
    assert found("server_up", **place) == 1
    memory, limit = (
        found("server_memory_bytes", **place),
        found("server_memory_limit_bytes", **place),
    )
    assert memory is not None
    assert limit is not None
    assert 0 < memory < limit
    assert found("server_log_ok", **place) == 1
    assert found("server_replicas", **place) == 0
    later = Scrape(parts)("server_commands_total", **place)
    assert later is not None
    assert later > (found("server_commands_total", **place) or 0)
    assert found("server_up", server="queue", node="socket") == 1


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("redis://db.example.org:6380", "db.example.org:6380"),
        ("unix:///run/valkey.sock", "socket"),
        ("redis+sentinel://one:26379,two:26379/moves", "moves"),
    ],
)
def test_a_server_is_named_by_its_place_or_as_sentinels_know_it(url: str, name: str) -> None:
    with make_client(url) as client:
        assert node_address(client) == name


def test_of_a_server_that_is_away_it_is_said_and_nothing_else(parts: App) -> None:
    settings = msgspec.structs.replace(parts.settings, queue_url="unix:///nowhere")
    with App(settings) as lost:
        found = Scrape(lost)
    assert found("server_up", server="queue", node="socket") == 0
    assert found("server_memory_bytes", server="queue", node="socket") is None
    assert found("server_up", server="data", node="socket") == 1
    assert found("queue_up") == 0


def test_a_cluster_is_shown_node_by_node(
    cluster: Cluster,
    cluster_client: Redis,
    valkey: EmbeddedServer,
    tmp_path: Path,
) -> None:
    RedisStore(cluster_client, Mode.FSYNC).create(Layout(4, 1, numbering=Numbering.SHARD))
    settings = Settings(data=tmp_path, redis_url=cluster.url, queue_url=valkey.url)
    with App(settings) as app:
        found = Scrape(app)
    nodes = [one for one in found.labels("server_up") if one["server"] == "data"]
    assert len(nodes) == 3
    assert all(found("server_up", **one) == 1 for one in nodes)
    assert all((found("server_memory_bytes", **one) or 0) > 0 for one in nodes)
    assert found("queue_up") == 1
    assert found("inbox_commands", lane="0/1") == 0
    assert found("projection_lag_leaves", projection="lists") == 0


def test_a_scrape_only_reads(parts: App, tmp_path: Path) -> None:
    Bench(parts.data, tmp_path / "seeds").start(1)
    # not `+@all`: the commands that a role of the server is given to read with
    rights = (
        "reset",
        "on",
        ">pw",
        "%R~*",
        "+@read",
        "+@connection",
        "+info",
        "+time",
        "+xinfo|stream",
    )
    parts.data.execute_command("ACL", "SETUSER", "reader", *rights)
    url = parts.url.replace("unix://", "unix://reader:pw@")
    try:
        with App(msgspec.structs.replace(parts.settings, redis_url=url)) as reader:
            found = Scrape(reader)
    finally:
        parts.data.acl_deluser("reader")
    assert found("queue_up") == 1
    assert found("projection_lag_leaves", projection="lists") == 1
