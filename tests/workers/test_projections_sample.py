"""A sample of `tests/projections_run.py`: what is fed while people play equals what is made anew."""

import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest
from redis import Redis

from infra.durability.durability import Mode
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from tests.helpers.side import catch_up, contents
from tests.helpers.steps import Steps, stepped_client
from workers.projections import PROJECTIONS
from workers.projections.verify import ProjectionVerifier
from workers.projections.worker import ProjectionWorker

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
    redis_client: Redis, valkey: EmbeddedServer, tmp_path: Path
) -> None:
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
    # nobody of the corpus is a robot
    empty = [p.spec.name for p, result in zip(PROJECTIONS, results, strict=True) if not result.keys]
    assert empty == ["robots"]
    # no event ever came that belonged before others, or one would have been made anew
    assert {key.split(b":")[3] for key in redis_client.keys("{p:*}:*:at")} == {b"1"}
    kept = contents(redis_client)
    assert {name.partition(":")[0] for name in kept} == {p.spec.name for p in PROJECTIONS}
