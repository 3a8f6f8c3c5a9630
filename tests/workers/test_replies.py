"""Conditional moves on a real server: between what a drain reads and its commit."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from domain.clocks.time_control import DAY, TimeControl
from domain.errors import Code
from domain.match.audit import verify
from domain.match.commands import PlayMove, ResignMatch, StartMatch
from domain.match.conditional_moves import ConditionalMove, ConditionalMoves, pack, unpack
from domain.match.events import Flagged, Moved
from domain.match.history import decode_event, unpack_snapshot
from domain.match.state import position_of
from domain.rules import latest_rules
from infra.durability.durability import Mode
from infra.redis import keys
from infra.store.port import CommitResult, Write
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from tests.fakes.dying import Killed
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.lanes import LANE
from tests.helpers.timed import BEGIN, TimedBench
from tests.workers.stored_replies import AGAIN, FORTH, ON_OUT, OUT, laid, lay, moves
from workers.commands.drain import Drain


class Silent(RedisStore):
    """A store whose process is killed before it tells the doors anything."""

    def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
        super().commit(writes)
        raise Killed


class Meanwhile(RedisStore):
    """A store on which something happens between a drain's decisions and their commits."""

    happens: Callable[[], object]
    times = 1
    results: list[CommitResult]

    def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
        if self.times:
            self.times -= 1
            self.happens()
        self.results = [*getattr(self, "results", []), *super().commit(writes)]
        return self.results[-len(writes) :]


def meanwhile(bench: Bench, happens: Callable[[], object], times: int = 1) -> Meanwhile:
    """Drain with something happening before its first commits."""
    store = Meanwhile(bench.client, Mode.FSYNC)
    store.happens, store.times = happens, times
    Drain(store, bench.lanes, bench.client, LANE).run()
    return store


# a drain at work


def test_a_reply_is_played_with_the_move_it_waits_for(bench: Bench) -> None:
    bench.start(1)
    assert lay(bench.store, 1, ON_OUT)
    order = bench.send(ALICE, PlayMove(text=OUT))
    assert bench.drain() == 1
    assert moves(bench.store) == [(OUT, False), (FORTH, True)]
    assert [decode_event(data).actor for data in bench.store.events(1)] == [ALICE, ALICE, BOB]
    assert [decode_event(data).command for data in bench.store.events(1)[1:]] == [order.id] * 2
    assert laid(bench.store) == b""
    assert verify(1, bench.store.events(1)).state == bench.state()


def test_a_reply_laid_while_a_drain_has_the_match_in_hand_is_played_at_the_second_try(
    bench: Bench,
) -> None:
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text=OUT))
    store = meanwhile(bench, lambda: lay(bench.store, 1, ON_OUT))
    assert [type(result).__name__ for result in store.results] == ["CommitConflict", "CommitDone"]
    assert moves(bench.store) == [(OUT, False), (FORTH, True)]
    outcome = bench.outcome(order)
    assert outcome is not None
    assert (outcome.accepted, outcome.seq) == (True, 2)
    assert laid(bench.store) == b""


def test_the_neighbours_of_a_match_in_conflict_are_committed_at_the_first_try(
    bench: Bench,
) -> None:
    bench.start(1, 2, 5)
    for board in (1, 2, 5):
        bench.send(ALICE, PlayMove(text=OUT), board)
    store = meanwhile(bench, lambda: lay(bench.store, 1, ON_OUT))
    assert sorted(type(result).__name__ for result in store.results[:3]) == [
        "CommitConflict",
        "CommitDone",
        "CommitDone",
    ]
    assert len(moves(bench.store, 1)) == 2
    assert len(moves(bench.store, 2)) == len(moves(bench.store, 5)) == 1


