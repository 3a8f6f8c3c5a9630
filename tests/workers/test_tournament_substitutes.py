"""Substitutes in tournaments on a real server: lists, notices and results follow, killed managers included."""

import signal

import pytest

from domain.errors import Code
from domain.game.engine import RobotLevel
from domain.match.commands import GiveRuling, PlayMove, ResignMatch, SubstitutePlayer
from domain.match.events import SeatTakenOver
from domain.match.history import decode_event
from domain.match.state import ROBOT_ACCOUNTS, position_of
from domain.records import SERVER_ACCOUNT, AccountId
from domain.rules import rules_by_id
from domain.tournament.commands import (
    ConfirmPlaces,
    EnterTournament,
    LeaveTournament,
    StartTournament,
    SubstituteInTournament,
    VolunteerAsSubstitute,
)
from domain.tournament.events import PlayerSubstituted
from domain.tournament.state import Phase
from infra.audit.stored_match import check_match
from infra.projections.match_lists import MatchFilter, MatchLists
from infra.projections.ratings import RatingsQuery
from infra.projections.robots import RobotTurns
from infra.valkey.server import EmbeddedServer
from tests.helpers.bench import Bench
from tests.helpers.side import settle
from tests.workers.test_tournament_kills import POINTS, tick
from tests.workers.test_tournaments import ORGANISER, PLAYERS, Hall

NEW = b"newcomer"
TEXT = bytes(32)


@pytest.fixture
def hall(bench: Bench) -> Hall:
    return Hall(bench)


def running(hall: Hall, count: int = 3) -> AccountId:
    """A tournament that runs, with a volunteer; return the player who will leave."""
    hall.draft(section=count, capacity=count)
    hall.enter(count)
    hall.turn()
    hall.must(NEW, VolunteerAsSubstitute(rating=1234))
    return hall.state.entrants[0].account


def substituted(hall: Hall, leaver: AccountId, new: AccountId = NEW) -> None:
    command = SubstituteInTournament(account=leaver, substitute=new, text=TEXT)
    hall.must(ORGANISER, command)


def boards_of(hall: Hall, account: AccountId) -> list[int]:
    boards = [one.board for one in hall.matches.values()]
    return sorted(one for one in boards if account in hall.bench.state(one).seats)


def listed(hall: Hall, account: AccountId, name: MatchFilter = MatchFilter.ACTIVE) -> list[int]:
    lists = MatchLists(hall.bench.client)
    return sorted(row.board for row in lists.of(account, name))


def takeovers(hall: Hall) -> list[tuple[int, int]]:
    """The seats that were taken over, each as often as one was."""
    return [
        (one.board, body.seat)
        for one in hall.matches.values()
        for data in hall.bench.store.events(one.board)
        if isinstance(body := decode_event(data).body, SeatTakenOver)
    ]


def verified(hall: Hall) -> None:
    for number in (hall.number, *(one.board for one in hall.matches.values())):
        assert check_match(hall.bench.store, number).events


def test_a_substitute_takes_over_and_plays_to_confirmed_places(hall: Hall) -> None:
    leaver = running(hall)
    mine = boards_of(hall, leaver)
    first, *rest = mine
    hall.ask(leaver, ResignMatch(), first)  # stands for the number, and no match of it is touched
    hall.turn()
    substituted(hall, leaver)
    hall.turn()
    assert boards_of(hall, NEW) == listed(hall, NEW) == rest
    assert listed(hall, leaver) == []
    assert hall.lists.waiting(9) == []
    (board,) = rest
    assert hall.ask(leaver, ResignMatch(), board).code == Code.NOT_A_PLAYER
    state = hall.bench.state(board)
    other = next(one for one in state.seats if one != NEW)
    assert hall.ask(other, ResignMatch(), board).accepted
    hall.turn()
    (last,) = [one.board for one in hall.matches.values() if not hall.bench.state(one.board).over]
    hall.ask(other, ResignMatch(), last)
    hall.turn()
    assert hall.state.phase is Phase.FINISHED
    hall.must(ORGANISER, ConfirmPlaces())
    assert [one.points for one in hall.state.places[0]] == [200, 100, 0]
    number = hall.state.number_of(NEW)
    assert number is not None
    assert (hall.state.substituted[0].account, hall.state.number_of(leaver)) == (leaver, None)
    verified(hall)


def test_a_match_with_a_substitute_changes_no_rating_and_counts_for_its_last_players(
    hall: Hall,
) -> None:
    leaver = running(hall)
    board = boards_of(hall, leaver)[0]
    _play(hall, board)
    _play(hall, board)
    substituted(hall, leaver)
    hall.turn()
    game = hall.bench.state(board).rules.partition("/")[0]
    seats = hall.bench.state(board).seats
    assert hall.ask(NEW, ResignMatch(), board).accepted
    hall.turn()
    ratings = RatingsQuery(hall.bench.client)
    assert ratings.players(game, seats) == [None, None]
    assert listed(hall, NEW, MatchFilter.INACTIVE) == [board]
    assert listed(hall, leaver, MatchFilter.INACTIVE) == []
    assert {one.counted for one in hall.matches.values() if one.board == board} <= {"1-0", "0-1"}


