"""A store with a match, of which each test changes something."""

import pytest

from domain.errors import Code
from tests.fakes.app import FakeApp, Terminal
from tests.fakes.memory_store import MemoryStore
from tests.services.verify.checked_match import BOARD


@pytest.fixture
def store() -> MemoryStore:
    """A store with a match of `EVENTS` events, a refusal among them in the log."""
    app = FakeApp()
    terminal = Terminal(app)
    board = terminal.challenge("-fast")
    assert board == BOARD
    assert terminal.move(board, "bob", "a1-a5").code == Code.NOT_YOUR_TURN
    for name, text in (
        ("alice", "m13-m9"),
        ("bob", "a13-a9"),
        ("alice", "m1-m5"),
        ("bob", "a1-a5"),
        ("bob", "propose draw"),
        ("alice", "reject"),
        ("alice", "m9-m13"),
    ):
        assert terminal.move(board, name, text).code == ""
    app.close()
    return app.store
