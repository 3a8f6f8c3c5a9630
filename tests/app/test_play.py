"""The way from an action to its outcome, in a thread and in an event loop."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope
from domain.rules import latest_rules
from infra.log.key_files import generate_keys
from infra.people.account_macs import AccountMacs
from infra.people.accounts import create_robot_accounts
from infra.store.outcomes import CommandOutcome
from services.app.commands import Move, Resign, act
from services.app.context import Actor
from services.app.matches import load_state
from services.app.play import CommandPending, Course, LoopPlay, RecordedRefusal, submit
from services.app.puzzles import MOST_MOVES, solution_commands
from services.app.rematch import rematch, rematch_command
from tests.fakes.app import PASSWORDS, FakeApp, Terminal
from tests.helpers.examples import refused


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
    app = FakeApp()
    create_robot_accounts(app.client, AccountMacs())
    yield Terminal(app)
    app.close()


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


# --- a rematch: one for each match, with the sides exchanged, by whichever player asks


def ended(terminal: Terminal, line: str = "pow2 challenge alice bob") -> int:
    """Start a match that alice resigns; return its board."""
    board = terminal.begin(line)
    answer = terminal.do(f"{line.split(maxsplit=1)[0]} resign {board} alice mad-hatter")
    assert answer.code == "", answer
    return board


def board_of(answer) -> int:
    assert answer.code == "", answer
    return int(answer.sentence.split()[1].rstrip(",#"))


def ask(terminal: Terminal, board: int, name: str = "bob", game: str = "pow2"):
    return terminal.do(f"{game} rematch {board} {name} {PASSWORDS[name]}")


def of(app: FakeApp, *names: str) -> tuple[bytes, ...]:
    return tuple(app.accounts.id_of(name) for name in names)


def test_the_sides_are_exchanged_and_all_else_is_the_same(terminal):
    board = ended(
        terminal,
        "pow2 challenge alice bob -fast --bank=9+1:20 --nagtime=2,4 --vacation=3 --pause=off --unrated",
    )
    again = load_state(terminal.app, board_of(ask(terminal, board)))
    before = load_state(terminal.app, board)
    assert again.seats == of(terminal.app, "bob", "alice")
    assert (again.rules, again.options) == (before.rules, before.options)
    assert again.clock.terms == before.clock.terms
    assert not again.over


def test_a_match_that_gathered_gathers_again(terminal):
    board = board_of(terminal.do("powerdrain challenge alice bob --gather"))
    assert terminal.do(f"powerdrain move {board} bob yes-we-can accept").code == ""
    assert terminal.do(f"powerdrain resign {board} alice mad-hatter").code == ""
    number = board_of(ask(terminal, board, "bob", "powerdrain"))
    state = load_state(terminal.app, number)
    assert state.awaits_entropy
    assert [seat for seat, text in enumerate(state.texts) if text is None] or state.waits
    assert board_of(ask(terminal, board, "alice", "powerdrain")) == number


def test_who_gets_no_rematch(terminal):
    """Strangers, players of a puzzle, of a match whose other player blocks them, and of one who has left."""
    puzzle = board_of(terminal.do("one challenge alice"))
    over = ended(terminal)
    refusals = [(Code.NOT_A_PLAYER, ask(terminal, over, "carol"))]
    refusals.append((Code.BAD_PLAYERS, ask(terminal, puzzle, "alice", "one")))
    assert terminal.do("block alice mad-hatter bob").code == ""
    refusals.append((Code.NOT_WANTED, ask(terminal, over)))
    assert terminal.do("delete alice mad-hatter").code == ""
    refusals.append((Code.UNKNOWN_USER, ask(terminal, over)))
    assert [code for code, _ in refusals] == [answer.code for _, answer in refusals]
    said = f"match {puzzle} is a puzzle: start one again in place of a rematch"
    assert refusals[1][1].sentence == said
    left = "a player of this match has deleted their account; challenge somebody else"
    assert refusals[3][1].sentence == left


def test_rematches_count_among_the_starts_that_wait(terminal):
    *boards, last = [ended(terminal) for _ in range(4)]
    for board in boards:
        board_of(ask(terminal, board))
    assert ask(terminal, last).code == Code.TOO_MANY


@pytest.fixture
def app(terminal: Terminal) -> FakeApp:
    return terminal.app


def solve(
    app: FakeApp, key: str, moves: Sequence[str], options: Sequence[str] = ()
) -> tuple[CommandEnvelope, ...]:
    actor = Actor(app.accounts.id_of("alice"), "web", f"{key} {' '.join(moves)}")
    rules = latest_rules(key)
    return solution_commands(app, actor, rules, "alice", options=options, moves=moves)


def test_a_solution_is_one_match_that_ends_with_its_last_move(app):
    start, *played = solve(app, "one", ["a5", "C3", "-c3", "f8"])
    assert {command.match for command in played} == {start.match}
    assert [command.command.text for command in played] == ["a5", "c3", "-c3", "f8", "done"]
    assert [command.command.ply for command in played] == [0, 1, 2, 3, 4]
    assert len({command.id for command in (start, *played)}) == 6


def test_a_solution_that_breaks_the_rules_starts_nothing(app):
    before = app.store.allocate(b"before the puzzle")
    for key, moves, code in (
        ("one", [], Code.BAD_REQUEST),
        ("one", ["a5", "a5"], Code.ILLEGAL_MOVE),
        ("one", ["z99"], Code.UNREADABLE_MOVE),
        ("one", ["a5", "done", "c3"], Code.MATCH_OVER),
        ("one", ["a5", "-a5"] * MOST_MOVES, Code.TOO_LONG),
        ("pow2", ["m13-j7"], Code.BAD_PLAYERS),
    ):
        refused(code, solve, app, key, moves)
    assert app.store.allocate(b"after the puzzle") == before + 1


def test_what_was_ended_by_its_solver_is_not_ended_twice(app):
    *_, last = solve(app, "one", ["a5", "done"])
    assert (last.command.text, last.command.ply) == ("done", 1)


def test_points_are_more_for_a_better_score_and_never_above_the_limit():
    for key, rank, points in (
        ("one", (-31, 9), 31),
        ("two", (-35, 20), 35),
        ("duo", (-40,), 40),
        ("jump", (-12, 12, 0), 12),
        ("jump", (-32, 32, 0), 32),
        ("jump", (-32, 1, 20), 63),
    ):
        rules = latest_rules(key)
        assert rules.points(rank) == points <= rules.most_points, (key, rank)
