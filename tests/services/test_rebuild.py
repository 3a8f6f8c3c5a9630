"""`matchpost rebuild`: made anew, or proven equal, as a job or here, while people play."""

import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.suspension import resume, suspend

from domain.match.commands import DeclineMatch, MakeOffer, PlayMove, ResignMatch
from infra.projections.buckets import LISTS, SPECS, Bucket
from infra.projections.generations import Generations
from infra.redis import keys
from infra.settings.settings import Settings
from infra.store import maintenance_jobs
from infra.valkey.server import EmbeddedServer
from services.cli.flags import PROJECTIONS
from services.cli.rebuild import run
from tests.helpers.bench import Bench
from tests.helpers.forked import SCRIPT
from tests.helpers.given import ALICE, BOB
from tests.helpers.side import catch_up, contents


@pytest.fixture
def settings(valkey: EmbeddedServer, tmp_path: Path) -> Settings:
    return Settings(data=tmp_path, redis_url=valkey.url)


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> Bench:
    """Some matches, of which some have ended."""
    made = Bench(redis_client, tmp_path / "seeds")
    made.start(*range(1, 13))
    for board in (6, 9):  # without a move of each it would not be rated
        made.send(ALICE, PlayMove(text="m13-j7"), board)
        made.send(BOB, PlayMove(text="a13-c11"), board)
    for board in range(1, 13):
        order = [ResignMatch(), DeclineMatch(), MakeOffer(kind="draw")][board % 3]
        made.send((ALICE, BOB)[board % 2], order, board)
    made.drain()
    return made


def live(client: Redis) -> Bucket:
    found = Generations(client, LISTS).live()
    assert found is not None
    return found[1].bucket(0)


def test_the_names_on_the_command_line_are_those_of_the_projections():
    assert tuple(spec.name for spec in SPECS) == PROJECTIONS


def test_what_is_rebuilt_is_what_the_side_worker_makes(bench, settings, capsys):
    catch_up(bench.store, bench.client)
    before = contents(bench.client)
    assert run([], check=False, settings=settings) == 0
    assert contents(bench.client) == before
    said = capsys.readouterr()
    assert said.err == (
        "matchpost: no worker takes jobs from the queue matchpost-maintenance, so it runs here\n"
    )
    for name in PROJECTIONS:
        assert re.search(rf"^{name}: rebuilt from 36 leaves in \d+[.]\d s$", said.out, re.MULTILINE)


def test_a_damaged_list_is_found_and_mended(bench, settings, capsys):
    catch_up(bench.store, bench.client)
    bench.client.zadd(live(bench.client).key(f"active:{ALICE.hex()}"), {"pow2:99": 99})
    assert run(["lists", "history"], check=True, settings=settings) == 1
    said = capsys.readouterr().out
    assert f"lists: differs from a rebuild of 36 leaves, first at active:{ALICE.hex()}" in said
    assert "history: equal to a rebuild of 36 leaves" in said
    assert run(["lists"], check=False, settings=settings) == 0
    assert run([], check=True, settings=settings) == 0


def test_two_at_once_are_refused_and_what_a_killed_one_left_is_taken_away(bench, settings, capsys):
    catch_up(bench.store, bench.client)
    left = Generations(bench.client, LISTS).begin("killed later", 4).bucket(0)
    bench.client.hset(left.key("rows"), "1", "x")
    bench.client.sadd(left.names_key, "rows")
    assert run(["history", "lists"], check=False, settings=settings) == 1
    busy = "the projection `lists` is being rebuilt already; wait for that"
    assert capsys.readouterr().err.count(busy) == 1
    assert run(["lists"], check=True, settings=settings) == 0, "a check writes nothing"
    # the other one that had begun was given up
    assert run(["history"], check=False, settings=settings) == 0
    bench.client.delete(keys.projection("lists", "building"))  # as it would be after its time
    assert run(["lists"], check=False, settings=settings) == 0
    assert not bench.client.exists(left.checkpoint_key)
    assert bench.client.ttl(left.key("rows")) > 0


@pytest.fixture
def worker(bench: Bench, valkey: EmbeddedServer, tmp_path: Path, wait_until) -> Iterator[None]:
    """A process that runs maintenance jobs."""
    catch_up(bench.store, bench.client)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("MATCHPOST_")}
    env = {**clean, "MATCHPOST_REDIS_URL": valkey.url, "MATCHPOST_DATA": str(tmp_path)}
    with (tmp_path / "maintenance.log").open("w") as log:
        process = subprocess.Popen([SCRIPT, "maintenance"], env=env, stderr=log)
        wait_until(lambda: maintenance_jobs.has_worker(bench.client))
        yield
        process.terminate()
        assert process.wait(60) == 0


@pytest.mark.slow
@pytest.mark.usefixtures("worker")
def test_a_rebuild_and_a_check_are_jobs_where_a_worker_takes_them(
    bench, settings, capsys, monkeypatch
):
    assert run(["lists"], check=False, settings=settings) == 0
    assert run(["lists", "history"], check=True, settings=settings) == 0
    said = capsys.readouterr()
    assert said.err == ""
    for line, begin in zip(
        said.out.splitlines(),
        ("lists: rebuilt from", "lists: equal to a rebuild of", "history: equal to a rebuild of"),
        strict=True,
    ):
        assert line.startswith(f"{begin} 36 leaves")
    job = Job.fetch("rebuild-lists", connection=bench.client, serializer=JSONSerializer)
    assert (job.meta["done"], job.meta["total"], job.return_value()) == (36, 36, 0)

    # a terminal that is left leaves the job, which waits as long as the workers do, and another follows it
    suspend(bench.client)
    monkeypatch.setattr(maintenance_jobs, "has_worker", lambda _: True)

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(time, "sleep", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run(["lists"], check=False, settings=settings)
    assert "the job rebuild-lists goes on; the same command follows it" in capsys.readouterr().err
    resume(bench.client)
    assert run(["lists"], check=False, settings=settings) == 0
    assert capsys.readouterr().out.count("lists: rebuilt from 36 leaves") == 1


def test_what_is_not_there_can_be_rebuilt_and_not_checked(bench, settings):
    del bench
    with pytest.raises(
        LookupError, match=r"lists of version \d+ are not there yet; the projection worker"
    ):
        run(["lists"], check=True, settings=settings)
