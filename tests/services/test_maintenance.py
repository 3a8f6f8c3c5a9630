"""Rebuilds and checks as jobs: they outlive the terminal, and any terminal can follow them."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis
from rq import Queue
from rq.job import Job, JobStatus
from rq.serializers import JSONSerializer
from rq.suspension import resume, suspend

from domain.match.commands import PlayMove
from infra.projections.buckets import LISTS
from infra.projections.generations import Generations
from infra.redis import keys
from infra.redis.rq_jobs import CHECK, MAINTENANCE, REBUILD
from infra.settings.settings import Settings
from infra.store import jobs
from infra.valkey.server import EmbeddedServer
from services.cli.rebuild import run
from tests.helpers.bench import Bench
from tests.helpers.forked import SCRIPT
from tests.helpers.given import ALICE
from tests.helpers.side import catch_up

pytestmark = pytest.mark.slow


@pytest.fixture
def settings(valkey: EmbeddedServer, tmp_path: Path) -> Settings:
    return Settings(data=tmp_path, redis_url=valkey.url)


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> Bench:
    """Some matches, with lists."""
    made = Bench(redis_client, tmp_path / "seeds")
    made.start(*range(1, 7))
    made.send(ALICE, PlayMove(text="m13-j7"))
    made.drain()
    catch_up(made.store, made.client)
    return made


@pytest.fixture
def worker(
    bench: Bench,
    valkey: EmbeddedServer,
    tmp_path: Path,
    wait_until: Callable[[Callable[[], object]], None],
) -> Iterator[None]:
    """A process that runs maintenance jobs."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("MATCHPOST_")}
    env = {**clean, "MATCHPOST_REDIS_URL": valkey.url, "MATCHPOST_DATA": str(tmp_path)}
    with (tmp_path / "maintenance.log").open("w") as log:
        process = subprocess.Popen([SCRIPT, "maintenance"], env=env, stderr=log)
        wait_until(lambda: jobs.has_worker(bench.client))
        yield
        process.terminate()
        assert process.wait(60) == 0


@pytest.mark.usefixtures("worker")
def test_a_rebuild_and_a_check_are_jobs_where_a_worker_takes_them(
    bench: Bench, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["lists"], check=False, settings=settings) == 0
    assert run(["lists", "history"], check=True, settings=settings) == 0
    said = capsys.readouterr()
    assert said.err == ""
    lines = said.out.splitlines()
    assert lines[0].startswith("lists: rebuilt from 7 leaves in ")
    assert lines[1].startswith("lists: equal to a rebuild of 7 leaves, ")
    assert lines[2].startswith("history: equal to a rebuild of 7 leaves, ")
    job = Job.fetch("rebuild-lists", connection=bench.client, serializer=JSONSerializer)
    assert (job.meta["done"], job.meta["total"], job.return_value()) == (7, 7, 0)


@pytest.mark.usefixtures("worker")
def test_a_difference_and_a_projection_that_is_being_built_are_results_of_the_job(
    bench: Bench, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Generations(bench.client, LISTS).live()
    assert found is not None
    bench.client.zadd(found[1].of(ALICE).key(f"active:{ALICE.hex()}"), {"pow2:99": 99})
    assert run(["lists"], check=True, settings=settings) == 1
    assert "lists: differs from a rebuild" in capsys.readouterr().out
    Generations(bench.client, LISTS).begin("another", 4)
    assert run(["lists"], check=False, settings=settings) == 1
    assert "the projection `lists` is being rebuilt already" in capsys.readouterr().err


@pytest.mark.usefixtures("worker")
def test_a_terminal_that_is_left_leaves_the_job_and_another_follows_it(
    bench: Bench,
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # the job waits as long as the other rebuild has not ended
    suspend(bench.client)
    monkeypatch.setattr(jobs, "has_worker", lambda _: True)

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(time, "sleep", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run(["lists"], check=False, settings=settings)
    assert "the job rebuild-lists goes on; the same command follows it" in capsys.readouterr().err
    resume(bench.client)
    assert run(["lists"], check=False, settings=settings) == 0
    assert capsys.readouterr().out.count("lists: rebuilt from 7 leaves") == 1


def test_while_the_workers_are_suspended_it_runs_here(
    bench: Bench, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    suspend(bench.client)
    assert run(["lists"], check=False, settings=settings) == 0
    assert "so it runs here" in capsys.readouterr().err


def test_a_job_that_waits_or_runs_is_not_enqueued_twice(bench: Bench) -> None:
    queue = Queue(MAINTENANCE, connection=bench.client, serializer=JSONSerializer)
    first = jobs.enqueue(bench.client, REBUILD, ["lists", "history"])
    second = jobs.enqueue(bench.client, REBUILD, ["history", "lists"])
    assert first.id == second.id
    assert jobs.enqueue(bench.client, CHECK, []).id == "check-all"
    assert queue.job_ids == ["rebuild-history-lists", "check-all"]
    first.set_status(JobStatus.FAILED)
    queue.remove(first.id)
    assert jobs.enqueue(bench.client, REBUILD, ["lists", "history"]).is_queued
    assert queue.job_ids == ["check-all", "rebuild-history-lists"]
    assert bench.client.exists(keys.projection("lists", "live"))
