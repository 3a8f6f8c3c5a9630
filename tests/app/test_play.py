"""The way from an action to its outcome, in a thread and in an event loop."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from domain.errors import Code, Refusal
from infra.log.key_files import generate_keys
from infra.store.outcomes import CommandOutcome
from services.app.commands import Move, Resign, act
from services.app.context import Actor
from services.app.matches import load_state
from services.app.play import (
    CommandPending,
    Course,
    LoopPlay,
    RecordedRefusal,
    submit,
)
from services.app.rematch import rematch, rematch_command
from tests.fakes.app import FakeApp, Terminal


class InLoop:
    """The gateway of an app, as an event loop has it."""

    def __init__(self, app: FakeApp) -> None:
        self._app = app

    async def send(self, sent: Any, ply: int, seconds: float) -> CommandOutcome:
        return await asyncio.to_thread(self._app.gateway.send, sent, ply, seconds)

    async def confirmed(self, outcome: CommandOutcome) -> CommandOutcome:
        return outcome


class StoreInLoop:
    """The store of an app, as an event loop has it."""

    def __init__(self, app: FakeApp) -> None:
        self._app = app

    async def leaf(self, board: int, index: int) -> bytes | None:
        (leaf,) = self._app.store.leaves_at(self._app.store.layout().shard_of(board), [index])
        return leaf

    async def events(self, board: int, seq: int) -> Sequence[bytes]:
        return self._app.store.events(board)[seq - 1 : seq]


def in_thread(app: FakeApp, asked: Course[Any]) -> Any:
    return submit(app, asked, 2.0)


def in_loop(app: FakeApp, asked: Course[Any]) -> Any:
    return asyncio.run(LoopPlay(app, InLoop(app), StoreInLoop(app)).submit(asked, 2.0))


WAYS = pytest.mark.parametrize("run", [in_thread, in_loop])


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    terminal = Terminal(FakeApp())
    yield terminal
    terminal.app.close()


def actor(app: FakeApp, name: str, key: str = "1") -> Actor:
    return Actor(app.accounts.id_of(name), "test", key, name)


def acting(terminal: Terminal, board: int, name: str, action: Any) -> Course[Any]:
    app = terminal.app
    return act(app, actor(app, name), board, load_state(app, board), action)


@WAYS
def test_what_is_refused_without_a_command_has_no_outcome(terminal, run):
    board = terminal.challenge()
    asked = acting(terminal, board, "alice", Move("nonsense"))
    with pytest.raises(Refusal) as refused:
        run(terminal.app, asked)
    assert refused.value.code is Code.UNREADABLE_MOVE
    assert not isinstance(refused.value, RecordedRefusal)
    assert asked.sent is None


def test_in_an_event_loop_an_outcome_and_a_refusal_have_receipts_if_asked_for(terminal):
    app, board = terminal.app, terminal.challenge()
    play = LoopPlay(app, InLoop(app), StoreInLoop(app))
    generate_keys(app.keys, "play.example.org")
    accepted = asyncio.run(
        play.submit(acting(terminal, board, "alice", Move("m13-j7")), receipt=True)
    )
    with pytest.raises(RecordedRefusal) as refused:
        asyncio.run(play.submit(acting(terminal, board, "bob", Move("m13-m9")), receipt=True))
    assert accepted.receipt
    assert refused.value.decided.receipt
    again = asyncio.run(play.submit(acting(terminal, board, "alice", Move("m13-j7"))))
    assert again == replace(accepted, receipt=None)


@WAYS
def test_a_pending_outcome_names_its_command(terminal, run):
    board = terminal.challenge()
    terminal.app.awake = False
    asked = acting(terminal, board, "alice", Resign())
    with pytest.raises(CommandPending) as pending:
        run(terminal.app, asked)
    assert (pending.value.board, pending.value.command) == (board, asked.sent.id.hex())


@WAYS
def test_who_asks_for_a_rematch_at_the_same_moment_gets_that_of_the_first(
    terminal, run, monkeypatch
):
    app, board = terminal.app, terminal.challenge()
    assert terminal.do(f"pow2 resign {board} alice mad-hatter").code == ""
    send, first = app.gateway.send, []

    def send_second(sent: Any, ply: int, seconds: float) -> CommandOutcome:
        """Have the other player's request arrive just before the first one that is sent."""
        if not first:
            own = rematch_command(app, actor(app, "alice"), board)
            first.append(own)
            assert send(own, 0, seconds).accepted
        return send(sent, ply, seconds)

    asked = rematch(app, actor(app, "bob"), board)
    monkeypatch.setattr(app.gateway, "send", send_second)
    started = run(app, asked)
    assert (started.accepted, started.board) == (True, first[0].match)
    assert app.store.events(started.board)
