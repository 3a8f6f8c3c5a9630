"""Tournaments from draft to confirmed places, by the drain, the projections and the manager on a real server."""

import pytest

from domain.aggregates import TournamentSnapshot, unpack, verify
from domain.clocks.time_control import TimeControl
from domain.errors import Code
from domain.match.commands import Command, CommandEnvelope, DeclineMatch, MakeOffer, ResignMatch
from domain.match.events import Ruled
from domain.match.history import decode_event
from domain.records import SERVER_ACCOUNT, AccountId
from domain.tournament.commands import (
    AdjudicateMatches,
    ConfirmPlaces,
    DraftTournament,
    EndRound,
    EnterTournament,
    OpenEntry,
    ReportResults,
    WithdrawPlayer,
)
from domain.tournament.form_terms import KnockoutTerms
from domain.tournament.state import AdjudicatedPairing, MatchReport, Phase, TournamentState
from domain.tournament.terms import TournamentTerms
from infra.audit.stored_match import check_match
from infra.people.statements import ROUND_ENDED
from infra.projections.tournaments import PairedMatch, Tournaments
from infra.store.outcomes import CommandOutcome
from tests.helpers.bench import Bench
from tests.helpers.side import catch_up, settle
from workers.tournament_manager import TournamentManager

ORGANISER = b"organise"
PLAYERS = tuple(f"player{number:02}".encode() for number in range(20))


def terms(**changes: object) -> TournamentTerms:
    """A round robin of one section of three that starts when full."""
    given = {
        "form": "round-robin",
        "rules": "goliath/1",
        "options": (),
        "clock": TimeControl(),
        "section": 3,
        "capacity": 3,
        "when_full": True,
    }
    return TournamentTerms(**{**given, **changes})  # type: ignore[arg-type]


