"""Baseline: one RQ job a move, on the same server with the same settings.

A job does the work of a drain for one command: load the match, decide, chain, and write events, log,
snapshot and outcome in one transaction. Jobs are enqueued beforehand, with JSON arguments and without
stored results. The rate is the better of one and of two workers; with two, each has a queue with half
of the matches, so that the moves of a match stay in order.
"""

import multiprocessing
import time
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import redis
from rich.progress import Progress
from rq import Queue, SimpleWorker
from rq.serializers import JSONSerializer

from bench.harness import BenchEnvironment
from bench.workload import PlannedGame
from domain.match.commands import Command, CommandEnvelope, PlayMove, StartMatch
from domain.match.decide import decide
from domain.match.decision import Decision
from domain.match.history import PackedSnapshot, chain_events, pack_snapshot, unpack_snapshot
from domain.records import command_id
from infra.redis.clients import make_client

_QUEUES: Final = ("peer-0", "peer-1")
_WAIT: Final = 600

_client: redis.Redis | None = None


class JobRates(msgspec.Struct, frozen=True):
    """The better rate, in moves a second, and the rates for each number of workers."""

    rate: float
    details: dict[str, Any]


def measure(bench: BenchEnvironment, played: Sequence[PlannedGame], jobs: int) -> JobRates:
    """Return the rates of about `jobs` moves, with one worker and with two."""
    rates = {}
    for workers in (1, 2):
        with bench.server(f"rq-{workers}") as server:
            rates[workers] = _measure(played, jobs, server.url, workers, bench.progress)
    return JobRates(
        max(rates.values()),
        {"jobs": jobs, **{f"{w} worker(s)": round(rate, 1) for w, rate in rates.items()}},
    )


def _measure(
    played: Sequence[PlannedGame], jobs: int, url: str, workers: int, progress: Progress
) -> float:
    task = progress.add_task(f"rq_job_per_move, {workers} worker(s)", total=None)
    with make_client(url) as client:
        queues = [
            Queue(name, connection=client, serializer=JSONSerializer) for name in _QUEUES[:workers]
        ]
        for game in played:
            _play(client, game.board, 0, _start(game))
        client.delete("peer:done")
        count = _enqueue(queues, played, jobs)
        context = multiprocessing.get_context("spawn")
        ready = context.Barrier(workers + 1)
        children = [
            context.Process(target=_work, args=(url, name, ready)) for name in _QUEUES[:workers]
        ]
        for child in children:
            child.start()
        ready.wait(_WAIT)
        began = time.perf_counter()
        for child in children:
            child.join(_WAIT)
        seconds = time.perf_counter() - began
        left = sum(queue.count for queue in queues)
        done = int(client.get("peer:done") or 0)
    if left or done != count:
        raise RuntimeError(f"the peer left {left} jobs and did {done} of {count}")
    progress.remove_task(task)
    return count / seconds


def _start(game: PlannedGame) -> StartMatch:
    return StartMatch(rules="pow2/1", options=(), seats=game.seats)


def _enqueue(queues: Sequence[Queue], played: Sequence[PlannedGame], jobs: int) -> int:
    """Enqueue whole games of about `jobs` moves in all; return the number of jobs."""
    count = 0
    for game in played:
        queue = queues[game.board % len(queues)]
        for ply, text in enumerate(game.moves):
            args = (game.board, ply, game.seats[ply % 2].hex(), text)
            queue.enqueue_call(job_move, args=args, result_ttl=0, failure_ttl=60)
            count += 1
        if count >= jobs:
            break
    return count


def _work(url: str, queue: str, ready: Any) -> None:
    with make_client(url, blocking_timeout=30) as connection:
        global _client  # noqa: PLW0603 - RQ calls a plain function, which needs this process's client
        _client = connection
        worker = SimpleWorker(
            [queue], connection=connection, serializer=JSONSerializer, log_job_description=False
        )
        ready.wait(_WAIT)
        worker.work(burst=True, logging_level="ERROR")


def job_move(board: int, ply: int, actor: str, text: str) -> None:
    """Decide one move and write its events; raise RuntimeError if it is refused."""
    if _client is None:
        raise RuntimeError("this job runs in a worker of the benchmark only")
    account = bytes.fromhex(actor)
    _play(_client, board, ply + 1, PlayMove(text=text, ply=ply), account)


def _play(
    client: redis.Redis, board: int, number: int, command: Command, actor: bytes = bytes(8)
) -> None:
    name = f"peer:{board}"
    found: Any = client.mget(name, f"{name}:moves")
    stored = PackedSnapshot(found[0], found[1] or b"") if found[0] else None
    snapshot = unpack_snapshot(stored)
    id_ = command_id("bench", actor, f"{board}:{number}")
    sent = CommandEnvelope(board, id_, actor, command)
    decision = decide(sent, snapshot.state)
    if not isinstance(decision, Decision):
        raise RuntimeError(f"the peer's move was refused: {decision.sentence}")
    sealed, after = chain_events(sent, decision, snapshot, time.time_ns() // 1_000_000)
    with client.pipeline(transaction=True) as pipe:
        pipe.rpush(f"{name}:ev", *sealed)
        packed = pack_snapshot(after, snapshot.state)
        pipe.set(name, packed.state)
        pipe.append(f"{name}:moves", packed.moves)
        pipe.xadd("peer:log", {"e": f"{board}:{after.state.seq}"})
        pipe.hset(f"{name}:out", id_.hex(), after.state.seq)
        pipe.incr("peer:done")
        pipe.execute()
