"""Ratings: the same order of matches whenever, wherever and however often they are read."""

import itertools
import random
import time

import pytest
from redis import Redis

from domain.clocks.time_control import TimeControl
from domain.match.events import Event, MatchStarted
from domain.ratings import NEWCOMER
from infra.projections.buckets import RATINGS
from infra.projections.generations import Generation, Generations
from infra.projections.ratings import RatedPlayer, Rating, RatingsProjection, RatingsQuery, rate
from infra.store.port import Watermark
from tests.fakes.logs import Logs
from tests.helpers.given import ALICE, BOB, CAROL, ended, moved, resigned, started, three
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


def expected(*matches: tuple[tuple[bytes, bytes], tuple[int, int]]) -> dict[bytes, Rating]:
    """Ratings after matches, each of two players and their places, in this order."""
    skills = dict.fromkeys(PLAYERS, NEWCOMER)
    for players, places in matches:
        after = rate([skills[player] for player in players], places)
        skills.update(zip(players, after, strict=True))
    return {player: Rating(skill=skill) for player, skill in skills.items()}


# the arithmetic


def test_a_winner_gains_what_an_equal_loses_and_both_are_known_better() -> None:
    winner, loser = rate([NEWCOMER, NEWCOMER], [1, 2])
    assert winner.mu - NEWCOMER.mu == NEWCOMER.mu - loser.mu > 0
    assert winner.sigma == loser.sigma < NEWCOMER.sigma


def test_a_draw_brings_two_closer() -> None:
    strong, weak = rate([NEWCOMER, NEWCOMER], [1, 2])
    after_strong, after_weak = rate([strong, weak], [1, 1])
    assert strong.mu > after_strong.mu > after_weak.mu > weak.mu


def test_three_are_rated_by_their_places() -> None:
    first, second, third = rate([NEWCOMER] * 3, [1, 2, 3])
    assert first.mu > second.mu > third.mu
    winner, *losers = rate([NEWCOMER] * 3, [1, 2, 2])
    assert losers[0] == losers[1]
    assert winner.mu > NEWCOMER.mu > losers[0].mu


def test_skills_are_whole_millionths() -> None:
    assert rate([NEWCOMER, NEWCOMER], [1, 2])[0].mu == 27_635_389


# what is kept


def test_a_match_rates_its_players(logs: Logs, shelf_client: Redis) -> None:
    match(logs, 1, 100, 1)
    catch_up(logs.store, shelf_client, ONLY)
    best, last = table(shelf_client)
    assert (best.account, last.account) == (BOB, ALICE)
    assert best.rating.display_value > 1500 > last.rating.display_value
    assert (best.rating.matches, best.rating.board, best.rating.at) == (1, 1, 100)
    ratings = RatingsQuery(shelf_client)
    assert ratings.player("pow2", BOB) == best.rating
    assert ratings.player("pow2", CAROL) == Rating()
    assert [ratings.place("pow2", who) for who in PLAYERS] == [2, 1, None]
    assert ratings.count("pow2") == 2
    assert ratings.of("pow2", start=1) == [last]


def test_each_match_is_a_point_of_a_players_series(logs: Logs, shelf_client: Redis) -> None:
    for board, winner in enumerate([0, 0, 1], 1):
        match(logs, board, 100 * board, winner)
    catch_up(logs.store, shelf_client, ONLY)
    ratings = RatingsQuery(shelf_client)
    series = ratings.series("pow2", ALICE)
    assert [(point.board, point.at) for point in series] == [(1, 100), (2, 200), (3, 300)]
    assert series[0].display_value < series[1].display_value > series[2].display_value
    assert series[-1].skill == ratings.player("pow2", ALICE).skill
    assert ratings.series("pow2", ALICE, start=1, count=1) == [series[1]]
    assert ratings.series("pow2", CAROL) == []


