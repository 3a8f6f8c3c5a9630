"""Substitutes in tournaments: lists, notices and results follow, whoever is killed."""

from itertools import cycle

import pytest

from domain.errors import Code
from domain.game.engine import RobotLevel
from domain.match.commands import GiveRuling, ResignMatch, SubstitutePlayer
from domain.match.events import SeatTakenOver
from domain.match.history import decode_event
from domain.match.state import ROBOT_ACCOUNTS
from domain.records import AccountId
from domain.tournament.commands import (
    EnterTournament,
    LeaveTournament,
    StartTournament,
    SubstituteInTournament,
    VolunteerAsSubstitute,
)
from domain.tournament.events import PlayerSubstituted
from infra.projections.match_lists import MatchFilter, MatchLists
from infra.projections.ratings import RatingsQuery
from infra.projections.robots import RobotTurns
from tests.helpers.bench import Bench
from tests.helpers.side import settle
from tests.workers.test_tournaments import NEW, ORGANISER, POINTS, TEXT, Hall


@pytest.fixture
def hall(bench: Bench) -> Hall:
    """A tournament whose manager is killed in each turn."""
    made = Hall(bench)
    made.dies = cycle(POINTS)
    return made


def running(hall: Hall, count: int = 3) -> AccountId:
    """A tournament that runs, with a volunteer; return the player who will leave."""
    hall.draft(section=count, capacity=count)
    hall.enter(count)
    hall.turn()
    hall.must(NEW, VolunteerAsSubstitute(rating=1234))
    return hall.players[0]


def substitute(hall: Hall, leaver: AccountId, new: AccountId = NEW) -> None:
    command = SubstituteInTournament(account=leaver, substitute=new, text=TEXT)
    hall.must(ORGANISER, command)


def boards_of(hall: Hall, account: AccountId) -> list[int]:
    boards = [one.board for one in hall.matches.values()]
    return sorted(one for one in boards if account in hall.bench.state(one).seats)


def listed(hall: Hall, account: AccountId, name: MatchFilter = MatchFilter.ACTIVE) -> list[int]:
    lists = MatchLists(hall.bench.client)
    return sorted(row.board for row in lists.of(account, name))


def takeovers(hall: Hall) -> list[int]:
    """The boards on which a seat was taken over, each as often as one was."""
    return sorted(
        one.board
        for one in hall.matches.values()
        for data in hall.bench.store.events(one.board)
        if isinstance(decode_event(data).body, SeatTakenOver)
    )


def test_a_substitute_takes_over_each_match_once_and_plays_to_confirmed_places(hall: Hall) -> None:
    leaver = running(hall, 4)
    first, *rest = boards_of(hall, leaver)
    for sender in (NEW, leaver, ORGANISER):
        taken = hall.ask(sender, SubstitutePlayer(seat=0, account=NEW), first)
        assert taken.code == Code.NOT_A_PLAYER, "only the manager does that"
    hall.must(NEW, LeaveTournament())
    hall.must(NEW, VolunteerAsSubstitute(rating=1300))
    hall.ask(leaver, ResignMatch(), first)  # stands for the number, and no match of it is touched
    hall.turn()
    substitute(hall, leaver)
    hall.turn()
    assert boards_of(hall, NEW) == listed(hall, NEW) == takeovers(hall) == rest
    assert listed(hall, leaver) == hall.lists.waiting(9) == []
    assert hall.ask(leaver, ResignMatch(), rest[0]).code == Code.NOT_A_PLAYER
    others = [one for one in hall.players if one != NEW]
    for player in (NEW, *others[:2]):
        hall.lose(player)
        hall.turn()
    assert hall.points() == dict(zip([*others[::-1], NEW], (300, 200, 100, 0), strict=True))
    assert (hall.state.substituted[0].account, hall.state.number_of(leaver)) == (leaver, None)
    assert sum(isinstance(one, PlayerSubstituted) for one in hall.bodies()) == 1


def test_a_match_with_a_substitute_changes_no_rating_and_counts_for_its_last_players(
    hall: Hall,
) -> None:
    leaver = running(hall)
    board = boards_of(hall, leaver)[0]
    hall.play(board)
    hall.play(board)
    substitute(hall, leaver)
    hall.turn()
    state = hall.bench.state(board)
    assert hall.ask(NEW, ResignMatch(), board).accepted
    hall.turn()
    ratings = RatingsQuery(hall.bench.client)
    assert ratings.players(state.rules.partition("/")[0], state.seats) == [None, None]
    assert listed(hall, NEW, MatchFilter.INACTIVE) == [board]
    assert listed(hall, leaver, MatchFilter.INACTIVE) == []
    assert {one.counted for one in hall.matches.values() if one.board == board} <= {"1-0", "0-1"}


@pytest.mark.parametrize("under_way", [True, False])
def test_a_match_that_has_not_begun_begins_with_the_substitute_and_a_start_is_taken_over(
    hall: Hall, *, under_way: bool
) -> None:
    hall.draft(when_full=False)
    hall.enter(3)
    hall.must(ORGANISER, StartTournament())
    hall.must(NEW, VolunteerAsSubstitute(rating=1500))
    settle(hall.side)
    if under_way:
        hall.manager.tick()  # its commands wait
    leaver = hall.players[1]
    substitute(hall, leaver)
    for _ in range(3):
        hall.turn()
    assert len(takeovers(hall)) == 2 * under_way
    assert len(boards_of(hall, NEW)) == 2
    assert boards_of(hall, leaver) == hall.lists.waiting(9) == []


def test_a_match_that_a_ruling_sets_back_is_the_substitutes(hall: Hall) -> None:
    leaver = running(hall)
    board = boards_of(hall, leaver)[0]
    hall.ask(leaver, ResignMatch(), board)
    hall.turn()
    substitute(hall, leaver)
    hall.turn()
    assert board in boards_of(hall, leaver)
    ruling = GiveRuling(claim=None, upheld=True, text=TEXT, back_to=0)
    assert hall.ask(b"arbiter1", ruling, board).accepted
    hall.turn()
    hall.turn()
    assert boards_of(hall, leaver) == listed(hall, leaver) == []
    assert board in listed(hall, NEW)
    hall.holds()


def test_a_robot_that_waited_for_room_can_be_a_substitute_and_be_substituted(hall: Hall) -> None:
    robot = ROBOT_ACCOUNTS[RobotLevel.EASY]
    hall.draft(when_full=False, robots=True)
    hall.enter(3)
    hall.must(ORGANISER, EnterTournament(rating=1200, account=robot), StartTournament())
    hall.turn()
    substitute(hall, hall.players[0], robot)
    hall.turn()
    turns = RobotTurns(hall.bench.client)
    states = {board: hall.bench.state(board) for board in boards_of(hall, robot)}
    due = [board for board, one in states.items() if one.seats[one.next or 0] == robot]
    assert sorted(turns.waiting([*states])) == due
    hall.must(NEW, VolunteerAsSubstitute(rating=1300))
    substitute(hall, robot)
    hall.turn()
    assert turns.waiting(boards_of(hall, NEW)) == {}
    for board in boards_of(hall, NEW):
        hall.play(board)
    hall.turn()
    hall.holds()
