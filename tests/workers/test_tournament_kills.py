"""A manager of tournaments that is killed where it may be: no match is played twice, and no result is lost."""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

from domain.match.events import MatchPaired
from domain.match.history import decode_event, is_event
from domain.tournament.commands import ConfirmPlaces
from domain.tournament.events import ResultsCounted
from domain.tournament.state import Phase
from infra.audit.stored_match import check_match
from infra.process.failpoints import FAILPOINTS, VARIABLE
from infra.valkey.server import EmbeddedServer
from tests.helpers.bench import Bench
from tests.helpers.side import settle
from tests.workers.test_tournaments import ORGANISER, PLAYERS, Hall

POINTS = [point for point in FAILPOINTS if point.startswith("tournament.")]

TICK = """
import sys
from infra.durability.durability import Mode
from infra.redis.clients import make_client
from infra.store.leases import LaneLeases
from infra.store.redis_store import RedisStore
from workers.tournament_manager import TournamentManager

with make_client(sys.argv[1]) as client:
    store = RedisStore(client, Mode.FSYNC)
    TournamentManager(store, LaneLeases(client, [].append), client).tick()
"""
"""The manager in a process of its own."""


@pytest.fixture
def hall(bench: Bench) -> Hall:
    return Hall(bench)


def tick(url: str, point: str) -> int:
    """Have another process act until it passes a point; return how it ended."""
    environment = {**os.environ, VARIABLE: f"{point}:1"}
    return subprocess.run(
        [sys.executable, "-c", TICK, url], env=environment, check=False
    ).returncode


def paired(hall: Hall) -> Iterator[int]:
    """The pairings of all matches that began, each as often as one did."""
    for shard in range(4):
        for _, leaf in hall.bench.store.leaves(shard, 0, 999):
            body = decode_event(leaf).body if is_event(leaf) else None
            if isinstance(body, MatchPaired):
                yield body.pairing


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_manager_starts_no_match_twice_and_loses_no_result(
    hall: Hall, valkey: EmbeddedServer, point: str
) -> None:
    hall.draft(section=4, capacity=4)
    hall.enter(4)
    settle(hall.side)
    assert tick(valkey.url, point) == -signal.SIGKILL
    hall.turn()  # by a process that knows nothing of the other
    hall.turn()
    assert Counter(paired(hall)) == Counter(range(6))
    for player in PLAYERS[:3]:
        hall.lose(player)
        settle(hall.side)
        assert tick(valkey.url, point) == -signal.SIGKILL
        hall.manager = hall.new_manager()
        hall.turn()
        hall.turn()
    assert hall.state.phase is Phase.FINISHED
    assert Counter(paired(hall)) == Counter(range(6))
    events = [decode_event(data).body for data in hall.bench.store.events(hall.number)]
    counted = [one for body in events if isinstance(body, ResultsCounted) for one in body.reports]
    assert sorted(one.pairing for one in counted) == [*range(6)]
    hall.must(ORGANISER, ConfirmPlaces())
    points = [place.points for (section) in hall.state.places for place in section]
    assert points == [300, 200, 100, 0]
    for number in (hall.number, *(one.board for one in hall.matches.values())):
        assert check_match(hall.bench.store, number).events
