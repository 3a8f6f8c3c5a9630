"""Matches with claims stay in Redis until their last ruling is final."""

from typing import Any

from domain.match.commands import GiveRuling, MakeAppeal, MakeClaim, ResignMatch
from domain.match.disputes import APPEAL_MS
from tests.helpers.bench import Bench
from tests.helpers.doctor import damaged_matches
from tests.helpers.given import ALICE, BOB
from tests.workers.retire.ended_matches import LATER_OVER, OVER, SHARD, entry_of, listed, reads

ARBITER, OTHER_ARBITER = b"arbiter1", b"arbiter2"
TEXT = bytes(32)


def claim_of(bench: Bench, board: int = OVER) -> int:
    """Make a claim in a match that is over; return its number."""
    bench.send(BOB, MakeClaim(ply=1, text=TEXT), board)
    bench.drain()
    return bench.state(board).seq


def rule(
    bench: Bench, arbiter: bytes, claim: int | None, board: int = OVER, **changes: Any
) -> None:
    order = bench.send(
        arbiter, GiveRuling(claim=claim, upheld=bool(changes), text=TEXT, **changes), board
    )
    bench.drain()
    outcome = bench.outcome(order)
    assert outcome is not None
    assert outcome.code == ""


def test_a_match_with_a_claim_stays_until_the_last_ruling_is_final(bench, archiving, caplog):
    claim = claim_of(bench)
    assert archiving.retire(SHARD) == 1
    assert listed(bench) == [OVER]
    rule(bench, ARBITER, claim)
    assert archiving.retire(SHARD) == 0, "an appeal is possible"
    bench.send(ALICE, MakeAppeal(claim=claim, text=TEXT), OVER)
    bench.drain()
    assert archiving.retire(SHARD) == 0, "the appeal waits"
    rule(bench, OTHER_ARBITER, claim, winners=(1,))
    before = reads(bench.store, OVER)
    assert archiving.retire(SHARD) == 1
    assert (listed(bench), bench.store.events(OVER)) == ([], [])
    assert reads(archiving.store, OVER) == before
    found = entry_of(archiving, OVER)
    assert found is not None
    assert (found.summary.winners, found.summary.reason) == ((1,), "ruling")
    assert "ALARM" not in caplog.text
    assert list(damaged_matches(archiving.store, [OVER])) == []


def test_a_match_is_retired_once_no_appeal_can_come(bench, archiving, monkeypatch):
    rule(bench, ARBITER, None, annul=True)
    assert archiving.retire(SHARD) == 1
    assert listed(bench) == [OVER]
    now = bench.store.now()
    monkeypatch.setattr(bench.store, "now", lambda: now + APPEAL_MS - 60_000)
    assert archiving.retire(SHARD) == 0
    monkeypatch.setattr(bench.store, "now", lambda: now + APPEAL_MS)
    assert archiving.retire(SHARD) == 1


def test_a_match_that_was_set_back_stays_and_is_listed_again_when_it_ends(bench, archiving):
    rule(bench, ARBITER, None, back_to=1)
    assert listed(bench) == [LATER_OVER]
    assert not bench.state(OVER).over
    assert archiving.retire(SHARD) == 1
    assert listed(bench) == []
    bench.send(ALICE, ResignMatch(), OVER)
    bench.drain()
    assert listed(bench) == [OVER]
    (end,) = (bench.state(OVER).at,)
    assert bench.store.ended_boards(SHARD, end - 1, 10) == []
    assert bench.store.ended_boards(SHARD, end, 10) == [OVER]
