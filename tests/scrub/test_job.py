"""The scrubber's job: one at a time, to the end of a round, and again when the next is due."""

import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from msgspec.structs import replace
from rq import Queue
from rq.serializers import JSONSerializer

from infra.process.failpoints import FAILPOINTS
from infra.redis import keys
from infra.redis.rq_jobs import MAINTENANCE, SCRUB
from infra.store.scrub_notes import ScrubNotes, ScrubRecord
from services.app.context import App
from services.cli import queue as queue_command
from services.doctor import Level, gather, judge
from tests.helpers.scrubbing import ScrubbedServer
from workers.scrub import job
from workers.scrub import job as wakeup
from workers.scrub.job import JOB, scrub_wakeup

POINTS = [point for point in FAILPOINTS if point.startswith("scrub.")]


def run(server: ScrubbedServer, percent: int = 100, **more: Any) -> int:
    settings = replace(server.settings, scrub_percent=percent)
    return job.run(settings, server.store, server.client, server.queue, **more)


def fresh(server: ScrubbedServer) -> None:
    server.client.delete(keys.SCRUB, keys.SCRUB_FAULTS)


def test_a_run_checks_everything_and_releases_its_lease(server: ScrubbedServer) -> None:
    fresh(server)
    assert run(server) > 20
    notes = ScrubRecord(server.client).read()
    assert (notes.round, notes.section) == (1, "")
    assert notes.last_matches > 12
    assert not server.queue.exists(keys.lease(JOB.lease))
    assert run(server) == 0  # the next round is not due yet


def test_with_0_percent_nothing_is_checked(server: ScrubbedServer) -> None:
    fresh(server)
    assert run(server, 0) == 0
    assert not server.client.exists(keys.SCRUB)
    settings = replace(server.settings, scrub_percent=0)
    said = [one.what for one in judge(gather(settings)) if one.about == "scrub"]
    assert said == ["nothing is checked by itself, because `scrub_percent` is 0"]


def test_only_one_run_goes_on_at_a_time(server: ScrubbedServer) -> None:
    fresh(server)
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


def test_the_scheduler_requests_a_run_when_a_round_is_due(
    server: ScrubbedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh(server)
    monkeypatch.setattr(wakeup, "LOOK_SECONDS", 0.0)
    jobs = Queue(MAINTENANCE, connection=server.queue, serializer=JSONSerializer)
    tick = scrub_wakeup(server.client, server.queue)
    tick()
    assert [one.func_name for one in jobs.jobs] == [SCRUB]
    server.queue.flushdb()
    run(server)
    server.queue.flushdb()
    tick()
    assert jobs.jobs == []


def test_doctor_queue_and_metrics_show_the_last_round_and_the_faults(
    server: ScrubbedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    fresh(server)
    run(server)
    (said,) = [one for one in judge(gather(server.settings)) if one.about == "scrub"]
    assert said.level is Level.OK
    assert said.what.startswith("all that is stored was checked ")
    queue_command.run(server.settings, as_json=False, interval=None)
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.startswith("scrub    ")
    assert "last whole round " in line
    server.client.zadd(keys.due(0), {4444: 5})
    record = ScrubRecord(server.client)
    record.write(replace(record.read(), began=0))
    run(server)
    (said,) = [one for one in judge(gather(server.settings)) if one.about == "scrub"]
    assert said.level is Level.BAD
    assert said.what.startswith("due time of match 4444: ")
    assert said.remedy
    with App(server.settings) as parts:
        status = parts.status()
        assert (len(status.scrub_faults), status.scrub.last_matches > 12) == (1, True)


def test_doctor_warns_when_nothing_was_checked_for_two_days(server: ScrubbedServer) -> None:
    fresh(server)
    now = round(time.time() * 1000)
    ScrubRecord(server.client).write(ScrubNotes(began=now - 3 * 86_400_000, section="keys"))
    (said,) = [one for one in judge(gather(server.settings)) if one.about == "scrub"]
    assert said.level is Level.WARN
    assert said.what == "some of what is stored has not been checked for 3 d"