def test_each_match_has_what_it_changed_for_its_seats(logs: Logs, shelf_client: Redis) -> None:
    match(logs, 1, 100, 1)
    match(logs, 300, 200, 0)
    catch_up(logs.store, shelf_client, ONLY)
    ratings = RatingsQuery(shelf_client)
    (first, second, none) = ratings.changes([("pow2", 1), ("pow2", 300), ("pow2", 2)])
    lost, won = first
    assert (lost.before, won.before) == (1500, 1500)
    assert lost.difference < 0 < won.difference
    assert [one.before for one in second] == [lost.after, won.after]
    last = [ratings.series("pow2", who)[-1].display_value for who in (ALICE, BOB)]
    assert [one.after for one in second] == last
    assert none == ()


def test_only_rated_matches_of_several_that_somebody_won_count(
    logs: Logs, shelf_client: Redis
) -> None:
    unrated = MatchStarted(
        rules="pow2/1",
        options=(),
        seats=(ALICE, BOB),
        setup=None,
        next=0,
        terms=TimeControl(rated=False),
    )
    logs.add(1, 100, ALICE, unrated, *MOVES, ended(0))
    match(logs, 2, 100)
    # one whose second player never took it up
    logs.add(6, 100, ALICE, started(), moved(1, 0, 1), ended(0))
    logs.add(3, 100, ALICE, started(ALICE, rules="one/1"), ended(0))
    logs.add(4, 100, ALICE, started(), resigned(0))
    catch_up(logs.store, shelf_client, ONLY)
    assert table(shelf_client) == RatingsQuery(shelf_client).of("one") == []


def test_games_are_rated_apart(logs: Logs, shelf_client: Redis) -> None:
    match(logs, 1, 100, 0)
    logs.add(2, 100, ALICE, three(), *MOVES, moved(3, 2, 0), ended(2))
    catch_up(logs.store, shelf_client, ONLY)
    ratings = RatingsQuery(shelf_client)
    assert ratings.place("halves", CAROL) == 1
    assert ratings.count("halves") == 3
    assert ratings.player("halves", ALICE) != ratings.player("pow2", ALICE)


# the order


def test_matches_count_in_the_order_in_which_they_ended_whatever_their_shard(
    logs: Logs, shelf_client: Redis
) -> None:
    match(logs, 1, 300, 0, seats=(ALICE, BOB))
    match(logs, 2, 100, 0, seats=(BOB, CAROL))
    match(logs, 3, 200, 0, seats=(CAROL, ALICE))
    catch_up(logs.store, shelf_client, ONLY)
    wanted = expected(((BOB, CAROL), (1, 2)), ((CAROL, ALICE), (1, 2)), ((ALICE, BOB), (1, 2)))
    other = expected(((ALICE, BOB), (1, 2)), ((BOB, CAROL), (1, 2)), ((CAROL, ALICE), (1, 2)))
    assert wanted != other
    assert {row.account: row.rating.skill for row in table(shelf_client)} == {
        player: rating.skill for player, rating in wanted.items()
    }


def test_of_one_time_the_lesser_board_is_first(logs: Logs, shelf_client: Redis) -> None:
    for board in (9, 10, 3):
        match(logs, board, 100, 0)
    catch_up(logs.store, shelf_client, ONLY)
    assert [p.board for p in RatingsQuery(shelf_client).series("pow2", ALICE)] == [3, 9, 10]


def test_what_is_not_older_than_the_watermark_waits(logs: Logs, shelf_client: Redis) -> None:
    match(logs, 1, 100, 0)
    match(logs, 2, 200, 0)
    logs.mark = 200
    side = ProjectionWorker(logs.store, shelf_client, ONLY)
    for _ in range(5):
        side.round()
    assert [p.board for p in RatingsQuery(shelf_client).series("pow2", ALICE)] == [1]
    match(logs, 3, 200, 0)
    logs.mark = 201
    settle(side)
    assert [p.board for p in RatingsQuery(shelf_client).series("pow2", ALICE)] == [1, 2, 3]


def test_nothing_is_taken_before_all_shards_are_read_up_to_the_mark(
    logs: Logs, shelf_client: Redis
) -> None:
    side = catch_up(logs.store, shelf_client, ONLY)
    # the match that ended first is the last in its log, behind more than is read at once
    for board in range(4, 4 * 700, 4):
        match(logs, board, 500, 0)
    match(logs, 4 * 700, 100, 0)
    match(logs, 1, 300, 0)
    rounds = 0
    while not RatingsQuery(shelf_client).count("pow2"):
        rounds += side.round() > 0
    assert rounds > 1
    settle(side)
    series = RatingsQuery(shelf_client).series("pow2", ALICE)
    # what is before it in its log has happened before it
    assert [point.at for point in series] == [*[100] * 700, 300]