def test_all_commands_of_a_match_behind_a_conflict_keep_their_order(bench: Bench) -> None:
    bench.start(1)
    texts = [(ALICE, OUT), (BOB, "a1-a5"), (BOB, FORTH), (ALICE, AGAIN)]
    orders = [bench.send(who, PlayMove(text=text)) for who, text in texts]
    meanwhile(bench, lambda: lay(bench.store, 1, ON_OUT))
    codes = [outcome.code for order in orders if (outcome := bench.outcome(order))]
    # with the reply it is Light's turn after the first of them
    assert codes == ["", Code.NOT_YOUR_TURN, Code.NOT_YOUR_TURN, ""]
    assert moves(bench.store) == [(OUT, False), (FORTH, True), (AGAIN, False)]


def test_a_drain_tries_as_often_as_replies_are_laid_under_its_hands(bench: Bench) -> None:
    bench.start(1)
    bench.send(ALICE, PlayMove(text=OUT))
    others = iter(["a13-c9", "a13-a9", "a1-a5", "a1-c5", FORTH])
    store = meanwhile(
        bench, lambda: lay(bench.store, 1, ConditionalMove(1, (OUT,), next(others))), times=5
    )
    assert [type(result).__name__ for result in store.results] == ["CommitConflict"] * 5 + [
        "CommitDone"
    ]
    assert moves(bench.store) == [(OUT, False), (FORTH, True)]


def test_a_refusal_does_not_mind_replies_laid_meanwhile(bench: Bench) -> None:
    bench.start(1)
    bench.send(BOB, PlayMove(text=FORTH))
    store = meanwhile(bench, lambda: lay(bench.store, 1, ON_OUT))
    assert [type(result).__name__ for result in store.results] == ["CommitDone"]
    assert unpack(laid(bench.store)) == {1: ConditionalMoves((ON_OUT,))}


def test_replies_are_not_laid_by_who_has_not_seen_the_last_move(bench: Bench) -> None:
    bench.start(1)
    head = unpack_snapshot(bench.store.snapshots([1])[0]).head
    bench.send(ALICE, PlayMove(text=OUT))
    bench.drain()
    assert not bench.store.set_conditional_moves(
        1, head, b"", pack({1: ConditionalMoves((ON_OUT,))})
    )
    assert laid(bench.store) == b""
    assert moves(bench.store) == [(OUT, False)]


def test_of_two_seats_that_lay_at_once_the_second_looks_again(bench: Bench) -> None:
    bench.start(1)
    head = unpack_snapshot(bench.store.snapshots([1])[0]).head
    light = ConditionalMove(2, (OUT, FORTH), AGAIN)
    assert bench.store.set_conditional_moves(1, head, b"", pack({1: ConditionalMoves((ON_OUT,))}))
    assert not bench.store.set_conditional_moves(
        1, head, b"", pack({0: ConditionalMoves((light,))})
    )
    assert lay(bench.store, 0, light)
    bench.send(ALICE, PlayMove(text=OUT))
    bench.drain()
    assert moves(bench.store) == [(OUT, False), (FORTH, True), (AGAIN, True)]


def test_a_reply_that_turns_out_illegal_is_dropped_with_a_note(bench: Bench) -> None:
    bench.start(1)
    lay(bench.store, 1, ConditionalMove(1, None, "a13-m1"))
    bench.send(ALICE, PlayMove(text=OUT))
    bench.drain()
    assert moves(bench.store) == [(OUT, False)]
    dark = unpack(laid(bench.store))[1]
    assert dark.moves == ()
    assert str(dark.notes[0]).startswith("a13-m1 at #1 was dropped: ")


def test_a_match_that_is_over_has_nothing_laid_ready(bench: Bench) -> None:
    bench.start(1)
    lay(bench.store, 1, ON_OUT)
    bench.send(ALICE, ResignMatch())
    bench.drain()
    assert bench.state().over
    assert not bench.client.exists(keys.conditional_moves(1, 1))


def test_replies_that_can_not_be_read_cost_their_own_match_only(bench: Bench) -> None:
    bench.start(1, 2)
    bench.client.set(keys.conditional_moves(1, 1), b"\xc1")
    stuck, other = [bench.send(ALICE, PlayMove(text=OUT), board) for board in (1, 2)]
    assert bench.drain() == 2
    codes = [outcome.code for order in (stuck, other) if (outcome := bench.outcome(order))]
    assert codes == [Code.INTERNAL, ""]


