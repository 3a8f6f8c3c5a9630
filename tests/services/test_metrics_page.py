"""The page, the alert rules and the dashboard name metrics that exist, and say what to do for each alert."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from domain.errors import Code
from infra.health.heartbeats import Role
from infra.mail.smtp_client import DeliveryStatus
from infra.people.rate_limits import SecurityEvent
from infra.process.metrics import REGISTRY
from infra.redis.rq_jobs import COMMANDS, MAINTENANCE
from infra.store.gateway import NOT_ACCEPTED_TEXT
from tests.helpers.doctor import metric_types

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "monitoring.md"
RULES = ROOT / "docs" / "metrics" / "alerts.yml"
BOARD = ROOT / "docs" / "metrics" / "dashboard.json"
ALERTS_TEST = Path(__file__).with_name("alerts_test.yml")

OF_EVERY_PROCESS = {
    "up",
    "process_cpu_seconds_total",
    "process_max_fds",
    "process_open_fds",
    "process_resident_memory_bytes",
    "process_start_time_seconds",
}
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


def test_rules_and_dashboard_ask_for_metrics_that_exist() -> None:
    queries = [*(rule["expr"] for rule in rules()), *dashboard_queries()]
    asked = set().union(*map(names_in, queries))
    assert len(asked) > 40
    assert asked - known_names() == set()


def test_the_page_has_every_metric_and_no_other() -> None:
    text = PAGE.read_text()
    named = set(re.findall(r"`(matchpost_\w+)`", text))
    metrics = {name for name in metric_types() if not name.endswith("_created")}
    assert metrics - named == set()
    assert named - metrics == set()


def test_the_page_says_for_each_alert_what_to_do() -> None:
    headings = re.findall(r"^### (\w+)$", PAGE.read_text(), re.MULTILINE)
    alerts = [rule["alert"] for rule in rules()]
    assert sorted(headings) == sorted(set(alerts))
    assert len(alerts) == len(set(alerts))
    for rule in rules():
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"]["summary"]


def test_what_rules_compare_with_is_what_the_program_says() -> None:
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
def test_a_counter_that_alerts_ask_for_begins_at_0(
    name: str, label: str, values: list[str]
) -> None:
    for one in values:
        assert REGISTRY.get_sample_value(name, {label: str(one)}) is not None


def test_the_dashboard_has_no_two_panels_at_one_place() -> None:
    panels = json.loads(BOARD.read_text())["panels"]
    places = [(one["gridPos"]["x"], one["gridPos"]["y"]) for one in panels]
    assert len(set(places)) == len(places)
    assert len({one["id"] for one in panels}) == len(panels)
    assert all(one["gridPos"]["x"] + one["gridPos"]["w"] <= 24 for one in panels)


def test_promtool_accepts_the_rules_and_they_fire_as_they_should() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("needs promtool of Debian's package prometheus")
    for words in (["check", "rules", str(RULES)], ["test", "rules", str(ALERTS_TEST)]):
        done = subprocess.run([promtool, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
