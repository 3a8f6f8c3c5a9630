"""All tables of the projections are those of a plain model, whatever happens in matches by chance; and examples of what it leaves out."""

import itertools
import random
import time
from collections import Counter
from itertools import combinations, count

import msgspec
import pytest
from redis import Redis

from domain.match import events
from domain.match.commands import AnswerOffer, PlayMove, ResignMatch
from domain.match.events import Event, MatchSource
from domain.match.imports import import_command
from domain.match.state import BOT_PREFIX
from domain.records import SERVER_ACCOUNT
from domain.tournament.events import TournamentEvent
from infra.projections.buckets import RATINGS
from infra.projections.cases import OpenCases
from infra.projections.finished_matches import FinishedMatches
from infra.projections.generations import Generation, Generations
from infra.projections.head_to_head import HeadToHeadQuery
from infra.projections.leaderboards import LeaderboardRow, Leaderboards
from infra.projections.match_lists import HomeLists, MatchFilter, MatchLists
from infra.projections.notices import MOST_NOTICES, MatchNotices, NoticeKind, position_of
from infra.projections.ratings import (
    RatedPlayer,
    RatingsProjection,
    RatingsQuery,
    pool_of,
    pool_with_bots,
)
from infra.projections.robots import RobotTurns
from infra.projections.standings import POINT, StandingsQuery
from infra.redis.reads import read_one
from infra.store.port import Watermark
from tests.fakes.logs import Logs
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB, CAROL, Match, ended, moved, pow2, started
from tests.helpers.side import catch_up, contents, settle
from tests.workers.plain_tables import PlainTables
from tests.workers.random_matches import GAMES, PLAYERS, Chance
from workers.projections import PROJECTIONS
from workers.projections.verify import ProjectionVerifier
from workers.projections.worker import ProjectionWorker

EVER = 1 << 52


@pytest.mark.parametrize(("seed", "buckets"), [(0, 1), (1, 1), (2, 3), (3, 1)])
def test_all_tables_are_those_of_a_plain_model(redis_client, seed, buckets):
    life = Chance(seed, matches=40)
    side = catch_up(life.logs.store, redis_client, buckets=buckets)
    marks: dict[str, object] = {}
    goes_on = True
    for step in count(1):
        for _ in range(8):
            goes_on = life.go_on()
        settle(side) if not goes_on else [side.round() for _ in range(3)]
        plain = PlainTables(life.logs, rates=not goes_on)
        running = [one for one in plain.matches.values() if not one.result]
        assert MatchLists(redis_client).rows([one.board for one in running]) == rows_of(running)
        if step % 12 == 0 or not goes_on:
            check_lists(HomeLists(redis_client), plain, marks)
            check_finished(redis_client, plain)
            check_told(redis_client, plain)
        if not goes_on:
            break
    check_ratings(RatingsQuery(redis_client), plain)
    for projection in PROJECTIONS:
        found = ProjectionVerifier(life.logs.store, redis_client, projection).run()
        assert (projection.spec.name, found.difference) == (projection.spec.name, "")


def rows_of(matches):
    return [one.row() for one in matches]


def check_lists(lists, plain, marks):
    running = [one for one in plain.matches.values() if not one.result]
    for game in GAMES:
        open_ = [one for one in running if one.game == game and not one.invited]
        open_.sort(key=lambda one: -one.board)
        assert lists.playing(game) == rows_of(open_)
        assert lists.playing(game, 1, 2) == rows_of(open_[1:3])
        assert lists.count_playing(game) == len(open_)
    for who in PLAYERS:
        check_lists_of(who, lists, plain)
        mark = read_one(lists._client, lists.change_marks([who]))[0]
        home = read_one(lists._client, lists.read_boards(who))
        assert home.mark == mark
        boards = [one.board for one in plain.running(who)]
        turns = [(one.board, one.since) for one in plain.turns(who)]
        shown = turns, {one.board for one in plain.asked(who)}, len(boards), boards[:1]
        shown += ([one.board for one in plain.proposed(who)],)
        assert marks.setdefault(f"{who!r} {mark}", shown) == shown


