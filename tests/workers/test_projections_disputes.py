"""Results that rulings change, and matches that go on again: all tables are as if it had always been so."""

from typing import Any

import pytest
from redis import Redis

from domain.ratings import Skill
from infra.projections.finished_matches import FinishedMatches
from infra.projections.head_to_head import HeadToHeadQuery
from infra.projections.leaderboards import Leaderboards
from infra.projections.match_lists import MatchFilter, MatchLists
from infra.projections.notices import MatchNotices, NoticeKind
from infra.projections.ratings import RatingsQuery, rate
from infra.projections.standings import StandingsQuery
from tests.fakes.logs import Logs
from tests.helpers.given import (
    ALICE,
    ARBITER,
    BOB,
    CAROL,
    claimed,
    ended,
    moved,
    resigned,
    result_changed,
    ruled,
    set_back,
    started,
    three,
)
from tests.helpers.side import catch_up
from workers.projections import PROJECTIONS
from workers.projections.verify import ProjectionVerifier

AFTER = ("set back", "ended otherwise", "changed", "annulled", "many times")


@pytest.fixture
def logs() -> Logs:
    return Logs()


def play(logs: Logs, board: int = 1, at: int = 100, winner: int = 0) -> None:
    """A match of alice and bob in which both move; one wins."""
    logs.add(board, at, ALICE, started(), moved(1, 0, 1), moved(2, 1, 0))
    logs.add(board, at + 10, BOB, resigned(1 - winner), ended(winner, reason="resignation"))


def change(logs: Logs, what: str, at: int = 500) -> None:
    """A ruling of board 1, and what follows."""
    match what:
        case "set back":
            logs.add(1, at, ARBITER, ruled(), set_back(1, 1, 1))
        case "ended otherwise":
            change(logs, "set back", at)
            logs.add(1, at + 10, BOB, moved(2, 1, 0))
            logs.add(1, at + 20, ALICE, resigned(0), ended(1, reason="resignation"))
        case "changed":
            logs.add(1, at, ARBITER, ruled(), result_changed(1))
        case "annulled":
            logs.add(1, at, ARBITER, ruled(), result_changed())
        case _:
            for n, each in enumerate(AFTER[:-1]):
                change(logs, each, at + 100 * n)
            change(logs, "changed", at + 900)


def verify_all(logs: Logs, client: Redis) -> None:
    for projection in PROJECTIONS:
        result = ProjectionVerifier(logs.store, client, projection).run()
        assert (projection.spec.name, result.difference) == (projection.spec.name, "")


@pytest.fixture(params=AFTER)
def after(request: pytest.FixtureRequest, logs: Logs, shelf_client: Redis) -> str:
    """A match that alice has won, folded; and then a ruling, folded after it."""
    play(logs)
    catch_up(logs.store, shelf_client)
    change(logs, request.param)
    catch_up(logs.store, shelf_client)
    verify_all(logs, shelf_client)
    return str(request.param)


def test_lists(after: str, shelf_client: Redis) -> None:
    lists = MatchLists(shelf_client)
    active = [row.board for row in lists.of(ALICE, MatchFilter.ACTIVE)]
    over = [(row.board, row.winners, row.ended) for row in lists.of(ALICE, MatchFilter.INACTIVE)]
    assert (active, over, len(lists.playing("pow2"))) == {
        "set back": ([1], [], 1),
        "ended otherwise": ([], [(1, (1,), 520)], 0),
        "changed": ([], [(1, (1,), 500)], 0),
        "annulled": ([], [(1, (), 500)], 0),
        "many times": ([], [(1, (1,), 1400)], 0),
    }[after]
    assert len(lists.of(BOB, MatchFilter.NEXT)) == (after == "set back")


