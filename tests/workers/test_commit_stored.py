"""What commits leave of a match beside its events: locator, moves and turns, its end, the archive."""

import random

import pytest

from domain.clocks.time_control import TimeControl
from domain.errors import Code
from domain.match.commands import AnswerOffer, MakeOffer, PlayMove, ResignMatch, StartMatch
from domain.match.history import (
    decode_refusal,
    replay,
)
from domain.match.state import cache_position, position_of
from domain.rules import rules_by_id
from infra.store.outcomes import parse
from infra.store.port import ARCHIVED_TEXT
from tests.helpers.bench import Bench
from tests.helpers.gateways import OutcomeListener
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.leaves import event_place

BOARDS = (3, 7, 11)
"""All of one shard."""


SHARD = 3


def start(bench: Bench, board: int) -> None:
    """Begin a match of chance, whose seeds are anchored in the log, with clocks in every second."""
    clocks = TimeControl() if board == BOARDS[1] else None
    seats = (ALICE, BOB)
    bench.send(
        ALICE, StartMatch(rules="powerdrain/1", options=(), seats=seats, terms=clocks), board
    )


def act(bench: Bench, chance: random.Random, board: int) -> None:
    """Submit something: mostly a move, sometimes an undo or what is refused."""
    state = bench.state(board)
    if not state.started or state.over:
        return
    roll, mover = chance.random(), state.next
    assert mover is not None
    if state.offer is not None:
        answer = AnswerOffer(accept=roll < 0.7)
        bench.send(state.seats[1 - state.offer.seat], answer, board)
    elif roll < 0.15 and state.ply > 1:
        bench.send(state.seats[chance.randrange(2)], MakeOffer(kind="undo"), board)
    elif roll < 0.3:
        bench.send(CAROL, ResignMatch(), board)
    elif roll < 0.33:
        bench.send(state.seats[mover], ResignMatch(), board)
    else:
        rules = rules_by_id(state.rules)
        move = chance.choice(sorted(map(rules.write, rules.moves(position_of(state)))))
        bench.send(state.seats[mover], PlayMove(text=move), board)


@pytest.mark.parametrize("seed", range(4))
def test_after_random_play_everything_about_a_match_is_as_its_events_say(bench, seed):
    chance = random.Random(seed)
    for board in BOARDS:
        start(bench, board)
    bench.drain()
    for _ in range(60):
        for board in chance.sample(BOARDS, 2):
            act(bench, chance, board)
        if chance.random() < 0.1:
            draws = bench.store.seed_chain(SHARD)
            assert bench.store.anchor(SHARD, draws.chain + 1, bytes(32), b"anchor")
        bench.drain(lambda: True)
    leaves = dict(bench.store.leaves(SHARD, 0, 10_000))
    assert sorted(leaves) == list(range(len(leaves)))
    ended = []
    undone = refused = 0
    for board in BOARDS:
        found = [leaves[index] for index in bench.store.leaf_indexes(board)]
        events = [leaf for leaf in found if event_place(leaf)]
        assert events == bench.store.events(board)
        assert {event_place(leaf) for leaf in events} == {
            (board, seq) for seq in range(1, len(events) + 1)
        }
        others = [leaf for leaf in found if not event_place(leaf)]
        assert all(decode_refusal(leaf).match == board for leaf in others)
        assert len(found) == sum(_is_of(leaf, board) for leaf in leaves.values())
        state = replay(events)
        assert cache_position(bench.state(board)) == cache_position(state)
        if state.over:
            ended.append((state.at, board))
        undone += sum(b"undone" in leaf for leaf in events)
        refused += len(others)
    assert undone
    assert refused
    assert bench.store.ended_boards(SHARD, 1 << 50, 10) == [board for _, board in sorted(ended)]


def _is_of(leaf: bytes, board: int) -> bool:
    if (place := event_place(leaf)) is not None:
        return place[0] == board
    return leaf != b"anchor" and b"refused" in leaf and decode_refusal(leaf).match == board


def end(bench: Bench) -> None:
    """Have match 1 begin and end."""
    bench.start(1)
    bench.send(BOB, ResignMatch())
    bench.drain()


def retire(bench: Bench) -> None:
    (snapshot,) = bench.store.snapshots([1])
    assert bench.store.retire([(1, snapshot.state[:32], bench.store.leaf_indexes(1))]) == [True]


def test_a_command_that_waits_while_its_match_is_archived_is_answered_and_leaves(bench):
    end(bench)
    listener = OutcomeListener(bench.queue, "reply:test")
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    retire(bench)
    assert bench.drain() == 1
    ((id_, stored),) = listener.poll(5)
    outcome = parse(stored)
    assert (id_, outcome.code, outcome.sentence) == (order.id, Code.MATCH_OVER, ARCHIVED_TEXT)
    assert bench.outcome(order) is None
    assert bench.store.inbox_size(range(4)) == 0
    assert bench.store.snapshots([1]) == [None]
    assert bench.drain() == 0
    listener.close()