def check_lists_of(who, lists, plain):
    turns, running, proposed = plain.turns(who), plain.running(who), plain.proposed(who)
    waiting = {one.board for one in [*turns, *plain.asked(who)]}
    others = [one for one in [*running, *proposed] if one.board not in waiting]
    others.sort(key=lambda one: -one.board)
    assert lists.of(who, MatchFilter.NEXT) == rows_of(turns)
    assert lists.of(who, MatchFilter.ACTIVE) == rows_of(running)
    for game in GAMES:
        assert lists.of(who, MatchFilter.ACTIVE, game, 1, 3) == rows_of(
            [one for one in running if one.game == game][1:4]
        )
    assert {row.board for row in lists.waiting(who)} == waiting
    assert lists.others(who) == rows_of(others)
    assert lists.others(who, 1, 1) == rows_of(others[1:2])
    assert lists.proposed(who) == rows_of(proposed)
    counts = lists.counts(who)
    assert (counts.next, counts.active) == (len(turns), len(running))
    home = read_one(lists._client, lists.read_boards(who))
    assert ({*home.waiting}, home.others) == (waiting, [one.board for one in others])
    rows = read_one(lists._client, lists.read_rows(home.bucket, [*home.others, 99]))
    assert [*rows.values()] == rows_of(others)
    over = [(row.board, row.at, row.updated) for row in plain.finished(None, who)]
    found = lists.of(who, MatchFilter.INACTIVE)
    assert [(row.board, row.ended, row.at) for row in found] == over
    assert lists.of(who) == [*rows_of(running), *found]
    for start in (1, len(running), len(running) + 1):
        assert lists.of(who, start=start, count=3) == [*rows_of(running), *found][start:][:3]
    assert counts.inactive == len(over)


def check_finished(client, plain):
    history, standings, pairs = (
        of(client) for of in (FinishedMatches, StandingsQuery, HeadToHeadQuery)
    )
    for game in GAMES:
        assert history.of(game) == plain.finished(game)
        assert history.of(game, start=1, count=3) == plain.finished(game)[1:4]
        table = {
            row.account: (
                *(round(row.points * POINT), row.played, row.won, row.drawn, row.lost, row.timed),
            )
            for row in standings.of(game)
        }
        assert table == plain.standings(game)
        assert standings.count(game) == len(table)
        before = plain.pairs(game)
        for who in PLAYERS:
            assert history.of(game, who) == plain.finished(game, who)
            assert history.count(game, who) == len(plain.finished(game, who))
            assert standings.player(game, who).played == table.get(who, (0, 0))[1]
        for a, b in combinations(PLAYERS, 2):
            assert history.of(game, b, a) == plain.finished(game, a, b)
            for one, other in ((a, b), (b, a)):
                record = pairs.of(game, one, other)
                assert (record.won, record.lost) == (before[one, other], before[other, one])
            together = [
                places for match, _, places in plain.counted(game) if {a, b} <= {*match.seats}
            ]
            assert record.played == len(together)
    assert [standings.refused(who) for who in PLAYERS] == [plain.refused(who) for who in PLAYERS]
    best = [(row.rank, row.at, row.board, row.account) for row in Leaderboards(client).best("one")]
    assert best == plain.scores()
    assert Leaderboards(client).count("one") == len(best)
    for row in best:
        assert Leaderboards(client).best_of("one", row[3]).board == row[2]


def check_told(client, plain):
    notices = MatchNotices(client)
    for who in PLAYERS:
        told = plain.notices(who)
        assert notices.of(who, count=1_000) == told
        assert notices.of(who, 2, 2) == told[2:4]
        if len(told) > 5:
            after = read_one(client, notices.since(who, position_of(told[4]))).notices
            assert after == [one for one in told[::-1] if one.at >= told[4].at]
    assert RobotTurns(client).due(EVER, 1_000) == plain.robots()
    assert RobotTurns(client).count() == len(plain.robots())
    assert OpenCases(client).of(0, 1_000) == plain.cases()
    assert not client.keys("{p:notifications}:*:tables") or any(
        len(one.seats) > 2 and not one.result for one in plain.matches.values()
    )


def check_ratings(ratings, plain):
    for game in GAMES:
        rows = {one.account: one.rating for one in ratings.of(game)}
        counts = {who: n for (of, who), n in plain.rated.items() if of == game and n}
        assert {who: rating.matches for who, rating in rows.items()} == counts
        for place, who in enumerate(rows, 1):
            points = plain.skills[game, who]
            series = ratings.series(game, who)
            assert [(one.board, one.at, one.skill) for one in series] == points
            assert (rows[who].board, rows[who].at, rows[who].skill) == points[-1]
            assert ratings.player(game, who) == rows[who]
            assert ratings.place(game, who) == place
        assert ratings.count(game) == len(rows)
    for one in plain.matches.values():
        (shown,) = ratings.changes([(one.game, one.board)])
        changes = plain.changes[one.board].values()
        assert [(c.before, c.after) for c in shown] == [(a.rating, b.rating) for a, b in changes]


def test_in_these_lives_everything_happens():
    seen: Counter[object] = Counter()
    for seed in range(4):
        life = Chance(seed, matches=40)
        while life.go_on():
            pass
        plain = PlainTables(life.logs)
        seen.update(type(event.body) for event in plain.events)
        seen.update(one.kind for match in plain.matches.values() for _, one in match.told)
    paired = {events.MatchPaired, events.SeatTakenOver}
    others = {events.Imported, *paired, *TournamentEvent.__args__}
    every = {*events.Event.__args__} - others
    assert {kind for kind in every if seen[kind] < 3} == set()
    assert min(seen[events.SetBack], seen[events.ResultChanged], seen[events.Sealed]) > 10
    assert {kind: count for kind, count in seen.items() if count < 3} == {}