class Hall:
    """A tournament that is run by hand."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.number = bench.store.allocate(b"tournament".ljust(16))
        self.side = catch_up(bench.store, bench.client)
        self.lists = Tournaments(bench.client)
        self.manager = self.new_manager()

    def new_manager(self) -> TournamentManager:
        return TournamentManager(self.bench.store, self.bench.lanes, self.bench.client)

    def ask(self, actor: AccountId, command: Command, number: int | None = None) -> CommandOutcome:
        order: CommandEnvelope = self.bench.send(actor, command, number or self.number)
        self.bench.drain()
        outcome = self.bench.outcome(order)
        assert outcome is not None
        return outcome

    def must(self, actor: AccountId, *commands: Command) -> None:
        for command in commands:
            outcome = self.ask(actor, command)
            assert outcome.accepted, outcome.text

    def draft(self, **changes: object) -> None:
        self.must(ORGANISER, DraftTournament(terms=terms(**changes)), OpenEntry())

    def enter(self, count: int) -> None:
        for place, player in enumerate(PLAYERS[:count]):
            self.must(player, EnterTournament(rating=1500 + place))

    def turn(self) -> None:
        """Have the manager act on all that is known, and the drain decide it."""
        settle(self.side)
        self.manager.tick()
        self.bench.drain()
        settle(self.side)

    @property
    def state(self) -> TournamentState:
        found = unpack(self.bench.store.snapshots([self.number])[0])
        assert isinstance(found, TournamentSnapshot)
        return found.state

    @property
    def matches(self) -> dict[int, PairedMatch]:
        return self.lists.matches(self.number)

    def lose(self, player: AccountId) -> None:
        """Have a player resign all matches."""
        for one in self.matches.values():
            if player in self.bench.state(one.board).seats:
                self.ask(player, ResignMatch(), one.board)


@pytest.fixture
def hall(bench: Bench) -> Hall:
    return Hall(bench)


def test_a_section_starts_when_it_is_full_and_is_played_to_confirmed_places(hall: Hall) -> None:
    hall.draft()
    hall.enter(3)
    assert hall.state.phase is Phase.RUNNING
    hall.turn()
    assert sorted(hall.matches) == [0, 1, 2]
    boards = {one.board for one in hall.matches.values()}
    assert all(hall.bench.state(board).pairing is not None for board in boards)
    hall.lose(PLAYERS[0])
    hall.turn()
    assert hall.ask(ORGANISER, ConfirmPlaces()).code == Code.TOO_EARLY
    hall.lose(PLAYERS[1])
    hall.turn()
    assert hall.state.phase is Phase.FINISHED
    assert hall.ask(PLAYERS[0], ConfirmPlaces()).code == Code.NOT_AN_ORGANISER
    hall.must(ORGANISER, ConfirmPlaces())
    ((best, second, last),) = hall.state.places
    players = [hall.state.entrants[one.player].account for one in (best, second, last)]
    assert players == [PLAYERS[2], PLAYERS[1], PLAYERS[0]]
    assert [best.points, second.points, last.points] == [200, 100, 0]
    settle(hall.side)
    assert [row.number for row in hall.lists.listed("ended", 0, 9)] == [hall.number]
    assert hall.lists.waiting(9) == []


def test_a_tournament_and_its_matches_are_verified(hall: Hall) -> None:
    test_a_section_starts_when_it_is_full_and_is_played_to_confirmed_places(hall)
    said = str(check_match(hall.bench.store, hall.number))
    assert said.startswith(f"tournament {hall.number} holds: 11 events")
    assert all(check_match(hall.bench.store, one.board).events for one in hall.matches.values())


def test_a_match_of_a_tournament_is_played_to_its_end(hall: Hall) -> None:
    hall.draft()
    hall.enter(3)
    hall.turn()
    board = hall.matches[0].board
    player = hall.bench.state(board).seats[0]
    refusals = [
        hall.ask(player, command, board).code
        for command in (DeclineMatch(), MakeOffer(kind="abort"), MakeOffer(kind="undo"))
    ]
    assert refusals == [Code.AGAINST_TERMS] * 3
    assert hall.ask(player, MakeOffer(kind="draw"), board).accepted


def test_a_tampered_tournament_does_not_verify(hall: Hall) -> None:
    hall.draft()
    hall.enter(3)
    events = hall.bench.store.events(hall.number)
    assert verify(hall.number, events).state == hall.state
    changed = [one.replace(b"player01", b"player19") for one in events]
    with pytest.raises(Exception, match="does not follow"):
        verify(hall.number, changed)


def test_a_knockout_is_played_to_its_places_with_a_leaver_a_forfeit_and_a_late_result(
    hall: Hall,
) -> None:
    ties = KnockoutTerms(third_place=True)
    hall.draft(form="knockout", section=0, capacity=5, knockout=ties)
    hall.enter(5)
    hall.turn()
    assert sorted(hall.matches) == [0]  # three have a bye
    hall.lose(PLAYERS[0])  # who has not moved: a forfeit
    hall.turn()
    hall.turn()
    assert hall.state.reports[0].result in ("+-", "-+")
    assert sorted(hall.matches) == [0, 1, 2]
    gone = hall.state.entrants[hall.state.sections[1].players[0]].account
    hall.must(ORGANISER, WithdrawPlayer(account=gone, kind="silent", text=bytes(32)))
    hall.turn()
    assert hall.state.stage == 2  # the other semifinal goes on
    last = next(one for one in hall.matches.values() if not one.result)
    loser = hall.bench.state(last.board).seats[1]
    hall.ask(loser, ResignMatch(), last.board)
    hall.turn()
    hall.turn()
    assert hall.state.stage == 3
    for one in list(hall.matches.values()):
        if not one.result:
            hall.ask(hall.bench.state(one.board).seats[0], ResignMatch(), one.board)
    hall.turn()
    assert hall.state.phase is Phase.FINISHED
    # a result of an earlier round that comes late changes no pairing
    before = hall.state.sections
    late = hall.matches[2]
    report = MatchReport(2, late.board, late.seq + 50, "1/2")
    hall.must(SERVER_ACCOUNT, ReportResults(reports=(report,)))
    assert hall.state.sections == before
    hall.must(ORGANISER, ConfirmPlaces())
    (places,) = hall.state.places
    assert [one.place for one in places] == [1, 2, 3, 4, 5]
    for number in (hall.number, *(one.board for one in hall.matches.values())):
        assert check_match(hall.bench.store, number).events


def test_an_adjudicated_match_ends_by_a_ruling_and_a_round_on_its_date(hall: Hall) -> None:
    hall.draft(days=10)
    hall.enter(3)
    hall.turn()
    given = AdjudicatedPairing(0, "1-0")
    hall.must(ORGANISER, AdjudicateMatches(results=(given,), text=bytes(32)))
    hall.turn()
    hall.turn()
    match = hall.matches[0]
    assert (match.result, match.counted) == ("+-", "+-")  # nobody had moved
    state = hall.bench.state(match.board)
    assert state.result is not None
    assert state.result.winners == (0,)
    assert hall.ask(SERVER_ACCOUNT, EndRound(stage=1)).accepted
    assert hall.state.phase is Phase.FINISHED
    hall.turn()
    hall.turn()
    for pairing in (1, 2):
        assert hall.matches[pairing].counted == "1/2"
        ruled = [
            event.body
            for data in hall.bench.store.events(hall.matches[pairing].board)
            if isinstance((event := decode_event(data)).body, Ruled)
        ]
        assert [one.text for one in ruled] == [ROUND_ENDED.digest]
    assert hall.lists.waiting(9) == []
    hall.must(ORGANISER, ConfirmPlaces())
    for number in (hall.number, *(one.board for one in hall.matches.values())):
        assert check_match(hall.bench.store, number).events


def test_a_player_who_leaves_before_a_match_has_begun_keeps_nobody_waiting(hall: Hall) -> None:
    hall.draft()
    hall.enter(3)
    leaver = hall.state.entrants[0].account
    hall.must(ORGANISER, WithdrawPlayer(account=leaver, kind="silent", text=bytes(32)))
    hall.turn()
    assert [one for one, match in hall.matches.items() if match.board] == [
        number for number, one in hall.state.pairings if 0 not in (one.first, one.second)
    ]
    assert hall.lists.waiting(9) == []


def test_a_match_command_changes_no_tournament_and_the_other_way(hall: Hall) -> None:
    hall.draft()
    assert hall.ask(PLAYERS[0], ResignMatch()).code == Code.UNKNOWN_BOARD
    hall.bench.start(77)
    assert hall.ask(PLAYERS[0], OpenEntry(), 77).code == Code.UNKNOWN_TOURNAMENT
    assert hall.ask(PLAYERS[0], OpenEntry(), 78).code == Code.UNKNOWN_TOURNAMENT
