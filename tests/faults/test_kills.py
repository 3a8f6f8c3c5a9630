"""Processes killed on the path of a move: nothing acknowledged is lost, nothing is done twice."""

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

import pytest
from redis import Redis

from domain.match.audit import verify
from domain.match.commands import CommandEnvelope
from domain.match.history import decode_event
from infra.durability.durability import Mode
from infra.store.outcomes import CommandOutcome
from infra.store.redis_store import RedisStore
from infra.valkey.process import is_alive
from tests.helpers.served import Player, Served, all_play, matches, state_of, until

pytestmark = pytest.mark.slow


def check(
    client: Redis, played: Sequence[Sequence[CommandEnvelope]], players: Sequence[Player]
) -> None:
    """What was acknowledged is there, once, in the order it was acknowledged."""
    store = RedisStore(client, Mode.FSYNC)
    for orders, player in zip(played, players, strict=True):
        events = store.events(orders[0].match)
        verify(orders[0].match, events)
        ids = list(dict.fromkeys(decode_event(data).command for data in events))
        assert ids == [sent.id for sent, _ in player.acknowledged]
        for sent, outcome in player.acknowledged:
            assert decode_event(events[outcome.seq - 1]).command == sent.id
    until(lambda: store.inbox_size(range(store.layout().shards)) == 0)


def test_workers_killed_under_load_decide_everything_once(tmp_path: Path) -> None:
    played = matches(6, 12)
    with Served(tmp_path / "data", {"MATCHPOST_WORKERS": "2"}) as served:
        players, threads = all_play(served, played)
        for _ in range(2):
            until(lambda: len(served.children("matchpost worker")) == 2)
            time.sleep(0.5)
            for worker in served.children("matchpost worker"):
                os.kill(worker, signal.SIGKILL)
        for thread in threads:
            thread.join()
        with served.client() as client:
            check(client, played, players)


@pytest.mark.long
def test_rqs_keys_flushed_in_the_middle_cost_seconds_and_no_move(tmp_path: Path) -> None:
    played = matches(6, 20)
    with Served(tmp_path / "data") as served, served.client() as client, served.queue() as queue:
        players, threads = all_play(served, played)
        for flush in range(1, 4):
            until(lambda flush=flush: sum(len(p.acknowledged) for p in players) > 20 * flush)  # type: ignore[misc]
            assert queue.dbsize()
            queue.flushall()
        before = sum(len(player.acknowledged) for player in players)
        until(lambda: sum(len(player.acknowledged) for player in players) > before)
        for thread in threads:
            thread.join()
        check(client, played, players)


@pytest.mark.long
def test_the_same_command_sent_five_times_at_once_is_one_event_and_five_equal_answers(
    tmp_path: Path,
) -> None:
    ((start, move),) = matches(1, 1)
    answers: list[CommandOutcome] = []
    with Served(tmp_path / "data") as served:
        Player(served).play([start])
        threads = [
            Thread(target=lambda: answers.append(Player(served).send(move))) for _ in range(5)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with served.client() as client:
            assert len(RedisStore(client, Mode.FSYNC).events(start.match)) == 2
    assert len(answers) == 5
    assert len(set(map(repr, answers))) == 1


@pytest.mark.long
def test_a_server_stopped_and_started_again_continues_where_it_was(tmp_path: Path) -> None:
    ((*first, last),) = matches(1, 6)
    served = Served(tmp_path / "data")
    with served:
        Player(served).play(first)
    with served, served.client() as client:
        assert state_of(client, last.match).ply == 5
        Player(served).play([last])
        assert state_of(client, last.match).ply == 6
        verify(last.match, RedisStore(client, Mode.FSYNC).events(last.match))


def test_a_killed_server_leaves_no_process_behind_and_continues_where_it_was(
    tmp_path: Path,
) -> None:
    ((*first, last),) = matches(1, 6)
    served = Served(tmp_path / "data").start()
    Player(served).play(first)
    children = [*served.children("matchpost worker"), *served.children("valkey-server")]
    assert len(children) >= 2
    served.end(signal.SIGKILL)
    until(lambda: not any(map(is_alive, children)), 5)
    with served, served.client() as client:
        Player(served).play([last])
        assert state_of(client, last.match).ply == 6


@pytest.mark.long
def test_a_graceful_stop_finishes_the_batch_in_hand(tmp_path: Path) -> None:
    played = matches(4, 10)
    served = Served(tmp_path / "data").start()
    players, threads = all_play(served, played)
    until(lambda: sum(len(player.acknowledged) for player in players) > 10)
    assert served.end() == 0
    with served, served.client() as client:
        # nobody died with a lease in hand
        assert "worked one by one" not in (tmp_path / "serve.log").read_text()
        for thread in threads:
            thread.join()
        check(client, played, players)


@pytest.mark.long
def test_a_door_that_dies_after_submitting_has_its_command_decided(tmp_path: Path) -> None:
    with Served(tmp_path / "data") as served, served.client() as client:
        served.do("signup alice mad-hatter", "signup bob yes-we-can", "pow2 challenge alice bob")
        served.env["MATCHPOST_FAULT"] = "submit.queued:1"
        done = served.run("do", "pow2 move 1 alice mad-hatter m13-m9")
        assert done.returncode == -signal.SIGKILL
        until(lambda: state_of(client, 1).moves == "m13-m9", 15)
