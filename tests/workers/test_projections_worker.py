"""The projection worker: makes anew what is missing, old or out of order, and ends when it is told to."""

import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest
from redis import Redis

from infra.durability.durability import Mode
from infra.projections.buckets import LISTS, Spec
from infra.projections.generations import Generations
from infra.projections.match_list_fold import MatchListsProjection
from infra.projections.match_lists import MatchLists
from infra.redis import keys
from infra.store.redis_store import RedisStore
from tests.fakes.logs import Logs
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from tests.helpers.given import ALICE, ended, moved, started
from tests.helpers.served import Served, all_play, matches, until
from tests.helpers.side import catch_up, contents, settle
from tests.helpers.steps import Steps, stepped_client
from workers.projections import PROJECTIONS
from workers.projections.verify import ProjectionVerifier
from workers.projections.worker import ProjectionWorker


class Newer(MatchListsProjection):
    """What a later program keeps."""

    spec = Spec("lists", LISTS.version + 1)


@pytest.fixture
def logs() -> Logs:
    made = Logs()
    for board in range(1, 9):
        made.add(board, board, ALICE, started(), moved(1, 0, 1))
    return made


def live_lists(client: Redis) -> tuple[int, int]:
    """Version and number of what is read."""
    found = Generations(client, LISTS).live()
    return found[0], found[1].number


def test_what_an_older_program_kept_is_made_anew(logs, shelf_client, caplog):
    caplog.set_level("INFO")
    catch_up(logs.store, shelf_client, [MatchListsProjection()])
    before = contents(shelf_client)
    catch_up(logs.store, shelf_client, [Newer()])
    assert live_lists(shelf_client) == (LISTS.version + 1, 2)
    assert contents(shelf_client).keys() == before.keys()
    old, new = LISTS.version, LISTS.version + 1
    assert f"it has version {old}, and this program's is {new}" in caplog.text


def test_what_a_newer_program_keeps_is_left_alone(logs, shelf_client):
    catch_up(logs.store, shelf_client, [Newer()])
    logs.add(9, 9, ALICE, started())
    side = ProjectionWorker(logs.store, shelf_client, [MatchListsProjection()])
    assert [side.round() for _ in range(3)] == [0, 0, 0]
    assert live_lists(shelf_client) == (LISTS.version + 1, 1)


def test_when_the_logs_have_lost_leaves_everything_is_made_anew(logs, shelf_client):
    logs.add(1, 100, ALICE, ended(0))
    catch_up(logs.store, shelf_client)
    logs.shown = 3
    catch_up(logs.store, shelf_client)
    (row,) = MatchLists(shelf_client).rows([1])
    assert (row.over, row.seq) == (False, 2)


def test_while_another_builds_it_waits_and_takes_over_what_comes_of_it(
    logs, shelf_client, wait_until
):
    generations = Generations(shelf_client, LISTS)
    generations.begin("another", 4)
    side = ProjectionWorker(logs.store, shelf_client, [MatchListsProjection()])
    for _ in range(3):
        assert side.round() == 0
    shelf_client.delete(keys.projection("lists", "building"))
    other = catch_up(logs.store, shelf_client, [MatchListsProjection()])
    logs.add(9, 9, ALICE, started())

    def taken_over() -> bool:
        side.round()
        return MatchLists(shelf_client).rows([9]) != [None]

    wait_until(taken_over)
    settle(other)


def test_a_rebuild_that_is_overtaken_is_given_up(logs, shelf_client, caplog):
    logs.mark = 0  # nothing can be put in order, so that no ratings come about
    logs.add(1, 100, ALICE, ended(0))
    side = ProjectionWorker(logs.store, shelf_client)
    side.round()
    names = {key.decode() for key in shelf_client.scan_iter("{p:*}:building")}
    for name in names:
        shelf_client.delete(name)
    for key in shelf_client.scan_iter("{p:*}:*:at"):
        shelf_client.delete(key)
    logs.add(2, 100, ALICE, ended(0))
    logs.mark = 1 << 50
    settle(side)
    assert not names or "was overtaken by another" in caplog.text
    assert contents(shelf_client) == contents_of_a_fresh_start(logs, shelf_client)


def contents_of_a_fresh_start(logs: Logs, client: Redis) -> dict[str, object]:
    client.flushall()
    catch_up(logs.store, client)
    return contents(client)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.long
def test_a_killed_side_worker_is_replaced_and_nothing_is_missing_or_doubled(tmp_path):
    with Served(tmp_path / "data", {"MATCHPOST_GATHER": "off"}) as served:
        _, threads = all_play(served, matches(3, 60))
        for _ in range(5):
            until(lambda: served.children("matchpost side"))
            for pid in served.children("matchpost side"):
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.3)
        for thread in threads:
            thread.join()
        until(lambda: served.run("doctor").returncode == 0)
        done = served.run("rebuild", "--check")
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_an_idle_side_worker_sleeps_and_ends_when_it_is_asked(tmp_path):
    with Served(tmp_path / "data", {"MATCHPOST_GATHER": "off"}) as served:
        until(lambda: served.run("doctor").returncode == 0)
        (pid,) = served.children("matchpost side")
        before = cpu_seconds(pid)
        time.sleep(2)
        assert cpu_seconds(pid) - before < 0.07
        os.kill(pid, signal.SIGTERM)
        until(lambda: pid not in served.children("matchpost side"))
        assert served.run("do", "signup alice mad-hatter").returncode == 0


EVENTS = 2_000


class Gone(BaseException):
    """The process is no more."""


def die() -> None:
    raise Gone


def lives(url: str, seed: int, ended: Callable[[], bool]) -> None:
    """Side workers one after the other, each killed after some commands."""
    chance = random.Random(seed)
    while not ended():
        client, begin = stepped_client(url)
        begin(Steps(chance.randrange(20, 400), die, after=chance.random() < 0.5))
        with suppress(Gone):
            side = ProjectionWorker(RedisStore(client, Mode.FSYNC), client)
            while not ended():
                side.round()
        client.close()


@pytest.mark.long
@pytest.mark.slow
def test_two_side_workers_killed_again_and_again_keep_what_a_rebuild_makes(
    redis_client, valkey, tmp_path
):
    bench = Bench(redis_client, tmp_path / "seeds")
    catch_up(bench.store, redis_client)
    corpus = Corpus(bench)
    ended: list[bool] = []
    threads = [
        Thread(target=lives, args=(valkey.url, seed, lambda: bool(ended))) for seed in range(2)
    ]
    for thread in threads:
        thread.start()
    while corpus.leaves() < EVENTS:
        corpus.step()
    ended.append(True)
    for thread in threads:
        thread.join()
    for key in redis_client.scan_iter("{p:*}:building"):
        redis_client.delete(key)
    catch_up(bench.store, redis_client)
    results = [
        ProjectionVerifier(bench.store, redis_client, projection).run()
        for projection in PROJECTIONS
    ]
    assert [result.difference for result in results] == [""] * len(PROJECTIONS)
    assert all(result.leaves >= EVENTS for result in results)
    # in the corpus nobody is a robot, and there are no tournaments
    empty = [p.spec.name for p, result in zip(PROJECTIONS, results, strict=True) if not result.keys]
    assert empty == ["robots", "tournaments"]
    # no event ever came that belonged before others, or one would have been made anew
    assert {key.split(b":")[3] for key in redis_client.keys("{p:*}:*:at")} == {b"1"}
    kept = contents(redis_client)
    assert {name.partition(":")[0] for name in kept} == {p.spec.name for p in PROJECTIONS}
