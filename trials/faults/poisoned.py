"""`matchpost serve` with workers whose decider is poisoned for marked moves.

As a program: `serve`, or `worker NAME`, which is what `serve` starts.
"""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

from domain.match.commands import CommandEnvelope, PlayMove
from domain.match.decide import decide
from domain.match.decision import Decision, DecisionContext, Rejection
from domain.match.state import MatchState
from infra.durability.durability import verify
from infra.settings.settings import load
from infra.store.layout import Layout
from infra.store.leases import LaneLeases
from infra.store.redis_store import RedisStore
from infra.store.rq_wakeup import enqueue_drain
from infra.valkey.server import EmbeddedServer
from services.app.context import App
from services.serve.child import ProcessChild
from services.serve.logging import log_to_stderr
from services.serve.processes import role_child
from services.serve.supervisor import Supervisor
from workers.commands import worker as command_worker
from workers.scheduler import Scheduler

MARK = "poison:"
"""Begins a poisoned move; the kind follows."""

HERE = Path(__file__)


def _loop() -> None:
    while True:
        pass


def _regex() -> None:
    re.fullmatch(r"(a|aa)+$", "a" * 80 + "b")


def _recursion() -> None:
    _recursion()


def _power() -> None:
    9**9**9


def _allocation() -> None:
    kept = []
    while True:
        kept.append(b"x" * (1 << 20) + bytes(len(kept)))


def _exception() -> None:
    raise RuntimeError("a rule that fails")


KINDS: dict[str, Callable[[], None]] = {
    "loop": _loop, "regex": _regex, "allocation": _allocation, "exception": _exception,
    "recursion": _recursion, "power": _power,
}  # fmt: skip


def poisoned(
    sent: CommandEnvelope, state: MatchState, given: DecisionContext
) -> Decision | Rejection:
    """Decide; a marked move does what its mark says instead."""
    if isinstance(sent.command, PlayMove) and sent.command.text.startswith(MARK):
        KINDS[sent.command.text.removeprefix(MARK)]()
    return decide(sent, state, given)


def _serve() -> None:
    settings = load()
    log_to_stderr("serve")
    with EmbeddedServer(settings.data) as server, server.client() as client:
        verify(client, settings.durability)
        store = RedisStore(client, settings.durability)
        shape = store.create(Layout(settings.shards, min(settings.workers, settings.shards)))
        keeper = Scheduler(store, LaneLeases(client, lambda lane: enqueue_drain(client, lane)))
        env = {**os.environ, **settings.environment(), "MATCHPOST_REDIS_URL": server.url}
        workers = [
            ProcessChild(name, [sys.executable, str(HERE), "worker", name], env=env)
            for name in (f"matchpost worker {n}" for n in range(shape.lanes))
        ]
        children = [*workers, role_child("side", settings, server.url)]
        supervisor = Supervisor(children, tick=keeper.tick, depends_on=[server])
        supervisor.run(started=lambda: print("ready", flush=True))


def _work(name: str) -> None:
    log_to_stderr(name)
    with App(load(), listening=command_worker.IDLE_SECONDS) as parts:
        job = command_worker.DrainJob(
            parts.store, parts.lanes, parts.data, parts.queue, parts.seeds, poisoned
        )
        command_worker.run(job, parts.queue)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve"]:
            _serve()
        case ["worker", name]:
            _work(name)
        case other:
            sys.exit(f"serve, or worker NAME, not {other}")
