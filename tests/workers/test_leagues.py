"""Leagues on a real server: their seasons begin by date beside the matches of the one before."""

from pathlib import Path

import pytest
from redis import Redis

from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.match.commands import ResignMatch
from domain.records import SERVER_ACCOUNT
from domain.tournament.commands import (
    ConfirmPlaces,
    EnterTournament,
    LeaveTournament,
    PairRound,
    StartTournament,
    WithdrawPlayer,
)
from domain.tournament.form_terms import LeagueTerms
from domain.tournament.seasons import season_sections
from domain.tournament.state import Phase
from infra.audit.stored_match import check_match
from tests.helpers.bench import Bench
from tests.helpers.timed import TimedBench
from tests.workers.test_tournaments import ORGANISER, PLAYERS, Hall


@pytest.fixture
def hall(bench: Bench) -> Hall:
    return Hall(bench)


@pytest.fixture
def timed(redis_client: Redis, tmp_path: Path) -> TimedBench:
    return TimedBench(redis_client, tmp_path / "seeds")


def begun(hall: Hall, players: int = 6, seasons: int = 2) -> None:
    """A league in divisions of three whose first season has begun."""
    rules = LeagueTerms(size=3, up=1, down=1, seasons=seasons)
    hall.draft(form="league", section=0, capacity=0, when_full=False, days=30, league=rules)
    hall.enter(players)
    hall.must(ORGANISER, StartTournament())
    hall.turn()


def divisions(hall: Hall) -> list[set[bytes]]:
    """The players of the divisions of the last season."""
    state = hall.state
    return [
        {state.entrants[player].account for player in one.players}
        for one in season_sections(state, state.stage)
    ]


def test_a_league_is_played_to_its_places_with_a_leaver_a_forfeit_and_a_late_result(
    hall: Hall,
) -> None:
    begun(hall)
    assert divisions(hall) == [set(PLAYERS[3:6]), set(PLAYERS[:3])]
    assert len(hall.matches) == 6
    late = hall.matches[0]
    for number in range(1, 6):
        board = hall.matches[number].board
        # who has not moved loses by forfeit
        hall.ask(min(hall.bench.state(board).seats), ResignMatch(), board)
    hall.turn()
    hall.must(PLAYERS[6], EnterTournament(rating=2900))
    hall.must(PLAYERS[0], LeaveTournament())
    hall.must(ORGANISER, WithdrawPlayer(account=PLAYERS[1], kind="silent", text=bytes(32)))
    hall.must(SERVER_ACCOUNT, PairRound(stage=2))
    assert hall.ask(SERVER_ACCOUNT, PairRound(stage=2)).code == Code.TOO_LATE
    before = divisions(hall)
    assert before[0] >= {PLAYERS[2], PLAYERS[5]}
    assert PLAYERS[6] in before[-1]
    assert not any({PLAYERS[0], PLAYERS[1]} & one for one in before)
    hall.turn()
    hall.ask(min(hall.bench.state(late.board).seats), ResignMatch(), late.board)
    hall.turn()
    assert hall.state.reports[0].result in ("+-", "-+")
    assert divisions(hall) == before
    while hall.state.phase is Phase.RUNNING:
        for one in list(hall.matches.values()):
            if not one.result:
                hall.ask(min(hall.bench.state(one.board).seats), ResignMatch(), one.board)
        hall.turn()
    hall.must(ORGANISER, ConfirmPlaces())
    assert len(hall.state.places) == len(hall.state.sections)
    said = str(check_match(hall.bench.store, hall.number))
    assert said.startswith(f"tournament {hall.number} holds")
    assert all(check_match(hall.bench.store, one.board).events for one in hall.matches.values())


def test_the_scheduler_begins_a_season_on_its_day_and_once(timed: TimedBench) -> None:
    hall = Hall(timed)
    begun(hall)
    keepers = timed.keeper(), timed.keeper()
    timed.now += 30 * DAY - 1000
    for keeper in keepers:
        keeper.tick()
    timed.pump()
    assert hall.state.stage == 1
    timed.now += 60_000
    for keeper in keepers:
        keeper.tick()
    timed.pump()
    assert hall.state.stage == 2
    assert len(hall.state.sections) == 4
    for keeper in keepers:
        keeper.tick()
    timed.pump()
    assert len(hall.state.sections) == 4
