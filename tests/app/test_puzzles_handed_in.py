"""Puzzles that are handed in as a whole: one match, ended, or none at all."""

from collections.abc import Iterator, Sequence

import pytest

from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope
from domain.rules import latest_rules
from services.app.context import Actor
from services.app.puzzles import MOST_MOVES, solution_commands
from tests.fakes.app import FakeApp, Terminal


@pytest.fixture
def app() -> Iterator[FakeApp]:
    terminal = Terminal(FakeApp())
    yield terminal.app
    terminal.app.close()


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


def test_the_same_solution_is_the_same_match_with_the_same_commands(app):
    assert solve(app, "one", ["a5"]) == solve(app, "one", ["a5"])
    assert solve(app, "one", ["a5"])[0].match != solve(app, "one", ["a5", "c3"])[0].match


@pytest.mark.parametrize(
    ("key", "moves", "code"),
    [
        ("one", [], Code.BAD_REQUEST),
        ("one", ["a5", "a5"], Code.ILLEGAL_MOVE),
        ("one", ["z99"], Code.UNREADABLE_MOVE),
        ("one", ["a5", "done", "c3"], Code.MATCH_OVER),
        ("one", ["a5", "-a5"] * MOST_MOVES, Code.TOO_LONG),
        ("pow2", ["m13-j7"], Code.BAD_PLAYERS),
    ],
)
def test_a_solution_that_breaks_the_rules_starts_nothing(app, key, moves, code):
    before = app.store.allocate(b"before the puzzle")
    with pytest.raises(Refusal) as caught:
        solve(app, key, moves)
    assert caught.value.code is code
    assert app.store.allocate(b"after the puzzle") == before + 1


def test_what_was_ended_by_its_solver_is_not_ended_twice(app):
    *_, last = solve(app, "one", ["a5", "done"])
    assert (last.command.text, last.command.ply) == ("done", 1)


@pytest.mark.parametrize(
    ("key", "rank", "points"),
    [
        ("one", (-31, 9), 31),
        ("two", (-35, 20), 35),
        ("duo", (-40,), 40),
        ("jump", (-12, 12, 0), 12),
        ("jump", (-32, 32, 0), 32),
        ("jump", (-32, 1, 20), 63),
    ],
)
def test_points_are_more_for_a_better_score_and_never_above_the_limit(key, rank, points):
    rules = latest_rules(key)
    assert rules.points(rank) == points <= rules.most_points
