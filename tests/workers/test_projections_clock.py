"""A server's clock that steps back while ratings are made: nothing comes too late for its place."""

from pathlib import Path

import pytest
from redis import Redis

from domain.match.commands import PlayMove, ResignMatch
from infra.projections.buckets import RATINGS
from infra.projections.generations import Generations
from infra.projections.ratings import RatingsProjection
from tests.helpers.given import ALICE, BOB
from tests.helpers.side import settle
from tests.helpers.timed import SHORT, TimedBench
from workers.projections.worker import ProjectionWorker

MINUTE = 60_000


@pytest.mark.parametrize("step", [2 * MINUTE, 9 * MINUTE])
def test_a_match_that_ends_after_the_clock_stepped_back_does_not_rebuild_the_ratings(
    redis_client: Redis, tmp_path: Path, step: int
) -> None:
    bench = TimedBench(redis_client, tmp_path / "seeds")
    bench.challenge(SHORT, 1, 2)
    worker = ProjectionWorker(bench.store, redis_client, (RatingsProjection(),))

    def play(board: int) -> None:
        for actor, command in (
            (ALICE, PlayMove(text="m13-m9")),
            (BOB, PlayMove(text="a13-c11")),
            (ALICE, ResignMatch()),
        ):
            bench.send(actor, command, board)
            bench.drain()

    bench.now += 20 * MINUTE
    play(1)
    bench.now += MINUTE
    settle(worker)
    before = Generations(redis_client, RATINGS).live()
    bench.now -= step
    play(2)
    bench.now += 30 * MINUTE
    settle(worker)
    live = Generations(redis_client, RATINGS).live()
    assert live is not None
    assert live == before, "the ratings were not made again from zero"
    checkpoints = Generations(redis_client, RATINGS).checkpoints(live[1])
    assert not any(one is None or one.late for one in checkpoints)
    assert max(one.last for one in checkpoints if one)[1] == 2, "the second match is rated"
