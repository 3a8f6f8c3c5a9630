"""Refused commands of every kind, in matches in every state, on a real server: all that checks it says that it holds."""

import time
from pathlib import Path

import pytest

from domain.fairness import ChainSeed
from domain.match.commands import CommandEnvelope
from domain.match.decide import decide
from domain.match.decision import DecisionContext, Rejection
from domain.match.history import unpack_snapshot
from domain.match.state import MatchState
from infra.audit.leaf_totals import new_secret
from infra.audit.match import CheckedMatches
from infra.redis import keys
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
