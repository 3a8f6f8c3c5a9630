"""Refused commands of every kind, in matches in every state, on a real server: all that checks it says that it holds."""

import time
from pathlib import Path

import pytest

from domain.fairness import ChainSeed
from domain.match import refusal_audit
from domain.match.commands import CommandEnvelope, PlayMove, ResignMatch, RevealText, StartVacation
from domain.match.decide import DecisionContext, Rejection, decide
from domain.match.history import unpack_snapshot
from domain.match.state import MatchState
from infra.audit.leaf_totals import new_secret
from infra.audit.match import CheckedMatches
from infra.redis import keys
from infra.store.damaged_matches import DamagedMatches
from services.cli import export, verify, verify_all, verify_mirror
from services.doctor import Level, gather, judge
from tests.helpers.audited_server import Inline
from tests.helpers.every_command import (
    ELSEWHERE,
    KINDS,
    RECORD,
    SENDERS,
    STATES,
    Turns,
    every_command,
)
from tests.helpers.scrubbing import SHARDS, ScrubbedServer

LATE = RevealText | StartVacation
"""Commands that may be refused as `too-late`, as claims may be: leaves have no sentences to tell them apart."""

ARCHIVED = ("over", "declined")
"""States of matches that are in the archive afterwards."""


def begin(server: ScrubbedServer, turns: Turns) -> int:
    """Begin a match, and bring it as far as these commands do."""
    server._numbers += 1
    board = server.plain.allocate(server._numbers.to_bytes(16))
    for actor, command in turns:
        server.send(board, actor, command)
        server.drain()
    return board


def refused_of(state: MatchState, now: int) -> Turns:
    """One refused command of each kind, by each sender, for each code."""
    sealed = (state.gather and state.gather.seal) or (1, 1)
    context = DecisionContext(now, ChainSeed(*sealed, bytes(32)))
    found = {}
    for sender, command in every_command(state, now):
        decided = decide(CommandEnvelope(1, bytes(16), sender, command), state, context)
        if isinstance(decided, Rejection):
            found.setdefault((type(command), sender, decided.code), (sender, command))
    return list(found.values())


def findings(server: ScrubbedServer) -> list[str]:
    """What the scrubber finds, and then the doctor says about matches."""
    found = [f"{one.about}: {one.sentence}" for one in server.scrub()]
    said = [one for one in judge(gather(server.settings)) if one.about in ("matches", "scrub")]
    return found + [one.what for one in said if one.level > Level.OK]


def verified_at_once(server: ScrubbedServer) -> verify_all.Findings:
    """What `verify --all` finds, in this process."""
    verify_all.begin_process(server.settings, new_secret(), niceness=0)
    try:
        return verify_all.check_everything(Inline(), SHARDS)
    finally:
        verify_all._processes.pop().app.close()


def mirrored(server: ScrubbedServer, folder: Path) -> CheckedMatches:
    """What `verify --mirror` finds in the matches of the published logs, in this process."""
    verify_mirror.begin_process(str(server.folder / "log"), folder, ())
    return verify_mirror.check_mirror(Inline(), range(SHARDS), ())[1]


