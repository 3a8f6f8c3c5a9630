"""Draws and deals on the whole path: each seed once, none skipped, and every draw recomputed from the log."""

import itertools
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from msgspec.structs import replace
from redis import Redis

from domain.clocks.time_control import DAY
from domain.fairness import CHAIN_LENGTH, Commitment, SetupDraw, previous_seed
from domain.match.commands import AnswerOffer, DeclineMatch, MakeOffer, RevealText, StartMatch
from domain.match.events import Declined, MatchStarted, Revealed, Sealed, Withheld
from domain.match.history import decode_event
from domain.records import SERVER_ACCOUNT
from infra.audit.leaf_order import LeafOrder
from infra.audit.stored_match import check
from infra.durability.durability import Mode
from infra.people.seen_texts import SeenTexts
from infra.redis import keys
from infra.store.draw_texts import DrawTexts
from infra.store.leases import LaneLeases
from infra.store.port import CommitResult, Write
from infra.store.redis_store import RedisStore
from infra.store.seed_chains import SeedChains, abandoned_chains
from tests.fakes.dying import Killed
from tests.helpers.bench import Bench
from tests.helpers.doctor import damaged_matches
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.lanes import LANE
from tests.helpers.rollback import copy_of, put_back
from tests.helpers.timed import BEGIN, SHORT, TimedBench
from tests.helpers.writes import CommitsInOne
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


def test_concurrent_starts_repeat_and_skip_no_seed(bench):
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


def without_secrets(bench: Bench, folder: Path) -> SeedChains:
    """Take the folder of seeds away, after shard 3 has drawn; return the seeds that were used."""
    bench.send(ALICE, drain_start(), 3)
    bench.drain()
    there, bench.seeds = bench.seeds, SeedChains(bench.store, folder)
    return there


def test_without_the_secret_a_start_waits_and_other_matches_go_on(bench, tmp_path, caplog):
    there = without_secrets(bench, tmp_path / "elsewhere")
    lost = [bench.send(ALICE, drain_start(), board) for board in range(7, 7 + 4 * 200, 4)]
    behind = bench.send(BOB, DeclineMatch(), 7)
    fine = bench.send(ALICE, drain_start(options=("-o1", "-p")), 2_003)
    bench.woken.clear()
    asked: list[str] = []
    find = bench.seeds._next
    bench.seeds._next = lambda *words: (asked.append("next"), find(*words))[1]  # type: ignore[method-assign]
    assert bench.drain() == 1
    assert bench.woken == [], "what waits requests no drain"
    assert len(asked) == 1, "and is tried once"
    for _ in range(TRIES + 2):
        # the drain before was cut off, so everything that waits is suspected
        bench.queue.set(keys.lease_mark(0), "x")
        bench.drain()
    assert bench.client.hlen(keys.attempts(3)) == 0
    assert not any(map(bench.outcome, (*lost, behind)))
    assert bench.outcome(fine).accepted
    (alarm,) = [record.message for record in caplog.records if "ALARM" in record.message]
    assert "the secret of chain 1 of shard 3 is missing" in alarm
    bench.seeds = there
    while bench.store.inbox_size(range(4)):
        bench.drain()
    assert all(bench.outcome(one).accepted for one in lost[1:])
    assert bench.outcome(behind) is not None


def test_a_folder_without_the_others_secrets_anchors_no_chain(bench, tmp_path):
    """A second machine that does not share the folder would make draws of the first fail."""
    without_secrets(bench, tmp_path / "elsewhere")
    first = bench.send(ALICE, drain_start(), 8)
    bench.drain()
    assert bench.outcome(first) is None
    assert bench.store.seed_chain(0) is None
    assert list((tmp_path / "elsewhere").glob("*")) == []


def start_all(bench: Bench, *boards: int) -> list[SetupDraw]:
    for board in boards:
        bench.send(ALICE, drain_start(), board)
    while bench.store.inbox_size(range(4)):
        bench.drain()
    return [draw_of(bench, board) for board in boards]


def test_no_seed_is_used_again_when_data_was_put_back(bench, caplog):
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


