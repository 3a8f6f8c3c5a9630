"""A whole match of every game, as typed: random legal moves to the end, then verified."""

import random

import pytest

from domain.match.history import unpack_snapshot
from domain.match.state import position_of
from domain.rules import all_rules, rules_by_id, rules_id
from infra.audit.stored_match import check
from tests.fakes.app import PASSWORDS, FakeApp, Terminal

NAMES = tuple(PASSWORDS)

MATCHES = [(rules, players) for rules in all_rules() for players in rules.players]

PLIES = 60
"""After which a puzzle, which would go on, is done."""


@pytest.fixture
def terminal():
    app = FakeApp()
    yield Terminal(app)
    app.close()


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
