"""Metrics: the address of a process, the figures of the whole server, the page, the alert rules and the dashboard."""

import json
import logging
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import yaml
from prometheus_client import CollectorRegistry
from redis import Redis

from domain.errors import Code
from infra.durability.durability import DurabilityNotes, Mode
from infra.health.heartbeats import Heartbeat, HeartbeatRecord, Role
from infra.mail.email import Email, Purpose
from infra.mail.outbox import Outbox, RelayBackoff
from infra.mail.smtp_client import DeliveryStatus
from infra.people.rate_limits import SecurityEvent
from infra.process.metrics import REGISTRY
from infra.redis import keys
from infra.redis.clients import make_client
from infra.redis.node_names import node_address
from infra.redis.rq_jobs import COMMANDS, MAINTENANCE
from infra.settings.settings import Settings
from infra.store.failures import DamagedMatches
from infra.store.gateway import NOT_ACCEPTED_TEXT
from infra.store.layout import Layout, Numbering
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from services.app.context import App
from services.metrics import endpoint
from services.metrics.collector import server_figures
from services.metrics.endpoint import serving_metrics, serving_role_metrics
from services.serve.processes import with_metrics_port
from tests.helpers.bench import Bench
from tests.helpers.doctor import metric_types, value
from tests.helpers.served import until
from workers.projections.worker import ProjectionWorker


def test_a_process_shows_its_role_and_what_it_takes_of_the_machine(tmp_path):
    settings = Settings(data=tmp_path, metrics="127.0.0.1:0")
    with serving_role_metrics(settings, Role.MAILER, "mailer-7") as url:
        text = httpx.get(url, trust_env=False, timeout=60).text
    assert 'matchpost_process_info{name="mailer-7",role="mailer",version="' in text
    assert "process_resident_memory_bytes " in text


