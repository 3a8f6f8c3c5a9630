"""Conditional moves on a real server: between what a drain reads and its commit, and seen by nobody else."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

from redis import Redis

from domain.clocks.time_control import DAY, TimeControl
from domain.match.audit import verify
from domain.match.commands import MakeOffer, PlayMove, StartMatch
from domain.match.conditional_moves import ConditionalMove, ConditionalMoves, merge, pack, unpack
from domain.match.events import Flagged, Moved
from domain.match.history import decode_event, unpack_snapshot
from domain.match.state import position_of
from domain.rules import latest_rules
from infra.durability.durability import Mode
from infra.redis import keys
from infra.store.port import CommitResult, Store, Write
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.lanes import LANE
from tests.helpers.rollback import read_all
from tests.helpers.timed import BEGIN, TimedBench
from tests.helpers.writes import CommitsInOne
from workers.commands.drain import Drain

OUT, FORTH, AGAIN = "m13-m9", "a13-c11", "m9-m13"
"""The first moves of a match, of alice, bob and alice."""


ON_OUT = ConditionalMove(1, (OUT,), FORTH)
"""Bob's answer to the first move."""


def lay(store: Store, seat: int, reply: ConditionalMove, board: int = 1) -> bool:
    """Store a conditional move, as a front end does; return whether it was stored."""
    ((data, laid),) = store.snapshots_with_conditional_moves([board])
    before = unpack(laid)
    more = {**before, seat: merge(before.get(seat, ConditionalMoves()), [reply])}
    return store.set_conditional_moves(board, unpack_snapshot(data).head, laid, pack(more))


def laid(store: Store, board: int = 1) -> bytes:
    """Return the conditional moves of a match, packed."""
    return store.snapshots_with_conditional_moves([board])[0][1]


def moves(store: Store, board: int = 1) -> list[tuple[str, bool]]:
    """The moves of a match, and whether each was a conditional move."""
    bodies = [decode_event(data).body for data in store.events(board)]
    return [(body.move, body.queued) for body in bodies if isinstance(body, Moved)]


class Meanwhile(CommitsInOne):
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


def test_a_reply_is_played_with_the_move_it_waits_for(bench):
    bench.start(1)
    assert lay(bench.store, 1, ON_OUT)
    order = bench.send(ALICE, PlayMove(text=OUT))
    assert bench.drain() == 1
    assert moves(bench.store) == [(OUT, False), (FORTH, True)]
    assert [decode_event(data).actor for data in bench.store.events(1)] == [ALICE, ALICE, BOB]
    assert [decode_event(data).command for data in bench.store.events(1)[1:]] == [order.id] * 2
    assert laid(bench.store) == b""
    assert verify(1, bench.store.events(1)).state == bench.state()


def test_a_drain_tries_as_often_as_replies_are_laid_under_its_hands(bench):
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


def test_a_flag_lets_the_next_seat_play_what_it_has_laid_ready(redis_client, tmp_path):
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


def holders(client: Redis, text: str) -> set[str]:
    """The names of the keys that hold a text."""
    found = read_all(client, "*")
    return {name for name, value in found.items() if text.encode() in repr((name, value)).encode()}


def test_a_reply_is_nowhere_but_in_its_own_key_until_it_is_played(bench, caplog):
    caplog.set_level(logging.DEBUG)
    announced: Any = bench.client.pubsub()
    announced.psubscribe("*")
    announced.get_message(timeout=60)
    bench.start(1)
    own = keys.conditional_moves(1, 1)
    lay(bench.store, 1, ON_OUT)
    assert holders(bench.client, FORTH) == {own}
    for who, command in (
        (ALICE, MakeOffer(kind="draw")),
        (BOB, PlayMove(text="a1-a5")),
        (ALICE, PlayMove(text="m13-m5")),
    ):
        bench.send(who, command)
        assert holders(bench.client, FORTH) == {own}
        bench.drain()
        assert holders(bench.client, FORTH) == {own}
    bench.send(ALICE, PlayMove(text=OUT))
    heard = heard_on(announced)
    # four outcomes, two changes of the match, and after each batch a change of the log
    assert len(heard) == 10
    assert FORTH.encode() not in b"".join(heard)
    assert FORTH not in caplog.text
    bench.drain()
    assert own not in holders(bench.client, FORTH)
    assert keys.events(1, 1) in holders(bench.client, FORTH)
    announced.close()
    # one that can't come to be played any more leaves no trace
    bench.start(2)
    lay(bench.store, 1, ConditionalMove(1, (OUT,), "a13-c9"), 2)
    order = bench.send(ALICE, PlayMove(text="m13-j7"), 2)
    bench.drain()
    assert holders(bench.client, "a13-c9") == set()
    assert bench.outcome(order).sentence == ""
    assert "a13-c9" not in caplog.text


def heard_on(announced: Any) -> list[bytes]:
    """All that was announced until now."""
    found = []
    while message := announced.get_message(ignore_subscribe_messages=True, timeout=0.05):
        found.append(message["data"])
    return found
