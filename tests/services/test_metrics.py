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

import msgspec
import pytest
import yaml
from prometheus_client import CollectorRegistry
from redis import Redis

from domain.errors import Code
from infra.durability.durability import Mode
from infra.health.heartbeats import Heartbeat, HeartbeatRecord, Role
from infra.mail.smtp_client import DeliveryStatus
from infra.people.rate_limits import SecurityEvent
from infra.process.metrics import REGISTRY
from infra.redis import keys
from infra.redis.rq_jobs import COMMANDS, MAINTENANCE
from infra.settings.settings import Settings
from infra.store.gateway import NOT_ACCEPTED_TEXT
from infra.store.layout import Layout
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from services.app.context import App
from services.metrics import endpoint
from services.metrics.collector import server_figures
from services.metrics.endpoint import serving_metrics, serving_role_metrics
from services.serve.processes import with_metrics_port
from tests.helpers.bench import Bench
from tests.helpers.doctor import metric_types
from tests.helpers.served import until
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
    for name in ("lag_leaves", "lag_seconds", "failures", "building"):
        assert found(f"projection_{name}", projection="lists") == 0, name


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


def test_the_page_has_every_metric_and_no_other_and_says_for_each_alert_what_to_do():
    text = PAGE.read_text()
    named = set(re.findall(r"`(matchpost_\w+)`", text))
    assert named == {name for name in metric_types() if not name.endswith("_created")}
    headings = re.findall(r"^### (\w+)$", text, re.MULTILINE)
    assert sorted(headings) == sorted(rule["alert"] for rule in rules())
    assert len(headings) == len(set(headings))
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


def test_promtool_accepts_the_rules_and_they_fire_as_they_should():
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("needs promtool of Debian's package prometheus")
    for words in (["check", "rules", str(RULES)], ["test", "rules", str(ALERTS_TEST)]):
        done = subprocess.run([promtool, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


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


def test_processes_of_a_server_have_ports_one_after_the_other(tmp_path):
    settings = Settings(data=tmp_path, metrics="[::1]:9100")
    assert with_metrics_port(settings, 0).metrics == "[::1]:9100"
    assert with_metrics_port(settings, 3).metrics == "[::1]:9103"
    for address in ("off", "127.0.0.1:0"):
        settings = Settings(data=tmp_path, metrics=address)
        assert with_metrics_port(settings, 3).metrics == address


def test_a_counter_that_alerts_ask_for_begins_at_0():
    for name, label, values in (
        ("mail_deliveries", "result", list(DeliveryStatus)),
        ("commands_refused", "code", [Code.INTERNAL]),
        ("security_events", "event", list(SecurityEvent)),
        ("submissions", "answer", [Code.BUSY, Code.UNAVAILABLE, Code.DAMAGED]),
    ):
        for one in values:
            found = REGISTRY.get_sample_value(f"matchpost_{name}_total", {label: str(one)})
            assert found is not None, (name, one)
