"""Ratings: the same order of matches whenever, wherever and however often they are read."""

import itertools
import random
import time

import pytest
from redis import Redis

from domain.match.events import Event
from domain.match.state import BOT_PREFIX
from infra.projections.buckets import RATINGS
from infra.projections.generations import Generation, Generations
from infra.projections.ratings import (
    RatedPlayer,
    RatingsProjection,
    RatingsQuery,
    pool_of,
    pool_with_bots,
)
from infra.projections.standings import StandingsQuery
from infra.store.port import Watermark
from tests.fakes.logs import Logs
from tests.helpers.given import (
    ALICE,
    BOB,
    CAROL,
    ended,
    moved,
    started,
)
from tests.helpers.side import catch_up, contents, settle
from workers.projections.worker import ProjectionWorker

ONLY = (RatingsProjection(),)


PLAYERS = (ALICE, BOB, CAROL)


MOVES = (moved(1, 0, 1), moved(2, 1, 0))


@pytest.fixture
def logs() -> Logs:
    return Logs()


def match(logs: Logs, board: int, at: int, *winners: int, seats: tuple[bytes, ...] = ()) -> None:
    """A match that is won when both have moved, and ends at that time."""
    logs.add(board, at, ALICE, started(*seats), *MOVES, ended(*winners))


def table(client: Redis) -> list[RatedPlayer]:
    return RatingsQuery(client).of("pow2")


def test_nothing_is_taken_before_all_shards_are_read_up_to_the_mark(logs, redis_client):
    side = catch_up(logs.store, redis_client, ONLY)
    # the match that ended first is the last in its log, behind more than is read at once
    for board in range(4, 4 * 700, 4):
        match(logs, board, 500, 0)
    match(logs, 4 * 700, 100, 0)
    match(logs, 1, 300, 0)
    rounds = 0
    while not RatingsQuery(redis_client).count("pow2"):
        rounds += side.round() > 0
    assert rounds > 1
    settle(side)
    series = RatingsQuery(redis_client).series("pow2", ALICE)
    # what is before it in its log has happened before it
    assert [point.at for point in series] == [*[100] * 700, 300]


def test_any_way_of_reading_gives_the_same_ratings(redis_client):
    chance = random.Random(7)
    found = set()
    for run in range(3):
        redis_client.flushall()
        logs = Logs()
        side = ProjectionWorker(logs.store, redis_client, ONLY)
        order = random.Random(1)
        matches = [
            (board, order.randrange(40), order.sample(PLAYERS, 2), order.randrange(3))
            for board in range(1, 200)
        ]
        for board, at, (one, other), winner in sorted(matches, key=lambda match: match[1]):
            # as on a server: what ends at one time is committed before anything later
            winners = [(0,), (1,), (0, 1)][winner]
            match(logs, board, at, *winners, seats=(one, other))
            logs.mark = at
            if run and chance.random() < 0.3:
                side.round()
        logs.mark = 1_000
        settle(side)
        found.add(repr([table(redis_client), RatingsQuery(redis_client).series("pow2", BOB)]))
    assert len(found) == 1


def test_an_event_that_comes_too_late_has_everything_made_anew(logs, redis_client, caplog):
    side = ProjectionWorker(logs.store, redis_client, ONLY)
    for board, at in ((1, 100), (2, 300)):
        match(logs, board, at, 0)
    settle(side)
    with caplog.at_level("INFO"):
        match(logs, 3, 200, 0)
        settle(side)
    assert "an event came that belongs before others" in caplog.text
    assert [p.board for p in RatingsQuery(redis_client).series("pow2", ALICE)] == [1, 3, 2]
    generations = {key.split(b":")[3] for key in redis_client.keys("{p:ratings:b0}:*:players:pow2")}
    assert len(generations) == 2


AHEAD = 40 * 86_400_000


def work(side: ProjectionWorker) -> ProjectionWorker:
    """Have a side worker do what it can: while something waits for its turn it is never done."""
    deadline = time.monotonic() + 30
    rounds = 0
    # what comes too late has everything made anew, which it looks for once a second
    while rounds < 8 or any(slot.rebuild or slot.is_late for slot in side._slots):
        side.round()
        rounds += 1
        assert time.monotonic() < deadline, "it is not made anew"
    for _ in range(8):
        side.round()
    return side


def boards(client: Redis) -> list[int]:
    return [point.board for point in RatingsQuery(client).series("pow2", ALICE)]