def test_the_mark_is_on_the_disk_before_the_draw_is_committed(bench):
    marks: list[bytes] = []

    class Looking(CommitsInOne):
        def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
            marks.extend(file.read_bytes() for file in bench.folder.glob("*.used"))
            return super().commit(writes)

    store = Looking(bench.client, Mode.FSYNC)
    for board in (3, 7):
        bench.send(ALICE, drain_start(), board)
    drain_on(bench, store)
    assert marks == [b"       1        2\n"]


@pytest.mark.parametrize(("mark", "draws"), [(bytes(18), (2, 1)), (None, (1, 2))])
def test_a_mark_that_can_not_be_read_stands_for_all_seeds_and_none_for_older_data(
    bench, mark, draws
):
    start_all(bench, 3)
    (file,) = bench.folder.glob("*.used")
    if mark is None:
        file.unlink()
    else:
        file.write_bytes(mark)
    assert [(draw.chain, draw.k) for draw in start_all(bench, 7)] == [draws]
    assert any(bench.folder.glob("*.used"))


class Killing(CommitsInOne):
    """A store whose process is killed before it commits, or after."""

    after = False

    def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
        if self.after:
            super().commit(writes)
        raise Killed


def drain_on(bench: Bench, store: RedisStore) -> int:
    """Drain by a process of its own, which has another store."""
    seeds = SeedChains(store, bench.folder)
    return Drain(store, bench.lanes, bench.queue, LANE, data=bench.client, seeds=seeds).run()


TEXTS = {ALICE: b"alice's text", BOB: b"bob's text", CAROL: b"carol's text"}


NOBODY = Commitment()


def to(account: bytes) -> Commitment:
    return Commitment(sha256(TEXTS[account]).digest())


def call(*commitments: Commitment, **more: object) -> StartMatch:
    return StartMatch(
        rules="powerdrain/1",
        options=(),
        seats=(ALICE, BOB),
        gather=True,
        commitments=commitments,
        **more,  # type: ignore[arg-type]
    )


def bodies(bench: Bench, board: int, kind: type) -> list:
    found = [decode_event(data).body for data in bench.store.events(board)]
    return [body for body in found if isinstance(body, kind)]


def seal(bench: Bench, board: int) -> None:
    bench.send(ALICE, call(to(ALICE), NOBODY), board)
    bench.send(BOB, AnswerOffer(accept=True, commitment=to(BOB)), board)
    bench.drain()


def reveal(bench: Bench, board: int, *accounts: bytes) -> None:
    for account in accounts:
        bench.send(account, RevealText(text=TEXTS[account]), board)
    bench.drain()


def plain(bench: Bench, board: int) -> MatchStarted:
    bench.send(ALICE, StartMatch(rules="powerdrain/1", options=(), seats=(ALICE, BOB)), board)
    bench.drain()
    return bodies(bench, board, MatchStarted)[0]


def drawn(bench: Bench, board: int) -> tuple[int, int]:
    draw = bodies(bench, board, MatchStarted)[0].draw
    return draw.chain, draw.k


def test_a_sealed_seed_of_a_chain_that_has_come_to_its_end_still_draws(bench):
    plain(bench, 3)
    bench.client.hset(keys.seed_chain(3), "k", CHAIN_LENGTH - 1)
    seal(bench, 7)
    plain(bench, 11)
    reveal(bench, 7, ALICE, BOB)
    assert [drawn(bench, board) for board in (7, 11)] == [(1, CHAIN_LENGTH), (2, 1)]
    assert "seed 65536 of chain 1" in check(bench.store, 7)


def test_what_the_server_keeps_is_revealed_with_the_seal(bench):
    words = DrawTexts(bench.client)
    bench.send(ALICE, call(words.commitment(3, ALICE, "luck"), NOBODY), 3)
    bench.drain()
    assert bodies(bench, 3, Revealed) == []
    bench.send(BOB, AnswerOffer(accept=True, commitment=words.commitment(3, BOB)), 3)
    bench.drain()
    revealed = bodies(bench, 3, Revealed)
    assert [body.seat for body in revealed] == [0, 1]
    assert revealed[0].text == words.text(3, ALICE) + sha256(b"luck").digest()
    actors = {decode_event(data).actor for data in bench.store.events(3) if b"revealed" in data}
    assert actors == {SERVER_ACCOUNT}
    assert not bench.state(3).awaits_entropy
    assert "and kept the texts of all players" in check(bench.store, 3)


