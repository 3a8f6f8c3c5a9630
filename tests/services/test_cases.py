"""Cases behind the front ends: arbiters, evidence, corrections, erased texts, and what is shown of disputes."""

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
from msgspec import UNSET

from domain.errors import Code
from domain.match.events import ResultChanged, Ruled
from domain.match.history import decode_event, decode_refusal, is_event
from infra.audit.check_document import check_document
from infra.audit.match_document import MatchDocument, read_document
from infra.audit.stored_match import evidence_name
from infra.log.key_files import generate_keys
from infra.people.accounts import AccountRole
from infra.projections.notices import NoticeKind
from infra.redis import keys
from services.app.accounts import delete_account
from services.app.corrections import Correction, MatchStanding, read_plan
from services.app.exports import OPERATOR, frozen_evidence, match_document
from services.app.matches import load_state
from services.cli.correct import run as run_plan
from services.cli.erase import run
from services.cli.verify import run as verify
from tests.helpers.api import PASSWORD, Api, Player, code_of
from tests.helpers.examples import refused
from tests.helpers.publishing import log_keys, publish
from tests.helpers.subcommands import change_accounts
from workers import evidence_job


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("evidence")) as api:
        generate_keys(api.settings.data / "keys", "play.example.org")
        yield api


@pytest.fixture
def players(api: Api) -> list[Player]:
    found = api.players(3)
    api.parts.accounts.set_role(found[2].name, AccountRole.ARBITER, held=True)
    return found


@pytest.fixture
def board(api: Api, players: list[Player]) -> int:
    """A match with a refusal and a claim, after which it went on and was set back."""
    alice, bob, arbiter = players
    board = api.match(alice, bob)
    alice.move(board, "m13-j7")
    bob.move(board, "a13-a1")
    alice.post(f"/api/matches/{board}/claim", {"ply": 1, "text": "he tried to cheat"})
    bob.move(board, "a13-d7")
    arbiter.post(f"/api/matches/{board}/rule", {"verdict": "back", "ply": 0, "text": "again"})
    return board


def path(board: int) -> str:
    return f"/api/matches/{board}/cases/3/evidence"


def evidence(player: Player, board: int) -> MatchDocument:
    answer = player.get(path(board))
    assert answer.status_code == 200, answer.text
    return read_document(answer.content)


def test_the_evidence_is_the_match_as_it_was_at_the_claim_and_shows_each_what_is_theirs(
    api, players, board
):
    assert code_of(players[0].get(path(board))) == "not-published"
    publish(api)
    texts, shown = ["he tried to cheat", "again"], []
    for player in players:
        document = evidence(player, board)
        assert document.moves == ("m13-j7",)
        events = [decode_event(one.leaf) for one in document.leaves if is_event(one.leaf)]
        assert [event.seq for event in events] == [1, 2, 3]
        (refusal,) = [one for one in document.leaves if not is_event(one.leaf)]
        assert decode_refusal(refusal.leaf).actor == players[1].account
        shown.append(refusal.outcome is not UNSET)
        assert len(document.log.proofs) == 4
        assert [one.text for one in document.statements] == texts[:1]
        assert [seat.userid for seat in document.seats] == [one.name for one in players[:2]]
        check_document(document, log_keys(api))
    there = f"/api/matches/{board}/export"
    answers = [(api.http.get(there), []), (api.player().get(there), [])]
    for answer, seen in (*answers, *((one.get(there), texts) for one in players)):
        exported = read_document(answer.content)
        assert [one.text for one in exported.statements] == seen
        assert {one.account for one in exported.statements} <= {
            one.account.hex() for one in players
        }
        verdict = check_document(exported, log_keys(api))
        held = "2 statements with the digests in the events" in verdict.holds
        assert (verdict.fault, held) == ("", bool(seen))
    operator = match_document(api.parts, board, OPERATOR)
    assert [one.text for one in operator.statements] == texts
    # the outcome of a refusal is its sender's and the arbiters'
    assert shown == [False, True, True]


def test_the_stored_evidence_never_changes_and_has_nothing_that_could_be_erased(
    api, players, board
):
    publish(api)
    evidence(players[0], board)
    stored = api.parts.objects.get(evidence_name(board, 3))
    assert b"cheat" not in stored
    assert stored.count(b'"userid":null') == 2
    players[0].move(board, "m13-j7")
    publish(api)
    assert frozen_evidence(api.parts).freeze(board, 3)
    assert api.parts.objects.get(evidence_name(board, 3)) == stored
    assert players[0].post("/api/account/deletion", {"password": PASSWORD}).is_success
    document = evidence(players[1], board)
    assert document.statements == ()
    assert document.seats[0].userid is None
    check_document(document, log_keys(api))


