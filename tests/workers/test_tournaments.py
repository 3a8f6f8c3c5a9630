"""Tournaments of every form from draft to confirmed places, on a real server, whose manager is killed in each turn."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from redis import Redis

from domain import aggregates
from domain.aggregates import TournamentSnapshot, unpack
from domain.clocks.time_control import DAY, TimeControl
from domain.errors import Code
from domain.match.commands import (
    Command,
    CommandEnvelope,
    DeclineMatch,
    GiveRuling,
    MakeOffer,
    PlayMove,
    ResignMatch,
)
from domain.match.events import MatchPaired, Ruled
from domain.match.history import decode_event, is_event
from domain.match.state import position_of
from domain.records import SERVER_ACCOUNT, AccountId
from domain.rules import rules_by_id
from domain.tournament.commands import (
    AdjudicateMatches,
    ChallengeOnLadder,
    ConfirmPlaces,
    DraftTournament,
    DropSilent,
    EndLadder,
    EndRound,
    EnterTournament,
    LeaveTournament,
    OpenEntry,
    PairRound,
    ReportResults,
    StartTournament,
    SubstituteInTournament,
    VolunteerAsSubstitute,
    WithdrawPlayer,
)
from domain.tournament.events import ResultsCounted
from domain.tournament.form_terms import KnockoutTerms, LadderTerms, LeagueTerms
from domain.tournament.seasons import season_sections
from domain.tournament.state import AdjudicatedPairing, MatchReport, Phase, TournamentState
from domain.tournament.terms import TournamentTerms
from infra.audit.stored_match import check_match
from infra.people.statements import ROUND_ENDED
from infra.process.failpoints import FAILPOINTS
from infra.projections.match_lists import MatchFilter, MatchLists
from infra.projections.tournaments import PairedMatch, Tournaments
from infra.store.outcomes import CommandOutcome
from tests.fakes.dying import Killed
from tests.helpers.bench import Bench
from tests.helpers.side import catch_up, settle
from tests.helpers.timed import TimedBench
from tests.helpers.tournaments import OF_THREES
from workers import tournament_manager
from workers.tournament_manager import TournamentManager

ORGANISER = b"organise"
PLAYERS = tuple(f"player{number:02}".encode() for number in range(20))
NEW, TEXT = b"newcomer", bytes(32)
POINTS = [point for point in FAILPOINTS if point.startswith("tournament.")]
BY_HAND = {"section": 0, "capacity": 0, "when_full": False}
"""A tournament that begins when its organiser says so."""


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

    dies: Sequence[str] = ()
    """Where managers are killed at the beginning of each turn, one after the other."""

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

    def begin(self, players: int, **changes: object) -> None:
        """Have a tournament of so many players begin, and the manager act."""
        self.draft(**BY_HAND | changes)
        self.enter(players)
        self.must(ORGANISER, StartTournament())
        self.turn()

    def turn(self) -> None:
        """Have the manager act on all that is known, and the drain decide it."""
        settle(self.side)
        for point in self.dies:
            with pytest.MonkeyPatch.context() as patch, suppress(Killed):
                patch.setattr(tournament_manager, "failpoint", partial(die_at, point))
                self.manager.tick()
            self.manager = self.new_manager()  # which knows nothing of the other
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

    @property
    def players(self) -> list[AccountId]:
        return [one.account for one in self.state.entrants]

    def bodies(self) -> list[object]:
        return [decode_event(data).body for data in self.bench.store.events(self.number)]

    def resign(self, pairing: int, *players: AccountId) -> None:
        for one in players:
            assert self.ask(one, ResignMatch(), self.matches[pairing].board).accepted

    def lose(self, player: AccountId) -> None:
        """Have a player resign all matches."""
        for one in self.matches.values():
            if player in self.bench.state(one.board).seats:
                self.ask(player, ResignMatch(), one.board)

    def play(self, board: int) -> None:
        """Have the player to move make the first move there is."""
        state = self.bench.state(board)
        assert state.next is not None
        move = next(iter(rules_by_id(state.rules).legal_moves(position_of(state))))
        assert self.ask(state.seats[state.next], PlayMove(text=move), board).accepted

    def holds(self) -> None:
        """Each match has begun once, each result was counted once, all histories hold, and nothing waits."""
        settle(self.side)
        assert self.lists.waiting(9) == []
        assert max(Counter(self._paired()).values()) == 1
        counted = [
            one
            for body in self.bodies()
            if isinstance(body, ResultsCounted)
            for one in body.reports
        ]
        assert len(counted) == len(set(counted))
        said = str(check_match(self.bench.store, self.number))
        assert said.startswith(f"tournament {self.number} holds: {len(self.bodies())} events")
        assert all(check_match(self.bench.store, one.board).events for one in self.matches.values())

    def _paired(self) -> Iterator[int]:
        for shard in range(4):
            for _, leaf in self.bench.store.leaves(shard, 0, 999):
                body = decode_event(leaf).body if is_event(leaf) else None
                if isinstance(body, MatchPaired) and body.tournament == self.number:
                    yield body.pairing

    def points(self) -> dict[AccountId, int]:
        """Confirm the places; return the points of each player, in hundredths, the best first."""
        assert self.state.phase is Phase.FINISHED
        self.must(ORGANISER, ConfirmPlaces())
        self.holds()
        players = self.players
        return {players[one.player]: one.points for place in self.state.places for one in place}


def die_at(point: str, passed: str) -> None:
    if passed == point:
        raise Killed


@pytest.fixture
def hall(bench: Bench) -> Hall:
    """A tournament whose manager is killed in each turn."""
    made = Hall(bench)
    made.dies = POINTS
    return made


def test_a_section_starts_when_it_is_full_and_is_played_to_confirmed_places(hall: Hall) -> None:
    hall.draft(section=4, capacity=4)
    hall.enter(4)
    assert hall.state.phase is Phase.RUNNING
    hall.turn()
    assert sorted(hall.matches) == [*range(6)]
    for one in hall.matches.values():
        assert hall.bench.state(one.board).pairing is not None
    board = hall.matches[0].board
    player = hall.bench.state(board).seats[0]
    for command in (DeclineMatch(), MakeOffer(kind="abort"), MakeOffer(kind="undo")):
        assert hall.ask(player, command, board).code == Code.AGAINST_TERMS
    assert hall.ask(player, MakeOffer(kind="draw"), board).accepted
    for loser in PLAYERS[:3]:
        assert hall.ask(ORGANISER, ConfirmPlaces()).code == Code.TOO_EARLY
        hall.lose(loser)
        hall.turn()
    assert hall.ask(PLAYERS[0], ConfirmPlaces()).code == Code.NOT_AN_ORGANISER
    assert hall.points() == dict(zip(PLAYERS[3::-1], (300, 200, 100, 0), strict=True))
    assert [row.number for row in hall.lists.listed("ended", 0, 9)] == [hall.number]


def test_one_manager_sends_what_waits_once(hall: Hall) -> None:
    hall.dies = ()
    hall.draft()
    hall.enter(3)
    settle(hall.side)
    for _ in range(3):
        hall.manager.tick()
    assert hall.bench.drain() == 3
    hall.new_manager().tick()
    assert hall.bench.drain() == 0


def test_a_knockout_is_played_to_its_places_with_a_leaver_a_forfeit_and_a_late_result(
    hall: Hall,
) -> None:
    hall.draft(form="knockout", section=0, capacity=5, knockout=KnockoutTerms(third_place=True))
    hall.enter(5)
    hall.turn()
    assert sorted(hall.matches) == [0]  # three have a bye
    hall.lose(PLAYERS[0])  # who has not moved: a forfeit
    hall.turn()
    hall.turn()
    assert hall.state.reports[0].result in ("+-", "-+")
    assert sorted(hall.matches) == [0, 1, 2]
    gone = hall.players[hall.state.sections[1].players[0]]
    hall.must(ORGANISER, WithdrawPlayer(account=gone, kind="silent", text=TEXT))
    hall.turn()
    assert hall.state.stage == 2  # the other semifinal goes on
    left = [hall.bench.state(hall.matches[number].board) for number in (1, 2)]
    (lost,) = (one for one in left if gone in one.seats)
    assert lost.result is not None
    assert lost.result.winners == (1 - lost.seats.index(gone),)
    last = next(one for one in hall.matches.values() if not one.result)
    hall.ask(hall.bench.state(last.board).seats[1], ResignMatch(), last.board)
    hall.turn()
    hall.turn()
    assert hall.state.stage == 3
    for one in list(hall.matches.values()):
        if not one.result:
            hall.ask(hall.bench.state(one.board).seats[0], ResignMatch(), one.board)
    hall.turn()
    before, late = hall.state.sections, hall.matches[2]
    report = MatchReport(2, late.board, late.seq + 50, "1/2")
    hall.must(SERVER_ACCOUNT, ReportResults(reports=(report,)))
    assert hall.state.sections == before, "a result that comes late changes no pairing"
    hall.points()
    assert [one.place for one in hall.state.places[0]] == [1, 2, 3, 4, 5]


def test_an_adjudicated_match_ends_by_a_ruling_and_a_round_on_its_date(hall: Hall) -> None:
    hall.draft(days=10)
    hall.enter(3)
    hall.turn()
    given = AdjudicatedPairing(0, "1-0")
    hall.must(ORGANISER, AdjudicateMatches(results=(given,), text=TEXT))
    hall.turn()
    hall.turn()
    match = hall.matches[0]
    assert (match.result, match.counted) == ("+-", "+-")  # nobody had moved
    result = hall.bench.state(match.board).result
    assert result is not None
    assert result.winners == (0,)
    hall.must(SERVER_ACCOUNT, EndRound(stage=1))
    hall.turn()
    hall.turn()
    for pairing in (1, 2):
        assert hall.matches[pairing].counted == "1/2"
        events = map(decode_event, hall.bench.store.events(hall.matches[pairing].board))
        ruled = [one.body.text for one in events if isinstance(one.body, Ruled)]
        assert ruled == [ROUND_ENDED.digest]
    hall.points()


def test_a_player_who_leaves_before_a_match_has_begun_keeps_nobody_waiting(hall: Hall) -> None:
    hall.draft()
    hall.enter(3)
    hall.must(ORGANISER, WithdrawPlayer(account=hall.players[0], kind="silent", text=TEXT))
    hall.turn()
    assert [one for one, match in hall.matches.items() if match.board] == [
        number for number, one in hall.state.pairings if 0 not in (one.first, one.second)
    ]
    assert hall.lists.waiting(9) == []


def test_a_match_command_changes_no_tournament_and_the_other_way(hall: Hall) -> None:
    hall.draft()
    assert hall.ask(PLAYERS[0], ResignMatch()).code == Code.UNKNOWN_BOARD
    hall.bench.start(77)
    for number in (77, 78):
        assert hall.ask(PLAYERS[0], OpenEntry(), number).code == Code.UNKNOWN_TOURNAMENT


# thematic tournaments

OPENING = "m13-j7 a13-d7 m1-i3"


def test_a_double_round_robin_begins_from_one_position_with_sides_exchanged(hall: Hall) -> None:
    draft = DraftTournament(terms=terms(rules="pow2/1", cycles=2), opening=OPENING)
    hall.must(ORGANISER, draft, OpenEntry())
    hall.enter(3)
    hall.turn()
    states = [hall.bench.state(one.board) for one in hall.matches.values()]
    assert len({one.seats for one in states}) == len(states) == 6
    assert {(one.moves, one.opening, one.next) for one in states} == {(OPENING, 3, 1)}
    rows = MatchLists(hall.bench.client).of(PLAYERS[0], MatchFilter.ACTIVE, count=9)
    assert {(row.ply, row.waits) for row in rows} == {(3, (1,))}
    for one in hall.matches.values():
        hall.play(one.board)
        hall.play(one.board)
    for player in PLAYERS[:2]:
        hall.lose(player)
    hall.turn()
    assert [*hall.points().values()] == [400, 200, 0]
    assert all(hall.bench.state(one.board).rated for one in hall.matches.values())


# groups of three


def winners(hall: Hall, pairing: int) -> tuple[int, ...] | None:
    """The players who have won a match; None while it goes on."""
    result = hall.bench.state(hall.matches[pairing].board).result
    seats = dict(hall.state.seated)[pairing]
    return None if result is None else tuple(sorted(seats[seat] for seat in result.winners))


def test_threes_are_played_to_their_places_with_a_leaver_a_substitute_and_a_decision(
    hall: Hall,
) -> None:
    hall.begin(3, **OF_THREES | {"cycles": 3, "days": 0})
    players = hall.players
    for number, seats in hall.state.seated:
        started = hall.bench.state(hall.matches[number].board)
        assert started.seats == tuple(players[one] for one in seats)
    hall.resign(0, players[0])  # the two others go on
    hall.must(NEW, VolunteerAsSubstitute(rating=1300))
    hall.must(ORGANISER, SubstituteInTournament(account=players[1], substitute=NEW, text=TEXT))
    hall.turn()
    assert all(NEW in one.seats and players[1] not in one.seats for one in hall.matches.values())
    hall.resign(1, players[2])
    left = WithdrawPlayer(account=players[0], kind="silent", text=TEXT, ends=(1, 2))
    hall.must(ORGANISER, left)
    hall.turn()
    hall.turn()
    assert [winners(hall, pairing) for pairing in range(3)] == [None, (1,), (1, 2)]
    places = "-".join("3" if player == 0 else "1" for player in dict(hall.state.seated)[0])
    decided = AdjudicateMatches(results=(AdjudicatedPairing(0, places),), text=TEXT)
    hall.must(ORGANISER, decided)
    hall.turn()
    hall.turn()
    assert winners(hall, 0) == (1, 2)
    # 0 left the second match after 2 had resigned it
    points = {players[0]: 100, NEW: 150 + 200 + 150, players[2]: 150 + 0 + 150}
    assert hall.points() == points


def test_an_announced_leaver_annuls_and_the_end_is_shared_by_those_who_still_play(
    hall: Hall,
) -> None:
    hall.begin(4, **OF_THREES | {"cycles": 4, "days": 30})
    players = hall.players
    one, *others = dict(hall.state.seated)[3]
    (leaver,) = {0, 1, 2, 3} - {one, *others}
    hall.must(ORGANISER, WithdrawPlayer(account=players[leaver], kind="accepted", text=TEXT))
    hall.turn()
    hall.turn()
    assert [winners(hall, pairing) for pairing in range(3)] == [()] * 3
    hall.resign(3, players[one])
    hall.must(SERVER_ACCOUNT, EndRound(stage=1))
    hall.turn()
    hall.turn()
    assert winners(hall, 3) == tuple(sorted(others))
    # each had a bye, and shares two of the matches that were annulled
    points = {leaver: 100, one: 400, **dict.fromkeys(others, 400 + 150)}
    assert hall.points() == {players[player]: count for player, count in points.items()}


# ladders


def begin_ladder(hall: Hall, players: int, **rules: object) -> None:
    hall.begin(players, form="ladder", ladder=LadderTerms(**rules))  # type: ignore[arg-type]


def order_of(hall: Hall) -> tuple[int, ...]:
    assert hall.state.ladder is not None
    return hall.state.ladder.order


def test_a_ladder_is_played_with_a_leaver_a_withdrawal_a_late_result_and_an_end(hall: Hall) -> None:
    begin_ladder(hall, 4)
    for below, above in ((3, 1), (2, 0)):
        hall.must(hall.players[below], ChallengeOnLadder(player=above))
    hall.must(PLAYERS[8], EnterTournament(rating=900))
    hall.must(hall.players[4], ChallengeOnLadder(player=1))
    hall.turn()
    assert sorted(hall.matches) == [0, 1, 2]
    players = hall.players
    # the challenged has the first move
    assert hall.bench.state(hall.matches[0].board).seats == (players[1], players[3])
    hall.resign(0, players[1])
    hall.turn()
    assert order_of(hall) == (0, 3, 1, 2, 4)
    hall.must(players[2], LeaveTournament())
    hall.must(ORGANISER, WithdrawPlayer(account=players[4], kind="silent", text=TEXT))
    assert order_of(hall) == (0, 3, 1)
    hall.turn()  # which ends the match of the player who was taken out
    hall.turn()
    hall.resign(1, players[0])  # lost to one who has left
    hall.turn()
    assert order_of(hall) == (0, 3, 1)
    hall.must(ORGANISER, EndLadder())
    late = GiveRuling(claim=None, upheld=True, text=TEXT, winners=(0,), annul=False)
    assert hall.ask(b"arbiter.", late, hall.matches[0].board).accepted
    hall.turn()
    assert order_of(hall) == (0, 3, 1)
    assert hall.state.ladder is not None
    assert [hall.state.ladder.players[one].won for one in (3, 1)] == [0, 1]
    assert [*hall.points()] == [players[one] for one in (0, 3, 1)]


def test_the_scheduler_finds_the_silent_when_they_are_due(hall: Hall) -> None:
    begin_ladder(hall, 3, silence=7, drop=1)
    due = aggregates.next_due(hall.state)
    shard = hall.bench.store.layout().shard_of(hall.number)
    assert hall.bench.store.due_boards(shard, due - 1, 9) == []
    assert hall.bench.store.due_boards(shard, due, 9) == [hall.number]
    needed = aggregates.due_command(hall.state, due, spare_robots=False)
    assert needed == DropSilent()
    assert hall.ask(SERVER_ACCOUNT, needed).code == Code.TOO_EARLY


# leagues


def begin_league(hall: Hall) -> None:
    """Begin the first of two seasons, in two divisions of three."""
    hall.begin(6, form="league", days=30, league=LeagueTerms(size=3, up=1, down=1, seasons=2))


def divisions(hall: Hall) -> list[set[bytes]]:
    """The players of the divisions of the last season."""
    return [
        {hall.players[player] for player in one.players}
        for one in season_sections(hall.state, hall.state.stage)
    ]


def test_a_league_is_played_to_its_places_with_a_leaver_a_forfeit_and_a_late_result(
    hall: Hall,
) -> None:
    def lose(pairing: int) -> None:
        board = hall.matches[pairing].board
        hall.ask(min(hall.bench.state(board).seats), ResignMatch(), board)

    begin_league(hall)
    assert divisions(hall) == [set(PLAYERS[3:6]), set(PLAYERS[:3])]
    assert len(hall.matches) == 6
    for number in range(1, 6):
        lose(number)  # by forfeit, as nobody has moved
    hall.turn()
    hall.must(PLAYERS[6], EnterTournament(rating=2900))
    hall.must(PLAYERS[0], LeaveTournament())
    hall.must(ORGANISER, WithdrawPlayer(account=PLAYERS[1], kind="silent", text=TEXT))
    hall.must(SERVER_ACCOUNT, PairRound(stage=2))
    assert hall.ask(SERVER_ACCOUNT, PairRound(stage=2)).code == Code.TOO_LATE
    before = divisions(hall)
    assert before[0] >= {PLAYERS[2], PLAYERS[5]}
    assert PLAYERS[6] in before[-1]
    assert not any({PLAYERS[0], PLAYERS[1]} & one for one in before)
    hall.turn()
    lose(0)
    hall.turn()
    assert hall.state.reports[0].result in ("+-", "-+")
    assert divisions(hall) == before
    while hall.state.phase is Phase.RUNNING:
        for pairing, one in list(hall.matches.items()):
            if not one.result:
                lose(pairing)
        hall.turn()
    hall.points()
    assert len(hall.state.places) == len(hall.state.sections)


def test_the_scheduler_begins_a_season_on_its_day_and_once(
    redis_client: Redis, tmp_path: Path
) -> None:
    timed = TimedBench(redis_client, tmp_path / "seeds")
    hall = Hall(timed)
    begin_league(hall)
    keepers = timed.keeper(), timed.keeper()
    timed.now += 30 * DAY - 1000
    for later, stage, sections in ((0, 1, 2), (60_000, 2, 4), (0, 2, 4)):
        timed.now += later
        for keeper in keepers:
            keeper.tick()
        timed.pump()
        assert (hall.state.stage, len(hall.state.sections)) == (stage, sections)