def test_a_match_declined_in_each_phase_holds(bench):
    bench.send(ALICE, call(to(ALICE), NOBODY), 3)
    bench.send(BOB, DeclineMatch(), 3)
    # a browser with the text of one match was seen, and none with that of the other
    SeenTexts(bench.client).note(ALICE, [7], BEGIN)
    for board in (7, 11):
        seal(bench, board)
        reveal(bench, board, BOB)
        bench.send(ALICE, DeclineMatch(), board)
    bench.drain()
    assert [bodies(bench, board, Declined | Withheld) for board in (3, 7, 11)] == [
        [Declined(seat=1)],
        [Withheld(seat=0)],
        [Declined(seat=0)],
    ]
    assert "because seat 1 didn't reveal a text" in check(bench.store, 7)
    for board in (3, 11):
        assert "did not reveal" not in check(bench.store, board)
    # their seeds are used up, and draw nothing else
    assert plain(bench, 15).draw.k == 3


@pytest.fixture
def timed(redis_client: Redis, tmp_path: Path) -> TimedBench:
    return TimedBench(redis_client, tmp_path / "seeds")


def test_the_scheduler_ends_a_match_whose_players_do_not_reveal(timed):
    for board in (1, 2):
        timed.send(ALICE, call(to(ALICE), to(BOB), terms=SHORT), board)
        timed.send(BOB, RevealText(text=TEXTS[BOB]), board)
    timed.drain()
    SeenTexts(timed.client).note(ALICE, [1], BEGIN)
    keeper = timed.keeper()
    timed.tick(keeper, 3 * DAY - 1)
    assert not timed.state().over
    timed.tick(keeper, 3 * DAY)
    assert bodies(timed, 1, Declined | Withheld) == [Withheld(seat=0)]
    # of the other match no browser with alice's text was seen
    assert bodies(timed, 2, Declined | Withheld) == [Declined(seat=0)]
    for board in (1, 2):
        assert decode_event(timed.store.events(board)[-1]).actor == SERVER_ACCOUNT
        assert "holds" in check(timed.store, board)
    assert timed.store.due_boards(1, BEGIN + 99 * DAY, 10) == []
    timed.tick(keeper, 4 * DAY)
    assert timed.waits() == 0


LAPSE = 14 * DAY


def test_a_sealed_match_can_be_declined_while_the_secrets_are_lost_but_not_dealt(bench):
    for board in (3, 7):
        seal(bench, board)
    bench.send(BOB, MakeOffer(kind="deal"), 7)
    bench.drain()
    for file in bench.folder.iterdir():
        file.unlink()
    bench.seeds = type(bench.seeds)(bench.store, bench.folder)
    bench.send(BOB, AnswerOffer(accept=False), 3)
    bench.send(ALICE, AnswerOffer(accept=True), 7)
    bench.drain()
    assert bench.state(3).over
    assert bench.state(7).sealed
    assert bench.store.inbox_size(range(4)) == 1