def test_what_ended_by_a_clock_that_ran_ahead_counts_when_its_log_goes_on(logs, redis_client):
    logs.mark = 1_000
    match(logs, 1, 1_000 + AHEAD, 0)
    match(logs, 2, 1_000 + AHEAD, 0)
    match(logs, 5, 100, 1)
    side = work(ProjectionWorker(logs.store, redis_client, ONLY))
    assert boards(redis_client) == [1, 5]
    logs.mark = 2_000
    match(logs, 9, 1_500, 1)
    work(side)
    assert boards(redis_client) == [1, 5, 9]
    logs.mark = 3_000
    logs.add(6, 2_500, ALICE, started())
    work(side)
    assert boards(redis_client) == [1, 5, 9, 2]
    assert not side.has_work


class Promising(Logs):
    """Logs whose shards stamp nothing below what a watermark has promised."""

    def __init__(self) -> None:
        super().__init__()
        self._promised = 0

    def watermark(self, beyond: int = 0) -> Watermark:
        found = super().watermark(beyond)
        self._promised = max(self._promised, found.at)
        return Watermark(self._promised, found.ends)

    def add(self, board: int, at: int, actor: bytes, *bodies: Event) -> None:
        super().add(board, max(at, self._promised), actor, *bodies)


def without_checkpoints(client: Redis) -> dict[str, object]:
    return {name: one for name, one in contents(client).items() if not name.endswith(":at")}


@pytest.mark.parametrize("while_ahead", [True, False])
def test_forty_days_ahead_and_back_leave_the_ratings_as_the_logs_make_them(
    logs, redis_client, *, while_ahead
):
    side = ProjectionWorker(logs.store, redis_client, ONLY)
    chance, at, board = random.Random(5), 1_000, 0
    for off in (0, AHEAD, 0):
        for _ in range(20):
            board, at = board + 1, at + chance.randrange(1_000)
            match(logs, board, at + off, chance.randrange(2))
            logs.mark = at + off
            if while_ahead or not off:
                work(side)
    logs.mark = at + 1_000
    for shard in range(4):
        logs.add(1_000 + shard, at + 1, ALICE, started())
    work(side)
    assert sorted(boards(redis_client)) == list(range(1, 61))
    for first in (1, 41):
        right = range(first, first + 20)
        assert [board for board in boards(redis_client) if board in right] == list(right)
    points = RatingsQuery(redis_client).series("pow2", ALICE)
    assert all(a.at <= b.at <= at for a, b in itertools.pairwise(points))
    live = without_checkpoints(redis_client)
    redis_client.flushall()
    work(ProjectionWorker(logs.store, redis_client, ONLY))
    assert without_checkpoints(redis_client) == live


@pytest.mark.parametrize("seed", range(4))
def test_a_clock_that_steps_back_behind_a_promise_has_nothing_made_anew(redis_client, seed):
    logs, chance = Promising(), random.Random(seed)
    side = ProjectionWorker(logs.store, redis_client, ONLY)
    clock = 10_000
    for board in range(1, 61):
        clock += chance.randrange(-2_000, 3_000)
        # its watermark is the clock's, as if no command waited
        logs.mark = clock
        if chance.random() < 0.4:
            side.round()
        match(logs, board, clock, chance.randrange(2))
        assert not any(slot.is_late for slot in side._slots)
    logs.mark = 1 << 50
    settle(side)
    assert sorted(boards(redis_client)) == list(range(1, 61))
    live = without_checkpoints(redis_client)
    assert Generations(redis_client, RATINGS).stored() == [Generation("ratings", 1, 1)]
    redis_client.flushall()
    catch_up(logs.store, redis_client, ONLY)
    assert without_checkpoints(redis_client) == live


# matches in which a bot plays

DEEP = BOT_PREFIX + b"deep"


def rated(client: Redis, pool: str) -> dict[bytes, int]:
    return {row.account: row.rating.matches for row in RatingsQuery(client).of(pool)}


def test_matches_with_bots_are_rated_apart(logs, redis_client):
    match(logs, 1, 100, 0)
    catch_up(logs.store, redis_client)
    people = {account: RatingsQuery(redis_client).player("pow2", account) for account in PLAYERS}
    match(logs, 2, 200, 0, seats=(ALICE, DEEP))
    match(logs, 3, 300, 1, seats=(ALICE, DEEP))
    catch_up(logs.store, redis_client)
    query = RatingsQuery(redis_client)
    assert {account: query.player("pow2", account) for account in PLAYERS} == people
    assert rated(redis_client, "pow2") == {ALICE: 1, BOB: 1}
    assert rated(redis_client, pool_with_bots("pow2")) == {ALICE: 2, DEEP: 2}
    assert query.changes([(pool_of("pow2", (ALICE, DEEP)), 3), ("pow2", 3)])[1] == ()
    # nor do they count in the table, as those with robots
    played = {row.account: row.played for row in StandingsQuery(redis_client).of("pow2")}
    assert played == {ALICE: 1, BOB: 1}
    # a rebuild finds the pools from the logs alone
    before = contents(redis_client)
    redis_client.flushall()
    catch_up(logs.store, redis_client)
    assert contents(redis_client) == before
