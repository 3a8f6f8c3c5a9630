"""Draws on the whole path: each seed once, none skipped, and every draw recomputed from the log."""

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Thread

import pytest

from domain.errors import Code
from domain.fairness import CHAIN_LENGTH, SetupDraw, earlier_seed, entropy_text, previous_seed
from domain.match.commands import AnswerOffer, CommandEnvelope, DeclineMatch, PlayMove, StartMatch
from domain.match.events import Challenged, Gathered, MatchStarted
from domain.match.history import BrokenHistory, decode_anchor, decode_event
from domain.match.state import position_of
from infra.audit.stored_match import check
from infra.durability.durability import Mode
from infra.redis import keys
from infra.store.leases import LaneLeases
from infra.store.port import CommitResult, Write
from infra.store.redis_store import RedisStore
from infra.store.seed_chains import SeedChains, abandoned_chains
from tests.helpers.bench import Bench
from tests.helpers.doctor import damaged_matches
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.lanes import LANE
from tests.helpers.rollback import copy_of, put_back
from workers.commands.drain import TRIES, Drain


def drain_start(
    text: bytes = b"", *, gather: bool = False, options: tuple[str, ...] = ()
) -> StartMatch:
    return StartMatch(
        rules="powerdrain/1", options=options, seats=(ALICE, BOB), text=text, gather=gather
    )


def draw_of(bench: Bench, board: int) -> SetupDraw:
    for envelope in map(decode_event, bench.store.events(board)):
        if isinstance(envelope.body, MatchStarted) and envelope.body.draw:
            return envelope.body.draw
    raise AssertionError(f"match {board} drew nothing")


def test_a_start_that_draws_records_the_setup_and_reveals_its_seed(bench: Bench) -> None:
    text = entropy_text(bytes(16), "word")
    bench.send(ALICE, drain_start(text), 3)
    assert bench.drain() == 1
    draw = draw_of(bench, 3)
    assert (draw.chain, draw.k, draw.texts) == (1, 1, (text, b""))
    assert bench.state(3).setup is not None
    leaves = [leaf for _, leaf in bench.store.leaves(3, 0, 10)]
    assert previous_seed(draw.seed) == decode_anchor(leaves[0]).anchor
    assert leaves[1] == bench.store.events(3)[0]
    assert check(bench.store, 3).endswith(
        "what was dealt follows from seed 1 of chain 1, anchored before as leaf 0"
    )


def test_several_starts_of_a_batch_use_one_seed_each(bench: Bench) -> None:
    boards = [3, 7, 11, 15, 19]
    for board in boards:
        bench.send(ALICE, drain_start(), board)
    assert bench.drain() == 5
    draws = [draw_of(bench, board) for board in boards]
    assert [draw.k for draw in draws] == [1, 2, 3, 4, 5]
    assert all(previous_seed(b.seed) == a.seed for a, b in itertools.pairwise(draws))
    assert len({bench.state(board).setup for board in boards}) == 5


def test_a_start_that_draws_nothing_uses_no_seed(bench: Bench) -> None:
    bench.send(ALICE, drain_start(options=("-o1", "-p")), 3)
    bench.send(ALICE, drain_start(options=("-nonsense",)), 7)
    bench.drain()
    assert bench.store.seed_chain(3) is None
    assert bench.state(3).started
    assert not bench.state(7).started


def test_a_refused_start_leaves_its_seed_to_the_next(bench: Bench) -> None:
    bench.send(ALICE, drain_start(), 3)
    bench.send(ALICE, drain_start(), 3)
    bench.send(ALICE, drain_start(), 7)
    bench.drain()
    assert draw_of(bench, 7).k == 2
    drawn = bench.store.seed_chain(3)
    assert drawn is not None
    assert drawn.used == 2


