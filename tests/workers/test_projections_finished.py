"""History, standings, head-to-head: given matches that have ended, then these."""

import pytest
from redis import Redis

from domain.clocks.time_control import TimeControl
from domain.match.events import Declined, Flagged, MatchStarted
from domain.match.state import Reason
from infra.projections.finished_matches import FinishedMatches, FinishedMatchRow
from infra.projections.head_to_head import HeadToHeadQuery, PairRecord
from infra.projections.standings import StandingRow, StandingsQuery
from tests.fakes.logs import Logs
from tests.helpers.given import (
    ALICE,
    BOB,
    CAROL,
    challenged,
    ended,
    moved,
    resigned,
    started,
    three,
    undone,
)
from tests.helpers.side import catch_up

ALL_MOVE = (moved(1, 0, 1), moved(2, 1, 2), moved(3, 2, 0))
"""Each of three moves."""


@pytest.fixture
def logs() -> Logs:
    return Logs()


def win(logs: Logs, board: int, at: int, *winners: int, rules: str = "pow2/1") -> None:
    """A match of alice and bob, in which both move, that these seats win."""
    logs.add(board, at, ALICE, started(rules=rules), moved(1, 0, 1), moved(2, 1, 0))
    logs.add(board, at, ALICE, ended(*winners))


def row(logs: Logs, client: Redis, board: int = 1) -> FinishedMatchRow:
    catch_up(logs.store, client)
    (found,) = FinishedMatches(client).rows([board])
    assert found is not None
    return found


# history


def test_a_finished_match_is_kept_with_its_result(logs: Logs, shelf_client: Redis) -> None:
    logs.add(1, 100, ALICE, started(options=("-fast",)), moved(1, 0, 1), moved(2, 1, 0))
    logs.add(1, 300, ALICE, undone(1, 1), resigned(0), ended(1, reason="resignation"))
    assert row(logs, shelf_client) == FinishedMatchRow(
        board=1,
        at=300,
        rules="pow2/1",
        options=("-fast",),
        seats=(ALICE, BOB),
        winners=(1,),
        ranks=(2, 1),
        reason="resignation",
        plies=1,
        rated=True,
        updated=300,
    )


def test_before_anything_has_ended_there_is_no_history(logs: Logs, shelf_client: Redis) -> None:
    logs.add(1, 100, ALICE, started())
    catch_up(logs.store, shelf_client)
    history = FinishedMatches(shelf_client)
    assert history.of("pow2") == history.of("pow2", ALICE) == []
    assert history.rows([1]) == [None]


def test_history_is_of_a_game_a_player_or_a_pair_the_last_first(
    logs: Logs, shelf_client: Redis
) -> None:
    win(logs, 1, 300, 0)
    win(logs, 2, 100, 1)
    win(logs, 3, 200, 0, rules="torere/1")
    logs.add(4, 400, CAROL, started(CAROL, ALICE), resigned(0), ended(1))
    catch_up(logs.store, shelf_client)
    history = FinishedMatches(shelf_client)
    assert [found.board for found in history.of("pow2")] == [4, 1, 2]
    assert [found.board for found in history.of("pow2", BOB)] == [1, 2]
    assert [found.board for found in history.of("pow2", ALICE, CAROL)] == [4]
    assert [found.board for found in history.of("pow2", CAROL, ALICE)] == [4]
    assert history.of("pow2", BOB, CAROL) == []
    assert [found.board for found in history.of("pow2", start=1, count=1)] == [1]
    assert [history.count("pow2", *who) for who in ((), (BOB,), (ALICE, BOB))] == [3, 2, 2]


def test_the_history_knows_which_matches_were_rated(logs: Logs, shelf_client: Redis) -> None:
    unrated = MatchStarted(
        rules="pow2/1",
        options=(),
        seats=(ALICE, BOB),
        setup=None,
        next=0,
        terms=TimeControl(rated=False),
    )
    logs.add(1, 100, ALICE, unrated, resigned(0), ended(1))
    assert not row(logs, shelf_client).rated


