"""The drain on a real server, one step at a time."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from domain.errors import Code
from domain.match import commands
from domain.match.audit import verify
from domain.match.commands import CommandEnvelope, PlayMove, ResignMatch
from domain.match.history import decode_refusal
from infra.durability.durability import Mode
from infra.redis import keys
from infra.store.channels import LogListener, board_of
from infra.store.port import AlreadyDecided, CommitResult, Write
from infra.store.redis_store import RedisStore
from tests.helpers.bench import Bench
from tests.helpers.gateways import OutcomeListener
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.lanes import LANE
from workers.commands.drain import SMALL_BACKLOG, SMALL_BATCH


def test_a_move_becomes_an_event_an_outcome_and_a_snapshot(bench: Bench) -> None:
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    assert bench.drain() == 1
    outcome = bench.outcome(order)
    assert outcome is not None
    assert (outcome.accepted, outcome.seq, outcome.index) == (True, 2, 1)
    assert bench.state().moves == "m13-m9"
    assert verify(1, bench.store.events(1)).state == bench.state()


def test_a_refused_command_has_an_outcome_and_a_leaf_but_no_event(bench: Bench) -> None:
    bench.start(1)
    order = bench.send(BOB, PlayMove(text="a1-a5"))
    bench.drain()
    outcome = bench.outcome(order)
    assert outcome is not None
    assert outcome.code == Code.NOT_YOUR_TURN
    assert outcome.sentence == "you play Dark, and it is Light's turn"
    assert len(bench.store.events(1)) == 1
    (_, (index, leaf)) = bench.store.leaves(1, 0, 10)
    assert index == outcome.index == 1
    assert decode_refusal(leaf).move == "a1-a5"


def test_several_moves_of_a_match_are_decided_one_upon_the_other_in_one_batch(
    bench: Bench,
) -> None:
    bench.start(1)
    orders = [bench.send(ALICE, PlayMove(text="m13-m9")), bench.send(BOB, PlayMove(text="a13-c11"))]
    orders.append(bench.send(BOB, PlayMove(text="a1-a5")))
    assert bench.drain() == 3
    outcomes = [bench.outcome(order) for order in orders]
    assert [o.code if o else None for o in outcomes] == ["", "", Code.NOT_YOUR_TURN]
    assert bench.state().ply == 2


def test_matches_of_all_shards_are_worked_together(bench: Bench) -> None:
    bench.start(*range(1, 21))
    for board in range(1, 21):
        bench.send(ALICE, PlayMove(text="m13-m9"), board)
    assert bench.drain() == 20
    assert all(bench.state(board).ply == 1 for board in range(1, 21))


def test_the_same_command_five_times_is_one_event_and_five_equal_answers(bench: Bench) -> None:
    bench.start(1)
    order = bench.order(ALICE, PlayMove(text="m13-m9"))
    for _ in range(4):
        bench.submit(order)
    bench.drain()
    answer = bench.submit(order)
    assert isinstance(answer, AlreadyDecided)
    assert answer.stored == bench.store.outcome(1, order.id)
    assert len(bench.store.events(1)) == 2
    assert bench.store.inbox_size(range(4)) == 0


def test_an_id_used_again_for_another_command_gets_the_first_ones_outcome(bench: Bench) -> None:
    bench.start(1)
    first = bench.order(ALICE, PlayMove(text="m13-m9"))
    second = CommandEnvelope(1, first.id, ALICE, PlayMove(text="m13-j7"))
    bench.submit(first)
    bench.submit(second)
    bench.drain()
    outcome = bench.outcome(first)
    assert outcome is not None
    assert outcome.digest == commands.command_digest(commands.encode_command(first))
    assert outcome.digest != commands.command_digest(commands.encode_command(second))
    assert bench.state().moves == "m13-m9"


def test_the_doors_are_told_each_its_own_outcomes(bench: Bench) -> None:
    bench.start(1)
    web, mail = (
        OutcomeListener(bench.queue, "reply:web"),
        OutcomeListener(bench.queue, "reply:mail"),
    )
    first, second = bench.order(ALICE, PlayMove(text="m13-m9")), bench.order(CAROL, ResignMatch())
    bench.submit(first, "reply:web")
    bench.submit(second, "reply:mail")
    bench.drain()
    assert [id_ for id_, _ in web.poll(5)] == [first.id]
    assert [id_ for id_, _ in mail.poll(5)] == [second.id]
    web.close()
    mail.close()


def test_a_change_of_a_match_is_published_once_a_batch_with_its_last_event(bench: Bench) -> None:
    bench.start(1, 2)
    subscribed: Any = bench.queue.pubsub()
    subscribed.psubscribe("board:*")
    subscribed.get_message(timeout=60)
    bench.send(ALICE, PlayMove(text="m13-m9"), 1)
    bench.send(BOB, PlayMove(text="a13-c11"), 1)
    bench.send(BOB, PlayMove(text="a1-a5"), 2)
    bench.drain()
    bench.send(ALICE, ResignMatch(), 2)
    bench.drain()
    heard = [subscribed.get_message(timeout=60) for _ in range(2)]
    assert [(board_of(one["channel"]), int(one["data"])) for one in heard] == [(1, 3), (2, 3)]
    assert subscribed.get_message(timeout=0) is None
    subscribed.close()


def test_the_shards_with_new_leaves_are_published_once_a_batch(bench: Bench) -> None:
    bench.start(1, 2)
    news = LogListener(bench.queue)
    news.wait(5)  # for the confirmation
    bench.send(ALICE, PlayMove(text="m13-m9"), 1)
    bench.send(ALICE, PlayMove(text="nonsense"), 2)
    bench.drain()
    assert news.wait(60) == {1, 2}, "a refusal is a leaf, too"
    bench.drain()
    assert news.wait(0) == set()
    news.close()


def one_after_the_other(bench: Bench, *steps: Callable[[], object]) -> int:
    """Let a drain run that does the steps between its batches; return the number of outcomes."""
    left = list(steps)

    def next_step() -> bool:
        if left:
            left.pop(0)()
        return False

    return bench.drain(next_step)


def test_a_match_that_goes_on_is_read_once_in_a_drain(bench: Bench) -> None:
    bench.start(1)
    looked: list[int] = []

    class Watched(RedisStore):
        def snapshots_with_conditional_moves(
            self, boards: Sequence[int]
        ) -> list[tuple[bytes | None, bytes]]:
            looked.extend(boards)
            return super().snapshots_with_conditional_moves(boards)

    bench.store = Watched(bench.client, Mode.FSYNC)
    bench.send(ALICE, PlayMove(text="m13-m9"))
    done = one_after_the_other(
        bench,
        lambda: bench.send(ALICE, PlayMove(text="m9-m13")),
        lambda: bench.send(BOB, PlayMove(text="a13-a9")),
    )
    assert (done, looked) == (3, [1])
    assert bench.state().moves == "m13-m9 a13-a9"
    assert verify(1, bench.store.events(1)).state == bench.state()


def together(bench: Bench, boards: int) -> list[list[int]]:
    """Submit a move on each of so many boards; return the boards of each commit of a drain."""
    bench.start(*range(1, boards + 1))
    commits: list[list[int]] = []

    class Watched(RedisStore):
        def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
            commits.append([write.board for write in writes])
            return super().commit(writes)

    bench.store = Watched(bench.client, Mode.FSYNC)
    for sent, board in enumerate(range(boards, 0, -1)):
        if sent % SMALL_BATCH == 0:
            time.sleep(0.002)  # those of one millisecond may change places
        bench.send(ALICE, PlayMove(text="m13-m9"), board)
    assert bench.drain() == boards
    return commits


def test_a_few_commands_are_committed_in_small_batches_the_oldest_first(bench: Bench) -> None:
    commits = together(bench, SMALL_BACKLOG)
    assert [len(boards) for boards in commits] == [SMALL_BATCH] * (SMALL_BACKLOG // SMALL_BATCH)
    # handed in from the highest board down
    assert min(commits[0]) > max(commits[-1])


def test_a_backlog_is_worked_at_once(bench: Bench) -> None:
    assert [len(boards) for boards in together(bench, SMALL_BACKLOG + 1)] == [SMALL_BACKLOG + 1]


def test_what_another_drain_wrote_in_between_is_noticed(bench: Bench) -> None:
    bench.start(1)
    bench.send(ALICE, PlayMove(text="m13-m9"))

    def overtake() -> None:
        bench.send(BOB, PlayMove(text="a13-a9"))
        bench.queue.delete(keys.lease(LANE))
        bench.drain()
        bench.queue.delete(keys.lease(LANE))
        bench.send(ALICE, PlayMove(text="m9-m13"))

    one_after_the_other(bench, overtake)
    bench.drain()
    assert bench.state().moves == "m13-m9 a13-a9 m9-m13"
    assert verify(1, bench.store.events(1)).state == bench.state()


def test_a_match_that_can_not_be_read_is_not_taken_for_a_new_one_later(bench: Bench) -> None:
    bench.start(1)
    name = keys.snapshot(1, 1)
    bench.client.set(name, bench.client.getrange(name, 0, 31) + b"\xc1")
    sent = [bench.send(ALICE, PlayMove(text="m13-m9"))]
    one_after_the_other(bench, lambda: sent.append(bench.send(ALICE, ResignMatch())))
    outcomes = [bench.outcome(order) for order in sent]
    assert [o.code for o in outcomes if o] == [Code.INTERNAL, Code.INTERNAL]


def test_a_small_batch_takes_the_first_command_of_each_account_first(bench: Bench) -> None:
    boards = range(1, 1 + SMALL_BACKLOG - 4)
    bench.start(*boards, 100)
    flood = [bench.send(ALICE, PlayMove(text="m13-m9"), board) for board in boards]
    neighbour = bench.send(CAROL, ResignMatch(), 100)
    assert bench.drain(stopping=lambda: True) == SMALL_BATCH
    assert bench.outcome(neighbour) is not None
    assert [bench.outcome(order) is not None for order in flood].count(True) == SMALL_BATCH - 1


def test_the_commands_of_a_match_keep_their_order_among_the_accounts(bench: Bench) -> None:
    boards = range(1, 21)
    bench.start(*boards)
    for board in boards:
        bench.send(ALICE, PlayMove(text="m13-m9"), board)
    answer = bench.send(BOB, PlayMove(text="a13-c11"), 20)
    while bench.store.inbox_size(range(4)):
        bench.drain()
    outcome = bench.outcome(answer)
    assert outcome is not None
    assert outcome.accepted