def test_a_match_that_has_not_begun_begins_with_the_substitute(hall: Hall) -> None:
    hall.draft(when_full=False)
    hall.enter(4)
    hall.must(ORGANISER, StartTournament())
    waiting = hall.state.volunteers[0].account
    leaver = hall.state.entrants[1].account
    substituted(hall, leaver, waiting)
    hall.turn()
    hall.turn()
    assert takeovers(hall) == []
    assert len(boards_of(hall, waiting)) == 2
    assert boards_of(hall, leaver) == []
    assert hall.lists.waiting(9) == []


def test_a_start_that_was_under_way_is_taken_over(hall: Hall) -> None:
    hall.draft()
    hall.enter(3)
    hall.must(NEW, VolunteerAsSubstitute(rating=1500))
    settle(hall.side)
    hall.manager.tick()  # its commands wait
    leaver = hall.state.entrants[0].account
    substituted(hall, leaver)
    for _ in range(3):
        hall.turn()
    assert len(boards_of(hall, NEW)) == 2
    assert boards_of(hall, leaver) == []
    assert hall.lists.waiting(9) == []


def test_a_match_that_a_ruling_sets_back_is_the_substitutes(hall: Hall) -> None:
    leaver = running(hall)
    board = boards_of(hall, leaver)[0]
    hall.ask(leaver, ResignMatch(), board)
    hall.turn()
    substituted(hall, leaver)
    hall.turn()
    assert board in boards_of(hall, leaver)
    ruling = GiveRuling(claim=None, upheld=True, text=TEXT, back_to=0)
    assert hall.ask(b"arbiter1", ruling, board).accepted
    hall.turn()
    hall.turn()
    assert boards_of(hall, leaver) == []
    assert board in listed(hall, NEW)
    assert listed(hall, leaver) == []
    verified(hall)


def test_nobody_but_the_manager_has_a_seat_taken_over(hall: Hall) -> None:
    leaver = running(hall)
    board = boards_of(hall, leaver)[0]
    command = SubstitutePlayer(seat=0, account=NEW)
    for sender in (NEW, leaver, ORGANISER):
        assert hall.ask(sender, command, board).code == Code.NOT_A_PLAYER


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_manager_has_each_seat_taken_over_once(
    hall: Hall, valkey: EmbeddedServer, point: str
) -> None:
    leaver = running(hall, 4)
    hall.must(NEW, LeaveTournament())
    hall.must(NEW, VolunteerAsSubstitute(rating=1300))
    substituted(hall, leaver)
    settle(hall.side)
    wanted = boards_of(hall, leaver)
    assert tick(valkey.url, point) == -signal.SIGKILL
    hall.manager = hall.new_manager()  # it knows nothing of the other
    hall.turn()
    hall.turn()
    found = takeovers(hall)
    assert sorted(board for board, _ in found) == wanted
    assert len(set(found)) == 3
    players = [NEW, *(one for one in PLAYERS[:4] if one != leaver)]
    for player in players[:3]:
        hall.lose(player)
        hall.turn()
    assert hall.state.phase is Phase.FINISHED
    hall.must(ORGANISER, ConfirmPlaces())
    assert [one.points for one in hall.state.places[0]] == [300, 200, 100, 0]
    events = [decode_event(data).body for data in hall.bench.store.events(hall.number)]
    assert sum(isinstance(one, PlayerSubstituted) for one in events) == 1
    verified(hall)


def _mover(hall: Hall, board: int) -> AccountId:
    state = hall.bench.state(board)
    assert state.next is not None
    return state.seats[state.next]


def _play(hall: Hall, board: int) -> None:
    """Have who is to move make the first move there is."""
    state = hall.bench.state(board)
    rules = rules_by_id(state.rules)
    move = rules.write(next(iter(rules.moves(position_of(state)))))
    assert hall.ask(_mover(hall, board), PlayMove(text=move), board).accepted
    assert SERVER_ACCOUNT not in state.seats


def test_a_robot_that_waited_for_room_can_be_a_substitute_and_be_substituted(hall: Hall) -> None:
    robot = ROBOT_ACCOUNTS[RobotLevel.EASY]
    hall.draft(when_full=False, robots=True)
    hall.enter(3)
    hall.must(ORGANISER, EnterTournament(rating=1200, account=robot), StartTournament())
    hall.turn()
    leaver = hall.state.entrants[0].account
    substituted(hall, leaver, robot)
    hall.turn()
    turns = RobotTurns(hall.bench.client)
    waiting = [one for one in boards_of(hall, robot) if _mover(hall, one) == robot]
    assert sorted(turns.waiting(boards_of(hall, robot))) == waiting
    hall.must(NEW, VolunteerAsSubstitute(rating=1300))
    substituted(hall, robot)
    hall.turn()
    assert turns.waiting(boards_of(hall, NEW)) == {}
    for board in boards_of(hall, NEW):
        _play(hall, board)
    hall.turn()
    verified(hall)