def test_history(after: str, shelf_client: Redis) -> None:
    history = FinishedMatches(shelf_client)
    found = [(row.at, row.winners, row.ranks, row.reason) for row in history.of("pow2")]
    assert (
        found
        == {
            "set back": [],
            "ended otherwise": [(520, (1,), (2, 1), "resignation")],
            "changed": [(500, (1,), (2, 1), "ruling")],
            "annulled": [(500, (), (1, 1), "annulled")],
            "many times": [(1400, (1,), (2, 1), "ruling")],
        }[after]
    )
    for who in ((ALICE,), (BOB,), (ALICE, BOB)):
        assert len(history.of("pow2", *who)) == history.count("pow2", *who) == len(found)


def test_standings_and_head_to_head(after: str, shelf_client: Redis) -> None:
    standings = StandingsQuery(shelf_client)
    counts = [(one.account, one.points, one.played) for one in standings.of("pow2")]
    counted = after not in ("set back", "annulled")
    assert counts == ([(BOB, 1, 1), (ALICE, 0, 1)] if counted else [])
    assert standings.count("pow2") == len(counts)
    bob = standings.player("pow2", BOB)
    assert (bob.won, bob.lost) == (int(counted), 0)
    pair = HeadToHeadQuery(shelf_client).of("pow2", ALICE, BOB)
    assert (pair.won, pair.lost) == (0, int(counted))


def test_ratings(after: str, shelf_client: Redis) -> None:
    ratings = RatingsQuery(shelf_client)
    counted = after not in ("set back", "annulled")
    winner, loser = rate([Skill(), Skill()], [1, 2])
    assert [(one.account, one.rating.skill) for one in ratings.of("pow2")] == (
        [(BOB, winner), (ALICE, loser)] if counted else []
    )
    assert ratings.player("pow2", BOB).matches == int(counted)
    points = [(point.at, point.skill) for point in ratings.series("pow2", ALICE)]
    assert points[:2] == [(110, winner), (500, Skill())]
    assert (
        points[2:]
        == {
            "set back": [],
            "ended otherwise": [(520, loser)],
            "changed": [(500, loser)],
            "annulled": [],
            "many times": [
                (620, loser),
                (700, Skill()),
                (700, loser),
                (800, Skill()),
                (1400, loser),
            ],
        }[after]
    )


def test_what_was_rated_between_a_result_and_its_ruling_stays(
    logs: Logs, shelf_client: Redis
) -> None:
    play(logs)
    logs.add(5, 200, ALICE, started(BOB, CAROL), moved(1, 0, 1), moved(2, 1, 0), ended(0))
    catch_up(logs.store, shelf_client)
    ratings = RatingsQuery(shelf_client)
    before = {who: ratings.player("pow2", who).skill for who in (ALICE, BOB, CAROL)}
    change(logs, "annulled")
    catch_up(logs.store, shelf_client)
    verify_all(logs, shelf_client)
    loser = rate([Skill(), Skill()], [1, 2])[1]
    assert ratings.player("pow2", ALICE).matches == 0
    assert ratings.player("pow2", CAROL).skill == before[CAROL]
    bob = ratings.player("pow2", BOB)
    assert bob.skill.mu == before[BOB].mu - (loser.mu - Skill().mu)
    assert bob.skill.sigma == before[BOB].sigma - (loser.sigma - Skill().sigma)
    assert (bob.matches, bob.board, bob.at) == (1, 1, 500)


def test_a_claim_after_the_end_changes_no_result_and_no_order(
    logs: Logs, shelf_client: Redis
) -> None:
    play(logs, 1, 100)
    play(logs, 5, 200)
    logs.add(1, 900, BOB, claimed(1))
    logs.add(1, 910, ARBITER, ruled(6, upheld=False))
    catch_up(logs.store, shelf_client)
    lists = MatchLists(shelf_client)
    assert [(row.board, row.ended) for row in lists.of(ALICE)] == [(5, 210), (1, 110)]
    assert [row.board for row in FinishedMatches(shelf_client).of("pow2")] == [5, 1]
    verify_all(logs, shelf_client)