def steps_of(chance: random.Random, board: int, words: DrawTexts) -> list[tuple[bytes, Any]]:
    """The commands of a match of some kind of deal, in an order in which they may come."""
    committed = AnswerOffer(accept=True, commitment=to(BOB))
    reveals = [(who, RevealText(text=TEXTS[who])) for who in chance.sample([ALICE, BOB], 2)]
    own = [words.commitment(board, who) for who in (ALICE, BOB)]
    by_server = call(own[0], NOBODY, lapse=LAPSE, server_deals=True)
    three = replace(call(to(ALICE), NOBODY, NOBODY), rules="halves/1", seats=(ALICE, BOB, CAROL))
    found = chance.choice([
        [(ALICE, drain_start(b"word")), (ALICE, drain_start())],
        [(ALICE, drain_start(options=("-o1", "-p")))],
        [(ALICE, drain_start(b"mine", gather=True)), (BOB, AnswerOffer(accept=True, text=b"theirs"))],
        [(ALICE, call(to(ALICE), NOBODY)), (BOB, committed), *reveals],
        [(ALICE, call(to(ALICE), to(BOB))), *reveals, reveals[0]],
        [(ALICE, by_server), (BOB, AnswerOffer(accept=True, commitment=own[1]))],
        [(ALICE, call(to(ALICE), NOBODY, lapse=LAPSE)), (BOB, committed), reveals[0],
         (reveals[1][0], MakeOffer(kind="deal")), (reveals[0][0], AnswerOffer(accept=True))],
        [(ALICE, three), *((who, AnswerOffer(accept=True, commitment=to(who))) for who in (CAROL, BOB)),
         *((who, RevealText(text=TEXTS[who])) for who in chance.sample([ALICE, BOB, CAROL], 3))],
    ])  # fmt: skip
    if chance.random() < 0.2:
        found[chance.randrange(1, len(found) + 1) :] = [(BOB, DeclineMatch())]
    return found


@pytest.mark.parametrize("seed", range(2))
def test_whatever_is_dealt_by_chance_each_seed_is_used_once_and_none_is_skipped(bench, seed):
    """Matches of all kinds of one shard go on side by side, and drains are killed with their commits."""
    chance, words = random.Random(seed), DrawTexts(bench.client)
    boards = range(3, 3 + 4 * 16, 4)
    left = {board: steps_of(chance, board, words) for board in boards}
    while any(left.values()):
        board = chance.choice([board for board in boards if left[board]])
        bench.send(*left[board].pop(0), board)
        if chance.random() < 0.3:
            bench.drain()
        elif chance.random() < 0.1:
            store = Killing(bench.client, Mode.FSYNC)
            store.after = chance.random() < 0.5
            with suppress(Killed):
                drain_on(bench, store)
            bench.queue.delete(keys.lease(LANE))
    while bench.store.inbox_size(range(4)):
        bench.drain()
    check_draws(bench, boards)


def check_draws(bench: Bench, boards: Iterable[int]) -> None:
    """Each match holds, and of each chain the first seeds were used, once."""
    used, last = defaultdict(list), {}
    for board in boards:
        if bench.store.events(board):
            assert "holds" in check(bench.store, board)
        sealed = bodies(bench, board, Sealed)
        starts = [body.draw for body in bodies(bench, board, MatchStarted) if body.draw]
        for one in sealed or starts:
            used[one.chain].append(one.k)
        if sealed and starts:
            assert (starts[0].chain, starts[0].k) == (sealed[0].chain, sealed[0].k)
        last |= {(one.chain, one.k): one.seed for one in starts}
    assert {chain: sorted(ks) for chain, ks in used.items()} == {
        chain: [*range(1, len(ks) + 1)] for chain, ks in used.items()
    }
    for (chain, k), seed_ in last.items():
        assert previous_seed(seed_) == last.get((chain, k - 1), previous_seed(seed_))
    order = LeafOrder(3, 4)
    for index, leaf in bench.store.leaves(3, 0, 1_000):
        order.add(index, leaf)
    assert (order.faults, order.used) == ([], {chain: len(ks) for chain, ks in used.items()})
    assert sum(map(len, used.values())) > 8


def test_draws_that_were_cut_off_are_no_alarm(bench, caplog):
    start_all(bench, 3)
    for board in (7, 11):
        bench.send(ALICE, drain_start(), board)
    with pytest.raises(Killed):
        drain_on(bench, Killing(bench.client, Mode.FSYNC))
    bench.queue.delete(keys.lease(LANE))
    assert [draw.chain for draw in start_all(bench, 15)] == [2]
    assert dict(damaged_matches(bench.store, (3, 7, 11, 15))) == {}
    assert "draws were cut off" in caplog.text
    assert "ALARM" not in caplog.text
    assert abandoned_chains(bench.folder) == []


def test_starts_of_a_batch_read_the_chain_of_their_shard_once(bench):
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
