"""The core at a glance: what it does is what the drain does, byte by byte; and what commits leave of a match."""

import asyncio
import random
import secrets
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from domain.clocks.time_control import DAY, TimeControl
from domain.errors import Code
from domain.match.commands import AnswerOffer, MakeOffer, PlayMove, ResignMatch, StartMatch
from domain.match.decide import decide
from domain.match.history import decode_refusal, replay
from domain.match.state import cache_position, position_of
from domain.rules import all_games, rules_by_id
from infra.durability.durability import Mode
from infra.log.key_files import generate_keys, read_keys
from infra.people.tokens import AsyncTokens, Scope, Tokens
from infra.redis import keys
from infra.redis.autopipeline import AutoPipeline
from infra.redis.clients import make_async_client, make_client
from infra.redis.server import ServerTime
from infra.store import outcomes as outcome_pubsub
from infra.store.async_gateway import AsyncStore
from infra.store.channels import LogListener
from infra.store.gateway import submission_of
from infra.store.outcomes import parse
from infra.store.port import ARCHIVED_TEXT, Submission
from infra.store.redis_store import RedisStore
from infra.store.watermarks import PublishedSizes
from tests.fakes.memory_store import MemoryObjects, memory_client
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from tests.helpers.every_command import STATES, every_command
from tests.helpers.gateways import OutcomeListener
from tests.helpers.given import ALICE, BEGIN, BOB, CAROL, Match, challenge, sent
from tests.helpers.leaves import event_place
from tests.helpers.robots import some_move
from tests.helpers.rollback import read_all
from workers.commands import drain
from workers.commands.core import CommandLoop
from workers.commands.drain import BATCH
from workers.commands.handle import CommandHandler, StartContexts
from workers.commands.outcome_publisher import OutcomePublisher
from workers.log.publisher import Publisher
from workers.projections.worker import ProjectionWorker
from workers.scheduler import Scheduler

BEGAN = 1_700_000_000_000


def loop_of(bench: Bench, decider: Callable[..., Any] = decide) -> CommandLoop:
    """Return the core on the store of a bench."""
    handler = CommandHandler(bench.store, StartContexts(bench.seeds, bench.client), decider)
    return CommandLoop(bench.store, handler, OutcomePublisher(bench.queue))


class _Repeating(RedisStore):
    """A store with a clock of its own; some commands are submitted twice, as by an impatient client."""

    def submit(self, submissions: Sequence[Submission]) -> Any:
        return super().submit([*submissions, *submissions[::5]])


class _Clocked(Bench):
    """A bench with a clock of its own."""

    def __init__(self, client: Redis, seeds: Path) -> None:
        super().__init__(client, seeds)
        ticks = count(BEGAN, 1_000)
        self.store = _Repeating(client, Mode.FSYNC, clock=lambda: next(ticks))
        self.seeds = type(self.seeds)(self.store, seeds)


class _Core(_Clocked):
    """Drains by the core."""

    def drain(self, *_: object, **__: object) -> int:
        loop, done = loop_of(self), 0
        while some := loop.run(range(4), BATCH):
            done += some
        return done


def kept(client: Redis) -> dict[str, object]:
    """Return all that a server keeps but its leases."""
    found = read_all(client, "*")
    return {key: value for key, value in found.items() if not key.startswith("{lease:")}


@pytest.fixture
def both(valkey, redis_client, tmp_path, monkeypatch) -> Iterator[tuple[_Clocked, _Core]]:
    """A bench that drains by lanes, and one that does by the core, with the same secrets."""
    # fair turns change the order of commands, and with it the places of leaves in the logs
    monkeypatch.setattr(drain, "SMALL_BACKLOG", 0)
    monkeypatch.setattr(secrets, "token_bytes", lambda length: bytes(range(length)))
    with make_client(f"{valkey.url}?db=1") as other:
        other.flushdb()
        yield _Clocked(redis_client, tmp_path / "a"), _Core(other, tmp_path / "b")
        other.flushdb()


def assert_equal(both: tuple[_Clocked, _Core], live: Callable[[Bench], None]) -> None:
    """Both publish and store the same: events, refusals, outcomes, logs, due times."""
    found = []
    for bench in both:
        with bench.client.pubsub() as heard:  # type: ignore[no-untyped-call]
            heard.psubscribe("reply:*")
            heard.get_message(timeout=60)
            live(bench)
            outcomes: list[tuple[bytes, bytes]] = []
            while message := heard.get_message(timeout=0.05):
                outcomes += outcome_pubsub.decode(message["data"])
        found.append((sorted(outcomes), kept(bench.client)))
    drained, core = found
    assert drained == core
    assert len(drained[0]) > 200


def test_the_life_of_a_server_is_the_same_by_the_core_and_by_the_drain(both):
    def live(bench: Bench) -> None:
        corpus = Corpus(bench, matches=20, disputes=1)
        for _ in range(7):
            corpus.step()

    assert_equal(both, live)