def test_concurrent_starts_repeat_and_skip_no_seed(bench: Bench) -> None:
    boards = range(3, 3 + 4 * 30, 4)
    orders = [bench.send(ALICE, drain_start(), board) for board in boards]

    def run() -> None:
        # four drains that all believe the lane to be theirs, as zombies do
        bench.queue.delete(keys.lease(LANE))
        store = RedisStore(bench.client, Mode.FSYNC)
        lanes, seeds = LaneLeases(bench.queue, bench.woken.append), SeedChains(store, bench.folder)
        Drain(store, lanes, bench.queue, LANE, seeds=seeds, data=bench.client).run()

    threads = [Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    while bench.store.inbox_size(range(4)):
        bench.queue.delete(keys.lease(LANE))
        bench.drain()
    assert all((outcome := bench.outcome(order)) and outcome.accepted for order in orders)
    draws = sorted(
        (draw_of(bench, board) for board in boards), key=lambda draw: (draw.chain, draw.k)
    )
    # a drain that is overtaken after it has noted its seeds ends the chain
    for _, of_chain in itertools.groupby(draws, lambda draw: draw.chain):
        found = list(of_chain)
        assert [draw.k for draw in found] == list(range(1, len(found) + 1))
        assert all(previous_seed(b.seed) == a.seed for a, b in itertools.pairwise(found))


def test_a_match_that_gathers_starts_with_the_last_consent(bench: Bench) -> None:
    mine, theirs = entropy_text(bytes(16), "mine"), entropy_text(bytes(16), "theirs")
    bench.send(ALICE, drain_start(mine, gather=True), 3)
    early = bench.send(ALICE, PlayMove(text="24-57"), 3)
    again = bench.send(ALICE, AnswerOffer(accept=True), 3)
    bench.drain()
    assert bench.state(3).awaits_entropy
    outcomes = [bench.outcome(early), bench.outcome(again)]
    assert [o.code for o in outcomes if o] == [Code.NOT_STARTED, Code.OFFER_STANDS]
    bench.send(BOB, AnswerOffer(accept=True, text=theirs), 3)
    bench.drain()
    bodies = [decode_event(data).body for data in bench.store.events(3)]
    assert [type(body) for body in bodies] == [Challenged, Gathered, MatchStarted]
    assert draw_of(bench, 3).texts == (mine, theirs)
    assert not bench.state(3).awaits_entropy
    assert position_of(bench.state(3)) is not None
    assert "follows from seed 1 of chain 1" in check(bench.store, 3)


@pytest.mark.parametrize("no", [AnswerOffer(accept=False), DeclineMatch()])
def test_a_match_that_gathers_can_be_declined(bench: Bench, no: AnswerOffer | DeclineMatch) -> None:
    bench.send(ALICE, drain_start(gather=True), 3)
    stranger = bench.send(CAROL, AnswerOffer(accept=True), 3)
    order: CommandEnvelope = bench.send(BOB, no, 3)
    bench.drain()
    refused, done = bench.outcome(stranger), bench.outcome(order)
    assert refused is not None
    assert refused.code == Code.NOT_A_PLAYER
    assert done is not None
    assert done.accepted
    assert bench.state(3).over
    assert check(bench.store, 3).startswith("match 3 holds")


def test_nothing_is_gathered_where_chance_decides_nothing(bench: Bench) -> None:
    order = bench.send(ALICE, drain_start(gather=True, options=("-o1", "-p")), 3)
    bench.drain()
    outcome = bench.outcome(order)
    assert outcome is not None
    assert outcome.code == Code.BAD_OPTION


def test_a_seed_that_was_not_anchored_is_found(bench: Bench) -> None:
    bench.send(ALICE, drain_start(), 3)
    bench.drain()
    name = keys.seed_chain(3)
    saved = bench.client.hget(name, "index:1")
    bench.client.hdel(name, "index:1")
    with pytest.raises(BrokenHistory, match="was never anchored"):
        check(bench.store, 3)
    bench.client.hset(name, "index:1", 1)
    with pytest.raises(BrokenHistory, match="does not lead back to the chain's anchor"):
        check(bench.store, 3)
    bench.client.hset(name, "index:1", saved)
    assert check(bench.store, 3)


def without_secrets(bench: Bench, folder: Path) -> SeedChains:
    """Take the folder of seeds away, after shard 3 has drawn; return the seeds that were used."""
    bench.send(ALICE, drain_start(), 3)
    bench.drain()
    there, bench.seeds = bench.seeds, SeedChains(bench.store, folder)
    return there


def test_without_the_secret_a_start_waits_and_other_matches_go_on(
    bench: Bench, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    there = without_secrets(bench, tmp_path / "elsewhere")
    lost = bench.send(ALICE, drain_start(), 7)
    behind = bench.send(BOB, DeclineMatch(), 7)
    fine = bench.send(ALICE, drain_start(options=("-o1", "-p")), 11)
    for _ in range(TRIES + 2):
        bench.drain()
    assert bench.outcome(lost) is None
    assert bench.outcome(behind) is None
    other = bench.outcome(fine)
    assert other is not None
    assert other.accepted
    alarms = [record for record in caplog.records if "ALARM" in record.message]
    assert len(alarms) == 1
    assert "the secret of chain 1 of shard 3 is missing" in alarms[0].message
    bench.seeds = there
    bench.drain()
    done = bench.outcome(lost)
    assert done is not None
    assert done.accepted
    assert bench.outcome(behind) is not None


def test_a_start_goes_on_once_its_secret_is_restored(
    bench: Bench, tmp_path: Path, wait_until: Callable[[Callable[[], object]], None]
) -> None:
    there = without_secrets(bench, tmp_path / "elsewhere")
    lost = bench.send(ALICE, drain_start(), 7)
    bench.drain()
    assert bench.outcome(lost) is None
    there._folder.rename(tmp_path / "elsewhere")
    wait_until(lambda: bench.drain() == 1)
    done = bench.outcome(lost)
    assert done is not None
    assert done.accepted


def test_starts_that_wait_request_no_drain_and_are_tried_once_in_each(
    bench: Bench, tmp_path: Path
) -> None:
    without_secrets(bench, tmp_path / "elsewhere")
    for board in range(7, 7 + 4 * 200, 4):
        bench.send(ALICE, drain_start(), board)
    fine = bench.send(ALICE, drain_start(options=("-o1", "-p")), 2_003)
    bench.woken.clear()
    asked: list[str] = []
    find = bench.seeds._next
    bench.seeds._next = lambda *words: (asked.append("next"), find(*words))[1]  # type: ignore[method-assign]
    assert bench.drain() == 1
    assert bench.woken == []
    assert len(asked) == 1
    other = bench.outcome(fine)
    assert other is not None
    assert other.accepted


def test_a_start_that_waits_is_never_refused_as_a_suspect(bench: Bench, tmp_path: Path) -> None:
    there = without_secrets(bench, tmp_path / "elsewhere")
    lost = bench.send(ALICE, drain_start(), 7)
    for _ in range(TRIES + 2):
        # the drain before was cut off, so everything that waits is suspected
        bench.queue.set(keys.lease_mark(0), "x")
        bench.drain()
    assert bench.client.hlen(keys.attempts(3)) == 0
    bench.seeds = there
    bench.drain()
    done = bench.outcome(lost)
    assert done is not None
    assert done.accepted


def test_a_folder_without_the_others_secrets_anchors_no_chain(bench: Bench, tmp_path: Path) -> None:
    """A second machine that does not share the folder would make draws of the first fail."""
    without_secrets(bench, tmp_path / "elsewhere")
    first = bench.send(ALICE, drain_start(), 8)
    bench.drain()
    assert bench.outcome(first) is None
    assert bench.store.seed_chain(0) is None
    assert list((tmp_path / "elsewhere").glob("*")) == []


def test_starts_of_a_batch_read_the_chain_of_their_shard_once(bench: Bench) -> None:
    bench.send(ALICE, drain_start(), 3)
    bench.drain()
    reads: list[int] = []
    read = bench.store.seed_chain
    bench.store.seed_chain = lambda shard: (reads.append(shard), read(shard))[1]  # type: ignore[method-assign]
    for board in (7, 11, 15, 19):
        bench.send(ALICE, drain_start(), board)
    bench.drain()
    assert [draw_of(bench, board).k for board in (7, 11, 15, 19)] == [2, 3, 4, 5]
    assert reads == [3]


def test_a_chain_ends_and_the_next_is_anchored(bench: Bench) -> None:
    bench.send(ALICE, drain_start(), 3)
    bench.drain()
    bench.client.hset(keys.seed_chain(3), "k", CHAIN_LENGTH - 1)
    for board in (7, 11):
        bench.send(ALICE, drain_start(), board)
    bench.drain()
    assert [(draw_of(bench, b).chain, draw_of(bench, b).k) for b in (7, 11)] == [
        (1, CHAIN_LENGTH),
        (2, 1),
    ]
    last = draw_of(bench, 7)
    assert earlier_seed(last.seed, CHAIN_LENGTH - 1) == draw_of(bench, 3).seed
    assert "seed 1 of chain 2" in check(bench.store, 11)


# data that was put back in time


def start_all(bench: Bench, *boards: int) -> list[SetupDraw]:
    for board in boards:
        bench.send(ALICE, drain_start(), board)
    bench.drain()
    return [draw_of(bench, board) for board in boards]


def test_no_seed_is_used_again_when_data_was_put_back(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    start_all(bench, 3)
    before_it = copy_of(bench.client)
    seen = {draw.seed for draw in [*start_all(bench, 7, 11), *start_all(bench, 15, 19)]}
    put_back(bench.client, before_it)
    bench.seeds = SeedChains(bench.store, bench.folder)
    again = start_all(bench, 7, 11, 15, 19)
    assert not seen & {draw.seed for draw in again}
    assert {draw.chain for draw in again} == {2}
    assert dict(damaged_matches(bench.store, (3, 7, 11, 15, 19))) == {}
    assert "ALARM: shard 3: seeds up to number 5 of chain 1 were used" in caplog.text
    (why,) = abandoned_chains(bench.folder)
    assert why.endswith(
        "the data knows of 1: it was put back; the draws to come are of a new chain"
    )


def test_a_living_worker_sees_that_data_was_put_back(bench: Bench) -> None:
    start_all(bench, 3)
    before_it = copy_of(bench.client)
    seen = start_all(bench, 7, 11)
    put_back(bench.client, before_it)
    assert not {draw.seed for draw in seen} & {draw.seed for draw in start_all(bench, 7, 11)}


def test_draws_that_were_cut_off_are_no_alarm(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    start_all(bench, 3)

    class Killed(RedisStore):
        def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
            raise KeyboardInterrupt(f"killed before {len(writes)} were committed")

    store = Killed(bench.client, Mode.FSYNC)
    for board in (7, 11):
        bench.send(ALICE, drain_start(), board)
    with pytest.raises(KeyboardInterrupt):
        Drain(
            store,
            bench.lanes,
            bench.queue,
            LANE,
            data=bench.client,
            seeds=SeedChains(store, bench.folder),
        ).run()
    bench.queue.delete(keys.lease(LANE))
    assert [draw.chain for draw in start_all(bench, 15)] == [2]
    assert dict(damaged_matches(bench.store, (3, 7, 11, 15))) == {}
    assert "draws were cut off" in caplog.text
    assert "ALARM" not in caplog.text
    assert abandoned_chains(bench.folder) == []


def test_the_mark_is_on_the_disk_before_the_draw_is_committed(bench: Bench) -> None:
    marks: list[bytes] = []

    class Looking(RedisStore):
        def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
            marks.extend(file.read_bytes() for file in bench.folder.glob("*.used"))
            return super().commit(writes)

    store = Looking(bench.client, Mode.FSYNC)
    for board in (3, 7):
        bench.send(ALICE, drain_start(), board)
    Drain(
        store,
        bench.lanes,
        bench.queue,
        LANE,
        data=bench.client,
        seeds=SeedChains(store, bench.folder),
    ).run()
    assert marks == [b"       1        2\n"]


def test_a_mark_that_can_not_be_read_stands_for_all_seeds(bench: Bench) -> None:
    start_all(bench, 3)
    (mark,) = bench.folder.glob("*.used")
    mark.write_bytes(bytes(18))
    assert [draw.chain for draw in start_all(bench, 7)] == [2]


def test_data_that_is_older_than_marks_goes_on_with_its_chain(bench: Bench) -> None:
    start_all(bench, 3)
    (mark,) = bench.folder.glob("*.used")
    mark.unlink()
    assert [(draw.chain, draw.k) for draw in start_all(bench, 7)] == [(1, 2)]
    assert mark.exists()