@pytest.mark.long
def test_no_refused_command_in_any_state_spoils_the_proof_of_a_match(
    server: ScrubbedServer, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    now = round(time.time() * 1000)
    server.objects.create(f"imports/{ELSEWHERE.digest.hex()}", RECORD)
    server.client.sadd(keys.ERASED_ACCOUNTS, *SENDERS)
    boards = {name: begin(server, turns(now)) for name, turns in STATES.items()}
    sent: set[type] = set()
    for name, board in boards.items():
        state = unpack_snapshot(server.plain.snapshots([board])[0]).state
        commands = refused_of(state, now)
        assert commands, name
        for sender, command in commands:
            server.send(board, sender, command)
            sent.add(type(command))
        server.drain()
        assert unpack_snapshot(server.plain.snapshots([board])[0]).state == state, name
    assert sent == set(KINDS)
    sizes = server.publish()
    server.list_all()
    archived = {boards[name] for name in ARCHIVED}
    assert server.retire(sizes, archived) == len(archived)
    for name, board in boards.items():
        assert verify.run(str(board), server.settings) == 0, name
        capsysbinary.readouterr()
        if name != "not there":
            assert export.run(str(board), server.settings) == 0
            document = tmp_path / f"{board}.json"
            document.write_bytes(capsysbinary.readouterr().out)
            assert verify.run(str(document), server.settings) == 0, name
    assert [*verified_at_once(server).faults] == []
    assert [*mirrored(server, tmp_path).sentences()] == []
    assert findings(server) == []


@pytest.fixture
def spoilt(server: ScrubbedServer, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """A match that goes on and one in the archive, each with a refusal of which the audit knows nothing."""
    alice, bob = map(server.accounts.id_of, ("alice", "bob"))
    over, board = server.start(alice, bob), server.start(alice, bob)
    server.drain()
    for one in (over, board):
        server.send(one, alice, RevealText(text=b"32"))
        server.send(one, alice, PlayMove(text="m13-j7"))
    server.send(over, bob, ResignMatch())
    server.drain()
    sizes = server.publish()
    server.list_all()
    assert server.retire(sizes, {over}) == 1
    known = refusal_audit.example_commands
    monkeypatch.setattr(
        refusal_audit,
        "example_commands",
        lambda *args: (one for one in known(*args) if not isinstance(one[0], LATE)),
    )
    monkeypatch.setattr(refusal_audit, "may_refuse_dispute", lambda *_: False)
    return board, over


def test_a_refusal_that_can_not_be_explained_is_reported_as_that_and_not_as_damage(
    server: ScrubbedServer,
    spoilt: tuple[int, int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    DamagedMatches(server.client).note(spoilt[0], "as an earlier version took it for damaged")
    for board in spoilt:
        assert verify.run(str(board), server.settings) == 1
        out, err = capsys.readouterr()
        assert f"match {board} holds: " in out
        assert "1 refusal could not be decided again: no command that the match knows" in out
        assert "leaves are proven" in out
        assert err.startswith(f"match {board} holds but for a refusal")
        assert "can't be explained" in err
    checked = verified_at_once(server)
    assert sorted(checked.matches.unexplained) == sorted(spoilt)
    assert (checked.matches.faults, checked.exit_code()) == ({}, 1)
    assert len([*checked.faults]) == 2
    by_leaves = mirrored(server, tmp_path)
    assert (sorted(by_leaves.unexplained), by_leaves.faults) == (sorted(spoilt), {})
    assert by_leaves.events == checked.matches.events
    verify_all.note_damage(DamagedMatches(server.client), checked.matches)
    assert {one.about for one in server.scrub()} == {f"refusals of match {one}" for one in spoilt}
    assert DamagedMatches(server.client).all() == {}
    said = [one for one in judge(gather(server.settings)) if one.about in ("matches", "scrub")]
    assert [one.level for one in said] == [Level.WARN, Level.WARN]
    for board, one in zip(sorted(spoilt), sorted(said, key=lambda one: one.what), strict=True):
        assert one.what.startswith(f"refusals of match {board}: ")
        assert f"`matchpost export {board}`" in one.remedy
        assert "backup" not in one.remedy


def test_an_exported_match_says_all_that_holds_before_the_refusal_that_can_not_be_explained(
    server: ScrubbedServer,
    spoilt: tuple[int, int],
    tmp_path: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    assert export.run(str(spoilt[0]), server.settings) == 0
    document = tmp_path / "match.json"
    document.write_bytes(capsysbinary.readouterr().out)
    assert verify.run(str(document), server.settings) == 1
    out, err = map(bytes.decode, capsysbinary.readouterr())
    assert "events in sequence, chained, and decided again" in out
    assert "signed" in out
    assert "can't be explained" in err
