"""The matches in which a robot is to act, as their events come."""

import pytest
from redis import Redis

from domain.fairness import Commitment
from domain.game.engine import RobotLevel
from domain.match.events import (
    Called,
    Challenged,
    Committed,
    Event,
    Flagged,
    Gathered,
    Nagged,
    OfferAnswered,
    Sealed,
)
from domain.match.state import ROBOT_ACCOUNTS
from infra.projections.robots import RobotTurns, RobotTurnsProjection
from tests.fakes.logs import Logs
from tests.helpers.given import (
    ALICE,
    ARBITER,
    BOB,
    claimed,
    ended,
    moved,
    offered,
    resigned,
    result_changed,
    ruled,
    set_back,
    started,
    undone,
)
from tests.helpers.side import catch_up, contents
from workers.projections.verify import ProjectionVerifier

EASY, HARD = ROBOT_ACCOUNTS[RobotLevel.EASY], ROBOT_ACCOUNTS[RobotLevel.HARD]
EVER = 1 << 52


@pytest.fixture
def logs() -> Logs:
    return Logs()


def waiting(logs: Logs, client: Redis, until: int = EVER) -> list[tuple[int, int, int]]:
    """Board, number of the last event and its time."""
    projection = RobotTurnsProjection()
    catch_up(logs.store, client, [projection])
    assert ProjectionVerifier(logs.store, client, projection).run().difference == ""
    return [(one.board, one.seq, one.since) for one in RobotTurns(client).due(until, 100)]


def three(*seats: bytes, turn: int = 0) -> Event:
    return started(*seats, turn=turn, rules="halves/1")


def test_a_match_waits_while_the_robot_is_to_move(logs: Logs, shelf_client: Redis) -> None:
    logs.add(1, 100, ALICE, started(ALICE, EASY))
    logs.add(2, 100, ALICE, started(ALICE, BOB))
    assert waiting(logs, shelf_client) == []
    logs.add(1, 200, ALICE, moved(1, 0, 1))
    assert waiting(logs, shelf_client) == [(1, 2, 200)]
    logs.add(1, 300, EASY, moved(2, 1, 0))
    assert waiting(logs, shelf_client) == []
    logs.add(1, 400, ALICE, moved(3, 0, 1))
    logs.add(1, 500, ALICE, resigned(0), ended(1))
    assert waiting(logs, shelf_client) == []


def test_the_first_are_those_whose_last_event_is_the_oldest(
    logs: Logs, shelf_client: Redis
) -> None:
    for board, at in ((1, 300), (2, 100), (3, 200)):
        logs.add(board, at, EASY, started(EASY, HARD))
    assert waiting(logs, shelf_client) == [(2, 1, 100), (3, 1, 200), (1, 1, 300)]
    assert waiting(logs, shelf_client, until=200) == [(2, 1, 100), (3, 1, 200)]
    turns = RobotTurns(shelf_client)
    assert [one.board for one in turns.due(EVER, 1)] == [2]
    assert turns.count() == 3


def test_an_event_that_leaves_the_turn_moves_its_time(logs: Logs, shelf_client: Redis) -> None:
    logs.add(1, 100, ALICE, started(EASY, ALICE))
    logs.add(1, 150, ALICE, Nagged(seat=0))
    assert waiting(logs, shelf_client) == [(1, 2, 150)]


def test_an_offer_waits_for_the_robot_and_outlasts_the_move_of_its_maker(
    logs: Logs, shelf_client: Redis
) -> None:
    logs.add(1, 100, ALICE, three(ALICE, EASY, BOB), offered(0), moved(1, 0, 2))
    assert waiting(logs, shelf_client) == [(1, 3, 100)]
    logs.add(1, 200, EASY, OfferAnswered(seat=1, kind="draw", accept=True))
    assert waiting(logs, shelf_client) == []
    logs.add(1, 300, BOB, OfferAnswered(seat=2, kind="draw", accept=False))
    assert waiting(logs, shelf_client) == []


def test_a_robot_that_has_left_is_not_asked(logs: Logs, shelf_client: Redis) -> None:
    logs.add(1, 100, ALICE, three(ALICE, EASY, BOB), Flagged(seat=1, next=0), offered(0))
    assert waiting(logs, shelf_client) == []


@pytest.mark.parametrize(
    ("proposal", "answer"),
    [
        (Challenged, Gathered(seat=1, text=b"t")),
        (Called, Committed(seat=1, commitment=Commitment(bytes(32)))),
    ],
)
def test_a_match_that_gathers_waits_for_the_robot(
    logs: Logs, shelf_client: Redis, proposal: type[Challenged], answer: Event
) -> None:
    more = {"commitments": (Commitment(bytes(32)), *[Commitment()] * 2)}
    logs.add(
        1,
        100,
        ALICE,
        proposal(
            rules="halves/1",
            options=(),
            seats=(ALICE, EASY, BOB),
            text=b"",
            **(more if proposal is Called else {}),
        ),
    )
    assert waiting(logs, shelf_client) == [(1, 1, 100)]
    logs.add(1, 200, EASY, answer)
    assert waiting(logs, shelf_client) == []


def test_a_text_that_the_server_does_not_have_waits_for_the_robot(
    logs: Logs, shelf_client: Redis
) -> None:
    commitments = (Commitment(bytes(32)),) * 2
    called = Called(
        rules="pow2/1", options=(), seats=(ALICE, EASY), text=b"", commitments=commitments
    )
    logs.add(1, 100, ALICE, called, Sealed(chain=1, k=1, waits=(1,)))
    assert waiting(logs, shelf_client) == [(1, 2, 100)]


def test_a_match_that_is_set_back_waits_again(logs: Logs, shelf_client: Redis) -> None:
    logs.add(1, 100, ALICE, started(ALICE, EASY), moved(1, 0, 1), moved(2, 1, 0))
    logs.add(1, 200, ALICE, resigned(0), ended(1), claimed(0))
    assert waiting(logs, shelf_client) == []
    logs.add(1, 300, ARBITER, ruled(6), result_changed(0))
    assert waiting(logs, shelf_client) == []
    logs.add(1, 400, ARBITER, ruled(), set_back(1, 1, 0))
    assert waiting(logs, shelf_client) == [(1, 10, 400)]
    logs.add(1, 500, EASY, moved(2, 1, 0), undone(1, 1))
    assert waiting(logs, shelf_client) == [(1, 12, 500)]


def test_a_seat_that_stays_away_after_a_set_back_is_not_asked(
    logs: Logs, shelf_client: Redis
) -> None:
    logs.add(1, 100, ALICE, three(ALICE, EASY, BOB), Flagged(seat=1, next=0))
    logs.add(1, 200, ALICE, moved(1, 0, 2), resigned(0), ended(2))
    assert waiting(logs, shelf_client) == []
    logs.add(1, 300, ARBITER, ruled(), set_back(1, 2, 0), offered(0))
    assert waiting(logs, shelf_client) == []


def test_matches_that_are_over_and_those_of_people_take_no_room(
    logs: Logs, shelf_client: Redis
) -> None:
    logs.add(1, 100, ALICE, started(ALICE, EASY), moved(1, 0, 1), resigned(0), ended(1))
    logs.add(2, 100, ALICE, started(ALICE, BOB), moved(1, 0, 1))
    waiting(logs, shelf_client)
    assert [key for key in contents(shelf_client) if not key.endswith(":at")] == []
