"""Imported matches in lists, notices, finished matches, tables, ratings and leaderboards."""

from pathlib import Path

import pytest
from redis import Redis

from domain.match.commands import AnswerOffer, DeclineMatch, PlayMove, ResignMatch
from domain.match.events import SERVER_ACCOUNT, MatchSource
from domain.match.imports import import_command
from infra.projections.finished_matches import FinishedMatches
from infra.projections.leaderboards import Leaderboards
from infra.projections.match_lists import HomeLists, MatchFilter
from infra.projections.notices import MatchNotices, NoticeKind
from infra.projections.ratings import RatingsQuery
from infra.projections.standings import StandingsQuery
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB, CAROL, Match, challenge, pow2
from tests.helpers.side import catch_up, contents
from workers.projections import PROJECTIONS, maintenance

ACCEPT = AnswerOffer(accept=True)
SOURCE = MatchSource("document", "play.example.org/log/s07", 17, bytes(32), 5, bytes(32))
THREE = (ALICE, BOB, CAROL)


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> Bench:
    return Bench(redis_client, tmp_path / "seeds")


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


def test_it_waits_for_all_its_players_with_the_plies_of_its_source(bench: Bench):
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


def test_it_counts_in_tables_and_is_never_rated(bench: Bench):
    import_here(bench, there())
    say(bench, (ALICE, ACCEPT), (BOB, ACCEPT), (ALICE, ResignMatch()))
    catch_up(bench.store, bench.client)
    (row,) = FinishedMatches(bench.client).of("pow2", ALICE)
    assert (row.plies, row.reason, row.rated) == (2, "resignation", False)
    assert StandingsQuery(bench.client).player("pow2", BOB).won == 1
    assert RatingsQuery(bench.client).count("pow2") == 0


def test_one_that_was_over_elsewhere_is_listed_and_counts_nowhere(bench: Bench):
    import_here(bench, there((BOB, ResignMatch())))
    say(bench, (ALICE, ACCEPT), (BOB, ACCEPT))
    catch_up(bench.store, bench.client)
    (row,) = FinishedMatches(bench.client).of("pow2", ALICE)
    assert (row.winners, row.rated) == ((0,), False)
    assert StandingsQuery(bench.client).count("pow2") == 0


def test_one_that_is_declined_is_no_refused_draw(bench: Bench):
    import_here(bench, Match(challenge("powerdrain", "-p")))
    say(bench, (ALICE, ACCEPT), (BOB, DeclineMatch()))
    catch_up(bench.store, bench.client)
    assert StandingsQuery(bench.client).refused(BOB) == 0
    assert NoticeKind.DECLINED in kinds(bench, ALICE)


def test_a_puzzle_from_elsewhere_is_on_no_leaderboard(bench: Bench):
    match = Match(challenge("jump", seats=(ALICE,)))
    match.play("a1")
    import_here(bench, match)
    say(bench, (ALICE, ACCEPT), (ALICE, ResignMatch()))
    catch_up(bench.store, bench.client)
    assert len(FinishedMatches(bench.client).of("jump", ALICE)) == 1
    assert Leaderboards(bench.client).best("jump") == []


def test_a_rebuild_gives_the_same(bench: Bench):
    side = catch_up(bench.store, bench.client)
    halves = Match(challenge("halves", "-manual_start", seats=THREE))
    halves.play("1", "2", "3", "4")
    halves.do(ALICE, ResignMatch())
    for board, match in enumerate((there(), there((BOB, ResignMatch())), halves), 1):
        import_here(bench, match, board)
        for account in match.state.seats:
            say(bench, (account, ACCEPT), board=board)
            while side.round():
                pass
    say(bench, (ALICE, PlayMove(text="m9-m13")))
    say(bench, (BOB, ResignMatch()), board=3)
    catch_up(bench.store, bench.client)
    live = contents(bench.client)

    class Report:
        def progress(self, *_: object) -> None:
            pass

        def line(self, text: str) -> None:
            assert "differs" not in text

    assert maintenance.check(bench.store, bench.client, PROJECTIONS, Report())
    maintenance.rebuild(bench.store, bench.client, PROJECTIONS, Report())
    assert contents(bench.client) == live
