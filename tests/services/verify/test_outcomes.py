"""A change of an outcome is found."""

import pytest

from domain.match.history import decode_event
from infra.audit.stored_match import check
from infra.store import outcomes
from tests.fakes.app import FakeApp, Terminal
from tests.services.verify.checked_match import BOARD, EVENTS, broken


def test_an_outcome_that_was_changed_is_found(store):
    match = store._matches[BOARD]
    command = decode_event(match.events[4]).command
    stored = match.outcomes[command]
    match.outcomes[command] = outcomes.encode_stored(stored[:8], 5, outcomes.tail("", 4, ""))
    assert broken(store).seq == 5
    match.outcomes[command] = outcomes.encode_stored(
        stored[:8], 5, outcomes.tail("internal", 5, "x")
    )
    assert broken(store).seq == 5
    del match.outcomes[command]
    assert broken(store).seq == 5


OTHER_TAILS = [("illegal-move", 4, ""), ("", 5, "well played"), ("", 6, "")]


@pytest.mark.parametrize("tail", OTHER_TAILS)
def test_each_part_of_an_outcome_counts(store, tail):
    match = store._matches[BOARD]
    command = decode_event(match.events[4]).command
    before = outcomes.parse(match.outcomes[command])
    match.outcomes[command] = outcomes.encode_stored(
        before.digest, before.index, outcomes.tail(*tail)
    )
    assert broken(store).seq == 5


@pytest.mark.parametrize(
    "stored", [b"", b"digest..", b"digest..x:y", b"digest..-1:", b"digest..5:"]
)
def test_an_outcome_that_can_not_be_read_is_found(store, stored):
    match = store._matches[BOARD]
    for command in match.outcomes:
        kept = match.outcomes[command]
        match.outcomes[command] = stored
        broken(store)
        match.outcomes[command] = kept


@pytest.mark.parametrize("place", range(EVENTS))
def test_an_outcome_of_another_command_is_found(store, place):
    match = store._matches[BOARD]
    command = decode_event(match.events[place]).command
    match.outcomes[command] = b"another." + match.outcomes[command][8:]
    assert broken(store).sentence == "the outcome of its command is of another command"


def test_an_outcome_of_a_command_that_never_was_is_found(store):
    match = store._matches[BOARD]
    match.outcomes[b"f" * 16] = outcomes.encode_stored(bytes(8), 3, outcomes.tail("", 3, ""))
    found = broken(store)
    assert found.seq == 3
    assert found.sentence.startswith(f"it does not come from command {(b'f' * 16).hex()}")


def test_a_commands_move_may_have_said_its_ply_and_consent_may_be_a_proposal():
    app = FakeApp()
    terminal = Terminal(app)
    board = terminal.challenge()
    for name, text in (("alice", "m13-j7#0"), ("bob", "propose draw"), ("alice", "propose draw")):
        assert terminal.move(board, name, text).code == ""
    assert "holds" in check(app.store, board)
    app.close()