def test_players_get_notices_of_claims_and_rulings(logs: Logs, shelf_client: Redis) -> None:
    play(logs)
    logs.add(1, 600, BOB, claimed(1))
    logs.add(1, 700, ARBITER, ruled(6), set_back(0, 0, 1))
    catch_up(logs.store, shelf_client)
    found = {
        who: [one.kind for one in MatchNotices(shelf_client).of(who) if one.at >= 600]
        for who in (ALICE, BOB)
    }
    assert found == {
        ALICE: [NoticeKind.YOUR_TURN, NoticeKind.RULED, NoticeKind.CLAIMED],
        BOB: [NoticeKind.RULED],
    }


def test_of_three_those_who_stay_out_get_no_notices_of_offers(
    logs: Logs, shelf_client: Redis
) -> None:
    logs.add(1, 100, ALICE, three(), moved(1, 0, 1), resigned(1, 2), moved(2, 2, 0))
    logs.add(1, 200, CAROL, resigned(2), ended(0))
    logs.add(1, 250, CAROL, claimed(2))
    catch_up(logs.store, shelf_client)
    logs.add(1, 300, ARBITER, ruled(7), set_back(2, 0, 2))
    catch_up(logs.store, shelf_client)
    (row,) = MatchLists(shelf_client).rows([1])
    assert row
    assert (row.left, row.waits, row.ply) == ((1,), (0,), 2)
    logs.add(1, 400, ALICE, moved(3, 0, 2), resigned(2), ended(0))
    catch_up(logs.store, shelf_client)
    kinds = [one.kind for one in MatchNotices(shelf_client).of(CAROL) if one.at >= 300]
    assert NoticeKind.YOUR_TURN in kinds
    verify_all(logs, shelf_client)
    assert not list(shelf_client.scan_iter("*notifications*:tables"))


def puzzle(logs: Logs, *, at: int = 100, board: int = 1) -> None:
    logs.add(board, at, ALICE, started(ALICE, rules="one/1"))
    logs.add(board, at + 1, ALICE, moved(1, 0, 0))
    logs.add(board, at + 2, ALICE, moved(2, 0, None), ended(0))


@pytest.mark.parametrize("together", [True, False])
def test_the_next_best_of_a_player_counts_where_the_best_is_taken_away(
    logs: Logs, shelf_client: Redis, *, together: bool
) -> None:
    def step() -> None:
        if not together:
            catch_up(logs.store, shelf_client)

    puzzle(logs)
    step()
    # of equal scores the earlier is better
    for board, at in ((2, 300), (3, 200)):
        puzzle(logs, at=at, board=board)
        step()
    logs.add(1, 500, ARBITER, ruled(), result_changed())
    step()
    logs.add(3, 600, ARBITER, ruled(), result_changed())
    catch_up(logs.store, shelf_client)
    assert [row.board for row in Leaderboards(shelf_client).best("one")] == [2]
    logs.add(3, 700, ARBITER, ruled(), result_changed(0))
    catch_up(logs.store, shelf_client)
    assert [row.board for row in Leaderboards(shelf_client).best("one")] == [3]
    verify_all(logs, shelf_client)


@pytest.mark.parametrize(
    ("bodies", "rows"),
    [
        ([set_back(1, 0)], 0),
        ([result_changed()], 0),
        ([result_changed(0)], 1),
        ([set_back(1, 0), moved(2, 0, None), ended(0)], 1),
        ([result_changed(), set_back(1, 0), result_changed(0)], 1),
    ],
)
def test_a_puzzle_leaves_its_leaderboard_and_returns(
    logs: Logs, shelf_client: Redis, bodies: list[Any], rows: int
) -> None:
    puzzle(logs)
    catch_up(logs.store, shelf_client)
    assert len(Leaderboards(shelf_client).best("one")) == 1
    for n, body in enumerate(bodies):
        logs.add(1, 500 + n, ARBITER, ruled(), body)
    catch_up(logs.store, shelf_client)
    assert len(Leaderboards(shelf_client).best("one")) == rows
    verify_all(logs, shelf_client)
