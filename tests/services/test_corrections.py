"""Corrections: one ruling for many matches, shown first, killed in the middle, and never given twice."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from domain.errors import Code, Refusal
from domain.match.events import ResultChanged, Ruled
from domain.match.history import decode_event
from infra.projections.notices import NoticeKind
from infra.redis import keys
from services.app.corrections import Correction, MatchStanding, read_plan
from services.app.matches import load_state
from services.cli.correct import run
from tests.helpers.api import Api, Player

RULING: dict[str, Any] = {"verdict": "result", "winners": ["First"]}


class World(NamedTuple):
    api: Api
    folder: Path
    alice: Player
    bob: Player
    arbiter: Player

    def finished(self, count: int) -> list[int]:
        """Matches that bob has won, because alice resigned."""
        boards = [self.api.begun(self.alice, self.bob, game="torere") for _ in range(count)]
        for board in boards:
            self.alice.give(board, {"do": "resign"})
        return boards

    def plan(self, **fields: Any) -> Path:
        """A plan in a file."""
        plan = {
            "id": "wrong-flags",
            "arbiter": self.arbiter.name,
            "ruling": self.ruling,
            "reasons": "The clock was wrong.",
            **fields,
        }
        file = self.folder / "plan.json"
        file.write_text(json.dumps(plan))
        return file

    @property
    def ruling(self) -> dict[str, Any]:
        return {"verdict": "result", "winners": [self.alice.name]}

    def rulings(self, board: int) -> list[Any]:
        bodies = [decode_event(data).body for data in self.api.parts.store.events(board)]
        return [body for body in bodies if isinstance(body, Ruled | ResultChanged)]

    def correct(self, file: Path, **flags: bool) -> int:
        asked = {"dry_run": False, "yes": False, **flags}
        return run(str(file), settings=self.api.settings, **asked)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("corrections")) as api:
        yield api


@pytest.fixture
def world(api: Api, tmp_path: Path) -> World:
    alice, bob, arbiter = api.players(3)
    api.parts.accounts.set_arbiter(arbiter.name, True)
    return World(api, tmp_path, alice, bob, arbiter)


def test_a_dry_run_says_what_would_change_and_changes_nothing(world, capsys):
    boards = world.finished(2)
    running = world.api.match(world.bob, world.arbiter, game="torere")
    file = world.plan(boards=[*boards, running, 999_999])
    for flags in ({"dry_run": True}, {"dry_run": True, "yes": True}, {}):
        assert world.correct(file, **flags) == 1
        said = capsys.readouterr().out
        for board in boards:
            assert f"match {board}: " in said
            assert f"({world.alice.name}) wins the match (it ended by resignation)" in said
        assert f"match {running}: can't be ruled on: bad-ruling" in said
        assert "match 999999: can't be ruled on: unknown-board: there is no match 999999" in said
        assert (
            "of 4 matches 2 would be ruled on, 0 were ruled on by this plan before, 2 can't" in said
        )
    assert "to do it, add --yes" in said
    assert [world.rulings(board) for board in boards] == [[], []]
    assert world.api.parts.statements.of_match(boards[0]) == []


def test_a_correction_rules_once_on_each_match_however_often_it_is_run(world, capsys):
    boards = world.finished(3)
    file = world.plan(boards=boards)
    assert world.correct(file, yes=True) == 0
    assert "of 3 matches 3 are ruled on, 0 of them by an earlier run" in capsys.readouterr().out
    assert world.correct(file, yes=True) == 0
    assert "of 3 matches 3 are ruled on, 3 of them by an earlier run" in capsys.readouterr().out
    world.api.caught_up()
    for board in boards:
        ruled, changed = world.rulings(board)
        (statement,) = world.api.parts.statements.of_match(board)
        assert ruled == Ruled(claim=None, upheld=True, text=statement.digest)
        assert statement.text == "The clock was wrong."
        assert changed.reason == "ruling"
        assert load_state(world.api.parts, board).result.winners == (0,)
    for player in (world.alice, world.bob):
        notices = world.api.parts.notices.of(player.account, 0, 200)
        kinds = Counter((one.board, one.kind) for one in notices if one.kind == NoticeKind.RULED)
        assert kinds == {(board, NoticeKind.RULED): 1 for board in boards}


def test_a_match_that_was_ruled_on_or_is_in_the_archive_is_left_alone(world):
    ruled, archived, other = world.finished(3)
    body = {"verdict": "annul", "text": "by itself", "own_motion": True}
    assert world.arbiter.post(f"/api/matches/{ruled}/rule", body).status_code == 200
    name, bit = keys.archive_mark(archived, 4)
    world.api.parts.data.setbit(name, bit, 1)
    plan = read_plan(world.plan(boards=[ruled, archived, other]).read_bytes())
    correction = Correction(world.api.parts, plan)
    found = [correction.rule(board) for board in (ruled, archived, other)]
    world.api.parts.data.setbit(name, bit, 0)
    assert [one.standing for one in found] == [
        MatchStanding.REFUSED,
        MatchStanding.REFUSED,
        MatchStanding.DONE,
    ]
    assert found[0].why.startswith("already-ruled: an arbiter has ruled in it already")
    assert found[1].why == "match-over: it is in the archive, where no ruling changes it"


def test_a_selection_is_of_the_first_run_also_when_the_rulings_change_what_is_selected(
    world, capsys
):
    boards = world.finished(3)
    world.api.caught_up()
    rows = world.api.parts.history.of("torere", world.alice.account, None, 0, 10)
    at = sorted(row.at for row in rows)
    select = {
        "game": "torere", "reason": "resignation",
        "ended_from": iso(at[0]), "ended_to": iso(at[-1]),
    }  # fmt: skip
    file = world.plan(select=select)
    assert world.correct(file, yes=True) == 0
    assert "of 2 matches 2 are ruled on" in capsys.readouterr().out
    world.api.caught_up()
    assert world.correct(file, yes=True) == 0
    assert "of 2 matches 2 are ruled on, 2 of them by an earlier run" in capsys.readouterr().out
    assert [bool(world.rulings(board)) for board in boards] == [True, True, False]


def iso(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"id": "with blank"}, Code.BAD_REQUEST),
        ({"boards": []}, Code.BAD_REQUEST),
        ({"boards": [0]}, Code.BAD_REQUEST),
        ({"other": 1}, Code.BAD_REQUEST),
        ({"select": {"game": "chess", "ended_from": "2026-01-01T00:00:00Z", "ended_to": "2026-01-02T00:00:00Z"}, "boards": []}, Code.UNKNOWN_GAME),
        ({"select": {"game": "one", "ended_from": "2026-01-01T00:00:00", "ended_to": "2026-01-02T00:00:00Z"}, "boards": []}, Code.BAD_REQUEST),
    ],
)  # fmt: skip
def test_a_plan_that_is_none_is_refused_with_a_sentence(world, change, code):
    data = world.plan(**{"boards": [1], **change}).read_bytes()
    with pytest.raises(Refusal) as caught:
        read_plan(data)
    assert caught.value.code == code


def test_a_correction_is_in_the_name_of_an_arbiter(world):
    plan = read_plan(world.plan(boards=[1], arbiter=world.bob.name).read_bytes())
    with pytest.raises(Refusal) as caught:
        Correction(world.api.parts, plan)
    assert caught.value.code == Code.NOT_AN_ARBITER


@pytest.mark.long
@pytest.mark.timeout(900)  # a thousand matches are played first
@pytest.mark.parametrize("count", [40, pytest.param(1_000, marks=pytest.mark.slow)])
def test_a_correction_that_is_killed_goes_on_where_it_was(world, count):
    boards = world.finished(count)
    file = world.plan(boards=boards)
    for number in (count // 3, count // 2):
        assert program(world, file, f"submit.queued:{number}") == -signal.SIGKILL
    assert 0 < sum(bool(world.rulings(board)) for board in boards) < count
    assert program(world, file) == 0
    assert [len(world.rulings(board)) for board in boards] == [2] * count
    assert [len(world.api.parts.statements.of_match(board)) for board in boards] == [1] * count
    world.api.caught_up()
    rows = world.api.parts.history.of("torere", world.alice.account, None, 0, count)
    assert sorted(row.board for row in rows) == boards
    assert {row.winners for row in rows} == {(0,)}
    notices = world.api.parts.notices.of(world.bob.account, 0, 200)
    ruled = Counter(one.board for one in notices if one.kind == NoticeKind.RULED)
    assert set(ruled.values()) == {1}


def program(world: World, file: Path, fault: str = "") -> int:
    """Run the correction as a program, which may die at a fault point; return its exit code."""
    url = world.api.settings.redis_url
    there = {"MATCHPOST_REDIS_URL": url, "MATCHPOST_DATA": str(world.api.settings.data)}
    given = os.environ | there | ({"MATCHPOST_FAULT": fault} if fault else {})
    code = "import sys; from services.cli.main import main; sys.exit(main())"
    words = [sys.executable, "-c", code, "correct", str(file), "--yes"]
    done = subprocess.run(words, env=given, capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    return done.returncode
