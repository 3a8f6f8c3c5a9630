"""All tables of the projections are those of a plain model, whatever happens in matches by chance; and examples of what it leaves out."""

from collections import Counter
from itertools import combinations, count

import msgspec
import pytest

from domain.match import events
from domain.match.commands import AnswerOffer, PlayMove, ResignMatch
from domain.match.events import MatchSource
from domain.match.imports import import_command
from domain.records import SERVER_ACCOUNT
from domain.tournament.events import TournamentEvent
from infra.projections.cases import OpenCases
from infra.projections.finished_matches import FinishedMatches
from infra.projections.head_to_head import HeadToHeadQuery
from infra.projections.leaderboards import LeaderboardRow, Leaderboards
from infra.projections.match_lists import HomeLists, MatchFilter, MatchLists
from infra.projections.notices import MOST_NOTICES, MatchNotices, NoticeKind, position_of
from infra.projections.ratings import RatingsQuery
from infra.projections.robots import RobotTurns
from infra.projections.standings import POINT, StandingsQuery
from infra.redis.reads import read_one
from tests.fakes.logs import Logs
from tests.helpers.bench import Bench
from tests.helpers.given import (
    ALICE,
    BOB,
    Match,
    pow2,
    started,
)
from tests.helpers.side import catch_up, settle
from tests.workers.plain_tables import PlainTables
from tests.workers.random_matches import GAMES, PLAYERS, Chance
from workers.projections import PROJECTIONS
from workers.projections.verify import ProjectionVerifier

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


@pytest.fixture
def logs() -> Logs:
    return Logs()
