"""Swiss rounds and substitutes: the pairing compared with all possible rounds of small fields, and whole tournaments on a real server."""

import logging
import random
from collections.abc import Iterator
from fractions import Fraction

import pytest

from domain.errors import Code
from domain.game.engine import RobotLevel
from domain.match.commands import GiveRuling, ResignMatch, SubstitutePlayer
from domain.match.events import SeatTakenOver
from domain.match.history import decode_event
from domain.match.state import ROBOT_ACCOUNTS
from domain.records import SERVER_ACCOUNT, AccountId
from domain.tournament.commands import (
    EndRound,
    EnterTournament,
    LeaveTournament,
    StartTournament,
    SubstituteInTournament,
    VolunteerAsSubstitute,
    WithdrawPlayer,
)
from domain.tournament.events import PlayerSubstituted, SectionPaired
from domain.tournament.form_terms import SwissTerms
from domain.tournament.swiss_rounds import SwissPlayer
from domain.tournament.terms import SWISS_TIEBREAKS
from infra.projections.match_lists import MatchFilter, MatchLists
from infra.projections.ratings import RatingsQuery
from infra.projections.robots import RobotTurns
from tests.helpers.bench import Bench
from tests.helpers.side import settle
from tests.workers.test_tournaments import BY_HAND, NEW, ORGANISER, PLAYERS, POINTS, TEXT, Hall
from workers import swiss_pairing, tournament_manager
from workers.swiss_pairing import paired
from workers.tournament_manager import TournamentManager

Pairs = list[tuple[int, int]]


def players(count: int, rounds: int, chance: random.Random) -> list[SwissPlayer]:
    """Players after some rounds that were paired by the product, with results by chance."""
    points = [Fraction(0)] * count
    met: list[list[int]] = [[] for _ in range(count)]
    sides: list[list[int]] = [[] for _ in range(count)]
    byes = [0] * count

    def now() -> list[SwissPlayer]:
        return [
            SwissPlayer(n, points[n], tuple(met[n]), tuple(sides[n]), byes[n]) for n in range(count)
        ]

    for _ in range(rounds):
        pairs, without = paired(now())
        for player in without:
            byes[player] += 1
            points[player] += 1
        for pair in pairs:
            won = chance.choice([Fraction(0), Fraction(1, 2), Fraction(1)])
            for side, player in enumerate(pair):
                met[player].append(pair[1 - side])
                sides[player].append(side)
                points[player] += abs(side - won)
    return now()


def all_rounds(field: list[int]) -> Iterator[Pairs]:
    """All ways to pair players, whatever the sides; a player with themselves has the bye."""
    if not field:
        yield []
        return
    first, rest = field[0], field[1:]
    if len(field) % 2:
        for others in all_rounds(rest):
            yield [(first, first), *others]
    for other in rest:
        left = [one for one in rest if one != other]
        for others in all_rounds(left):
            if sum(one == two for one, two in others) <= 1:
                yield [(first, other), *others]


def wants(player: SwissPlayer) -> set[int]:
    """The sides that a player must not have: a third time in a row, or three times more than the other."""
    return {
        side
        for side in (0, 1)
        if player.sides[-2:] == (side, side)
        or player.sides.count(side) + 1 - player.sides.count(1 - side) > 2
    }


def badness(pairs: Pairs, field: list[SwissPlayer]) -> tuple[int, int, Fraction]:
    """Rematches, pairs without fair sides, and squares of the differences in points."""
    lowest = min(one.points for one in field)
    met = broken = 0
    apart = Fraction(0)
    for one, two in pairs:
        a, b = field[one], field[two]
        if one == two:
            apart += (a.points - lowest) ** 2
            continue
        met += a.met.count(two)
        broken += bool(wants(a) & wants(b))
        apart += (a.points - b.points) ** 2
    return met, broken, apart


@pytest.mark.parametrize("seed", range(20))
def test_no_other_round_of_a_small_field_is_better(seed: int) -> None:
    """None has fewer rematches, fairer sides or closer points."""
    chance = random.Random(seed)
    count = chance.randint(3, 8)
    field = players(count, chance.randint(0, count - 1), chance)
    pairs, byes = paired(field)
    mine = badness([*pairs, *((one, one) for one in byes)], field)
    possible = [
        one
        for one in all_rounds([*range(count)])
        if not any(first == second and field[first].byes for first, second in one)
    ]
    assert mine == min(badness(one, field) for one in possible)


