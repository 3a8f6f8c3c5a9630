"""A ladder on a real server: its challenges start matches, its manager may be killed, and it forgets what is over."""

import pytest

from domain import aggregates
from domain.errors import Code
from domain.match.commands import GiveRuling, ResignMatch
from domain.records import SERVER_ACCOUNT
from domain.tournament.commands import (
    ChallengeOnLadder,
    ConfirmPlaces,
    DropSilent,
    EndLadder,
    EnterTournament,
    LeaveTournament,
    StartTournament,
    WithdrawPlayer,
)
from domain.tournament.form_terms import LadderTerms
from domain.tournament.state import Phase
from infra.audit.stored_match import check_match
from tests.helpers.bench import Bench
from tests.helpers.side import settle
from tests.workers.test_tournaments import ORGANISER, PLAYERS, Hall

REASONS = bytes(32)


class Ladder(Hall):
    """A ladder that is run by hand."""

    def begin(self, players: int, **rules: object) -> None:
        found = LadderTerms(**rules)  # type: ignore[arg-type]
        self.draft(form="ladder", section=0, capacity=0, when_full=False, ladder=found)
        self.enter(players)
        self.must(ORGANISER, StartTournament())

    def challenge(self, below: int, above: int) -> None:
        self.must(self.state.entrants[below].account, ChallengeOnLadder(player=above))

    @property
    def order(self) -> tuple[int, ...]:
        assert self.state.ladder is not None
        return self.state.ladder.order

    def resign(self, pairing: int, player: int) -> None:
        """Have a player resign one match."""
        account = self.state.entrants[player].account
        assert self.ask(account, ResignMatch(), self.matches[pairing].board).accepted


@pytest.fixture
def hall(bench: Bench) -> Ladder:
    return Ladder(bench)


def test_a_ladder_is_played_with_a_leaver_a_withdrawal_a_late_result_and_an_end(
    hall: Ladder,
) -> None:
    hall.begin(4)
    hall.challenge(3, 1)
    hall.challenge(2, 0)
    hall.must(PLAYERS[8], EnterTournament(rating=900))
    hall.challenge(4, 1)
    hall.turn()
    assert sorted(hall.matches) == [0, 1, 2]
    # the challenged has the first move
    seats = hall.bench.state(hall.matches[0].board).seats
    assert seats == tuple(hall.state.entrants[one].account for one in (1, 3))
    hall.resign(0, 1)
    hall.turn()
    assert hall.order == (0, 3, 1, 2, 4)
    hall.must(hall.state.entrants[2].account, LeaveTournament())
    out = hall.state.entrants[4].account
    hall.must(ORGANISER, WithdrawPlayer(account=out, kind="silent", text=REASONS))
    assert hall.order == (0, 3, 1)
    hall.turn()  # which ends the match of the player who was taken out
    hall.turn()
    hall.resign(1, 0)  # lost to one who has left
    hall.turn()
    assert hall.order == (0, 3, 1)
    hall.must(ORGANISER, EndLadder())
    assert hall.state.phase is Phase.FINISHED
    late = GiveRuling(claim=None, upheld=True, text=REASONS, winners=(0,), annul=False)
    assert hall.ask(b"arbiter.", late, hall.matches[0].board).accepted
    hall.turn()
    assert hall.order == (0, 3, 1)
    assert hall.state.ladder is not None
    assert (hall.state.ladder.players[3].won, hall.state.ladder.players[1].won) == (0, 1)
    assert hall.state.phase is Phase.FINISHED
    hall.must(ORGANISER, ConfirmPlaces())
    assert [one.player for one in hall.state.places[0]] == [0, 3, 1]
    settle(hall.side)
    assert hall.lists.waiting(9) == []
    for number in (hall.number, *(one.board for one in hall.matches.values())):
        assert check_match(hall.bench.store, number).events


def test_the_scheduler_finds_the_silent_when_they_are_due(hall: Ladder) -> None:
    hall.begin(3, silence=7, drop=1)
    due = aggregates.next_due(hall.state)
    shard = hall.bench.store.layout().shard_of(hall.number)
    assert hall.bench.store.due_boards(shard, due - 1, 9) == []
    assert hall.bench.store.due_boards(shard, due, 9) == [hall.number]
    needed = aggregates.due_command(hall.state, due, spare_robots=False)
    assert needed == DropSilent()
    assert hall.ask(SERVER_ACCOUNT, needed).code == Code.TOO_EARLY
