"""Moves taken back by agreement, at any place of any game: what is left is as if never played."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Code
from domain.match.audit import verify
from domain.match.commands import AnswerOffer, Command, MakeOffer, PlayMove, ResignMatch, StartMatch
from domain.match.decide import decide
from domain.match.decision import Decision, DecisionContext, Rejection
from domain.match.events import Undone
from domain.match.history import EMPTY_SNAPSHOT, chain_events, replay
from domain.match.state import cache_position, position_at, position_of
from domain.rules import latest_rules
from tests.helpers.examples import examples
from tests.helpers.given import ALICE, BOARD, BOB, CAROL, sent

PLAYERS = (ALICE, BOB, CAROL)

GAMES = {
    "pow2": StartMatch(rules="pow2/1", options=("-fast",), seats=PLAYERS[:2]),
    "pow2 placed freely": StartMatch(rules="pow2/1", options=("-free",), seats=PLAYERS[:2]),
    "line": StartMatch(rules="line/1", options=("-stones=9",), seats=PLAYERS[:2]),
    "halves of three": StartMatch(
        rules="halves/1", options=("-manual_start", "-tiles_each=3"), seats=PLAYERS
    ),
    "halves of three, inverted": StartMatch(
        rules="halves/1",
        options=("-free_edges=4", "-invert_win", "-manual_start", "-no_contract", "-tiles_each=4"),
        seats=PLAYERS,
    ),
}


class Table:
    """A match whose commands are decided and sealed one after the other."""

    def __init__(self, start: StartMatch) -> None:
        self.snapshot = EMPTY_SNAPSHOT
        self.events: list[bytes] = []
        self.rules = latest_rules(start.rules.partition("/")[0])
        self._sent = 0
        self.say(0, start)

    @property
    def state(self):
        return self.snapshot.state

    def say(self, seat: int, command: Command) -> Decision | Rejection:
        """Decide a player's command; what it leads to has happened."""
        self._sent += 1
        order = sent(PLAYERS[seat], command, self._sent)
        decided = decide(order, self.state, DecisionContext(self._sent))
        if isinstance(decided, Decision):
            sealed, self.snapshot = chain_events(order, decided, self.snapshot, self._sent)
            self.events += sealed
        return decided

    def play(self, chance: random.Random) -> None:
        """Play a legal move."""
        moves = self.rules.moves(position_of(self.state))
        text = self.rules.write(chance.choice(moves))
        assert isinstance(self.say(self.state.next, PlayMove(text=text)), Decision)

    def undo(self, seat: int) -> Decision | Rejection:
        """Propose to take the seat's last move back; all others accept."""
        decided = self.say(seat, MakeOffer(kind="undo"))
        for other in self.state.active_seats:
            if isinstance(decided, Decision) and other != seat:
                decided = self.say(other, AnswerOffer(accept=True))
        return decided


def replayed(table: Table, start: StartMatch):
    """The position that the moves left give, played anew from the start."""
    options = table.rules.read_options(start.options)
    position = table.rules.start(options, len(start.seats), None)
    for text in table.state.first_moves(table.state.ply):
        position = table.rules.play(position, table.rules.read(text))
    return position


def holds(table: Table) -> None:
    """Assert that the snapshot, the events and the rules say the same."""
    state = table.state
    assert position_of(state) == position_at(state, state.ply)
    assert cache_position(replay(table.events)) == cache_position(state)
    verdict = verify(BOARD, table.events)
    assert verdict.state == state
    assert verdict.head == table.snapshot.head
    if not state.over:
        assert table.rules.outcome(position_of(state)) is None
        assert state.next == table.rules.to_move(position_of(state))
        assert state.next in state.active_seats


def taken_back(table: Table, seat: int) -> None:
    """Take a seat's last move back, if it has one; assert what that leads to."""
    before = table.state
    movers = [table.rules.to_move(position_at(before, ply)) for ply in range(before.ply)]
    decided = table.undo(seat)
    if seat not in movers:
        assert isinstance(decided, Rejection)
        assert decided.code == Code.UNKNOWN_OFFER
        return
    ply = max(ply for ply, mover in enumerate(movers) if mover == seat)
    assert decided.events[-1] == Undone(ply=ply, next=seat)
    assert table.state.ply == ply
    assert table.state.first_moves(ply) == before.first_moves(ply)
    assert table.state.next == seat
    assert table.state.offer is None


def ready(table: Table, chance: random.Random, start: StartMatch, leaves: float) -> None:
    """Play, take back and leave by chance, until the match is over or long enough."""
    for _ in range(chance.randint(1, 40)):
        if table.state.over:
            return
        what = chance.random()
        if what < leaves and len(table.state.active_seats) > 2:
            table.say(chance.choice(table.state.active_seats), ResignMatch())
        elif what < 0.3:
            taken_back(table, chance.choice(table.state.active_seats))
            holds(table)
            if not table.state.out:
                assert position_of(table.state) == replayed(table, start)
        else:
            table.play(chance)


@examples(25, 500)
@given(seed=st.integers(0, 2**32))
@pytest.mark.parametrize("game", GAMES)
def test_what_is_left_after_moves_were_taken_back_is_as_if_they_were_never_played(game, seed):
    table = Table(GAMES[game])
    ready(table, random.Random(seed), GAMES[game], leaves=0)
    holds(table)


@examples(40, 1_000)
@given(seed=st.integers(0, 2**32))
@pytest.mark.parametrize("game", [name for name in GAMES if "three" in name])
def test_who_has_left_stays_out_when_moves_before_are_taken_back(game, seed):
    table = Table(GAMES[game])
    ready(table, random.Random(seed), GAMES[game], leaves=0.1)
    holds(table)
    assert all(ply <= table.state.ply for _, ply in table.state.out)
