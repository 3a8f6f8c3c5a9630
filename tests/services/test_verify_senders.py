"""`verify` holds for what every kind of sender leads to, and for a whole match of every game."""

import random
from collections.abc import Iterator

import pytest

from domain.games.halves.position import HalvesMove
from domain.games.halves.rules import canonical
from domain.match.history import unpack_snapshot
from domain.match.state import position_of
from domain.rules import all_rules, rules_by_id, rules_id
from infra.audit.stored_match import check
from tests.fakes.app import PASSWORDS, FakeApp, Terminal


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    yield Terminal(app)
    app.close()


def spelled_otherwise(position: object) -> str:
    """Return a move that halves takes for a legal one that it writes otherwise; empty for none."""
    rules = rules_by_id("halves/1")
    for move in rules.moves(position):
        for kept in range(1, 19):
            other = HalvesMove(move.number, kept)
            if other != move and canonical(position, other) == move:
                return rules.write(other)
    return ""


def test_a_move_that_was_spelled_otherwise_than_it_is_written_holds(terminal):
    board = 1
    assert terminal.begin("halves challenge alice bob -no_contract -tiles_each=9") == board
    text = ""
    while not text:
        state = unpack_snapshot(terminal.app.store.snapshots([board])[0]).state
        assert state.next is not None
        text = spelled_otherwise(position_of(state))
        move = text or next(rules_by_id(state.rules).legal_moves(position_of(state)))
        answer = terminal.move_in("halves", board, ("alice", "bob")[state.next], move)
        assert not answer.refused, answer
    assert text not in unpack_snapshot(terminal.app.store.snapshots([board])[0]).state.moves.split()
    assert "holds" in check(terminal.app.store, board)


NAMES = tuple(PASSWORDS)
MATCHES = [(rules, players) for rules in all_rules() for players in rules.players]

PLIES = 60
"""After which a puzzle, which would go on, is done."""


def state_of(terminal, board):
    return unpack_snapshot(terminal.app.store.snapshots([board])[0]).state


@pytest.mark.parametrize(
    ("rules", "players"), MATCHES, ids=[f"{rules_id(r)}-{n}" for r, n in MATCHES]
)
def test_a_whole_match_is_played_by_typing_and_holds(terminal, rules, players):
    chance = random.Random(rules.key)
    started = terminal.do(f"{rules.key} challenge {' '.join(NAMES[:players])}")
    assert started.code == "", started
    board = int(started.sentence.split()[1].rstrip(","))
    if players > 1:
        terminal.accept(board, *NAMES[1:players], game=rules.key)
    while not (state := state_of(terminal, board)).over:
        legal = list(rules_by_id(state.rules).legal_moves(position_of(state)))
        if "done" in legal and state.ply < PLIES and len(legal) > 1:
            legal.remove("done")
        move = "done" if "done" in legal and state.ply >= PLIES else chance.choice(legal)
        answer = terminal.move_in(rules.key, board, NAMES[state.next], f"{move}#{state.ply}")
        assert answer.code == "", answer
        assert f"played {move}" in answer.sentence
    assert "the match is over" in terminal.do(f"{rules.key} show {board}").text
    assert terminal.do(f"{rules.key} show {board}#1 {board}#0").code == ""
    assert check(terminal.app.store, board).startswith(f"match {board} holds")
