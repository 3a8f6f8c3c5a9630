"""The core at a glance: what it does is what the drain does, byte by byte; and what commits leave of a match."""

import random
import secrets
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from domain.clocks.time_control import DAY
from domain.match.commands import PlayMove, ResignMatch
from domain.match.decide import decide
from domain.match.state import position_of
from domain.rules import all_games, rules_by_id
from infra.durability.durability import Mode
from infra.redis.clients import make_client
from infra.store import outcomes as outcome_pubsub
from infra.store.gateway import submission_of
from infra.store.port import Submission
from infra.store.redis_store import RedisStore
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from tests.helpers.every_command import STATES, every_command
from tests.helpers.given import ALICE, BEGIN, BOB, CAROL, Match, challenge, sent
from tests.helpers.rollback import read_all
from workers.commands import drain
from workers.commands.core import CommandLoop
from workers.commands.drain import BATCH
from workers.commands.handle import CommandHandler, StartContexts
from workers.commands.outcome_publisher import OutcomePublisher

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