def test_any_way_of_reading_gives_the_same_ratings(redis_client: Redis) -> None:
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


def test_an_event_that_comes_too_late_has_everything_made_anew(
    logs: Logs, shelf_client: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    side = ProjectionWorker(logs.store, shelf_client, ONLY)
    for board, at in ((1, 100), (2, 300)):
        match(logs, board, at, 0)
    settle(side)
    with caplog.at_level("INFO"):
        match(logs, 3, 200, 0)
        settle(side)
    assert "an event came that belongs before others" in caplog.text
    assert [p.board for p in RatingsQuery(shelf_client).series("pow2", ALICE)] == [1, 3, 2]
    generations = {key.split(b":")[3] for key in shelf_client.keys("{p:ratings:b0}:*:players:pow2")}
    assert len(generations) == 2


# a clock that ran ahead

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


def test_what_ended_by_a_clock_that_ran_ahead_counts_when_its_log_goes_on(
    logs: Logs, shelf_client: Redis
) -> None:
    logs.mark = 1_000
    match(logs, 1, 1_000 + AHEAD, 0)
    match(logs, 2, 1_000 + AHEAD, 0)
    match(logs, 5, 100, 1)
    side = work(ProjectionWorker(logs.store, shelf_client, ONLY))
    assert boards(shelf_client) == [1, 5]
    logs.mark = 2_000
    match(logs, 9, 1_500, 1)
    work(side)
    assert boards(shelf_client) == [1, 5, 9]
    logs.mark = 3_000
    logs.add(6, 2_500, ALICE, started())
    work(side)
    assert boards(shelf_client) == [1, 5, 9, 2]
    assert not side.has_work


@pytest.mark.parametrize("while_ahead", [True, False])
def test_forty_days_ahead_and_back_leave_the_ratings_as_the_logs_make_them(
    logs: Logs, shelf_client: Redis, *, while_ahead: bool
) -> None:
    side = ProjectionWorker(logs.store, shelf_client, ONLY)
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
    assert sorted(boards(shelf_client)) == list(range(1, 61))
    for first in (1, 41):
        right = range(first, first + 20)
        assert [board for board in boards(shelf_client) if board in right] == list(right)
    points = RatingsQuery(shelf_client).series("pow2", ALICE)
    assert all(a.at <= b.at <= at for a, b in itertools.pairwise(points))
    live = contents(shelf_client)
    shelf_client.flushall()
    work(ProjectionWorker(logs.store, shelf_client, ONLY))
    made = contents(shelf_client)
    assert {k: v for k, v in made.items() if not k.endswith(":at")} == {
        k: v for k, v in live.items() if not k.endswith(":at")
    }


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


@pytest.mark.parametrize("seed", range(4))
def test_a_clock_that_steps_back_behind_a_promise_has_nothing_made_anew(
    shelf_client: Redis, seed: int
) -> None:
    logs, chance = Promising(), random.Random(seed)
    side = ProjectionWorker(logs.store, shelf_client, ONLY)
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
    assert sorted(boards(shelf_client)) == list(range(1, 61))
    live = contents(shelf_client)
    assert Generations(shelf_client, RATINGS).stored() == [Generation("ratings", 1, 1)]
    shelf_client.flushall()
    catch_up(logs.store, shelf_client, ONLY)
    made = contents(shelf_client)
    assert {k: v for k, v in made.items() if not k.endswith(":at")} == {
        k: v for k, v in live.items() if not k.endswith(":at")
    }


def test_what_is_ahead_in_one_log_holds_nobody_else_up(logs: Logs, shelf_client: Redis) -> None:
    logs.mark = 1_000
    match(logs, 5, 100, 1)
    match(logs, 1, 9_999, 0)
    side = work(ProjectionWorker(logs.store, shelf_client, ONLY))
    assert boards(shelf_client) == [5]
    logs.mark = 10_000
    work(side)
    assert boards(shelf_client) == [5, 1]