def stories() -> Iterator[list[tuple[bytes, Any]]]:
    """Commands of a match of each game, some of them refused, and of one in each of its states."""
    chance = random.Random(1)
    for game in all_games():
        players = (ALICE, BOB, CAROL)[: game.latest.players[0]]
        match = Match(challenge(game.key, seats=players))
        turns = [challenge(game.key, seats=players)]
        for _ in range(8):
            state = match.state
            if state.next is None:
                break
            rules = rules_by_id(state.rules)
            move = chance.choice(list(islice(rules.legal_moves(position_of(state)), 9)))
            actor = players[state.next]
            turns += [(actor, PlayMove(text="nonsense")), (actor, PlayMove(text=move))]
            match.do(actor, PlayMove(text=move))
        yield [*turns, (players[0], ResignMatch())]
    for turns_of in STATES.values():
        turns = list(turns_of(BEGIN))
        state = Match(*turns).state
        yield [*turns, *chance.sample(list(every_command(state, BEGIN + DAY)), 12)]


def test_all_games_and_states_are_the_same_with_a_whole_match_in_a_batch(both):
    turns = [(board, *turn) for board, story in enumerate(stories(), 1) for turn in story]
    new = [
        sent(actor, command, number, board)
        for number, (board, actor, command) in enumerate(turns, 1)
    ]

    def live(bench: Bench) -> None:
        # a log begins its chain of seeds with the first draw, before what its batch commits
        shards = {bench.store.layout().shard_of(board): board for board in range(500, 600)}
        draws = [sent(*challenge("powerdrain"), 5_000 + board, board) for board in shards.values()]
        bench.store.submit([submission_of(one, 0, "reply:0") for one in draws])
        assert bench.drain() >= len(shards) == 4
        bench.store.submit([submission_of(one, 0, f"reply:{one.match % 3}") for one in new])
        assert bench.drain() > len(new)

    assert_equal(both, live)


def test_a_command_that_another_drain_decides_meanwhile_gets_the_outcome_of_that(bench):
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))

    def overtaken(*given: Any) -> Any:
        assert bench.drain() == 1
        return decide(*given)

    assert loop_of(bench, overtaken).run(range(4), BATCH) == 1
    assert bench.outcome(order).accepted
    assert len(bench.store.events(1)) == 2
    assert loop_of(bench).run(range(4), BATCH) == 0


# What commits leave of a match beside its events: locator, moves and turns, its end, the ar

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
            ended.append((state.at, str(board)))  # as the server orders what ended at once
        undone += sum(b"undone" in leaf for leaf in events)
        refused += len(others)
    assert undone
    assert refused
    assert bench.store.ended_boards(SHARD, 1 << 50, 10) == [
        int(board) for _, board in sorted(ended)
    ]


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


# The cost of a move that comes alone: the commands of the data server, those inside scripts

MOST = 44
"""One is the scheduler's look of each second. What comes once in a while (positions, the layout) is not counted."""

MEASURING = frozenset({"cmdstat_info", "cmdstat_config|resetstat"})


def test_a_lone_move_costs_few_commands(redis_client, valkey, tmp_path):
    queue = memory_client()
    bench = Bench(redis_client, tmp_path / "seeds", queue)
    bench.start(1)
    for account in (ALICE, BOB):
        redis_client.set(keys.account(account), "a record")
    tokens = [
        Tokens(redis_client).issue(account, "bench", [Scope.PLAY]).text for account in (ALICE, BOB)
    ]
    side = ProjectionWorker(bench.store, redis_client, queue=queue)
    while side.round() or side.has_work:
        pass
    generate_keys(tmp_path / "keys", "play.example.org")
    publisher = Publisher(
        *(bench.store, PublishedSizes(redis_client, queue), MemoryObjects()),
        *(lambda: read_keys(tmp_path / "keys"), 0.0),
        news=LogListener(queue),
    )
    publisher.begin()
    publisher.round(0)
    scheduler = Scheduler(bench.store, bench.lanes)
    side._news.wait(0.01)  # it hears from now on

    costs: list[dict[str, int]] = []

    async def play() -> None:
        async with make_async_client(valkey.url) as client, AutoPipeline(client) as pipe:
            store = AsyncStore(pipe, bench.store.layout(), 1_000)
            checked = AsyncTokens(pipe, ServerTime())
            for _ in range(4):
                state, move = bench.state(), some_move(bench)
                (seat,) = state.waits
                redis_client.config_resetstat()
                token, _ = await checked.check_and_read(tokens[seat], [store.snapshot_command(1)])
                assert token is not None
                sent = bench.order((ALICE, BOB)[seat], move)
                await store.submit([submission_of(sent, state.ply, "reply:test")])
                assert bench.drain() == 1
                await store.leaf(1, publisher._shards[1].size)
                side._feed.wait(side._live, side._news, 0.5)
                assert side.round() == 1
                assert publisher.round(0) == 1
                scheduler.tick()
                stats = redis_client.info("commandstats").items()
                costs.append({name: of["calls"] for name, of in stats if name not in MEASURING})

    asyncio.run(play())
    # the first ones meet scripts and accounts that are not known
    assert min(sum(cost.values()) for cost in costs) <= MOST, costs