def test_a_job_freezes_the_cases_that_wait_and_waits_for_the_log(api, players):
    board = api.match(*players[:2])
    players[0].post(f"/api/matches/{board}/claim", {"ply": 0, "text": "look"})
    api.caught_up()
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        publish(api)

    assert evidence_job.run(api.parts.cases, frozen_evidence(api.parts), sleep) >= 1
    assert len(waits) == 1
    assert frozen_evidence(api.parts).is_frozen(board, 2)
    # a run that follows has nothing to do
    assert evidence_job.run(api.parts.cases, frozen_evidence(api.parts), sleep) >= 1
    assert len(waits) == 1


def test_one_text_is_erased_once_it_was_shown_whose_it_is(api, capsys):
    alice, bob = api.players()
    board = api.match(alice, bob)
    alice.post(f"/api/matches/{board}/claim", {"ply": 0, "text": "an insult"})
    assert run(str(board), 2, yes=False, settings=api.settings) == 0
    assert f"by {alice.name} at" in capsys.readouterr().out
    assert len(api.parts.statements.of_match(board)) == 1
    assert run(str(board), 2, yes=True, settings=api.settings) == 0
    assert "its hash stays" in capsys.readouterr().out
    (case,) = bob.get(f"/api/matches/{board}/cases").json()["cases"]
    assert (case["events"][0]["text"], case["events"][0]["salt"]) == (None, "")
    assert verify(str(board), settings=api.settings) == 0
    for event in (0, 1, 3):
        refused(Code.NOT_FOUND, run, str(board), event, yes=True, settings=api.settings)


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
        ruling = {"verdict": "result", "winners": [self.alice.name]}
        plan = {
            "id": "wrong-flags",
            "arbiter": self.arbiter.name,
            "reasons": "The clock was wrong.",
        }
        file = self.folder / "plan.json"
        file.write_text(json.dumps({"ruling": ruling, **plan, **fields}))
        return file

    def rulings(self, board: int) -> list[Any]:
        bodies = [decode_event(data).body for data in self.api.parts.store.events(board)]
        return [body for body in bodies if isinstance(body, Ruled | ResultChanged)]

    def correct(self, file: Path, **flags: bool) -> int:
        asked = {"dry_run": False, "yes": False, **flags}
        return run_plan(str(file), settings=self.api.settings, **asked)


@pytest.fixture
def world(api: Api, tmp_path: Path) -> World:
    alice, bob, arbiter = api.players(3)
    api.parts.accounts.set_role(arbiter.name, AccountRole.ARBITER, held=True)
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
    boards = world.finished(2)
    file = world.plan(boards=boards)
    for earlier in (0, 2):
        assert world.correct(file, yes=True) == 0
        said = f"of 2 matches 2 are ruled on, {earlier} of them by an earlier run"
        assert said in capsys.readouterr().out
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
    for said in ("ruled on", "ruled on, 2 of them by an earlier run"):
        assert world.correct(file, yes=True) == 0
        assert f"of 2 matches 2 are {said}" in capsys.readouterr().out
        world.api.caught_up()
    assert [bool(world.rulings(board)) for board in boards] == [True, True, False]


def iso(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")


@pytest.mark.long
def test_a_correction_that_is_killed_goes_on_where_it_was(world):
    count = 100
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


def listed(api: Api, capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    assert change_accounts(api, "arbiter", "list") == 0
    return capsys.readouterr().out.split()


def test_arbiters_are_listed_until_they_are_dismissed_or_deleted(api, capsys):
    api.parts.data.delete(keys.ROLES["arbiter"])
    for name in ("wilma", "fred", "barney"):
        api.player(name=name)
        assert change_accounts(api, "arbiter", name) == 0
    assert listed(api, capsys) == ["barney", "fred", "wilma"]
    assert change_accounts(api, "arbiter", "fred", is_held=False) == 0
    assert listed(api, capsys) == ["barney", "wilma"]
    delete_account(api.parts, "wilma", PASSWORD)
    assert listed(api, capsys) == ["barney"]
    assert api.parts.data.scard(keys.ROLES["arbiter"]) == 1
    assert change_accounts(api, "arbiter", "nobody") == 1


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
    standing = MatchStanding.REFUSED, MatchStanding.REFUSED, MatchStanding.DONE
    assert tuple(one.standing for one in found) == standing
    assert found[0].why.startswith("already-ruled: an arbiter has ruled in it already")
    assert found[1].why == "match-over: it is in the archive, where no ruling changes it"


def test_a_plan_that_is_none_is_refused_with_a_sentence(world):
    day = {"ended_from": "2026-01-01T00:00:00Z", "ended_to": "2026-01-02T00:00:00Z"}
    no_zone = {**day, "game": "one", "ended_from": "2026-01-01T00:00:00"}
    for change, code in (
        ({"id": "with blank"}, Code.BAD_REQUEST),
        ({"boards": []}, Code.BAD_REQUEST),
        ({"boards": [0]}, Code.BAD_REQUEST),
        ({"other": 1}, Code.BAD_REQUEST),
        ({"select": {**day, "game": "chess"}, "boards": []}, Code.UNKNOWN_GAME),
        ({"select": no_zone, "boards": []}, Code.BAD_REQUEST),
    ):
        refused(code, read_plan, world.plan(**{"boards": [1], **change}).read_bytes())