def test_a_role_works_without_metrics_while_the_address_is_in_use(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(endpoint, "_AGAIN_SECONDS", 0.01)
    caplog.set_level(logging.INFO)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        settings = Settings(data=tmp_path, metrics=address)
        with serving_role_metrics(settings, Role.WORKER, "worker-1") as url:
            assert url == ""
            until(lambda: "this process has no metrics" in caplog.text)
            taken.close()
            until(lambda: "metrics are at" in caplog.text)
            with pytest.raises(OSError, match=f"MATCHPOST_METRICS can't be {address}"):
                serving_metrics(address).__enter__()
    assert f"this process has no metrics: MATCHPOST_METRICS can't be {address}" in caplog.text


def test_lines_with_alarm_are_counted_and_others_are_not():
    before = value("matchpost_alarms_total")
    logger = logging.getLogger("some.module")
    with serving_metrics("127.0.0.1:0"):
        logger.error("ALARM: match %d can't be read", 7)
        logger.error("a mail failed")
    logger.error("ALARM: nobody counts any longer")
    assert value("matchpost_alarms_total") == before + 1


def test_processes_of_a_server_have_ports_one_after_the_other(tmp_path):
    settings = Settings(data=tmp_path, metrics="[::1]:9100")
    assert with_metrics_port(settings, 0).metrics == "[::1]:9100"
    assert with_metrics_port(settings, 3).metrics == "[::1]:9103"
    for address in ("off", "127.0.0.1:0"):
        settings = Settings(data=tmp_path, metrics=address)
        assert with_metrics_port(settings, 3).metrics == address


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


def test_processes_are_counted_by_role_and_host(parts):
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


def test_a_role_is_expected_by_the_settings_or_because_it_ran(parts):
    found = Scrape(parts)
    assert found("role_expected", role="scheduler") == 1
    assert found("role_expected", role="mailer") == 0
    beat(parts, Role.MAILER, "one", 1, 90_000)
    assert Scrape(parts)("role_expected", role="mailer") == 1


def test_a_projection_lags_until_it_has_read_the_logs(parts, tmp_path):
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


def test_mail_waits_and_the_relay_is_down(parts):
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


def test_what_is_wrong_with_matches_is_counted(parts):
    before = Scrape(parts)
    names = ("overdue_matches", "set_aside_commands", "damaged_matches")
    assert [before(name) for name in names] == [0, 0, 0]
    now = parts.store.now()
    parts.data.zadd(keys.due(2), {"2": now - 61_000, "6": now})
    parts.data.xadd(keys.dead_letters(1), {"p": "nonsense"})
    DamagedMatches(parts.data).note(3, "it can't be read")
    found = Scrape(parts)
    assert [found(name) for name in names] == [1, 1, 1]


def test_moves_are_accepted_while_somebody_has_verified_the_server(parts):
    assert Scrape(parts)("moves_accepted") == 0
    notes = DurabilityNotes(parts.queue)
    notes.write("")
    assert Scrape(parts)("moves_accepted") == 1
    notes.write("appendfsync is everysec")
    assert Scrape(parts)("moves_accepted") == 0


def test_servers_show_memory_and_whether_they_answer(parts):
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
def test_a_server_is_named_by_its_place_or_as_sentinels_know_it(url, name):
    with make_client(url) as client:
        assert node_address(client) == name


def test_of_a_server_that_is_away_it_is_said_and_nothing_else(parts):
    settings = msgspec.structs.replace(parts.settings, queue_url="unix:///nowhere")
    with App(settings) as lost:
        found = Scrape(lost)
    assert found("server_up", server="queue", node="socket") == 0
    assert found("server_memory_bytes", server="queue", node="socket") is None
    assert found("server_up", server="data", node="socket") == 1
    assert found("queue_up") == 0


def test_a_cluster_is_shown_node_by_node(cluster, cluster_client, valkey, tmp_path):
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


def test_a_scrape_only_reads(parts, tmp_path):
    Bench(parts.data, tmp_path / "seeds").start(1)
    # not `+@all`: the commands that a role of the server is given to read with
    rights = (
        "reset", "on", ">pw", "%R~*", "+@read", "+@connection", "+info", "+time", "+xinfo|stream",
    )  # fmt: skip
    parts.data.execute_command("ACL", "SETUSER", "reader", *rights)
    url = parts.url.replace("unix://", "unix://reader:pw@")
    try:
        with App(msgspec.structs.replace(parts.settings, redis_url=url)) as reader:
            found = Scrape(reader)
    finally:
        parts.data.acl_deluser("reader")
    assert found("queue_up") == 1
    assert found("projection_lag_leaves", projection="lists") == 1


ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "monitoring.md"
RULES = ROOT / "docs" / "metrics" / "alerts.yml"
BOARD = ROOT / "docs" / "metrics" / "dashboard.json"
ALERTS_TEST = Path(__file__).with_name("alerts_test.yml")

OF_EVERY_PROCESS = {
    "up", "process_cpu_seconds_total", "process_max_fds", "process_open_fds", "process_resident_memory_bytes",
    "process_start_time_seconds",
}  # fmt: skip
"""Metrics of Prometheus itself, and of prometheus_client."""


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load(RULES.read_text())["groups"]
    return list(group["rules"])


def known_names() -> set[str]:
    """Names as queries have them: a histogram has three."""
    parts = ("_bucket", "_count", "_sum")
    found = set(OF_EVERY_PROCESS)
    for name, kind in metric_types().items():
        found |= {name + part for part in parts} if kind == "histogram" else {name}
    return found


def names_in(query: str) -> set[str]:
    return set(re.findall(r"\b(?:matchpost|process)_\w+|\bup(?=[{ ])", query))


def dashboard_queries() -> Iterator[str]:
    for panel in json.loads(BOARD.read_text())["panels"]:
        for target in panel.get("targets", ()):
            yield target["expr"]


def test_rules_and_dashboard_ask_for_metrics_that_exist():
    queries = [*(rule["expr"] for rule in rules()), *dashboard_queries()]
    asked = set().union(*map(names_in, queries))
    assert len(asked) > 40
    assert asked - known_names() == set()


def test_the_page_has_every_metric_and_no_other():
    text = PAGE.read_text()
    named = set(re.findall(r"`(matchpost_\w+)`", text))
    metrics = {name for name in metric_types() if not name.endswith("_created")}
    assert metrics - named == set()
    assert named - metrics == set()


def test_the_page_says_for_each_alert_what_to_do():
    headings = re.findall(r"^### (\w+)$", PAGE.read_text(), re.MULTILINE)
    alerts = [rule["alert"] for rule in rules()]
    assert sorted(headings) == sorted(set(alerts))
    assert len(alerts) == len(set(alerts))
    for rule in rules():
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"]["summary"]


def test_what_rules_compare_with_is_what_the_program_says():
    text = RULES.read_text()
    values = set(re.findall(r'(?:queue|code|result)="([\w-]+)"', text))
    assert values == {COMMANDS, MAINTENANCE, str(Code.INTERNAL), "failed", DeliveryStatus.UNWANTED}
    (codes,) = re.findall(r'answer=~"([\w|-]+)"', text)
    assert {Code(code) for code in codes.split("|")} <= set(NOT_ACCEPTED_TEXT)
    assert Role.PROJECTIONS == "side"  # as the page calls it


@pytest.mark.parametrize(
    ("name", "label", "values"),
    [
        ("matchpost_mail_deliveries_total", "result", list(DeliveryStatus)),
        ("matchpost_commands_refused_total", "code", [Code.INTERNAL]),
        ("matchpost_security_events_total", "event", list(SecurityEvent)),
        ("matchpost_submissions_total", "answer", [Code.BUSY, Code.UNAVAILABLE, Code.DAMAGED]),
    ],
)
def test_a_counter_that_alerts_ask_for_begins_at_0(name, label, values):
    for one in values:
        assert REGISTRY.get_sample_value(name, {label: str(one)}) is not None


def test_the_dashboard_has_no_two_panels_at_one_place():
    panels = json.loads(BOARD.read_text())["panels"]
    places = [(one["gridPos"]["x"], one["gridPos"]["y"]) for one in panels]
    assert len(set(places)) == len(places)
    assert len({one["id"] for one in panels}) == len(panels)
    assert all(one["gridPos"]["x"] + one["gridPos"]["w"] <= 24 for one in panels)


def test_promtool_accepts_the_rules_and_they_fire_as_they_should():
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("needs promtool of Debian's package prometheus")
    for words in (["check", "rules", str(RULES)], ["test", "rules", str(ALERTS_TEST)]):
        done = subprocess.run([promtool, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
