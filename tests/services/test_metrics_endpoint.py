"""The address at which a process serves its metrics."""

import logging
import socket
from pathlib import Path

import httpx
import pytest

from infra.health.heartbeats import Role
from infra.settings.settings import Settings
from services.metrics.endpoint import serving_metrics, serving_role_metrics
from services.serve.processes import with_metrics_port
from tests.helpers.doctor import value


def test_a_process_shows_its_role_and_what_it_takes_of_the_machine(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, metrics="127.0.0.1:0")
    with serving_role_metrics(settings, Role.MAILER, "mailer-7") as url:
        text = httpx.get(url, trust_env=False, timeout=60).text
    assert 'matchpost_process_info{name="mailer-7",role="mailer",version="' in text
    assert "process_resident_memory_bytes " in text


def test_a_role_works_without_metrics_where_the_address_is_in_use(tmp_path: Path, caplog) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        settings = Settings(data=tmp_path, metrics=address)
        with serving_role_metrics(settings, Role.WORKER, "worker-1") as url:
            assert url == ""
        with pytest.raises(OSError, match=f"MATCHPOST_METRICS can't be {address}"):
            serving_metrics(address).__enter__()
    assert f"this process has no metrics: MATCHPOST_METRICS can't be {address}" in caplog.text


def test_lines_with_alarm_are_counted_and_others_are_not() -> None:
    before = value("matchpost_alarms_total")
    logger = logging.getLogger("some.module")
    with serving_metrics("127.0.0.1:0"):
        logger.error("ALARM: match %d can't be read", 7)
        logger.error("a mail failed")
    logger.error("ALARM: nobody counts any longer")
    assert value("matchpost_alarms_total") == before + 1


def test_processes_of_a_server_have_ports_one_after_the_other(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, metrics="[::1]:9100")
    assert with_metrics_port(settings, 0).metrics == "[::1]:9100"
    assert with_metrics_port(settings, 3).metrics == "[::1]:9103"
    for address in ("off", "127.0.0.1:0"):
        settings = Settings(data=tmp_path, metrics=address)
        assert with_metrics_port(settings, 3).metrics == address
