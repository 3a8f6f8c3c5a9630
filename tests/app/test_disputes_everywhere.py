"""Disputes at every front end: the same claims, rulings, appeals and refusals."""

from collections.abc import Iterator

import pytest

from domain.match.events import Appealed, Claimed, Ruled
from domain.match.history import decode_event
from infra.people.accounts import AccountRole
from services.cli.verify import run as verify
from tests.fakes.everywhere import FRONT_ENDS, MAIL, SEAT, Everywhere, Result
from tests.fakes.everywhere import everywhere as everywhere_of
from tests.helpers.api import Api, Player

TEXT = "my clock ran\nin the pause"


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Everywhere]:
    with Api(tmp_path_factory.mktemp("disputes")) as api, everywhere_of(api) as found:
        yield found


@pytest.fixture
def people(everywhere: Everywhere) -> tuple[Player, Player, Player, Player]:
    """Two players and two arbiters."""
    found = [everywhere.player() for _ in range(4)]
    for arbiter in found[2:]:
        everywhere.api.parts.accounts.set_role(arbiter.name, AccountRole.ARBITER, held=True)
    return tuple(found)


def claim(where: str, everywhere: Everywhere, one: Player, board: int, ply: int = 0) -> Result:
    return everywhere.claim(where, one, board, ply, TEXT)


def rule(where: str, everywhere: Everywhere, one: Player, board: int, case: int) -> Result:
    return everywhere.rule(where, one, board, case, TEXT)


def appeal(where: str, everywhere: Everywhere, one: Player, board: int, case: int) -> Result:
    return everywhere.appeal(where, one, board, case, TEXT)


@pytest.mark.parametrize("where", FRONT_ENDS)
def test_a_case_takes_its_whole_course_and_the_match_holds(where, everywhere, people):
    alice, bob, arbiter, other = people
    board, app = everywhere.match(alice, bob), everywhere.api.parts
    judging = MAIL if where == SEAT else where
    assert claim(where, everywhere, alice, board) == Result("")
    assert rule(judging, everywhere, arbiter, board, 2) == Result("")
    assert appeal(where, everywhere, bob, board, 2) == Result("")
    assert rule(judging, everywhere, other, board, 2) == Result("")
    bodies = [decode_event(data).body for data in app.store.events(board)][1:]
    assert [type(body) for body in bodies] == [Claimed, Ruled, Appealed, Ruled]
    statements = {one.digest: one.text for one in app.statements.of_match(board)}
    assert [statements[body.text] for body in bodies] == [TEXT] * 4
    assert verify(str(board), settings=everywhere.api.settings) == 0


def test_the_case_is_read_at_a_seat_as_well(everywhere, people):
    alice, bob, *_ = people
    board = everywhere.match(alice, bob)
    assert claim(SEAT, everywhere, alice, board).code == ""
    assert everywhere.seat(bob, board, "case") == Result("")