def test_a_match_declined_before_its_start_is_kept_without_a_winner(
    logs: Logs, shelf_client: Redis
) -> None:
    logs.add(1, 100, ALICE, challenged())
    logs.add(1, 200, BOB, Declined(seat=1), ended(reason=Reason.DECLINED))
    found = row(logs, shelf_client)
    assert (found.winners, found.plies, found.reason) == ((), 0, "declined")


def test_who_left_by_the_clock_or_by_resigning_is_placed_in_that_order(
    logs: Logs, shelf_client: Redis
) -> None:
    logs.add(1, 100, BOB, three(), Flagged(seat=1, next=0), resigned(0), ended(2))
    assert row(logs, shelf_client).ranks == (2, 3, 1)


# standings


def test_a_win_is_a_point_and_a_shared_win_its_part(logs: Logs, shelf_client: Redis) -> None:
    win(logs, 1, 100, 0)
    win(logs, 2, 200, 0, 1)
    logs.add(3, 300, ALICE, three(), *ALL_MOVE, ended(0, 1, 2))
    catch_up(logs.store, shelf_client)
    table = StandingsQuery(shelf_client)
    assert table.of("pow2") == [
        StandingRow(ALICE, points=1.5, played=2, won=1, drawn=1, lost=0),
        StandingRow(BOB, points=0.5, played=2, won=0, drawn=1, lost=1),
    ]
    assert {row.points for row in table.of("halves")} == {1 / 3}
    assert table.player("pow2", BOB) == table.of("pow2", start=1)[0]
    assert table.player("pow2", CAROL) == StandingRow(CAROL, 0, 0, 0, 0, 0)
    assert (table.count("pow2"), table.count("halves"), table.count("line")) == (2, 3, 0)


def test_what_counts_for_nothing_and_puzzles_have_no_place_in_the_table(
    logs: Logs, shelf_client: Redis
) -> None:
    win(logs, 1, 100)
    logs.add(2, 100, ALICE, started(ALICE, rules="one/1"), moved(1, 0, None), ended(0))
    catch_up(logs.store, shelf_client)
    assert StandingsQuery(shelf_client).of("pow2") == StandingsQuery(shelf_client).of("one") == []
    assert HeadToHeadQuery(shelf_client).of("pow2", ALICE, BOB).played == 0


@pytest.mark.parametrize("mover", [None, 0, 1])
def test_a_match_that_a_player_never_took_up_is_in_no_table(
    logs: Logs, shelf_client: Redis, mover: int | None
) -> None:
    moves = () if mover is None else (moved(1, mover, 1 - mover),)
    logs.add(1, 100, ALICE, started(), *moves, Flagged(seat=1, next=0), ended(0, reason="time"))
    catch_up(logs.store, shelf_client)
    assert StandingsQuery(shelf_client).of("pow2") == []
    assert HeadToHeadQuery(shelf_client).of("pow2", ALICE, BOB).played == 0
    assert [found.board for found in FinishedMatches(shelf_client).of("pow2", BOB)] == [1]


# head-to-head


def test_each_of_a_pair_sees_its_own_side_of_the_record(logs: Logs, shelf_client: Redis) -> None:
    for board, winners in enumerate([(0,), (0,), (1,), (0, 1)], 1):
        win(logs, board, 100 * board, *winners)
    catch_up(logs.store, shelf_client)
    pairs = HeadToHeadQuery(shelf_client)
    assert pairs.of("pow2", ALICE, BOB) == PairRecord(won=2, lost=1, drawn=1)
    assert pairs.of("pow2", BOB, ALICE) == PairRecord(won=1, lost=2, drawn=1)
    assert pairs.of("torere", BOB, ALICE) == PairRecord(0, 0, 0)


def test_of_three_each_two_are_compared_by_their_places(logs: Logs, shelf_client: Redis) -> None:
    logs.add(1, 100, ALICE, three(), *ALL_MOVE, resigned(0, 1), ended(2))
    logs.add(2, 100, ALICE, three(), *ALL_MOVE, ended(0))
    catch_up(logs.store, shelf_client)
    pairs = HeadToHeadQuery(shelf_client)
    assert pairs.of("halves", CAROL, BOB) == PairRecord(won=1, lost=0, drawn=1)
    assert pairs.of("halves", BOB, ALICE) == PairRecord(won=1, lost=1, drawn=0)