def test_sixty_four_players_over_seven_rounds() -> None:
    field = players(64, 7, random.Random(7))
    for one in field:
        assert len(set(one.met)) == 7
        assert abs(one.sides.count(0) - one.sides.count(1)) <= 2
        assert not any(len(set(one.sides[at : at + 3])) == 1 for at in range(5))


def test_a_bye_is_needed_and_all_have_had_one() -> None:
    field = [SwissPlayer(n, Fraction(1), (), (), 1) for n in range(3)]
    with pytest.raises(ValueError, match="all have had one"):
        paired(field)


# on a real server


@pytest.fixture
def hall(bench: Bench) -> Hall:
    """A tournament whose manager is killed in each turn."""
    made = Hall(bench)
    made.dies = POINTS
    return made


def begin_swiss(hall: Hall, rounds: int, players: int) -> None:
    """Start a tournament, whose first round waits to be paired."""
    swiss = {"form": "swiss", "swiss": SwissTerms(rounds), "tiebreaks": SWISS_TIEBREAKS}
    hall.draft(**BY_HAND | swiss, days=10)
    hall.enter(players)
    hall.must(ORGANISER, StartTournament())


def better_wins(hall: Hall, *, but: int = -1) -> None:
    """End all matches of the last round, but perhaps one pairing, by the resignation of the worse player."""
    for number in hall.state.open_in_stage:
        if number != but:
            pair = dict(hall.state.pairings)[number]
            hall.resign(number, hall.players[max(pair.first, pair.second)])


def paired_rounds(hall: Hall) -> list[int]:
    return [one.stage for one in hall.bodies() if isinstance(one, SectionPaired)]


def test_a_tournament_with_a_leaver_a_forfeit_and_a_late_result_is_played_to_confirmed_places(
    hall: Hall,
) -> None:
    begin_swiss(hall, 3, 6)
    settle(hall.side)
    assert hall.lists.waiting(9) == [hall.number]
    hall.turn()
    hall.turn()
    assert paired_rounds(hall) == [1]
    assert sorted(hall.matches) == [0, 1, 2]
    assert hall.lists.waiting(9) == []
    better_wins(hall, but=2)
    hall.turn()
    assert paired_rounds(hall) == [1]
    # the third match is not over at the end of the round, and is lost only afterwards
    late = hall.state.sections[0].pairings[2]
    hall.must(SERVER_ACCOUNT, EndRound(stage=1))
    hall.resign(2, hall.players[late.second])
    hall.turn()
    hall.turn()
    assert paired_rounds(hall) == [1, 2]
    assert hall.state.result_of(2) in ("+-", "1-0")
    leaver = hall.state.sections[1].pairings[0].second
    account = hall.players[leaver]
    hall.must(ORGANISER, WithdrawPlayer(account=account, kind="accepted", text=TEXT))
    better_wins(hall)
    for _ in range(3):
        hall.turn()
    third = hall.state.sections[2]
    assert leaver not in third.players
    assert len(third.byes) == 1
    better_wins(hall)
    hall.turn()
    assert {hall.state.result_of(number) for number in range(2)} <= {"+-", "-+"}
    assert max(hall.points().values()) == 300
    assert paired_rounds(hall) == [1, 2, 3]
    ((first, *_, last),) = hall.state.places
    assert (first.points, first.place, last.place > 1) == (300, 1, True)


def test_a_library_that_fails_is_an_alarm_and_is_asked_again_while_others_go_on(
    hall: Hall, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = 0.0
    hall.dies = ()
    bench = hall.bench
    hall.manager = TournamentManager(bench.store, bench.lanes, bench.client, lambda: now)
    begin_swiss(hall, 2, 4)
    other = Hall(bench)
    other.number = bench.store.allocate(b"another".ljust(16))
    other.draft()
    other.enter(3)
    asked = []

    def fails(*_: object) -> None:
        asked.append(now)
        raise RuntimeError

    monkeypatch.setattr(tournament_manager, "pair_round", fails)
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            hall.turn()
    alarms = [one.message for one in caplog.records if "ALARM" in one.message]
    assert alarms == [f"ALARM: a round of tournament {hall.number} can't be paired"]
    assert asked == [0.0]
    assert len(other.matches) == 3
    monkeypatch.setattr(tournament_manager, "pair_round", swiss_pairing.pair_round)
    now = tournament_manager.PAIRING_RETRY_SECONDS + 1.0
    hall.turn()
    assert paired_rounds(hall) == [1]
    assert set(hall.players) == set(PLAYERS[:4])


# Substitutes in tournaments: lists, notices and results follow, also when a process is killed


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