# drains and servers that die


def test_a_drain_killed_before_its_commit_leaves_the_reply_to_the_next(bench: Bench) -> None:
    bench.start(1)
    lay(bench.store, 1, ON_OUT)
    bench.send(ALICE, PlayMove(text=OUT))

    def die() -> None:
        raise Killed

    with pytest.raises(Killed):
        meanwhile(bench, die)
    assert moves(bench.store) == []
    assert unpack(laid(bench.store)) == {1: ConditionalMoves((ON_OUT,))}
    bench.client.delete(keys.lease(LANE))
    assert bench.drain() == 1
    assert moves(bench.store) == [(OUT, False), (FORTH, True)]


def test_a_drain_killed_after_its_commit_has_played_the_reply_once(bench: Bench) -> None:
    bench.start(1)
    lay(bench.store, 1, ON_OUT)
    order = bench.order(ALICE, PlayMove(text=OUT))
    bench.submit(order)
    bench.submit(order)
    with pytest.raises(Killed):
        Drain(Silent(bench.client, Mode.FSYNC), bench.lanes, bench.client, LANE).run()
    bench.client.delete(keys.lease(LANE))
    bench.drain()
    assert moves(bench.store) == [(OUT, False), (FORTH, True)]
    assert bench.outcome(order) is not None


def test_replies_outlive_a_server_that_is_killed(
    tmp_path: Path, wait_until: Callable[[Callable[[], object]], None]
) -> None:
    with EmbeddedServer(tmp_path / "data") as server:
        with server.client() as client:
            bench = Bench(client, tmp_path / "seeds")
            bench.start(1)
            assert lay(bench.store, 1, ON_OUT)
        server.kill()
        wait_until(lambda: server.poll() is not None)
        server.start()
        with server.client() as client:
            store = RedisStore(client, Mode.FSYNC)
            assert unpack(laid(store)) == {1: ConditionalMoves((ON_OUT,))}


# three seats, and a flag


def test_a_flag_lets_the_next_seat_play_what_it_has_laid_ready(
    redis_client: Redis, tmp_path: Path
) -> None:
    bench = TimedBench(redis_client, tmp_path / "seeds")
    start = StartMatch(
        rules="halves/1",
        options=("-no_contract", "-tiles_each=4"),
        seats=(ALICE, BOB, CAROL),
        terms=TimeControl(nag=0, forfeit=2),
    )
    bench.send(ALICE, start)
    bench.drain()
    rules, mover = latest_rules("halves"), bench.state().next
    assert mover == 0
    texts = list(rules.legal_moves(rules.remove_seat(position(bench), 0)))
    lay(bench.store, 1, ConditionalMove(0, None, texts[0]))
    bench.now = BEGIN + 2 * DAY
    bench.keeper().tick()
    bench.pump()
    _, flagged, moved = [decode_event(data) for data in bench.store.events(1)]
    assert isinstance(flagged.body, Flagged)
    assert isinstance(moved.body, Moved)
    assert (moved.body.queued, moved.actor, moved.command) == (True, BOB, flagged.command)
    assert bench.store.due_boards(1, bench.now + 2 * DAY, 1) == [1]
    assert verify(1, bench.store.events(1)).state == bench.state()


def position(bench: Bench) -> Any:
    """The position of a bench's first match."""
    return position_of(bench.state())


def test_a_reply_laid_between_two_batches_of_a_drain_is_played(bench: Bench) -> None:
    bench.start(1)
    bench.send(ALICE, PlayMove(text=OUT))
    steps = [
        lambda: lay(bench.store, 0, ConditionalMove(2, (FORTH,), AGAIN)),
        lambda: bench.send(BOB, PlayMove(text=FORTH)),
    ]

    def next_steps() -> bool:
        while steps:
            steps.pop(0)()
        return False

    bench.drain(next_steps)
    assert moves(bench.store) == [(OUT, False), (FORTH, False), (AGAIN, True)]