def test_only_the_newest_are_kept(logs, redis_client):
    for board in range(1, MOST_NOTICES + 51):
        logs.add(board, board, ALICE, started())
        if board % 40 == 0:
            catch_up(logs.store, redis_client)
    catch_up(logs.store, redis_client)
    found = MatchNotices(redis_client).of(BOB, count=1_000)
    assert [notice.board for notice in found] == list(range(MOST_NOTICES + 50, 50, -1))
    assert [n.board for n in MatchNotices(redis_client).of(BOB, start=2, count=2)] == [248, 247]
    assert [
        n.board
        for n in read_one(
            redis_client, MatchNotices(redis_client).since(BOB, (249, 0, 0, ""))
        ).notices
    ] == [249, 250]


def test_a_rows_text_sorts_as_it_ranks_and_comes_back():
    row = LeaderboardRow((-40, 12), 1_700_000_000_000, 17, ALICE)
    better = [(-41, 99), (-40, 11)]
    worse = [(-40, 13), (-39, 0), (0, 0), (3, 0)]
    texts = [msgspec.structs.replace(row, rank=rank).text() for rank in [*better, row.rank, *worse]]
    assert texts == sorted(texts)
    assert row.text() < msgspec.structs.replace(row, at=row.at + 1).text()
    assert LeaderboardRow.parse(row.text()) == row


ACCEPT = AnswerOffer(accept=True)


SOURCE = MatchSource("document", "play.example.org/log/s07", 17, bytes(32), 5, bytes(32))


def there(*commands):
    """A match of pow2 elsewhere in which both have moved."""
    moves = [(ALICE, PlayMove(text="m13-m9")), (BOB, PlayMove(text="a13-c11"))]
    return Match(pow2(), *moves, *commands)


def import_here(bench: Bench, match: Match, board: int = 1) -> None:
    command = import_command(match.state, match.state.seats, SOURCE)
    bench.send(SERVER_ACCOUNT, command, board)
    bench.drain()


def say(bench: Bench, *turns, board: int = 1) -> None:
    for actor, command in turns:
        order = bench.send(actor, command, board)
        bench.drain()
        assert bench.outcome(order).accepted


def kinds(bench: Bench, account: bytes) -> list[NoticeKind]:
    return [one.kind for one in MatchNotices(bench.client).of(account)]


def test_it_waits_for_all_its_players_with_the_plies_of_its_source(bench):
    import_here(bench, there())
    catch_up(bench.store, bench.client)
    lists = HomeLists(bench.client)
    for account in (ALICE, BOB):
        (row,) = lists.of(account, MatchFilter.NEXT)
        assert (row.ply, row.waits, row.started) == (2, (0, 1), False)
        assert kinds(bench, account) == [NoticeKind.CHALLENGED]
    say(bench, (ALICE, ACCEPT), (BOB, ACCEPT))
    catch_up(bench.store, bench.client)
    (row,) = lists.of(ALICE, MatchFilter.NEXT)
    assert (row.ply, row.waits, row.started) == (2, (0,), True)
    assert lists.of(BOB, MatchFilter.NEXT) == []
    assert NoticeKind.YOUR_TURN in kinds(bench, ALICE)


def test_one_that_was_over_elsewhere_is_listed_and_counts_nowhere(bench):
    import_here(bench, there((BOB, ResignMatch())))
    say(bench, (ALICE, ACCEPT), (BOB, ACCEPT))
    catch_up(bench.store, bench.client)
    (row,) = FinishedMatches(bench.client).of("pow2", ALICE)
    assert (row.winners, row.rated) == ((0,), False)
    assert StandingsQuery(bench.client).count("pow2") == 0


# ratings: the same order of matches whenever, wherever and however often they are read

ONLY = (RatingsProjection(),)


THREE = (ALICE, BOB, CAROL)


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
            (board, order.randrange(40), order.sample(THREE, 2), order.randrange(3))
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


def test_an_event_that_comes_too_late_has_everything_made_again(logs, redis_client, caplog):
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
    # what comes too late has everything made again, which it looks for once a second
    while rounds < 8 or any(slot.rebuild or slot.is_late for slot in side._slots):
        side.round()
        rounds += 1
        assert time.monotonic() < deadline, "it is not made again"
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
def test_a_clock_that_steps_back_behind_a_promise_has_nothing_made_again(redis_client, seed):
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
    people = {account: RatingsQuery(redis_client).player("pow2", account) for account in THREE}
    match(logs, 2, 200, 0, seats=(ALICE, DEEP))
    match(logs, 3, 300, 1, seats=(ALICE, DEEP))
    catch_up(logs.store, redis_client)
    query = RatingsQuery(redis_client)
    assert {account: query.player("pow2", account) for account in THREE} == people
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
